// Unknown fields: live fields that a kind does not have. An update keeps them, a replacement and an export lack them.

import { isObject, type Json, type JsonObject, ownMember } from "../../core/json.ts";
import type { FieldSchema, FieldTable } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { PlannedChange } from "../../resource/planning.ts";
import { effectOn } from "./problems.ts";

/** The live object with the names of fields that neither `fields` nor `readOnly` (dotted names) contains, if there are any. */
export function withUnknownFields(
  live: LiveObject,
  fields: FieldTable,
  answer: JsonObject,
  readOnly: ReadonlySet<string>,
): LiveObject {
  const names = new Set<string>();
  addUnknown(names, "", fields, answer, readOnly);
  return names.size === 0 ? live : { ...live, unknownFields: [...names].sort() };
}

/** The consequence of a replacement. Names only: a value may be secret. */
export function unknownFieldsLost({ action, live }: PlannedChange, what: string): readonly string[] {
  const names = action === "replace" ? (live?.unknownFields ?? []) : [];
  return effectOn(`the new ${what} does not get fields that this program does not know`, names);
}

/** Loops instead of lists: a workspace may have many users, and nearly all of them have no unknown field. */
function addUnknown(
  names: Set<string>,
  within: string,
  fields: FieldTable,
  answer: JsonObject,
  readOnly: ReadonlySet<string>,
): void {
  for (const name in answer) {
    const value = answer[name] ?? null;
    const field = ownMember(fields, name);
    if (field !== undefined) {
      if (typeof value === "object") addInside(names, `${within}${name}.`, field, value, readOnly);
    } else if (!readOnly.has(within + name) && !isEmpty(value)) names.add(within + name);
  }
}

function addInside(
  names: Set<string>,
  within: string,
  schema: FieldSchema | undefined,
  value: Json,
  readOnly: ReadonlySet<string>,
): void {
  if (Array.isArray(value)) {
    const { items } = schema ?? {};
    if (items?.properties !== undefined)
      for (const item of value as readonly Json[]) addInside(names, within, items, item, readOnly);
  } else if (!isObject(value)) return;
  else if (schema?.properties !== undefined) addUnknown(names, within, schema.properties, value, readOnly);
  else if (typeof schema?.additionalProperties === "object")
    for (const key in value)
      addInside(names, `${within}${key}.`, schema.additionalProperties, value[key] ?? null, readOnly);
}

export const isEmpty = (value: Json): boolean =>
  value === null ||
  value === "" ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);
