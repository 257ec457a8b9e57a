// Walks over the strings, numbers, and booleans of a JSON value, with their paths.

import { isObject, type Json } from "./json.ts";
import { type Path, setMember } from "./pointer.ts";

export type Scalar = string | number | bigint | boolean;

export const isScalar = (value: Json | undefined): value is Scalar =>
  value !== undefined && value !== null && typeof value !== "object";

/** Whether a string or a key in an object or a list is such a one. */
export function hasString(value: Json | undefined, is: (text: string) => boolean): boolean {
  if (Array.isArray(value)) return value.some((item: Json) => isOrHas(item, is));
  if (!isObject(value)) return false;
  for (const key in value) if (is(key) || isOrHas(value[key], is)) return true;
  return false;
}

const isOrHas = (value: Json | undefined, is: (text: string) => boolean): boolean =>
  typeof value === "string" ? is(value) : hasString(value, is);

export function visitScalars(value: Json, path: Path, visit: (value: Scalar, path: Path) => void): void {
  if (Array.isArray(value))
    for (const [at, item] of value.entries()) visitScalars(item as Json, [...path, at], visit);
  else if (isObject(value))
    for (const [key, member] of Object.entries(value)) visitScalars(member, [...path, key], visit);
  else if (isScalar(value)) visit(value, path);
}

/** A copy with each string, number, and boolean changed, and each key by its path; the value itself if none is. */
export function changedScalars(
  value: Json,
  path: Path,
  change: (value: Scalar, path: Path) => Scalar,
  changeKey?: (path: Path) => string,
): Json {
  if (Array.isArray(value)) {
    const items = value.map((item: Json, at) => changedScalars(item, [...path, at], change, changeKey));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (isObject(value)) {
    let isChanged = false;
    const out: { [key: string]: Json } = {};
    for (const [key, member] of Object.entries(value)) {
      const here = [...path, key];
      const next = changedScalars(member, here, change, changeKey);
      const nextKey = changeKey === undefined ? key : changeKey(here);
      isChanged ||= next !== member || nextKey !== key;
      setMember(out, nextKey, next);
    }
    return isChanged ? out : value;
  }
  return isScalar(value) ? change(value, path) : value;
}

export function changedTexts(value: Json, change: (text: string) => string): Json {
  return changedScalars(
    value,
    [],
    (scalar) => (typeof scalar === "string" ? change(scalar) : scalar),
    (path) => change(String(path.at(-1))),
  );
}
