// Parameters: the variables of a spec and the inputs of a module. Reads their declarations, a subset of JSON Schema without references and slow keywords, and validates their values.

import type { ValidateFunction } from "ajv/dist/2020.js";
import type { RE2JS } from "re2js";
import type { Code } from "../../core/codes.ts";
import { thrownText } from "../../core/diagnostic.ts";
import { collectTexts, type Json, ownMember } from "../../core/json.ts";
import type { SensitiveTexts } from "../../core/sensitive/texts.ts";
import { listed, shortened } from "../../core/sentences.ts";
import { re2js } from "../../expressions/functions.ts";
import { escapeForms, isPathAlone, literalOf } from "../../expressions/template.ts";
import type { FieldSchema } from "../../resource/field-schema.ts";
import { escapedTree } from "../evaluate/node-values.ts";
import type { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin } from "../model/spec.ts";
import {
  asSensitive,
  hasSensitive,
  isFlag,
  isNull,
  type MapNode,
  member,
  memberEntries,
  plain,
  type ScalarValue,
  type SpecNode,
  scalarText,
  spanOf,
  visitNodes,
  withoutBigint,
} from "../model/tree.ts";
import { schemaMessages } from "../schema/error-messages.ts";
import { specForm } from "../schema/json-schema.ts";
import type { JsonSchema } from "../schema/keywords.ts";
import { type QuickCheck, quickCheck } from "../schema/quick-check.ts";
import { PARAMETER_KEYWORDS } from "../schema/sections.ts";
import type { RegExpEngine } from "../schema/validate.ts";

export interface ParameterDeclaration {
  /** Without `default` and `sensitive`. */
  readonly schema: JsonSchema;
  /** The default: first as written, then in template form. */
  readonly written: SpecNode | undefined;
  readonly fallback: SpecNode | undefined;
  readonly sensitive: boolean;
  /** The strings of its `enum` and `const`, also of a declaration that is not valid. */
  readonly choices: readonly string[];
  /** Only the full validator runs patterns in linear time. */
  readonly hasPattern: boolean;
}

const TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"];
/** What other tools call a type. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  list: "array",
  map: "object",
  text: "string",
  int: "integer",
  float: "number",
  bool: "boolean",
};

export type ParameterDeclarations = ReadonlyMap<string, ParameterDeclaration>;

const NAME = /^[A-Za-z_][\w-]*$/;

/** `kind`: the name of the section, which messages and codes follow. */
export function parametersIn(
  section: SpecNode | undefined,
  kind: "variables" | "inputs",
  findings: Findings,
): ParameterDeclarations {
  const parameters = new Map<string, ParameterDeclaration>();
  const reader = new SchemaReader(kind, findings);
  for (const [name, { key, value }] of findings.names(kind, section)) {
    if (!NAME.test(name))
      findings.error(CODES[kind], `${JSON.stringify(name)} is not a valid name of ${WORDS[kind]}`, key, {
        hint: "a name starts with a letter and contains letters, digits, dashes, and underscores",
      });
    parameters.set(name, reader.declaration(name, value));
  }
  return parameters;
}

/** The names of the parameters that a section declares as sensitive. */
export function sensitiveNames(section: SpecNode | undefined): ReadonlySet<string> {
  return new Set(
    memberEntries(section).flatMap(([name, { value }]) => (isMarkedSensitive(value) ? [name] : [])),
  );
}

/** A mistake in the flag must not show the value. */
function isMarkedSensitive(declaration: SpecNode): boolean {
  const flag = member(declaration, "sensitive");
  return flag !== undefined && !(flag.kind === "scalar" && flag.value === false);
}

const CODES = { variables: "SPEC_VARIABLE", inputs: "SPEC_INPUT" } as const satisfies Record<string, Code>;
const WORDS = { variables: "a variable", inputs: "an input" } as const;

class SchemaReader {
  readonly #kind: "variables" | "inputs";
  readonly #findings: Findings;
  #left: number = LIMITS.inputSchema;
  #hasPattern = false;

  constructor(kind: "variables" | "inputs", findings: Findings) {
    this.#kind = kind;
    this.#findings = findings;
  }

  /** A schema, or a bare value that is the default. */
  declaration(name: string, node: SpecNode): ParameterDeclaration {
    this.#hasPattern = false;
    const subject = `${this.#kind}.${name}`;
    const map = node.kind === "map" ? node : undefined;
    const isValid = map !== undefined && this.#check(subject, map);
    const fallback = map === undefined ? (isNull(node) ? undefined : node) : member(map, "default");
    const { default: _, sensitive: __, ...written } = isValid ? (plain(map) as JsonSchema) : {};
    if (fallback !== undefined) this.#refuseTemplates(`the default of ${subject}`, fallback);
    const values = map === undefined ? undefined : member(map, "enum");
    if (values !== undefined) this.#refuseTemplates(`${subject}.enum`, values);
    const choices = [values, map && member(map, "const")].flatMap((part) =>
      part === undefined ? [] : [...collectTexts(plain(part))],
    );
    const sensitive = isMarkedSensitive(node);
    const type = written.type ?? typeOf(fallback) ?? (sensitive ? "string" : undefined);
    // Other values cannot be recognized in an output.
    if (sensitive && type !== "string")
      this.#findings.error(
        "SPEC_VALUE",
        `${subject}: only ${WORDS[this.#kind]} of type string can be sensitive`,
        member(map, "sensitive"),
      );
    // Frames show it also in a run in which another value is in effect.
    if (sensitive && fallback !== undefined) sensitiveValue(fallback, { choices }, this.#findings.sensitive);
    const schema = type === undefined ? written : { ...written, type };
    return {
      schema,
      written: fallback,
      fallback: fallback && escapedTree(fallback),
      sensitive,
      choices,
      hasPattern: this.#hasPattern,
    };
  }

  /** A declaration is read before expressions, so `${…}` in it would be taken as text. */
  #refuseTemplates(subject: string, node: SpecNode): void {
    visitNodes(node, (part) => {
      if (scalarText(part)?.includes("${") === true)
        this.#findings.error(CODES[this.#kind], `${subject} cannot contain ${"${…}"}`, part, {
          hint: `write the value where ${WORDS[this.#kind]} is used, with ${"$${"} for a literal ${"${"}`,
        });
    });
  }

  /** Whether the schema can be used; every problem is reported. */
  #check(name: string, node: MapNode): boolean {
    let isValid = true;
    for (const [keyword, { key, value }] of node.members) {
      const [is] = ownMember(PARAMETER_KEYWORDS, keyword) ?? [];
      if (is === undefined) {
        this.#findings.error("SPEC_UNKNOWN_FIELD", `${name} has no keyword ${JSON.stringify(keyword)}`, key, {
          hint: `the keywords are ${listed(Object.keys(PARAMETER_KEYWORDS), "and", 40)}`,
        });
        isValid = false;
      } else if (!this.#value(`${name}.${keyword}`, keyword, is, value)) isValid = false;
    }
    return isValid;
  }

  #value(name: string, keyword: string, kind: string, node: SpecNode): boolean {
    if (--this.#left < 0) {
      const message = `${this.#kind} have at most ${LIMITS.inputSchema} keywords`;
      this.#findings.error("SPEC_TOO_LARGE", message, node);
      return false;
    }
    if (kind === "schema") {
      if (node.kind === "map") return this.#part(name, node);
      return (keyword === "additionalProperties" && isFlag(node)) || this.#wrong(name, "a schema", node);
    }
    if (kind === "schemas") {
      if (node.kind !== "map") return this.#wrong(name, "a map of schemas", node);
      return [...node.members].every(([key, { value }]) =>
        this.#value(`${name}.${key}`, key, "schema", value),
      );
    }
    if (keyword === "pattern") return this.#pattern(name, node);
    return this.#plain(name, kind, node);
  }

  #part(name: string, node: MapNode): boolean {
    const sensitive = node.members.get("sensitive");
    if (sensitive === undefined) return this.#check(name, node);
    this.#findings.error(
      "SPEC_VALUE",
      `${name}: only a complete ${this.#kind.slice(0, -1)} can be sensitive, not a part of it`,
      sensitive.key,
    );
    return false;
  }

  #plain(name: string, kind: string, node: SpecNode): boolean {
    if (kind === "type") return this.#type(name, node);
    const [wanted, takes] = PLAIN[kind] ?? [];
    return wanted === undefined || takes?.(plain(node)) || this.#wrong(name, wanted, node);
  }

  #type(name: string, node: SpecNode): boolean {
    const types = node.kind === "list" ? node.items.map(scalarText) : [scalarText(node)];
    const wrong = types.find((type) => type === undefined || !TYPES.includes(type));
    if (types.length > 0 && types.every((type) => type !== undefined && TYPES.includes(type))) return true;
    const better = OTHER_WORDS[String(wrong)];
    const hint = better && `write ${better}`;
    this.#findings.error("SPEC_VALUE", `${name} must be ${listed(TYPES, "or")}`, node, { hint });
    return false;
  }

  #pattern(name: string, node: SpecNode): boolean {
    const text = scalarText(node);
    if (text === undefined) return this.#wrong(name, "a string", node);
    this.#hasPattern = true;
    const cause = linearPatternProblem(text);
    if (cause === undefined) return true;
    this.#findings.error("SPEC_VALUE", `${name} is not a valid regular expression`, node, {
      cause,
      hint: "lookahead and backreferences are not available",
    });
    return false;
  }

  #wrong(name: string, wanted: string, node: SpecNode): false {
    this.#findings.wrongType(name, wanted, node);
    return false;
  }
}

const PLAIN: Readonly<Record<string, readonly [wanted: string, takes: (value: Json) => boolean]>> = {
  text: ["a string", (value) => typeof value === "string"],
  flag: ["true or false", (value) => typeof value === "boolean"],
  count: ["a count", (value) => Number.isInteger(value) && Number(value) >= 0],
  number: ["a number", (value) => typeof value === "number"],
  list: ["a list of values", (value) => Array.isArray(value) && value.length > 0],
  texts: [
    "a list of strings",
    (value) => Array.isArray(value) && value.every((text) => typeof text === "string"),
  ],
};

/** The type of a default, which its other values have as well; undefined for null. */
function typeOf(node: SpecNode | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (node.kind !== "scalar") return node.kind === "list" ? "array" : "object";
  const type = typeof node.value;
  if (type === "object") return undefined;
  return type === "string" || type === "boolean" ? type : "number";
}

/** The value with marks, which keep it out of every output; frames do not show its place, unless another place has the value. */
export function sensitiveValue(
  node: SpecNode,
  { choices }: Pick<ParameterDeclaration, "choices">,
  sensitive: SensitiveTexts,
): SpecNode {
  for (const choice of choices) sensitive.addPossibleValue(choice);
  if (!isPathAlone(writtenText(node))) node.source.mask(node);
  visitNodes(node, (part) => {
    const { value } = part.kind === "scalar" ? part : {};
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint") return;
    const text = String(value);
    // The text of an expression whose value is missing.
    if (isPathAlone(text)) return;
    for (const form of escapeForms(text)) sensitive.add(form);
  });
  return asSensitive(node);
}

/** Hides what is written for an input, also if no instance takes it. Without a declaration, the input may be sensitive. */
export function hideWritten(
  node: SpecNode,
  declaration: ParameterDeclaration | undefined,
  sensitive: SensitiveTexts,
): void {
  const text = writtenText(node);
  if (declaration !== undefined && !text.includes("${")) sensitiveValue(node, declaration, sensitive);
  else if (!isPathAlone(text)) node.source.mask(node);
}

function writtenText({ source, start, end }: SpecNode): string {
  return source.text.slice(start, end).replace(/^(["'])(.*)\1$/s, "$2");
}

// Regular expressions of declarations run in linear time, so that none can hang a run.

const LONGEST_MATCHED = 10_000;

function linearPatternProblem(pattern: string): string | undefined {
  try {
    compiledPattern(pattern);
    return undefined;
  } catch (problem) {
    return shortened(thrownText(problem), 200);
  }
}

type LinearPattern = (text: string, at: Span) => boolean;

/** The patterns of a spec. Together they take a limited number of steps: the limit is reported once, and then all match. */
export class LinearPatterns {
  readonly #findings: Findings;
  #left: number = LIMITS.patternSteps;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** A test as JSON Schema has it: anywhere in the text. Throws an Error for an invalid pattern. */
  test(pattern: string): LinearPattern {
    const compiled = compiledPattern(pattern);
    const size = compiled.programSize();
    return (text, at) =>
      text.length <= LONGEST_MATCHED && this.#matches(compiled, size * text.length, text, at);
  }

  #matches(compiled: RE2JS, steps: number, text: string, at: Span): boolean {
    if (this.#left < 0) return true;
    this.#left -= steps;
    if (this.#left >= 0) return compiled.matcher(text).find();
    this.#findings.error("SPEC_TOO_LARGE", "patterns are matched against too much text", at);
    return true;
  }
}

function compiledPattern(pattern: string): RE2JS {
  if (pattern.length > LIMITS.pattern) throw new Error(`a pattern has at most ${LIMITS.pattern} characters`);
  return re2js().RE2JS.compile(pattern);
}

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
