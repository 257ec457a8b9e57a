// Memberships that are decided twice: a user's own groups and a group's members are two ends of one thing.

import type { Address } from "../core/address.ts";
import type { FieldSchema } from "../resource/fields.ts";
import { foldName } from "../resource/names.ts";
import type { Provider } from "../resource/provider.ts";
import type { Registry } from "../resource/registry.ts";
import { textsAt } from "./field-walk.ts";
import type { Findings } from "./finding.ts";
import type { Written } from "./flatten.ts";
import { type MapNode, type Node, textOf } from "./tree.ts";

/** A list of names in a kind's fields. */
interface Naming {
  readonly provider: Provider;
  readonly path: readonly string[];
  readonly names: string;
}

export interface Membered {
  readonly written: Written;
  readonly fields: MapNode;
}

/** Reports each pair that names one another, or where one end is given and the other end leaves it out. */
export function reportMemberships(
  resources: readonly Membered[],
  registry: Registry,
  findings: Findings,
): void {
  const namings = registry.kinds.flatMap((provider) => namingsOf(provider, provider.fields, []));
  for (const one of namings)
    for (const other of namings)
      if (
        one.names === other.provider.kind &&
        other.names === one.provider.kind &&
        one.provider.kind < other.provider.kind
      )
        reportPairs(endOf(one, resources), endOf(other, resources), findings);
}

function namingsOf(
  provider: Provider,
  fields: Readonly<Record<string, FieldSchema>>,
  path: readonly string[],
): readonly Naming[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const here = [...path, name];
    if (field.properties !== undefined) return namingsOf(provider, field.properties, here);
    const names = field.items?.names;
    return names === undefined ? [] : [{ provider, path: here, names }];
  });
}

interface End {
  readonly naming: Naming;
  /** Resources that give the list, by folded natural name. */
  readonly givers: ReadonlyMap<string, { readonly address: Address; readonly entries: readonly Node[] }>;
}

function endOf(naming: Naming, resources: readonly Membered[]): End {
  const givers = new Map<string, { address: Address; entries: readonly Node[] }>();
  for (const { written, fields } of resources) {
    if (written.provider !== naming.provider) continue;
    const entries = textsAt(fields, naming.path);
    if (entries !== undefined)
      givers.set(foldName(written.provider, written.name), { address: written.address, entries });
  }
  return { naming, givers };
}

function reportPairs(one: End, other: End, findings: Findings): void {
  const told = new Set<string>();
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    for (const [, giver] of from.givers) {
      for (const entry of giver.entries) {
        const met = to.givers.get(foldName(to.naming.provider, textOf(entry) ?? ""));
        if (met === undefined) continue;
        const pair = [giver.address, met.address].sort().join("\n");
        if (told.has(pair)) continue;
        told.add(pair);
        const here = `${giver.address}: ${from.naming.path.join(".")}`;
        const there = `${met.address}: ${to.naming.path.join(".")}`;
        findings.error("SPEC_COMBINATION", `${here} and ${there} both decide one membership`, entry, {
          address: giver.address,
          hint: "give it at one end only, and leave the other list out",
        });
      }
    }
  }
}
