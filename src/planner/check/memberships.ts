// Checks memberships: groups that contain each other, their order, and members that cannot be managed.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import { foldName, kindsNamedBy } from "../../resource/names.ts";
import { type Change, isOfReplaced, writes } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import { markedResult } from "../model/planned-workspace.ts";
import { mentioned, withFurtherNeeds } from "../order/dependencies.ts";

/** Groups that would be members of each other. Cycles of declared memberships alone were reported with the spec. */
export function membershipCycles(context: PlanContext, changes: readonly Change[]): Diagnostic[] {
  return context.input.registry.kinds.flatMap((provider) => {
    if (!nestsItself(provider)) return [];
    const ofKind = changes.filter(({ kind }) => kind === provider.kind);
    const added = ofKind.flatMap((change) =>
      addedMembers(provider, change).map((name) => [change, name] as const),
    );
    if (added.length === 0) return [];
    const members = membersAfter(context, provider, ofKind);
    return added.flatMap(([change, name]) => {
      const chain = chainBetween(name, foldName(provider, change.name), (outer) => members.get(outer) ?? []);
      return chain === undefined ? [] : cycleError(context, provider, change, chain);
    });
  });
}

/** The changes, with a dependency of each new membership on what ends an opposite one, unless their order opposes that. */
export function withEndedMembershipsFirst(
  context: PlanContext,
  changes: readonly Change[],
): readonly Change[] {
  const waits = context.input.registry.kinds.flatMap((provider) => endings(context, provider, changes));
  return withFurtherNeeds(changes, waits);
}

/** Updates that add memberships, with the changes that end opposite ones. */
function endings(
  context: PlanContext,
  provider: PlannedKind,
  changes: readonly Change[],
): (readonly [Change, readonly Address[]])[] {
  if (!nestsItself(provider)) return [];
  const ofKind = changes.filter((change) => change.kind === provider.kind && !isOfReplaced(change));
  const growing = ofKind.filter(
    (change) => change.action === "update" && addedMembers(provider, change).length > 0,
  );
  if (growing.length === 0) return [];
  const changing = new Map(ofKind.map((change) => [foldName(provider, change.name), change]));
  const live = membersAfter(context, provider, []);
  const after = membersAfter(context, provider, ofKind);
  const isEnded = (outer: string, inner: string | undefined): boolean => {
    const action = changing.get(outer)?.action;
    return (action === "delete" || action === "update") && after.get(outer)?.includes(inner ?? "") !== true;
  };
  return growing.map((change) => {
    const ends = new Set<Change | undefined>();
    for (const name of addedMembers(provider, change)) {
      // A new object is in no membership of the old one.
      if (changing.get(name)?.action === "replace") continue;
      const own = foldName(provider, change.name);
      const membersOf = (outer: string) => (ends.has(changing.get(outer)) ? after : live).get(outer) ?? [];
      for (;;) {
        const chain = chainBetween(name, own, membersOf) ?? [];
        const ending = chain.find((outer, at) => outer !== own && isEnded(outer, chain[at + 1]));
        if (ending === undefined) break;
        ends.add(changing.get(ending));
      }
    }
    return [change, [...ends].flatMap((change) => change?.address ?? [])] as const;
  });
}

const nestsItself = ({ kind, fields }: PlannedKind): boolean => kindsNamedBy(fields).has(kind);

const namesIn = (provider: PlannedKind, values: Values): readonly string[] =>
  mentioned(provider.fields, values).flatMap(([named, name]) =>
    named === provider.kind ? [foldName(provider, name)] : [],
  );

function addedMembers(provider: PlannedKind, change: Change): readonly string[] {
  if (!writes(change)) return [];
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
  const visited = new Set<string>();
  const chains: (readonly string[])[] = [[from]];
  for (const chain of chains)
    for (const name of membersOf(chain.at(-1) ?? from)) {
      if (name === to) return [...chain, name];
      if (visited.has(name)) continue;
      visited.add(name);
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
    at,
    hint: "remove one of these memberships from the workspace or the spec",
  });
}

export function unmanageableMemberships(context: PlanContext, changes: readonly Change[]): Diagnostic[] {
  return changes.flatMap((change) =>
    writtenLists(context, change).flatMap((writtenList) => refusals(context, writtenList)),
  );
}

interface WrittenList {
  readonly change: Change;
  readonly field: string;
  /** Kind of the objects that the list names, and that a write of it changes. */
  readonly kind: string;
  readonly names: readonly unknown[];
}

/** The lists that a change writes to the objects that they name. */
function writtenLists({ input }: PlanContext, change: Change): WrittenList[] {
  if (!writes(change)) return [];
  const { fields } = input.registry.get(change.kind);
  return Object.keys(change.after).flatMap((field) => {
    const { writtenToNamed, items } = fields[field] ?? {};
    if (writtenToNamed !== true || items?.names === undefined) return [];
    const names = change.after[field];
    const isWritten = change.action !== "update" || change.diffs.some(({ path }) => path[0] === field);
    return isWritten && Array.isArray(names) ? [{ change, field, kind: items.names, names }] : [];
  });
}

function refusals({ input, liveIndex }: PlanContext, list: WrittenList): Diagnostic[] {
  const { address } = list.change;
  const { singular } = input.registry.get(list.kind);
  const resource = input.spec.resources.get(address);
  return list.names.flatMap((name, index) => {
    const live = typeof name === "string" ? liveIndex.byName(list.kind, name)[0] : undefined;
    if (live?.unmanageable === undefined) return [];
    const message = `${address} cannot be added to the ${singular} ${JSON.stringify(live.name)}: ${live.unmanageable}`;
    return error("PLAN_UNMANAGEABLE", message, {
      address,
      at: resource?.locate([list.field, index]),
      hint: `remove the name from ${list.field}, and change the ${singular} with other tools; memberships that exist are kept`,
    });
  });
}
