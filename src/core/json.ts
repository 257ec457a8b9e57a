// Types of JSON values. An INT64 beyond 2^53 is a bigint, so that no digit is lost.

export type Json = string | number | bigint | boolean | null | JsonArray | JsonObject;
type JsonArray = readonly Json[];
export type JsonObject = { readonly [key: string]: Json };

export function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Every text in a value, names of members aside. */
export function collectTexts(value: Json | undefined, into: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof value === "string") into.add(value);
  else if (typeof value === "object" && value !== null)
    for (const member of Object.values(value)) collectTexts(member, into);
  return into;
}

/** The value as an object; an empty object for any other type. */
export function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The value as a list; an empty list for any other type. */
export function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** One key of a YAML document with its value, or with further keys, and the comment above it. */
export type YamlMember = {
  readonly key: string;
  readonly above?: readonly string[];
} & ({ readonly value: Json } | { readonly members: readonly YamlMember[] });

/** A member of the object itself: a key from outside may be the name of an inherited one, such as `constructor`. */
export function ownMember<T>(object: { readonly [key: string]: T }, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The object itself if it has none of these members. */
export function omit(object: JsonObject, names: readonly string[]): JsonObject {
  if (!names.some((name) => Object.hasOwn(object, name))) return object;
  return membersWhere(object, (name) => !names.includes(name));
}

export function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return membersWhere(object, (name) => names.includes(name));
}

export function membersWhere<T>(
  object: { readonly [key: string]: T },
  isKept: (name: string, value: T) => boolean,
): { [key: string]: T } {
  return Object.fromEntries(Object.entries(object).filter(([name, value]) => isKept(name, value)));
}

/** Compares by code units, the same in every locale. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares entries of a map or an object by their keys. */
export function compareKeys(
  [a]: readonly [key: string, value: unknown],
  [b]: readonly [key: string, value: unknown],
): number {
  return compareTexts(a, b);
}

/** An object without those members that are undefined. */
export function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** `known`, if it has the same members in the same order, else `value`: values that are kept twice are shared. Members that are not identical count as different, so that the comparison stays cheap. */
export function sharedIfSame<T extends object>(known: T | undefined, value: T): T {
  if (known === undefined || Array.isArray(known) !== Array.isArray(value)) return value;
  const keys = Object.keys(value);
  const knownKeys = Object.keys(known);
  const isSame =
    keys.length === knownKeys.length &&
    keys.every((key, at) => knownKeys[at] === key && known[key as keyof T] === value[key as keyof T]);
  return isSame ? known : value;
}
