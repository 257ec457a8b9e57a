// Values of CEL: integers are bigints, maps may compute their members on demand, and references to resources have no value yet.

import { canonicalJson } from "../core/digest.ts";
import { isObject, type Json } from "../core/json.ts";
import { SENSITIVE_TEXT } from "../core/sensitive/texts.ts";

/**
 * A value that an expression can choose and pass on, but not read: in a spec, a reference to a resource, which is unknown until apply; in
 * a rule, a sensitive value.
 */
export class UnknownValue {
  /** The part of the spec that contains the reference; `SENSITIVE_TEXT` for a sensitive value. */
  readonly origin: unknown;

  constructor(origin: unknown) {
    this.origin = origin;
  }
}

export type Keys = Pick<ReadonlySet<string>, "has" | "size"> & { keys(): IterableIterator<string> };

/** A map whose members are read on demand. `origin`: what it was made from. */
export class LazyMap extends Map<string, unknown> {
  readonly names: Keys;
  readonly origin: unknown;
  readonly #read: (name: string) => unknown;

  constructor(names: Keys, read: (name: string) => unknown, origin?: unknown) {
    super();
    this.names = names;
    this.#read = read;
    this.origin = origin;
  }

  override get(name: string): unknown {
    return this.names.has(name) ? this.#read(name) : undefined;
  }

  override has(name: string): boolean {
    return this.names.has(name);
  }

  override get size(): number {
    return this.names.size;
  }

  override keys(): MapIterator<string> {
    return [...this.names.keys()].values() as MapIterator<string>;
  }

  // `entries()` stays empty: the library reads the first entry to name a type, and that must evaluate nothing.
  override *[Symbol.iterator](): MapIterator<[string, unknown]> {
    for (const name of this.names.keys()) yield [name, this.#read(name)];
  }
}

// The library recognizes a map by its constructor.
Object.defineProperty(LazyMap.prototype, "constructor", { value: Map });

/**
 * JSON as a value of CEL, where integers are not floating-point numbers. `ofText`: what a string becomes. A map with a key that cannot be
 * read cannot be read either, because which keys it has is the first question about it.
 */
export function celValue(value: Json, ofText = (text: string): unknown => text): unknown {
  if (typeof value === "string") return ofText(value);
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item: Json) => celValue(item, ofText));
  if (!isObject(value)) return value;
  const unread = Object.keys(value).find((key) => ofText(key) !== key);
  if (unread !== undefined) return ofText(unread);
  return new Map(Object.entries(value).map(([key, member]) => [key, celValue(member, ofText)]));
}

export function integer(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A value of CEL as JSON. Throws an Error for a value that JSON does not have, such as a time. */
export function jsonValue(value: unknown): Json {
  if (typeof value === "bigint") return integer(value);
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error(`${value} is not a JSON number`);
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value;
  if (Array.isArray(value)) return value.map(jsonValue);
  if (value instanceof UnknownValue && value.origin === SENSITIVE_TEXT) return SENSITIVE_TEXT;
  const entries = entriesOf(value);
  if (entries === undefined)
    throw new Error(`the value is ${describeValue(value)}, which JSON does not have`);
  return Object.fromEntries(Array.from(entries, ([key, member]) => [String(key), jsonValue(member)]));
}

/** A value as a message or a formatted text shows it. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return String(value);
  return canonicalJson(jsonValue(value));
}

/** The entries of a map; undefined for any other value. */
export function entriesOf(value: unknown): Iterable<readonly [unknown, unknown]> | undefined {
  if (value instanceof Map) return value;
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype ? Object.entries(value) : undefined;
}

export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "bigint" || typeof value === "number") return `the number ${value}`;
  if (typeof value !== "object") return typeof value === "boolean" ? String(value) : `a ${typeof value}`;
  if (value instanceof UnknownValue) return "a reference";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Date) return "a time";
  if (entriesOf(value) !== undefined) return "a map";
  return "orValue" in value ? "an optional value" : `a ${value.constructor.name.toLowerCase()}`;
}

const weights = new WeakMap<object, number>();

/** The steps that it takes to compare, copy, or print a value. A member that occurs twice counts twice. */
export function weightOf(value: unknown): number {
  if (typeof value === "string") return 1 + (value.length >> 3);
  if (value === null || typeof value !== "object") return 1;
  if (value instanceof Uint8Array) return 1 + (value.length >> 3);
  // Its members are counted when they are read.
  if (value instanceof LazyMap) return 1 + value.size;
  const before = weights.get(value);
  if (before !== undefined) return before;
  let weight = 1;
  if (Array.isArray(value)) for (const item of value) weight += weightOf(item);
  else for (const [key, member] of entriesOf(value) ?? []) weight += weightOf(key) + weightOf(member);
  weights.set(value, weight);
  return weight;
}

const references = new WeakMap<object, boolean>();

/** Whether a value is, or contains, a reference. */
export function hasReference(value: unknown): boolean {
  if (value === null || typeof value !== "object") return false;
  if (value instanceof UnknownValue) return true;
  const before = references.get(value);
  if (before !== undefined) return before;
  let has = false;
  if (Array.isArray(value)) has = value.some(hasReference);
  else for (const [, member] of entriesOf(value) ?? []) has ||= hasReference(member);
  references.set(value, has);
  return has;
}
