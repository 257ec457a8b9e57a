// Generates the JSON Schema of a spec from the kinds, for validation, and for editors, which see a spec before its expressions are evaluated.

import { defined, isObject, type Json } from "../../core/json.ts";
import { ANNOTATION_KEYWORDS, type FieldSchema } from "../../resource/field-schema.ts";
import {
  isContentField,
  isSecretValue,
  type PlannedKind,
  type PlanningRegistry,
  secretField,
} from "../../resource/kind.ts";
import { ifType, type JsonSchema, type NamedSchema } from "./keywords.ts";
import { LANGUAGE, LIFECYCLE, policySchema, REPETITION, rulesSchema } from "./sections.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** One resource of a kind as a spec writes it: without what the service sets, without what a secret would show. */
export function resourceSchema(provider: PlannedKind): JsonSchema {
  const properties: JsonSchema = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(provider.fields)) {
    if (field.readOnly === true || isSecretValue(field) || isContentField(provider, name)) continue;
    properties[name] = specForm(field);
    if (!isOptional(field) && name !== provider.nameField) required.push(name);
  }
  properties.lifecycle = { $ref: "#/$defs/lifecycle" };
  return {
    title: provider.singular,
    description: provider.description,
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/** The schema of one resource, including the definitions that it refers to. */
export function schemaOfKind(provider: PlannedKind): NamedSchema {
  const schema = (): JsonSchema => ({ ...resourceSchema(provider), $defs: { lifecycle: LIFECYCLE } });
  return { name: provider.kind, schema };
}

/** The schema of a complete spec. Nested kinds are inside their parents. */
export function specSchema(registry: PlanningRegistry): JsonSchema {
  const definitions: JsonSchema = { lifecycle: LIFECYCLE };
  const sections: JsonSchema = {};
  for (const provider of registry.kinds) {
    definitions[provider.kind] = withNested(provider, registry);
    if (provider.nested === undefined) sections[provider.kind] = mapOf(provider.kind, provider.description);
  }
  return {
    $schema: DIALECT,
    $id: "workspace.schema.json",
    title: "Workspace spec",
    description: "Desired state of a Databricks workspace.",
    type: "object",
    properties: { ...LANGUAGE, policy: policySchema(registry), rules: rulesSchema(registry), ...sections },
    patternProperties: { "^x-": { description: "Ignored; use it for anchors and notes." } },
    additionalProperties: false,
    $defs: definitions,
  };
}

function withNested(provider: PlannedKind, registry: PlanningRegistry): JsonSchema {
  const schema = resourceSchema(provider);
  const properties = { ...(schema.properties as JsonSchema) };
  for (const child of registry.kinds)
    if (child.nested?.kind === provider.kind)
      properties[child.nested.under] = mapOf(child.kind, child.description);
  if (provider.nested === undefined) Object.assign(properties, REPETITION);
  const whole: JsonSchema = { ...schema, properties };
  if (secretField(provider) !== undefined) whole.oneOf = [{ required: ["env"] }, { required: ["file"] }];
  else if (schema.required === undefined) whole.type = ["object", "null"];
  return provider.nested?.shorthand === undefined ? whole : shortened(whole, provider.nested.shorthand);
}

/** Allows the shorthand `data-eng: READ` for `data-eng: { permission: READ }`. */
function shortened(whole: JsonSchema, field: string): JsonSchema {
  const { title, description, ...rest } = whole;
  const short = (whole.properties as JsonSchema)[field] as JsonSchema;
  return { ...defined({ title, description }), ...ifType("object", rest, short) };
}

function mapOf(kind: string, description: string): JsonSchema {
  return { description, type: ["object", "null"], additionalProperties: { $ref: `#/$defs/${kind}` } };
}

/** typebox marks optional members with a symbol that JSON does not contain. */
export function isOptional(field: FieldSchema): boolean {
  return "~optional" in field || field.source === true;
}

/** A string with a reference in it; `$${` is not a reference. */
const REFERENCE_PATTERN = "(^|[^$])\\$\\{";

const DROPPED = new Set<string>([...ANNOTATION_KEYWORDS, "readOnly", "writeOnly"]);
const OUTER = new Set(["title", "description", "default", "deprecated"]);
/** Keywords that restrict a string; a string without them accepts a reference. */
const RESTRICTIONS = ["enum", "const", "pattern", "format", "maxLength"];

export function specForm(field: FieldSchema): JsonSchema {
  const outer: JsonSchema = {};
  const core: JsonSchema = {};
  for (const [keyword, value] of Object.entries(field)) {
    if (DROPPED.has(keyword) || value === undefined) continue;
    if (OUTER.has(keyword)) outer[keyword] = value as Json;
    else core[keyword] = inner(keyword, value as Json);
  }
  const description = described(field);
  if (description !== undefined) outer.description = description;
  joinLiterals(core);
  if (core.properties !== undefined && core.additionalProperties === undefined)
    core.additionalProperties = false;
  return takesReferences(core)
    ? { ...outer, if: { type: "string", pattern: REFERENCE_PATTERN }, else: core }
    : { ...outer, ...core };
}

function inner(keyword: string, value: Json): Json {
  switch (keyword) {
    case "properties":
    case "patternProperties":
      return Object.fromEntries(
        Object.entries(value as JsonSchema).map(([name, value]) => [name, specForm(value as FieldSchema)]),
      );
    case "items":
    case "additionalProperties":
      return typeof value === "boolean" ? value : specForm(value as FieldSchema);
    case "propertyNames":
      // A key cannot contain a reference.
      return Object.fromEntries(Object.entries(value as JsonSchema).filter(([name]) => !DROPPED.has(name)));
    case "anyOf":
    case "oneOf":
    case "allOf":
      return (value as readonly FieldSchema[]).map(specForm);
    default:
      return value;
  }
}

/** A union of literals says in one enum what it would say in many branches; the errors are the better for it. */
function joinLiterals(core: JsonSchema): void {
  const branches = core.anyOf;
  if (!Array.isArray(branches)) return;
  const values: Json[] = [];
  for (const branch of branches as readonly JsonSchema[]) {
    const literal = (branch.else ?? branch) as JsonSchema;
    if (literal.const === undefined) return;
    values.push(literal.const);
  }
  delete core.anyOf;
  core.enum = values;
}

function takesReferences(core: JsonSchema): boolean {
  if (core.anyOf !== undefined || core.oneOf !== undefined || core.allOf !== undefined) return false;
  if (core.type === "object") return false;
  if (core.type === "string") return RESTRICTIONS.some((keyword) => core[keyword] !== undefined);
  if (Array.isArray(core.type) && core.type.includes("string")) return false;
  return core.type !== undefined || core.enum !== undefined || core.const !== undefined;
}

/** The description, with sentences for the annotations. */
function described(field: FieldSchema): string | undefined {
  const notes: string[] = [];
  if (field.description !== undefined) notes.push(field.description);
  if (field.onChange === "replace" && !/cannot be changed/i.test(field.description ?? ""))
    notes.push("Cannot be changed in place.");
  if (field.refersTo !== undefined) notes.push(`Refers to ${field.refersTo}.`);
  if (field.serverDefault === true && field.type !== "object") notes.push("If unset, the service chooses.");
  return notes.length > 0 ? notes.join(" ") : undefined;
}

/** The schema of a spec, in which an expression can replace each value of a kind and of the policy. */
export function editorSchema(registry: PlanningRegistry): JsonSchema {
  const { properties, $defs, ...whole } = specSchema(registry);
  const sections = new Set(["policy", ...registry.kinds.map(({ kind }) => kind)]);
  return {
    ...whole,
    properties: mapped(properties, (value, name) => (sections.has(name) ? withExpressions(value) : value)),
    $defs: mapped($defs, withExpressions),
  };
}

function mapped(schemas: Json | undefined, change: (value: Json, name: string) => Json): Json {
  return Object.fromEntries(
    Object.entries((schemas ?? {}) as JsonSchema).map(([name, value]) => [name, change(value, name)]),
  );
}

/** What a schema says about a value in an editor; the rest checks the value. */
const SHOWN_IN_EDITOR = ["title", "description", "default", "deprecated", "examples"];

function withExpressions(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const whole = inside(schema);
  if (takesExpressions(whole)) return whole;
  const isOuter = ([name]: readonly [string, Json]): boolean => SHOWN_IN_EDITOR.includes(name);
  const entries = Object.entries(whole);
  return {
    ...Object.fromEntries(entries.filter(isOuter)),
    if: { type: "string", pattern: REFERENCE_PATTERN },
    else: Object.fromEntries(entries.filter((entry) => !isOuter(entry))),
  };
}

function takesExpressions({ type, if: condition, pattern, enum: values, $ref }: JsonSchema): boolean {
  if (condition !== undefined) return isObject(condition) && condition.pattern === REFERENCE_PATTERN;
  const isAnyString = [type].flat().includes("string") && pattern === undefined && values === undefined;
  return $ref !== undefined || type === undefined || isAnyString;
}

/** The schema with expressions in its members, entries, and branches. */
function inside(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === "properties" || keyword === "patternProperties")
        return [keyword, mapped(value, withExpressions)];
      if (keyword === "additionalProperties" || keyword === "items") return [keyword, withExpressions(value)];
      const isBranch = (keyword === "then" || keyword === "else") && isObject(value);
      return [keyword, isBranch ? inside(value) : value];
    }),
  );
}
