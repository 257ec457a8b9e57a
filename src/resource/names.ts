// How the natural names of a kind compare, which names every workspace has, and the translation of names in values.

import { type Address, memberOf, moduleAddress, nameOf, nestedNameOf, parentOf } from "../core/address.ts";
import type { Json } from "../core/json.ts";
import type { FieldTable, Values } from "./field-schema.ts";
import type { Kind } from "./kind.ts";
import { mapValues, tableSchema, visitSchema } from "./walk.ts";

/** Normalizes strings that ignore case: names of users (facts 4.3). */
export const foldCase = (text: string): string => text.toLowerCase();

/** A path in the workspace tree without the prefix that Databricks also takes: `/Workspace/Shared/etl` is `/Shared/etl`. */
export const plainTreePath = (path: string): string => path.replace(/^\/Workspace(?=\/|$)/, "");

/** The names of objects of a kind that a string can mean, the exact one first. */
export const mentionedNames = ({ tree }: Pick<Kind, "tree">, text: string): readonly string[] => {
  const plain = tree?.root === "workspace" ? plainTreePath(text) : text;
  return plain === text ? [text] : [text, plain];
};

/** How two principals compare: names of groups exactly, names of users and application IDs without regard to case. */
export const principalKey = ({ kind, name }: { readonly kind?: string; readonly name: string }): string =>
  `${kind} ${kind === "group" ? name : foldCase(name)}`;

/** Whether a name is the application ID of a service principal. */
export const isApplicationId = (name: string): boolean =>
  /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(name);

/** The form in which names of principals compare, as `principalKey` compares them: all but groups, whose names have no `@`, ignore case. */
function foldPrincipal(name: string): string {
  const isGroup = name.startsWith("group:") || !(/^(user|sp):|@/.test(name) || isApplicationId(name));
  return isGroup ? name : foldCase(name);
}

/** The form in which two names of a kind are compared. The parent's part of a nested name stays: its own kind compares it. */
export function foldName({ ignoreCase, nested }: Pick<Kind, "ignoreCase" | "nested">, name: string): string {
  if (ignoreCase === undefined) return name;
  const fold = ignoreCase === "principals" ? foldPrincipal : foldCase;
  return nested === undefined ? fold(name) : nestedNameOf(parentOf(name), fold(memberOf(name)));
}

export function isSameName(provider: Pick<Kind, "ignoreCase" | "nested">, a: string, b: string): boolean {
  return a === b || foldName(provider, a) === foldName(provider, b);
}

/** Whether the ID of an object is its name, and the name its key in a spec. */
export function isIdItsName({ nameField, numbered }: Pick<Kind, "nameField" | "numbered">): boolean {
  return nameField === undefined && numbered !== true;
}

/** Whether an object with this name is built in: it is never created or deleted. */
export function isBuiltIn(provider: Kind, name: string): boolean {
  return provider.builtIn?.some((builtIn) => isSameName(provider, builtIn, name)) === true;
}

/** The addresses that an entry of the spec may have for a resource: its own, and those of the modules around it, innermost first. */
export function* addressesOf(provider: Kind | undefined, address: Address): Iterable<Address> {
  yield address;
  if (provider?.nameField === undefined) return;
  const name = nameOf(address);
  for (let slash = name.lastIndexOf("/"); slash > 0; slash = name.lastIndexOf("/", slash - 1))
    yield moduleAddress(name.slice(0, slash));
}

/** `/Shared` of `/Shared/etl`; the root for a path directly below it. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash <= 0 ? "/" : path.slice(0, slash);
}

/** Every folder above a path but the root, the nearest first. */
export function foldersAbove(path: string): readonly string[] {
  const above: string[] = [];
  for (let folder = folderOf(path); folder !== "/"; folder = folderOf(folder)) above.push(folder);
  return above;
}

/** Returns the other form of a string in a field that refers to `kind`; undefined keeps the string. */
type Translation = (kind: string, text: string) => string | undefined;

/** The values with every text in a `names` field translated. */
export function translateNames(fields: FieldTable, values: Values, translate: Translation): Values {
  if (kindsNamedBy(fields).size === 0) return values;
  return mapValues(fields, values, ({ names }, value, inside) => {
    if (typeof value !== "string" || names === undefined) return inside();
    return translate(names, value) ?? value;
  });
}

/** The kinds that fields of a table name. Cached, because each object needs it several times. */
export function kindsNamedBy(fields: FieldTable): ReadonlySet<string> {
  const cached = namedKinds.get(fields);
  if (cached !== undefined) return cached;
  const kinds = new Set<string>();
  visitSchema(tableSchema(fields), ({ names }) => {
    if (names !== undefined) kinds.add(names);
  });
  namedKinds.set(fields, kinds);
  return kinds;
}

const namedKinds = new WeakMap<FieldTable, ReadonlySet<string>>();

/** The live values without memberships in objects that cannot be managed. */
export function withoutUnmanageable(
  fields: FieldTable,
  values: Values,
  isUnmanageable: (kind: string, id: string) => boolean,
): Values {
  let out = values;
  for (const key of Object.keys(values)) {
    const { writtenToNamed, items } = fields[key] ?? {};
    if (writtenToNamed !== true) continue;
    const kind = items?.names;
    const list = values[key];
    if (kind === undefined || !Array.isArray(list)) continue;
    const stays = (value: Json): boolean => typeof value !== "string" || !isUnmanageable(kind, value);
    if (!list.every(stays)) out = { ...out, [key]: list.filter(stays) };
  }
  return out;
}

export function withoutNames(fields: FieldTable, values: Values, kinds: ReadonlySet<string>): Values {
  if (kinds.size === 0) return values;
  return mapValues(fields, values, ({ names, items }, _value, inside) =>
    kinds.has(names ?? items?.names ?? "") ? undefined : inside(),
  );
}
