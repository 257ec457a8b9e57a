// Finds what each change waits for, in the spec, the state, and the live objects: a creation for the objects that it depends on, a deletion
// for the users of its object. `plan-order.ts` and `apply-order.ts` sort changes with it.

import type { Address } from "../../core/address.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import { tableSchema, visitValue } from "../../resource/walk.ts";
import { type Change, isOfReplaced, nameSourceOf } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import { nameKey, plannedChange } from "../model/planned-workspace.ts";
import { transitiveClosure } from "./graph.ts";

/** The changes with `dependsOn` and `removeAfter` completed and reduced to addresses that the plan acts on. */
export function withDependencies(context: PlanContext, changes: readonly Change[]): Change[] {
  const acting = new Set(changes.filter(acts).map(({ address }) => address));
  const neededBy = changesNeeded(changes, acting);
  const dependentsOf = changingDependents(context, changes, acting);
  const usesNewObject = dependentsOfNewObjects(context, changes);
  return changes.map((change) => {
    const dependsOn = neededBy(change);
    const users = dependentsOf(change.address);
    if (change.action === "delete")
      return { ...change, dependsOn: [...new Set([...dependsOn, ...users])].sort() };
    if (change.action === "replace")
      return {
        ...change,
        dependsOn,
        removeAfter: users.filter((user) => !usesNewObject(user, change.address)),
      };
    return isEqual(dependsOn, change.dependsOn) ? change : { ...change, dependsOn };
  });
}

/**
 * The changes that come before a change. Also through unchanged resources of its kind: a group cannot enter another while that one
 * contains it through a third.
 */
function changesNeeded(
  changes: readonly Change[],
  acting: ReadonlySet<Address>,
): (change: Change) => readonly Address[] {
  const unchanged = new Map(
    changes.flatMap((change) =>
      change.action === "noop" && change.dependsOn.length > 0 ? [[change.address, change] as const] : [],
    ),
  );
  return ({ kind, dependsOn }) => {
    const isBetween = (address: Address): boolean => unchanged.get(address)?.kind === kind;
    if (!dependsOn.some(isBetween)) return dependsOn.filter((address) => acting.has(address));
    const all = transitiveClosure(dependsOn, (address) =>
      isBetween(address) ? (unchanged.get(address)?.dependsOn ?? NONE) : NONE,
    );
    return [...all].sort().filter((address) => acting.has(address));
  };
}

/** The changes of those that use an object now, or will. */
function changingDependents(
  context: PlanContext,
  changes: readonly Change[],
  acting: ReadonlySet<Address>,
): (address: Address) => readonly Address[] {
  const users = new Map<Address, Set<Address>>();
  for (const [user, used] of uses(context, changes)) addDependent(users, user, used);
  return (address) =>
    [...(users.get(address) ?? [])].filter((user) => acting.has(user) && user !== address).sort();
}

/** Whether a user is replaced too, and its old object did not use the old object: only the new ones depend on each other. */
function dependentsOfNewObjects(
  { input: { state } }: PlanContext,
  changes: readonly Change[],
): (user: Address, address: Address) => boolean {
  const createdFirst = new Set(changes.filter(isCreatedFirst).map(({ address }) => address));
  return (user, address) =>
    createdFirst.has(user) && state.records.get(user)?.depends_on.includes(address) === false;
}

/** The change, which also depends on these addresses. */
export function withNeeds(change: Change, addresses: readonly Address[]): Change {
  return { ...change, dependsOn: [...new Set([...change.dependsOn, ...addresses])].sort() };
}

/** The changes, which also wait for these, unless their order opposes that. */
export function withFurtherNeeds(
  changes: readonly Change[],
  waits: readonly (readonly [Change, readonly Address[]])[],
): readonly Change[] {
  if (waits.length === 0) return changes;
  const needs = new Map<Address, readonly Address[]>();
  for (const change of changes) {
    const removeAfter = change.action === "replace" ? change.removeAfter : [];
    const source = nameSourceOf(change);
    const own = [...change.dependsOn, ...removeAfter, ...(source === undefined ? [] : [source.address])];
    if (!isOfReplaced(change)) needs.set(change.address, own);
  }
  const waiting = new Map<Change, readonly Address[]>();
  for (const [change, others] of waits) {
    const own = needs.get(change.address) ?? [];
    const more = others.filter(
      (address) => !transitiveClosure([address], (needed) => needs.get(needed) ?? []).has(change.address),
    );
    needs.set(change.address, [...own, ...more]);
    waiting.set(change, more);
  }
  return changes.map((change) => {
    const more = waiting.get(change);
    return more === undefined ? change : withNeeds(change, more);
  });
}

/** The changes, which wait for those that their kinds say (`waitsFor`). */
export function withKindsInOrder(
  { input: { registry }, liveIndex }: PlanContext,
  changes: readonly Change[],
): readonly Change[] {
  if (!changes.some(({ kind }) => registry.get(kind).planning.waitsFor !== undefined)) return changes;
  const planned = changes.flatMap((change) => plannedChange(change, liveIndex) ?? []);
  const waits = changes.flatMap((change): readonly (readonly [Change, readonly Address[]])[] => {
    const { waitsFor } = registry.get(change.kind).planning;
    const own = waitsFor === undefined ? undefined : plannedChange(change, liveIndex);
    if (waitsFor === undefined || own === undefined) return [];
    const others = planned.filter((other) => other.address !== own.address && waitsFor(own, other));
    return others.length === 0 ? [] : [[change, others.map(({ address }) => address)]];
  });
  return withFurtherNeeds(changes, waits);
}

export function addDependent(dependents: Map<Address, Set<Address>>, from: Address, to: Address): void {
  const addresses = dependents.get(to);
  if (addresses === undefined) dependents.set(to, new Set([from]));
  else addresses.add(from);
}

function isEqual(some: readonly Address[], others: readonly Address[]): boolean {
  return some.length === others.length && some.every((address, at) => address === others[at]);
}

/** The dependencies of an unchanged resource; none if nothing below it changes, so that `withDependencies` copies no change. */
export function changedDependencies(
  { decided, input }: PlanContext,
  dependsOn: readonly Address[],
): readonly Address[] {
  const isSettled = (address: Address): boolean => {
    const change = decided.get(address);
    const isUnchanged = change?.action === "noop" && change.dependsOn.length === 0;
    return isUnchanged && input.state.records.get(address)?.deposed === undefined;
  };
  return dependsOn.every(isSettled) ? NONE : dependsOn;
}

const NONE: readonly Address[] = [];

/** Whether the old object of a change is deleted after its new one is created. */
function isCreatedFirst(change: Change): boolean {
  return change.action === "replace" && change.replacing !== "delete-first";
}

/** Whether other changes can depend on this one. A forgotten resource delays no change. */
function acts(change: Change): boolean {
  return change.action !== "noop" && change.action !== "report" && change.action !== "forget";
}

/**
 * Each user of an object, with that object: of the spec, of the last apply, and, although neither the spec nor the state
 * records it, of the live values of an updated object that refer to a deleted one.
 */
function* uses(
  { input: { registry, spec, state } }: PlanContext,
  changes: readonly Change[],
): Generator<readonly [user: Address, used: Address]> {
  for (const { address, depends_on } of state.records.values())
    for (const used of depends_on) yield [address, used];
  for (const { address, dependsOn } of spec.resources.values())
    for (const used of dependsOn) yield [address, used];
  const deleted = new Map<string, Address>();
  for (const change of changes)
    if (change.action === "delete")
      for (const key of [nameKey(registry, change.kind, change.name), `${change.kind}\n${change.id}`])
        deleted.set(key, change.address);
  for (const change of changes)
    if (change.action === "update")
      for (const [kind, text] of mentioned(registry.get(change.kind).fields, change.before)) {
        const used = deleted.get(nameKey(registry, kind, text)) ?? deleted.get(`${kind}\n${text}`);
        if (used !== undefined) yield [change.address, used];
      }
}

/** An unchanged resource for each name that one lists. If the object is deleted, the service deletes the membership with it. */
export function unchangedListers(
  { input: { registry } }: PlanContext,
  changes: readonly Change[],
): ReadonlyMap<string, Change> {
  const byName = new Map<string, Change>();
  for (const change of changes.toReversed())
    if (change.action === "noop")
      for (const [kind, text] of mentioned(registry.get(change.kind).fields, change.after))
        byName.set(nameKey(registry, kind, text), change);
  return byName;
}

/** Everything that values name or refer to, as kind and natural name or id. */
export function mentioned(fields: FieldTable, values: Values): readonly (readonly [string, string])[] {
  const pairs: [string, string][] = [];
  visitValue(tableSchema(fields), values, ({ names, refersTo }, value) => {
    const kind = names ?? refersTo;
    if (kind !== undefined && typeof value === "string") pairs.push([kind, value]);
  });
  return pairs;
}
