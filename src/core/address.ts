// The address of a resource: `kind.name`. The first dot ends the kind; the name can contain dots and slashes.

import { createRequire } from "node:module";
import type Picomatch from "picomatch";

declare const addressBrand: unique symbol;
declare const idBrand: unique symbol;

/** `pools.shared`, `users.ada@example.com`, `secrets.etl/db-password`. */
export type Address = string & { readonly [addressBrand]: true };

/** The ID of an object at the service, as a string, whatever its type in the API. */
export type RemoteId = string & { readonly [idBrand]: true };

export function addressOf(kind: string, name: string): Address {
  return `${kind}.${name}` as Address;
}

/** Reads an address; undefined when the text has no dot after a kind, or no name. */
export function parseAddress(text: string): Address | undefined {
  const dot = text.indexOf(".");
  return dot > 0 && dot < text.length - 1 ? (text as Address) : undefined;
}

export function kindOf(address: Address): string {
  return address.slice(0, address.indexOf("."));
}

export function nameOf(address: Address): string {
  return address.slice(address.indexOf(".") + 1);
}

/** The name of a member of a parent: `etl/db-password`. In the parent's name, slash and percent sign are escaped. */
export function nestedNameOf(parent: string, member: string): string {
  const isPlain = !parent.includes("/") && !parent.includes("%");
  return `${isPlain ? parent : parent.replaceAll("%", "%25").replaceAll("/", "%2F")}/${member}`;
}

/** Returns the parent of a nested name: `etl` for `etl/db-password`; an empty string without a parent. */
export function parentOf(name: string): string {
  const parent = name.slice(0, Math.max(0, name.indexOf("/")));
  return parent.includes("%") ? parent.replaceAll("%2F", "/").replaceAll("%25", "%") : parent;
}

/** `db-password` of `etl/db-password`; the whole name of what lives in nothing. */
export function memberOf(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}

export function remoteId(id: string | number | bigint): RemoteId {
  return String(id) as RemoteId;
}

const MODULES = "modules.";

/** Whether an address is one of a module, as `modules.team/ads`, and not of a resource. */
export function isModuleAddress(address: string): boolean {
  return address.startsWith(MODULES);
}

export function moduleAddress(name: string): Address {
  return `${MODULES}${name}` as Address;
}

/** Whether a resource is declared by a module: `pools.team/ads/shared` by `modules.team` and `modules.team/ads`. */
export function isInModule(address: Address, module: Address): boolean {
  return isModuleAddress(module) && nameOf(address).startsWith(`${nameOf(module)}/`);
}

/** picomatch is loaded on first use, because most runs have no glob. */
const load = createRequire(import.meta.url);

/** Globs over addresses and kinds: a star matches any text, with slashes. A complete address always matches itself. */
export function globMatcher(glob: string): (text: string) => boolean {
  const picomatch = load("picomatch") as typeof Picomatch;
  const matches = picomatch(glob, { bash: true, dot: true, nonegate: true });
  return (text) => text === glob || matches(text);
}
