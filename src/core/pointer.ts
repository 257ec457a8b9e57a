// Paths into JSON values: as arrays of keys inside the program, as JSON Pointers (RFC 6901) and dotted text outside.

import type { Json } from "./json.ts";

export type Path = readonly (string | number)[];

export function toPointer(path: Path): string {
  let text = "";
  for (const key of path) text += `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return text;
}

/** Whether a path is `outer`, or leads on from it. A key of digits is also an index. */
export function isAtOrBelow(path: Path, outer: Path): boolean {
  return path.length >= outer.length && outer.every((key, at) => String(key) === String(path[at]));
}

export function isSamePath(a: Path, b: Path): boolean {
  return a.length === b.length && isAtOrBelow(a, b);
}

/** Whether one of two paths is the other, or leads to it. */
export function overlaps(a: Path, b: Path): boolean {
  return isAtOrBelow(a, b) || isAtOrBelow(b, a);
}

/** `autoscale.max_workers`, `libraries[0].jar`, `spark_conf["spark.a.b"]`. */
export function toDottedPath(path: Path): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (/^[\w-]+$/.test(key)) text += text === "" ? key : `.${key}`;
    else text += `[${JSON.stringify(key)}]`;
  }
  return text;
}

/** The value at a path, or undefined if there is none. Never follows inherited members. */
export function valueAt(root: Json | undefined, path: Path): Json | undefined {
  let value: Json | undefined = root;
  for (const key of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) return undefined;
    value = (value as { readonly [key: string]: Json })[key];
  }
  return value;
}

/** A copy of `root` with the value at `path` replaced (or removed, where `value` is undefined); missing objects are made for a value. */
export function withValueAt(
  root: Json | undefined,
  path: Path,
  value: Json | undefined,
  from = 0,
): Json | undefined {
  const key = path[from];
  if (key === undefined) return value;
  if (root === undefined && value === undefined) return undefined;
  if (Array.isArray(root)) {
    const copy: Json[] = [...root];
    const member = withValueAt(copy[Number(key)], path, value, from + 1);
    if (member === undefined) copy.splice(Number(key), 1);
    else copy[Number(key)] = member;
    return copy;
  }
  const copy: { [key: string]: Json } = {
    ...(root !== null && typeof root === "object" ? (root as object) : {}),
  };
  const member = withValueAt(Object.hasOwn(copy, key) ? copy[key] : undefined, path, value, from + 1);
  if (member === undefined) delete copy[key];
  else setMember(copy, String(key), member);
  return copy;
}

/** Sets an own member of an object, whatever its name. */
export function setMember(object: { [key: string]: Json }, key: string, value: Json): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}

/** The keys of a JSON Pointer; an index of a list is a string, too. */
export function pointerKeys(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The path of a JSON Pointer. A key of digits becomes an index. */
export function fromPointer(pointer: string): Path {
  return pointerKeys(pointer).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
}
