// How the natural names of a kind compare, and which names every workspace has.

import { type Address, memberOf, moduleAddress, nameOf, nestedNameOf, parentOf } from "../core/address.ts";
import type { Kind } from "./kind.ts";

/** Normalizes strings that ignore case: names of users (facts 4.3). */
export const foldCase = (text: string): string => text.toLowerCase();

/** The form in which two names of a kind are compared. The parent's part of a nested name stays: its own kind compares it. */
export function foldName({ ignoreCase, nested }: Pick<Kind, "ignoreCase" | "nested">, name: string): string {
  if (ignoreCase !== true) return name;
  return nested === undefined ? foldCase(name) : nestedNameOf(parentOf(name), foldCase(memberOf(name)));
}

export function isSameName(provider: Pick<Kind, "ignoreCase" | "nested">, a: string, b: string): boolean {
  return a === b || foldName(provider, a) === foldName(provider, b);
}

/** Whether an object with this name is built in: it is never created or deleted. */
export function isBuiltIn(provider: Kind, name: string): boolean {
  return provider.builtIn?.some((one) => isSameName(provider, one, name)) === true;
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
