// Fields of a live object that this program does not know: a replacement cannot give them to the new object.

import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { listed } from "../../core/sentences.ts";
import type { FieldSchema, FieldTable } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { PlannedChange } from "../../resource/planning.ts";

/** The live object with the names of fields that neither `fields` nor `readOnly` contains, if there are any. */
export function withUnknownFields(
  live: LiveObject,
  fields: FieldTable,
  answer: JsonObject,
  readOnly: ReadonlySet<string>,
): LiveObject {
  const names = unknownNames(fields, answer, readOnly);
  return names.length === 0 ? live : { ...live, unknownFields: [...new Set(names)].sort() };
}

/** The consequence of a replacement. Names only: a value may be secret. */
export function fieldsNotCopied({ action, live }: PlannedChange, what: string): readonly string[] {
  const names = live?.unknownFields ?? [];
  return action !== "replace" || names.length === 0
    ? []
    : [`the new ${what} does not get fields that this program does not know: ${listed(names)}`];
}

function unknownNames(
  fields: FieldTable,
  answer: JsonObject,
  readOnly: ReadonlySet<string>,
): readonly string[] {
  return Object.entries(answer).flatMap(([name, value]) => {
    if (readOnly.has(name) || isEmpty(value)) return [];
    if (!Object.hasOwn(fields, name)) return [name];
    return namesInside(fields[name], value).map((inner) => `${name}.${inner}`);
  });
}

function namesInside({ properties, items }: FieldSchema = {}, value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one: Json) => namesInside(items, one));
  return properties !== undefined && isObject(value) ? unknownNames(properties, value, NONE) : [];
}

const NONE: ReadonlySet<string> = new Set();

const isEmpty = (value: Json): boolean =>
  value === null ||
  value === "" ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);
