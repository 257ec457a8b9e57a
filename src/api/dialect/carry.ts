// Copies fields of the live object into a write that would replace them: every field that the write does not set.

import { canonicalJson } from "../../core/canonical.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type Path, setMember, toDottedPath } from "../../core/pointer.ts";
import type { WrittenField, WrittenFields } from "./table.ts";

/** Thrown where a field of the live object would be lost. */
export class FieldNotRepeatable extends Error {
  readonly field: string;
  constructor(path: Path) {
    super(toDottedPath(path));
    this.field = toDottedPath(path);
  }
}

/** `written` with the fields of `live` that it does not set. Throws FieldNotRepeatable. */
export function withCarried(
  fields: WrittenFields,
  live: JsonObject,
  written: JsonObject,
  path: Path = [],
): JsonObject {
  const carried: { [field: string]: Json } = { ...written };
  for (const [name, value] of Object.entries(live)) {
    const result = carriedValue(own(fields, name), value, own(written, name), [...path, name]);
    if (result !== undefined) setMember(carried, name, result);
  }
  return carried;
}

/** A member of an object's own: a service may call a field `constructor`. */
const own = <T>(object: { readonly [name: string]: T }, name: string): T | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

function carriedValue(
  field: WrittenField | undefined,
  live: Json,
  written: Json | undefined,
  path: Path,
): Json | undefined {
  if (field === undefined) return written ?? live;
  if (field === "written") return written;
  if (field.is === "list") return carriedList(field.fields, live, written, path);
  if (!isObject(live)) return written;
  if (isObject(written)) return withCarried(field.fields, live, written, path);
  if (!field.stays) return isBare(field.fields, live) ? live : written;
  const rest = withCarried(field.fields, live, {}, path);
  return isEmptyValue(rest) ? written : rest;
}

/** Nothing in it is written by us, so its absence in a write says nothing about it. */
const isBare = (fields: WrittenFields, live: JsonObject): boolean =>
  Object.keys(live).length > 0 && isEmptyValue(writtenPart(fields, live));

/** The live list if the write does not change it; else the written elements with the unknown fields of their live ones. */
function carriedList(
  fields: WrittenFields,
  live: Json,
  written: Json | undefined,
  path: Path,
): Json | undefined {
  if (!Array.isArray(live)) return written;
  const before = live as readonly Json[];
  const after: readonly Json[] = Array.isArray(written) ? written : [];
  const known = before.map((one) => key(isObject(one) ? writtenPart(fields, one) : one));
  if (canonicalJson(known.filter((one) => one !== EMPTY)) === canonicalJson(after.map(key))) return live;
  const unknown = known.indexOf(EMPTY);
  if (unknown >= 0) throw new FieldNotRepeatable([...path, unknown, ...firstKey(before[unknown])]);
  const merged = after.map((one) => {
    const match = before[known.indexOf(key(one))];
    return isObject(one) && isObject(match) ? withCarried(fields, match, one, path) : one;
  });
  return written === undefined ? undefined : merged;
}

const key = (value: Json): string => canonicalJson(tidy(value));
const EMPTY = key({});

const firstKey = (value: Json | undefined): Path => (isObject(value) ? Object.keys(value).slice(0, 1) : []);

function writtenPart(fields: WrittenFields, live: JsonObject): JsonObject {
  const part: { [field: string]: Json } = {};
  for (const [name, value] of Object.entries(live)) {
    const field = own(fields, name);
    if (field === undefined) continue;
    part[name] =
      typeof field === "object" && field.is === "object" && isObject(value)
        ? writtenPart(field.fields, value)
        : value;
  }
  return part;
}

/** Without empty values, which mean the same as absent ones. */
function tidy(value: Json): Json {
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, Json] => [name, tidy(member)]);
  return Object.fromEntries(members.filter(([, member]) => !isEmptyValue(member)));
}

function isEmptyValue(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.values(value).every(isEmptyValue);
}
