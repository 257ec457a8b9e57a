// The typed inputs of a module, read from a small part of JSON Schema: no keyword of it refers elsewhere or takes long.

import { isObject, type Json } from "../../core/json.ts";
import { listed } from "../../core/sentences.ts";
import { linearPatternProblem } from "../expressions/linear-pattern.ts";
import { escapedTree } from "../expressions/values.ts";
import type { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import { isNull, type MapNode, member, plain, type SpecNode, scalarText, whatIs } from "../model/tree.ts";
import type { JsonSchema } from "../schema/json-schema-type.ts";

export interface InputDeclaration {
  readonly name: string;
  readonly at: Span;
  /** Without `default` and `sensitive`. */
  readonly schema: JsonSchema;
  readonly fallback: SpecNode | undefined;
  readonly sensitive: boolean;
  /** Patterns run in linear time, which only the whole validator does. */
  readonly hasPattern: boolean;
}

const TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"];
/** Words of variables, and what JSON Schema calls the same. */
const OTHER_WORDS: Readonly<Record<string, string>> = { list: "array", map: "object", text: "string" };

/** Keywords, by what their value must be. */
const KEYWORDS: Readonly<
  Record<
    string,
    "any" | "text" | "flag" | "count" | "number" | "schema" | "schemas" | "texts" | "list" | "type"
  >
> = {
  type: "type",
  title: "text",
  description: "text",
  default: "any",
  examples: "list",
  deprecated: "flag",
  sensitive: "flag",
  enum: "list",
  const: "any",
  pattern: "text",
  minLength: "count",
  maxLength: "count",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "number",
  items: "schema",
  minItems: "count",
  maxItems: "count",
  properties: "schemas",
  required: "texts",
  additionalProperties: "schema",
  propertyNames: "schema",
  minProperties: "count",
  maxProperties: "count",
};

/** The keywords that inputs may use, for documentation. */
export const INPUT_KEYWORDS = Object.keys(KEYWORDS);

export function inputsOf(
  section: SpecNode | undefined,
  findings: Findings,
): ReadonlyMap<string, InputDeclaration> {
  const inputs = new Map<string, InputDeclaration>();
  if (section === undefined || isNull(section)) return inputs;
  if (section.kind !== "map") {
    findings.error("SPEC_TYPE", `inputs must be a map of names, not ${whatIs(section)}`, section);
    return inputs;
  }
  const reader = new SchemaReader(findings);
  for (const [name, { key, value }] of section.members) {
    if (!/^[A-Za-z_][\w-]*$/.test(name))
      findings.error("SPEC_INPUT", `${JSON.stringify(name)} cannot name an input`, key);
    inputs.set(name, reader.declaration(name, key, value));
  }
  return inputs;
}

class SchemaReader {
  readonly #findings: Findings;
  #left: number = LIMITS.inputSchema;
  #hasPattern = false;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  declaration(name: string, at: Span, node: SpecNode): InputDeclaration {
    this.#hasPattern = false;
    const map = isNull(node) || node.kind === "map" ? node : undefined;
    if (map === undefined)
      this.#findings.error("SPEC_TYPE", `inputs.${name} must be a JSON Schema, not ${whatIs(node)}`, node, {
        hint: `write { type: string, default: … }`,
      });
    const isValid = map?.kind === "map" && this.#check(`inputs.${name}`, map);
    const { default: _, sensitive, ...schema } = isValid ? (plain(map) as JsonSchema) : {};
    // Other values cannot be recognized in an output.
    if (sensitive === true && schema.type !== "string")
      this.#findings.error(
        "SPEC_VALUE",
        `inputs.${name}: only an input of type string can be sensitive`,
        member(map, "sensitive"),
      );
    const fallback = member(map, "default");
    return {
      name,
      at,
      schema,
      fallback: fallback === undefined ? undefined : escapedTree(fallback),
      sensitive: sensitive === true,
      hasPattern: this.#hasPattern,
    };
  }

  /** Whether the schema can be used; every problem is reported. */
  #check(name: string, node: MapNode): boolean {
    let isValid = true;
    for (const [keyword, { key, value }] of node.members) {
      const kind = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
      if (kind === undefined) {
        this.#findings.error("SPEC_UNKNOWN_FIELD", `${name} has no keyword ${JSON.stringify(keyword)}`, key, {
          hint: `the keywords are ${listed(INPUT_KEYWORDS, "and", 40)}`,
        });
        isValid = false;
      } else if (!this.#value(`${name}.${keyword}`, keyword, kind, value)) isValid = false;
    }
    return isValid;
  }

  #value(name: string, keyword: string, kind: string, node: SpecNode): boolean {
    if (--this.#left < 0) {
      this.#findings.error(
        "SPEC_TOO_LARGE",
        `the inputs of a module have at most ${LIMITS.inputSchema} keywords`,
        node,
      );
      return false;
    }
    if (kind === "schema") {
      if (node.kind === "map") return this.#part(name, node);
      return keyword === "additionalProperties" && node.kind === "scalar" && typeof node.value === "boolean"
        ? true
        : this.#wrong(name, "a schema", node);
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
    this.#findings.error("SPEC_VALUE", `${name}: only a whole input can be sensitive`, sensitive.key);
    return false;
  }

  #plain(name: string, kind: string, node: SpecNode): boolean {
    const value = plain(node);
    switch (kind) {
      case "type":
        return this.#type(name, node);
      case "text":
        return typeof value === "string" || this.#wrong(name, "a string", node);
      case "flag":
        return typeof value === "boolean" || this.#wrong(name, "true or false", node);
      case "count":
        return (Number.isInteger(value) && Number(value) >= 0) || this.#wrong(name, "a count", node);
      case "number":
        return typeof value === "number" || this.#wrong(name, "a number", node);
      case "list":
        return (Array.isArray(value) && value.length > 0) || this.#wrong(name, "a list of values", node);
      case "texts":
        return isTexts(value) || this.#wrong(name, "a list of strings", node);
      default:
        return true;
    }
  }

  #type(name: string, node: SpecNode): boolean {
    const types = node.kind === "list" ? node.items.map(scalarText) : [scalarText(node)];
    const wrong = types.find((one) => one === undefined || !TYPES.includes(one));
    if (types.length > 0 && types.every((one) => one !== undefined && TYPES.includes(one))) return true;
    const better = OTHER_WORDS[String(wrong)];
    const hint = better === undefined ? {} : { hint: `did you mean ${JSON.stringify(better)}?` };
    this.#findings.error("SPEC_VALUE", `${name} must be ${listed(TYPES, "or")}`, node, hint);
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
    this.#findings.error("SPEC_TYPE", `${name} must be ${wanted}, not ${whatIs(node)}`, node);
    return false;
  }
}

function isTexts(value: Json): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string") && !isObject(value);
}
