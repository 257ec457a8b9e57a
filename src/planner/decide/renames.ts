// Detects a deletion and a creation that look like one resource with a new key, because the deletion loses the object's history.

import { canonicalJson } from "../../core/canonical.ts";
import { shellWord } from "../../core/sentences.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { Change, Create, Delete } from "../model/change.ts";
import { type PlanContext, recordedOf } from "../model/context.ts";

/** The changes with a hint at each deletion that has exactly one likely successor: how to keep the object. */
export function withRenames(context: PlanContext, changes: readonly Change[]): readonly Change[] {
  const successors = new Map<Change, Create>();
  if (!changes.some(({ action }) => action === "delete")) return changes;
  for (const provider of context.input.registry.kinds) {
    if (provider.nameField === undefined) continue;
    const creates = changes.filter((one) => one.action === "create" && one.kind === provider.kind);
    const deletes = changes.filter((one) => one.action === "delete" && one.kind === provider.kind);
    for (const [from, to] of pairs(context, provider, deletes as Delete[], creates as Create[]))
      successors.set(from, to);
  }
  return changes.map((change) => {
    const to = successors.get(change);
    if (to === undefined) return change;
    return { ...change, consequences: [...change.consequences, sentence(context, change, to)] };
  });
}

function pairs(
  context: PlanContext,
  provider: PlannedKind,
  deletes: readonly Delete[],
  creates: readonly Create[],
): readonly (readonly [Delete, Create])[] {
  const found: (readonly [Delete, Create])[] = [];
  // Values known only after apply are omitted on both sides, so creates are compared by the rest.
  for (const [open, alike] of Map.groupBy(creates, openFields)) {
    const without = new Set([...open.split("\n"), provider.nameField ?? ""]);
    const wanted = Map.groupBy(alike, (create) => essence(create.after, without));
    const recorded = Map.groupBy(deletes, (one) => essence(writtenOf(context, provider, one), without));
    for (const [key, successors] of wanted) {
      const candidates = (key === NOTHING ? undefined : recorded.get(key)) ?? [];
      if (successors.length !== 1 || candidates.length !== 1) continue;
      for (const from of candidates) for (const to of successors) found.push([from, to]);
    }
  }
  return found;
}

function openFields({ unresolved }: Create): string {
  return [...new Set(unresolved.map(({ path }) => String(path[0])))].sort().join("\n");
}

/** The values that the spec declared at the last apply; none for an unrecorded object. */
function writtenOf(context: PlanContext, provider: PlannedKind, { address, deposed }: Delete): Values {
  const record = deposed === true ? undefined : context.input.state.records.get(address);
  return recordedOf(provider, record)?.applied ?? {};
}

function essence(values: Values, without: ReadonlySet<string>): string {
  return canonicalJson(Object.fromEntries(Object.entries(values).filter(([name]) => !without.has(name))));
}

const NOTHING = canonicalJson({});

function sentence({ input }: PlanContext, from: Change, to: Create): string {
  const { nameField, fields } = input.registry.get(from.kind);
  const named = nameField !== undefined && fields[nameField]?.onChange === "replace" && from.name !== to.name;
  const under = named ? `, with ${nameField}: ${from.name} in the spec,` : "";
  return `it has the same fields as ${to.address}; if it was only renamed, run \`workspace state mv ${shellWord(from.address)} ${shellWord(to.address)}\`${under} to keep it`;
}
