// What only the spec as a whole shows: names given twice, entries that stand twice, and more things than the service holds.

import { canonicalJson } from "../core/canonical.ts";
import { toText } from "../core/pointer.ts";
import { type FieldSchema, somewhere } from "../resource/fields.ts";
import { foldName } from "../resource/names.ts";
import { walkFields } from "./field-walk.ts";
import type { Findings } from "./finding.ts";
import type { Written } from "./flatten.ts";
import { type MapNode, type Node, plain, spanOf } from "./tree.ts";

/** Two resources with one natural name, where the service lets only one have it. */
export function reportSharedNames(resources: Iterable<Written>, findings: Findings): void {
  const first = new Map<string, Written>();
  for (const written of resources) {
    const { provider, name, address } = written;
    if (!provider.unique) continue;
    const key = `${provider.kind}\n${foldName(provider, name)}`;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, written);
    else {
      const field = provider.nameField;
      const at = field === undefined ? written.at : spanOf(written.fields, [field]);
      const where = `${earlier.at.source.file}:${earlier.at.source.lineOf(earlier.at.start) + 1}`;
      findings.error(
        "SPEC_DUPLICATE_NAME",
        `${address} has the same name as ${earlier.address}: ${JSON.stringify(name)}`,
        at,
        {
          address,
          hint: `the other stands at ${where}; names of ${provider.kind} are unique${provider.ignoreCase === true ? ", whatever their case" : ""}`,
        },
      );
    }
  }
}

/** More than a workspace or a parent may hold; told at the first one too many. */
export function reportLimits(resources: Iterable<Written>, findings: Findings): void {
  const counts = new Map<string, number>();
  const over = new Map<string, Written>();
  for (const written of resources) {
    const { limit, kind } = written.provider;
    if (limit === undefined) continue;
    const group = limit.per === "parent" ? `${kind}\n${written.parent}` : kind;
    const count = (counts.get(group) ?? 0) + 1;
    counts.set(group, count);
    if (count === limit.max + 1) over.set(group, written);
  }
  for (const [group, { provider, parent, address, at }] of over) {
    const holder = provider.limit?.per === "parent" ? parent : "a workspace";
    findings.error(
      "SPEC_LIMIT",
      `${holder} holds at most ${provider.limit?.max} ${provider.kind}; the spec has ${counts.get(group)}`,
      at,
      { address },
    );
  }
}

const isSet = (schema: FieldSchema): boolean => schema.list === "set" || schema.uniqueItems === true;
const holdsSets = somewhere(isSet);

/** Entries of a list that is a set, or whose members must differ. */
export function reportRepeated(written: Written, fields: MapNode, findings: Findings): void {
  walkFields(written.provider, fields, holdsSets, (node, path, schema) => {
    if (node.kind !== "list" || !isSet(schema) || surelyDiffer(node.items)) return;
    const seen = new Set<string>();
    for (const item of node.items) {
      const text = canonicalJson(plain(item));
      if (seen.has(text))
        findings.warning("SPEC_VALUE", `${written.address}: ${toText(path)} holds an entry twice`, item, {
          address: written.address,
        });
      seen.add(text);
    }
  });
}

/** Seen without writing the entries out: by the value of scalars, and by the keys of maps. */
function surelyDiffer(items: readonly Node[]): boolean {
  if (items.length < 2) return true;
  return new Set(items.map(sketch)).size === items.length;
}

function sketch(node: Node): string {
  if (node.kind === "scalar") return `${typeof node.value === "string" ? "text" : "other"} ${node.value}`;
  return node.kind === "map" ? `map ${[...node.members.keys()].sort().join("\n")}` : "list";
}
