// Reads the typed inputs of a module: a subset of JSON Schema without references and without slow keywords.

import type { Json } from "../../core/json.ts";
import { listed } from "../../core/sentences.ts";
import { linearPatternProblem } from "../evaluate/linear-patterns.ts";
import { escapedTree } from "../evaluate/node-values.ts";
import type { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import { isFlag, isNull, type MapNode, member, plain, type SpecNode, scalarText } from "../model/tree.ts";
import type { JsonSchema } from "../schema/keywords.ts";

export interface InputDeclaration {
  readonly name: string;
  readonly at: Span;
  /** Without `default` and `sensitive`. */
  readonly schema: JsonSchema;
  readonly fallback: SpecNode | undefined;
  readonly sensitive: boolean;
  /** Only the full validator runs patterns in linear time. */
  readonly hasPattern: boolean;
}

const TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"];
/** Words of variables, and what JSON Schema calls the same. */
const OTHER_WORDS: Readonly<Record<string, string>> = { list: "array", map: "object", text: "string" };

/** Keywords, by what their value must be. */
const KEYWORDS: Readonly<Record<string, string>> = {
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

type Inputs = ReadonlyMap<string, InputDeclaration>;

export function inputsOf(section: SpecNode | undefined, findings: Findings): Inputs {
  const inputs = new Map<string, InputDeclaration>();
  const reader = new SchemaReader(findings);
  for (const [name, { key, value }] of findings.names("inputs", section)) {
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
      this.#findings.wrongType(`inputs.${name}`, "a JSON Schema", node, {
        hint: `write { type: string, default: … }`,
      });
    const isValid = map?.kind === "map" && this.#check(`inputs.${name}`, map);
    const { default: _, sensitive, ...schema } = isValid ? (plain(map) as JsonSchema) : {};
    // Other values cannot be recognized in an output.
    if (sensitive === true && schema.type !== "string") {
      const message = `inputs.${name}: only an input of type string can be sensitive`;
      this.#findings.error("SPEC_VALUE", message, member(map, "sensitive"));
    }
    const given = member(map, "default");
    const fallback = given === undefined ? undefined : escapedTree(given);
    return { name, at, schema, fallback, sensitive: sensitive === true, hasPattern: this.#hasPattern };
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
      const message = `the inputs of a module have at most ${LIMITS.inputSchema} keywords`;
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
      `${name}: only a complete input can be sensitive, not a part of it`,
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
    (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
  ],
};
