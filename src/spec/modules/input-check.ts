// Validates the inputs of instances against their schemas: first with a quick check, then with a validator that explains errors.

import type { ValidateFunction } from "ajv/dist/2020.js";
import { literalOf } from "../../expressions/template.ts";
import type { FieldSchema } from "../../resource/field-schema.ts";
import type { LinearPatterns } from "../evaluate/linear-patterns.ts";
import type { Reporting } from "../model/findings.ts";
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
import type { RegExpEngine } from "../schema/validate.ts";
import { type QuickCheck, quickCheck } from "../schema/validator.ts";
import type { InputDeclaration } from "./inputs.ts";

/** An input of an instance, with the value that its user gives. */
export interface GivenInput {
  readonly declaration: InputDeclaration;
  readonly value: SpecNode;
  /** `modules.team/ads`. */
  readonly subject: string;
  /** Where the user stands: its own origin, if it is a module itself. */
  readonly user: InstanceOrigin | undefined;
}

interface Compiled {
  readonly form: JsonSchema;
  readonly quick: QuickCheck;
  validate?: ValidateFunction;
  /** The value that is checked now. */
  at: Span;
}

export interface CheckParts extends Reporting {
  readonly patterns: LinearPatterns;
}

/** Reports each input that its schema does not allow. References count as valid: their values are unknown. */
export async function checkInputs(given: readonly GivenInput[], parts: CheckParts): Promise<void> {
  const known = new Map<InputDeclaration, Compiled>();
  for (const one of given) {
    const compiled = known.get(one.declaration) ?? compile(one);
    known.set(one.declaration, compiled);
    if (!compiled.quick(one.value)) await report(one, compiled, parts);
  }
}

function compile({ declaration: { schema, hasPattern }, value }: GivenInput): Compiled {
  const form = specForm(schema as FieldSchema);
  return { form, quick: hasPattern ? () => false : quickCheck(form), at: value };
}

async function report(
  { declaration, value, subject, user }: GivenInput,
  compiled: Compiled,
  { suggest, findings, patterns }: CheckParts,
): Promise<void> {
  const { ajvForSpecs, toSchemaErrors } = await import("../schema/validate.ts");
  compiled.validate ??= ajvForSpecs(engineOf(patterns, compiled)).compile(compiled.form);
  compiled.at = value;
  const data = plain(value, validated);
  if (compiled.validate(data)) return;
  const name = `${subject}: ${declaration.name}`;
  findings.within(user, () => {
    const errors = toSchemaErrors(compiled.validate?.errors ?? [], data);
    const { description } = declaration.schema;
    const fallback = typeof description === "string" ? description : undefined;
    for (const { message, path, hint: advice = fallback } of schemaMessages(errors, name, suggest)) {
      const hint = hasSensitive(value) ? fallback : advice;
      const shown = hasSensitive(value) ? `the value of ${name} is not valid` : message;
      findings.error("SPEC_INPUT", shown, spanOf(value, path), { hint });
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
