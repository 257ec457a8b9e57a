// A field's schema as a spec may write it: annotations turned into words, strict objects, and `${…}` where a value may be a reference.

import type { Json } from "../core/json.ts";
import type { FieldSchema } from "../resource/fields.ts";
import { ANNOTATION_KEYWORDS } from "../resource/fields.ts";
import type { JsonSchema } from "./schema.ts";

/** A text with a reference in it; `$${` is no reference. */
export const REFERENCE_PATTERN = "(^|[^$])\\$\\{";

const DROPPED = new Set<string>([...ANNOTATION_KEYWORDS, "readOnly", "writeOnly"]);
const OUTER = new Set(["title", "description", "default", "deprecated"]);
/** What restricts a text; a text without any of it takes a reference as it is. */
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
        Object.entries(value as JsonSchema).map(([name, one]) => [name, specForm(one as FieldSchema)]),
      );
    case "items":
    case "additionalProperties":
      return typeof value === "boolean" ? value : specForm(value as FieldSchema);
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

/** The description, with what the annotations say to people. */
function described(field: FieldSchema): string | undefined {
  const notes: string[] = [];
  if (field.description !== undefined) notes.push(field.description);
  if (field.onChange === "replace" && !/cannot be changed/i.test(field.description ?? ""))
    notes.push("Cannot be changed in place.");
  if (field.refersTo !== undefined) notes.push(`Refers to one of the ${field.refersTo}.`);
  if (field.serverDefault === true && field.type !== "object") notes.push("Unset, the service decides.");
  return notes.length > 0 ? notes.join(" ") : undefined;
}
