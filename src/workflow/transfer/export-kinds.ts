// Which kinds an export is about: those that were named, with the parents of members and the members of parents.

import { error, Failure } from "../../core/diagnostic.ts";
import { nearestHint } from "../../core/suggest.ts";
import type { Registry } from "../../resource/registry.ts";

/** `pools,clusters`, repeatable; empty means every kind. Throws Failure with CLI_USAGE. */
export function kindsNamed(registry: Registry, given: readonly string[]): ReadonlySet<string> {
  const known = registry.kinds.map(({ kind }) => kind);
  const names = given.flatMap((text) => text.split(",")).map((name) => name.trim());
  if (names.length === 0) return new Set(known);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Failure(...unknown.map((name) => noKind(name, known)));
  const members = registry.kinds.filter(({ nested }) => nested !== undefined && names.includes(nested.kind));
  const parents = names.flatMap((name) => registry.get(name).nested?.kind ?? []);
  return new Set([...names, ...members.map(({ kind }) => kind), ...parents]);
}

function noKind(name: string, known: readonly string[]) {
  return error("CLI_USAGE", `"${name}" is not a valid kind`, {
    hint: nearestHint(name, known, `the kinds are ${known.join(", ")}`),
  });
}
