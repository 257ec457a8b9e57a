// Secrets of an exported workspace: their values cannot be read back, so a spec can only name where they are to come from.

import { type Address, memberOf } from "../../core/address.ts";
import type { Placed } from "./addresses.ts";

/** `ETL_DB_PASSWORD` for `etl/db-password`, with a number where another secret has that word already. */
export function variablesFor(secrets: readonly Placed[]): ReadonlyMap<Address, string> {
  const taken = new Set<string>();
  const found = new Map<Address, string>();
  for (const { address, live } of secrets) {
    const word = live.name
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
  inside: readonly Placed[],
  variables: ReadonlyMap<Address, string>,
): readonly string[] {
  return [
    "Values of secrets cannot be read back. To manage them, write under the scope, with a source for each:",
    `  ${under}:`,
    ...inside.map((one) => `    ${memberOf(one.live.name)}: { env: ${variables.get(one.address) ?? ""} }`),
  ];
}
