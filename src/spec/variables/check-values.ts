// Validates the values of variables and inputs against their declarations: first with a quick check, then with a validator that explains errors.

import type { ValidateFunction } from "ajv/dist/2020.js";
import { literalOf } from "../../expressions/template.ts";
import type { FieldSchema } from "../../resource/field-schema.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin } from "../model/spec.ts";
import {
  hasSensitive,
  plain,
  type ScalarValue,
  type SpecNode,
  spanOf,
  withoutBigint,
} from "../model/tree.ts";
import { schemaMessages } from "../schema/error-messages.ts";
import { specForm } from "../schema/json-schema.ts";
import type { JsonSchema } from "../schema/keywords.ts";
import { type QuickCheck, quickCheck } from "../schema/quick-check.ts";
import type { RegExpEngine } from "../schema/validate.ts";
import type { LinearPatterns, ParameterDeclaration } from "./parameters.ts";

/** A parameter with its value, in template form. */
export interface ParameterValue {
  readonly declaration: ParameterDeclaration;
  readonly value: SpecNode;
  readonly isDefault: boolean;
  /** `the variable size`, or `modules.team/ads: size`. */
  readonly subject: string;
  readonly code: "SPEC_VARIABLE" | "SPEC_INPUT";
  /** The instance of a module in which the value is written. */
  readonly origin: InstanceOrigin | undefined;
}

interface Compiled {
  readonly form: JsonSchema;
  readonly quick: QuickCheck;
  validate?: ValidateFunction;
  /** The value that is checked now. */
  at: Span;
}

export interface CheckParts {
  readonly findings: Findings;
  readonly patterns: LinearPatterns;
}

/** Reports each value that its schema does not allow, and each value of a deprecated parameter. References count as valid: their values are unknown. */
export async function checkValues(values: readonly ParameterValue[], parts: CheckParts): Promise<void> {
  const schemas = new Map<ParameterDeclaration, Compiled>();
  for (const value of values) {
    const compiled = schemas.get(value.declaration) ?? compile(value);
    schemas.set(value.declaration, compiled);
    if (!compiled.quick(value.value)) await report(value, compiled, parts);
    if (value.declaration.schema.deprecated === true && !value.isDefault) warnDeprecated(value, parts);
  }
}

function warnDeprecated({ declaration, value, subject, origin }: ParameterValue, { findings }: CheckParts) {
  const { description } = declaration.schema;
  const hint = typeof description === "string" ? description : undefined;
  findings.within(origin, () =>
    findings.warning("SPEC_DEPRECATED", `${subject} is deprecated`, value, { hint }),
  );
}

function compile({ declaration: { schema, hasPattern }, value }: ParameterValue): Compiled {
  const form = specForm(schema as FieldSchema);
  return { form, quick: hasPattern ? () => false : quickCheck(form), at: value };
}

async function report(
  { declaration, value, subject, code, origin }: ParameterValue,
  compiled: Compiled,
  { findings, patterns }: CheckParts,
): Promise<void> {
  const { ajvForSpecs, toSchemaErrors } = await import("../schema/validate.ts");
  compiled.validate ??= ajvForSpecs(engineOf(patterns, compiled)).compile(compiled.form);
  compiled.at = value;
  const data = plain(value, validated);
  if (compiled.validate(data)) return;
  findings.within(origin, () => {
    const errors = toSchemaErrors(compiled.validate?.errors ?? [], data);
    const { description } = declaration.schema;
    for (const { keyword, message, path, hint: advice } of schemaMessages(
      errors,
      { name: subject },
      findings.suggest,
    )) {
      const isHidden = hasSensitive(value) || value.source.isHidden;
      const rule = keyword === "pattern" && typeof description === "string" ? description : undefined;
      const hint = isHidden ? rule : (advice ?? rule);
      const shown = hasSensitive(value) ? `${subject} is not valid` : withoutText(message, value);
      findings.error(code, shown, spanOf(value, path), { hint });
    }
  });
}

function engineOf(patterns: LinearPatterns, compiled: Pick<Compiled, "at">): RegExpEngine {
  const engine = (pattern: string): ReturnType<RegExpEngine> => {
    const test = patterns.test(pattern);
    // ajv identifies a pattern by this string.
    return Object.assign({ test: (text: string) => test(text, compiled.at) }, { toString: () => pattern });
  };
  return Object.assign(engine, { code: "linearPattern" });
}

/** A scalar with escapes undone; a string with a reference is unchanged. */
function validated(value: ScalarValue): ScalarValue {
  return typeof value === "string" ? (literalOf(value) ?? value) : withoutBigint(value);
}

/** A value from outside the spec that is not even of its type may be a secret in the wrong place. */
function withoutText(message: string, { source }: SpecNode): string {
  return source.isHidden ? message.replace(/, not the string "[\s\S]*$/, ", not a string") : message;
}
