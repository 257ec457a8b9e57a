// Validates values against kind schemas. Loads the full validator, which is slow, only if the fast check is inconclusive.

import { isObject, type Json, ownMember } from "../../core/json.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import type { MapNode, ScalarNode, SpecNode } from "../model/tree.ts";
import type { JsonSchema, NamedSchema } from "./keywords.ts";
import type { SpecValidator } from "./validate.ts";

const SATISFIED: SpecValidator = () => [];

/** A validator for these values. Loading the real one and compiling schemas takes longer than a whole valid spec. */
export async function validatorFor(
  registry: PlanningRegistry,
  values: Iterable<{ readonly schema: NamedSchema; readonly node: SpecNode }>,
): Promise<SpecValidator> {
  const checks = new Map<string, QuickCheck>();
  for (const { schema, node } of values) {
    const check = checks.get(schema.name) ?? quickCheck(schema.schema());
    checks.set(schema.name, check);
    if (check(node)) continue;
    const { validatorOf } = await import("./validate.ts");
    return validatorOf(registry);
  }
  return SATISFIED;
}

/** True only if the schema certainly accepts the value; false means that the validator must decide. */
export type QuickCheck = (node: SpecNode) => boolean;

/** Keywords that only document and do not restrict. */
const NOTES = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "$defs",
  // Reported as a warning elsewhere (whole-spec-checks.ts).
  "uniqueItems",
  // Read together with `properties` and `if`.
  "additionalProperties",
  "then",
  "else",
]);

const NEVER: QuickCheck = () => false;

/** A check made once for a schema; a keyword that it does not know makes it sure of nothing. */
export function quickCheck(schema: JsonSchema, root: JsonSchema = schema): QuickCheck {
  const checks: QuickCheck[] = [];
  for (const keyword of Object.keys(schema)) {
    if (NOTES.has(keyword)) continue;
    const check = checkOf(keyword, schema, root);
    if (check === undefined) return NEVER;
    checks.push(check);
  }
  if (schema.additionalProperties !== undefined && schema.properties === undefined)
    checks.push(members({}, schema.additionalProperties, root));
  const [first = () => true, second, ...more] = checks;
  if (second === undefined) return first;
  if (more.length === 0) return (node) => first(node) && second(node);
  return (node) => checks.every((check) => check(node));
}

function checkOf(keyword: string, schema: JsonSchema, root: JsonSchema): QuickCheck | undefined {
  const value = schema[keyword];
  switch (keyword) {
    case "$ref":
      return reference(String(value), root);
    case "type":
      return typed(value);
    case "enum":
      return (node) => node.kind === "scalar" && Array.isArray(value) && value.includes(node.value);
    case "if":
      return choice(schema, root);
    case "properties":
      return members(value as JsonSchema, schema.additionalProperties, root);
    case "propertyNames":
      return names(value as JsonSchema, root);
    case "required":
      return onMaps((node) => (value as readonly string[]).every((name) => node.members.has(name)));
    case "items":
      return items(value as JsonSchema, root);
    default:
      return typeof value === "number" || typeof value === "string" ? limit(keyword, value) : undefined;
  }
}

function limit(keyword: string, value: number | string): QuickCheck | undefined {
  if (keyword === "pattern") {
    const pattern = new RegExp(String(value), "u");
    return onTexts((text) => pattern.test(text));
  }
  const bound = Number(value);
  switch (keyword) {
    case "minLength":
      return onTexts((text) => text.length >= 2 * bound || lengthOf(text) >= bound);
    case "maxLength":
      return onTexts((text) => text.length <= bound || lengthOf(text) <= bound);
    case "minimum":
      return onNumbers((number) => number >= bound);
    case "maximum":
      return onNumbers((number) => number <= bound);
    case "minItems":
      return (node) => node.kind !== "list" || node.items.length >= bound;
    case "maxItems":
      return (node) => node.kind !== "list" || node.items.length <= bound;
    case "maxProperties":
      return onMaps((node) => node.members.size <= bound);
    default:
      return undefined;
  }
}

const onMaps =
  (check: (node: MapNode) => boolean): QuickCheck =>
  (node) =>
    node.kind !== "map" || check(node);

const onTexts =
  (check: (text: string) => boolean): QuickCheck =>
  (node) =>
    node.kind !== "scalar" || typeof node.value !== "string" || check(node.value);

/** A number that is not a safe integer is left to the validator. */
const onNumbers =
  (check: (number: number) => boolean): QuickCheck =>
  (node) =>
    node.kind !== "scalar" ||
    (typeof node.value !== "bigint" && (typeof node.value !== "number" || check(node.value)));

/** In code points, as JSON Schema counts. */
function lengthOf(text: string): number {
  return /[\ud800-\udbff]/.test(text) ? [...text].length : text.length;
}

function reference(to: string, root: JsonSchema): QuickCheck | undefined {
  const name = /^#\/\$defs\/([\w-]+)$/.exec(to)?.[1];
  const target = name === undefined ? undefined : (root.$defs as JsonSchema | undefined)?.[name];
  return target === undefined ? undefined : schemaOf(target, root);
}

function schemaOf(schema: Json, root: JsonSchema): QuickCheck {
  if (schema === true) return () => true;
  return isObject(schema) ? quickCheck(schema, root) : NEVER;
}

function typed(types: Json | undefined): QuickCheck {
  const allowed = new Set(Array.isArray(types) ? types : [types]);
  return (node) => {
    const type = typeOf(node);
    return type !== undefined && (allowed.has(type) || (type === "integer" && allowed.has("number")));
  };
}

function typeOf(node: SpecNode): string | undefined {
  if (node.kind === "map") return "object";
  if (node.kind === "list") return "array";
  const { value } = node;
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "bigint" ? undefined : typeof value;
}

/** Only conditions whose failure is certain: a type, and a pattern of a string. */
function choice(schema: JsonSchema, root: JsonSchema): QuickCheck | undefined {
  const condition = schema.if as JsonSchema;
  if (Object.keys(condition).some((keyword) => keyword !== "type" && keyword !== "pattern")) return undefined;
  const holds = quickCheck(condition, root);
  const yes = schema.then === undefined ? () => true : schemaOf(schema.then, root);
  const no = schema.else === undefined ? () => true : schemaOf(schema.else, root);
  return (node) => !isLarge(node) && (holds(node) ? yes(node) : no(node));
}

const isLarge = (node: SpecNode): node is ScalarNode =>
  node.kind === "scalar" && typeof node.value === "bigint";

/** The check of a member is made when a spec has the member: it uses few of a kind's fields. */
function members(properties: JsonSchema, others: Json | undefined, root: JsonSchema): QuickCheck {
  const quickCheckByKey = new Map<string, QuickCheck>();
  const rest = others === undefined ? () => true : schemaOf(others, root);
  const checkOfMember = (name: string): QuickCheck => {
    const quickCheck = quickCheckByKey.get(name);
    const schema = ownMember(properties, name);
    if (quickCheck !== undefined || schema === undefined) return quickCheck ?? rest;
    const check = schemaOf(schema, root);
    quickCheckByKey.set(name, check);
    return check;
  };
  return onMaps((node) => {
    for (const [name, { value }] of node.members) if (!checkOfMember(name)(value)) return false;
    return true;
  });
}

function names(schema: JsonSchema, root: JsonSchema): QuickCheck {
  const check = quickCheck(schema, root);
  return onMaps((node) => {
    for (const [name, { key }] of node.members)
      if (!check({ kind: "scalar", value: name, ...key })) return false;
    return true;
  });
}

function items(schema: JsonSchema, root: JsonSchema): QuickCheck {
  const check = schemaOf(schema, root);
  return (node) => node.kind !== "list" || node.items.every(check);
}
