// What a restricted plan contains: `--only` keeps the changes that it names and what they need, `--exclude` leaves out
// what it names and what depends on that.

import type { Address } from "../../core/address.ts";
import { type Change, type Delete, nameSourceOf, type Replace, removes } from "../model/change.ts";
import type { PlanInput } from "../model/input.ts";
import { addDependent, transitiveClosure } from "../model/work-graph.ts";

/**
 * Keeps the changes that `only` names and everything that those need. The users of an object that is deleted or replaced
 * join, unless the plan keeps a replaced object while they use it, and its name is free.
 */
export function limitChanges(
  input: Pick<PlanInput, "registry" | "state" | "destroy">,
  changes: readonly Change[],
  only: (address: Address) => boolean,
): Change[] {
  const needs = needsOf(input, changes);
  const limited = transitiveClosure(new Set(changes.map(({ address }) => address).filter(only)), needs);
  return changes.filter((change) => limited.has(change.address));
}

/**
 * The addresses that `exclude` names, and everything that depends on them: what refers to them in the spec, and changes
 * that cannot be made without theirs.
 */
export function excludedAddresses(
  input: Pick<PlanInput, "registry" | "state" | "destroy" | "spec">,
  changes: readonly Change[],
  exclude: (address: Address) => boolean,
): ReadonlySet<Address> {
  const declared = input.destroy === true ? [] : [...input.spec.resources.values()];
  const needs = needsOf(input, changes);
  const planned = changes.map(({ address }) => address);
  const dependents = new Map<Address, Set<Address>>();
  for (const { address, dependsOn } of declared)
    for (const needed of dependsOn) addDependent(dependents, address, needed);
  for (const address of planned)
    for (const needed of needs(address)) addDependent(dependents, address, needed);
  const all = [...declared.map(({ address }) => address), ...input.state.records.keys(), ...planned];
  return transitiveClosure(all.filter(exclude), (address) => dependents.get(address) ?? []);
}

/** What has to be planned with the changes of an address. */
function needsOf(
  input: Pick<PlanInput, "registry" | "state" | "destroy">,
  changes: readonly Change[],
): (address: Address) => readonly Address[] {
  const byAddress = Map.groupBy(changes, ({ address }) => address);
  const isLeft = leavingObjects(input, changes);
  /** Members that are deleted together with their parent. */
  const forgotten = new Map<Address, Set<Address>>();
  for (const { action, address, dependsOn } of changes)
    if (action === "forget") for (const parent of dependsOn) addDependent(forgotten, address, parent);
  /** Whether a change moves away from a replaced object: it was applied with it, or its key contains the new name. */
  const isMoving = (user: Address, replaced: Address): boolean =>
    input.state.records.get(user)?.depends_on.includes(replaced) === true ||
    input.registry.of(user).planning.namedInKey !== undefined;
  const users = (change: Change): readonly Address[] => {
    if (!isLeft(change)) return [];
    const moving =
      change.action === "delete"
        ? change.dependsOn
        : change.removeAfter.filter((address) => isMoving(address, change.address));
    return [...moving, ...(forgotten.get(change.address) ?? [])];
  };
  return (address) =>
    (byAddress.get(address) ?? []).flatMap((change) => [
      ...(change.action === "delete" ? [] : change.dependsOn),
      ...users(change),
      ...[nameSourceOf(change)].flatMap((source) => source?.address ?? []),
    ]);
}

/** Changes that take an object from its users; not those that keep a replaced object while it is used, if its name is free. */
function leavingObjects(
  { registry, destroy }: Pick<PlanInput, "registry" | "destroy">,
  changes: readonly Change[],
) {
  const takenIds = new Set(changes.flatMap((change) => nameSourceOf(change)?.id ?? []));
  const canStay = (change: Delete | Replace): boolean =>
    (change.action === "replace" || change.deposed === true) &&
    destroy !== true &&
    registry.get(change.kind).planning.usersOf !== undefined &&
    !takenIds.has(change.id);
  return (change: Change): change is Delete | Replace => removes(change) && !canStay(change);
}

/** Whether a resource was applied with an object that the changes take from its users. */
export function losesObject(
  input: Pick<PlanInput, "registry" | "destroy" | "state">,
  changes: readonly Change[],
): (address: Address) => boolean {
  const left = new Set(changes.filter(leavingObjects(input, changes)).map(({ address }) => address));
  return (address) =>
    input.state.records.get(address)?.depends_on.some((needed) => left.has(needed)) === true;
}
