// Converts names of live objects to keys of a spec: valid in references, stable between exports, and unique. Also lists the secrets of an export.

import { type Address, addressOf, memberOf, parentOf } from "../../core/address.ts";
import type { Json } from "../../core/json.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Provider } from "../../resource/provider.ts";

/** A live object with its place in the spec. */
export interface ExportedObject {
  readonly provider: Provider;
  readonly live: LiveObject;
  readonly key: string;
  readonly address: Address;
  /** The key is not the natural name, so the spec has to say it. */
  readonly renamed: boolean;
  /** Number of objects of the kind with this natural name. */
  readonly sharing: number;
}

/** Characters that are safe in `${kind.key.attribute}` and on a command line without surprise. */
const LEGAL = /^[\p{L}\p{N}_@+](?:[\p{L}\p{N}\p{M}_@+.,()#&/ :=~-]{0,198}[\p{L}\p{N}\p{M}_@+)])?$/u;
const ILLEGAL = /[^\p{L}\p{N}\p{M}_@+.,()#&/ :=~-]+/gu;
const UNNAMED = "unnamed";
/** The only key that YAML of a spec cannot contain. */
const NO_KEY = "__proto__";

/** The objects of one kind, ordered by key. */
export function addressObjects(
  provider: Provider,
  objects: readonly LiveObject[],
): readonly ExportedObject[] {
  const sorted = [...objects].sort((a, b) => compare(a.name, b.name) || compareIds(a.id, b.id));
  const shared = Map.groupBy(sorted, (live) => live.name);
  const natural = new Set(sorted.map((live) => keyOf(provider, live.name)));
  const taken = new Set<string>();
  return sorted
    .map((live): ExportedObject => {
      const key = freeKey(keyOf(provider, live.name), natural, taken);
      taken.add(key);
      return {
        provider,
        live,
        key,
        address: addressOf(provider.kind, key),
        renamed: provider.nameField !== undefined && key !== live.name,
        sharing: shared.get(live.name)?.length ?? 1,
      };
    })
    .sort((a, b) => compare(a.key, b.key));
}

/** If the key is the name, it stays unchanged. */
function keyOf(provider: Provider, name: string): string {
  if (provider.nameField === undefined || (LEGAL.test(name) && name !== NO_KEY)) return name;
  const cleaned = name
    .slice(0, 150)
    .replace(ILLEGAL, "-")
    .replace(/^[^\p{L}\p{N}_]+|[^\p{L}\p{N}_)]+$/gu, "");
  return cleaned === "" || cleaned === NO_KEY ? UNNAMED : cleaned;
}

/** Why no spec can express an object, if so. */
export function notExportable(
  { nameField, nested }: Provider,
  { name, values, unmanageable }: LiveObject,
): string | undefined {
  if (unmanageable !== undefined) return unmanageable;
  const keys = nested === undefined ? [name] : [parentOf(name), memberOf(name)];
  const hasKey = (nameField === undefined && keys.includes(NO_KEY)) || containsKey(values, NO_KEY);
  return hasKey ? `a spec cannot contain the key ${NO_KEY}` : undefined;
}

function containsKey(value: Json, key: string): boolean {
  if (value === null || typeof value !== "object") return false;
  return Object.hasOwn(value, key) || Object.values(value).some((one) => containsKey(one, key));
}

function freeKey(key: string, natural: ReadonlySet<string>, taken: ReadonlySet<string>): string {
  if (!taken.has(key)) return key;
  for (let number = 2; ; number++) {
    const numbered = `${key}-${number}`;
    if (!taken.has(numbered) && !natural.has(numbered)) return numbered;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Ids that are numbers compare as numbers: the oldest comes first. */
function compareIds(a: string, b: string): number {
  return /^\d+$/.test(a) && /^\d+$/.test(b) ? a.length - b.length || compare(a, b) : compare(a, b);
}

/** `ETL_DB_PASSWORD` for `etl/db-password`, with a number where another secret has that word already. */
export function variablesFor(secrets: readonly ExportedObject[]): ReadonlyMap<Address, string> {
  const taken = new Set<string>();
  const found = new Map<Address, string>();
  for (const { address, live } of secrets) {
    const word = `${parentOf(live.name)}/${memberOf(live.name)}`
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, "_")
      .replace(/^(?=\d)/, "_");
    let name = word;
    for (let number = 2; taken.has(name); number++) name = `${word}_${number}`;
    taken.add(name);
    found.set(address, name);
  }
  return found;
}

/** The comment above a scope: what would manage its secrets. */
export function secretNotes(
  under: string,
  inside: readonly ExportedObject[],
  variables: ReadonlyMap<Address, string>,
): readonly string[] {
  return [
    "Secret values cannot be read back. To manage these secrets, add them under the scope with a source each:",
    `  ${under}:`,
    ...inside.map((one) => `    ${memberOf(one.live.name)}: { env: ${variables.get(one.address) ?? ""} }`),
  ];
}
