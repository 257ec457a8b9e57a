// Reads typed members of stored JSON. A value of the wrong type is reported as damage, with its location.

import { type Address, parseAddress, type RemoteId, remoteId } from "../../core/address.ts";
import type { Json, JsonObject } from "../../core/json.ts";

/** Thrown if stored data has a form that the program does not write. */
export class InvalidShape extends Error {}

/** An object whose members are read by type. `where` names it in messages. */
export class Shape {
  readonly value: JsonObject;
  readonly #where: string;

  constructor(value: JsonObject, where: string) {
    this.value = value;
    this.#where = where;
  }

  #member(key: string): Json | undefined {
    return Object.hasOwn(this.value, key) ? this.value[key] : undefined;
  }

  #wrong(key: string, what: string): InvalidShape {
    return new InvalidShape(`${this.#where}.${key} is not ${what}`);
  }

  has(key: string): boolean {
    return this.#member(key) !== undefined;
  }

  text(key: string): string {
    const found = this.#member(key);
    if (typeof found !== "string") throw this.#wrong(key, "a string");
    return found;
  }

  number(key: string): number {
    const found = this.#member(key);
    if (typeof found !== "number" || !Number.isSafeInteger(found)) throw this.#wrong(key, "an integer");
    return found;
  }

  oneOf<const T extends string>(key: string, words: readonly T[]): T {
    const found = words.find((word) => word === this.#member(key));
    if (found === undefined) throw this.#wrong(key, `one of ${words.join(", ")}`);
    return found;
  }

  flag(key: string): boolean {
    const found = this.#member(key);
    if (typeof found !== "boolean") throw this.#wrong(key, "true or false");
    return found;
  }

  object(key: string): Shape {
    return shapeOf(this.#member(key), `${this.#where}.${key}`);
  }

  values(key: string): JsonObject {
    return this.object(key).value;
  }

  #items(key: string): readonly Json[] {
    const found = this.#member(key);
    if (!Array.isArray(found)) throw this.#wrong(key, "a list");
    return found;
  }

  texts(key: string): readonly string[] {
    const items = this.#items(key);
    if (!items.every((item) => typeof item === "string")) throw this.#wrong(key, "a list of strings");
    return items;
  }

  objects(key: string): readonly Shape[] {
    return this.#items(key).map((item, at) => shapeOf(item, `${this.#where}.${key}[${at}]`));
  }

  address(key: string): Address {
    return this.#address(key, this.text(key));
  }

  addresses(key: string): readonly Address[] {
    return this.texts(key).map((name) => this.#address(key, name));
  }

  #address(key: string, name: string): Address {
    const address = parseAddress(name);
    if (address === undefined) throw this.#wrong(key, "an address");
    return address;
  }

  id(key: string): RemoteId {
    return remoteId(this.text(key));
  }

  ids(key: string): readonly RemoteId[] {
    return this.texts(key).map(remoteId);
  }
}

export function shapeOf(value: Json | undefined, where: string): Shape {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new InvalidShape(`${where} is not an object`);
  return new Shape(value as JsonObject, where);
}
