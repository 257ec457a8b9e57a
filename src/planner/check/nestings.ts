// Rejects a declared membership, such as of a group in a group, that closes a cycle with memberships in the workspace.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { Values } from "../../resource/field-schema.ts";
import { foldName } from "../../resource/names.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import { kindsNamedBy } from "../../resource/translate-names.ts";
import { mentioned } from "../decide/dependencies.ts";
import type { Change } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import { markedResult } from "../model/result-values.ts";

/** Cycles of declared memberships alone were reported with the spec. */
export function nestingCycles(context: PlanContext, changes: readonly Change[]): Diagnostic[] {
  return context.input.registry.kinds.flatMap((provider) => {
    if (!kindsNamedBy(provider.fields).has(provider.kind)) return [];
    const ofKind = changes.filter(({ kind }) => kind === provider.kind);
    const added = ofKind.flatMap((change) =>
      addedMembers(provider, change).map((name) => [change, name] as const),
    );
    if (added.length === 0) return [];
    const members = membersAfter(context, provider, ofKind);
    return added.flatMap(([change, name]) => {
      const chain = chainBetween(name, foldName(provider, change.name), (one) => members.get(one) ?? []);
      return chain === undefined ? [] : cycleError(context, provider, change, chain);
    });
  });
}

const namesIn = (provider: PlannedKind, values: Values): readonly string[] =>
  mentioned(provider.fields, values).flatMap(([named, name]) =>
    named === provider.kind ? [foldName(provider, name)] : [],
  );

function addedMembers(provider: PlannedKind, change: Change): readonly string[] {
  if (change.action !== "create" && change.action !== "update" && change.action !== "replace") return [];
  const had = new Set(change.action === "update" ? namesIn(provider, change.before) : []);
  return namesIn(provider, change.after).filter((name) => !had.has(name));
}

/** What each object contains after the plan, by name. */
function membersAfter(
  { liveIndex }: PlanContext,
  provider: PlannedKind,
  changes: readonly Change[],
): ReadonlyMap<string, readonly string[]> {
  const members = new Map<string, readonly string[]>();
  // An object that is removed from the state stays in the workspace.
  const changing = changes.filter(({ action }) => action !== "forget");
  const changed = new Set(changing.flatMap((change) => ("id" in change ? [change.id] : [])));
  for (const { id, name, values } of liveIndex.all(provider.kind))
    if (!changed.has(id)) members.set(foldName(provider, name), namesIn(provider, values));
  for (const change of changing) {
    const values = change.action === "replace" ? change.after : markedResult(change, provider.fields);
    if (values !== undefined) members.set(foldName(provider, change.name), namesIn(provider, values));
  }
  return members;
}

/** The shortest chain from a name to another over what each contains; undefined if there is none. */
function chainBetween(
  from: string,
  to: string,
  membersOf: (name: string) => readonly string[],
): readonly string[] | undefined {
  const seen = new Set<string>();
  const chains: (readonly string[])[] = [[from]];
  for (const chain of chains)
    for (const name of membersOf(chain.at(-1) ?? from)) {
      if (name === to) return [...chain, name];
      if (seen.has(name)) continue;
      seen.add(name);
      chains.push([...chain, name]);
    }
  return undefined;
}

function cycleError(
  { input }: PlanContext,
  { singular }: PlannedKind,
  { address }: Change,
  chain: readonly string[],
): Diagnostic {
  const at = input.spec.resources.get(address)?.at;
  const message = `${address} cannot contain the ${singular} ${JSON.stringify(chain[0])}, which contains it in the workspace: ${chain.join(" -> ")}`;
  return error("SPEC_CYCLE", message, {
    address,
    ...(at === undefined ? {} : { at }),
    hint: "remove one of these memberships from the workspace or the spec",
  });
}
