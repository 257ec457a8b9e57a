// Fields of a live object that a replacement does not give to the new object: unknown ones, and those that the spec does not set.

import { canonicalJson } from "../../core/canonical.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { toDottedPath, valueAt } from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import type { FieldSchema, FieldTable, Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { PlannedChange } from "../../resource/planning.ts";
import { preservedPaths } from "./preserved-fields.ts";

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

/**
 * The consequence of a replacement for fields that an update would keep, because the spec does not set them. `usual`: what the
 * service sets for a new object. `elsewhere`: fields that other consequences are about.
 */
export function fieldsNotSet(
  { action, live, after, diffs }: PlannedChange,
  fields: FieldTable,
  what: string,
  { usual = {}, elsewhere = [] }: { readonly usual?: Values; readonly elsewhere?: readonly string[] } = {},
): readonly string[] {
  if (action !== "replace" || live === undefined || after === undefined) return [];
  const names = preservedPaths(fields, live.values, after, diffs)
    .filter((path) => !elsewhere.includes(String(path[0])))
    .filter((path) => {
      const now = valueAt(live.values, path) ?? null;
      return !isEmpty(now) && canonicalJson(now) !== canonicalJson(valueAt(usual, path) ?? null);
    })
    .map(toDottedPath);
  return names.length === 0
    ? []
    : [
        `the service chooses new values for fields of the ${what} that the spec does not set: ${listed(names)}`,
      ];
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
