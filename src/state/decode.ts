// Reads members of stored JSON with their types; what does not fit is damage, told with its place.

import type { Address, RemoteId } from "../core/address.ts";
import { parseAddress, remoteId } from "../core/address.ts";
import type { Json, JsonObject } from "../core/json.ts";

/** Thrown where stored data is not what the program writes. */
export class Misshapen extends Error {}

/** An object whose members are read by type. `where` names it in messages. */
export interface Shape {
  readonly value: JsonObject;
  has(key: string): boolean;
  text(key: string): string;
  number(key: string): number;
  flag(key: string): boolean;
  object(key: string): Shape;
  values(key: string): JsonObject;
  texts(key: string): readonly string[];
  objects(key: string): readonly Shape[];
  address(key: string): Address;
  addresses(key: string): readonly Address[];
  id(key: string): RemoteId;
  ids(key: string): readonly RemoteId[];
}

export function shapeOf(value: Json | undefined, where: string): Shape {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new Misshapen(`${where} is not an object`);
  const object = value as JsonObject;
  const member = (key: string): Json | undefined => (Object.hasOwn(object, key) ? object[key] : undefined);
  const wrong = (key: string, what: string): Misshapen => new Misshapen(`${where}.${key} is not ${what}`);
  const text = (key: string): string => {
    const found = member(key);
    if (typeof found !== "string") throw wrong(key, "a text");
    return found;
  };
  const items = (key: string): readonly Json[] => {
    const found = member(key);
    if (!Array.isArray(found)) throw wrong(key, "a list");
    return found;
  };
  const texts = (key: string): readonly string[] =>
    items(key).map((item) => {
      if (typeof item !== "string") throw wrong(key, "a list of texts");
      return item;
    });
  const addressIn = (key: string, name: string): Address => {
    const address = parseAddress(name);
    if (address === undefined) throw wrong(key, "an address");
    return address;
  };
  return {
    value: object,
    has: (key) => member(key) !== undefined,
    text,
    number: (key) => {
      const found = member(key);
      if (typeof found !== "number" || !Number.isSafeInteger(found)) throw wrong(key, "a whole number");
      return found;
    },
    flag: (key) => {
      const found = member(key);
      if (typeof found !== "boolean") throw wrong(key, "true or false");
      return found;
    },
    object: (key) => shapeOf(member(key), `${where}.${key}`),
    values: (key) => shapeOf(member(key), `${where}.${key}`).value,
    texts,
    objects: (key) => items(key).map((item, at) => shapeOf(item, `${where}.${key}[${at}]`)),
    address: (key) => addressIn(key, text(key)),
    addresses: (key) => texts(key).map((name) => addressIn(key, name)),
    id: (key) => remoteId(text(key)),
    ids: (key) => texts(key).map(remoteId),
  };
}
