// What a restricted plan contains: `--only` keeps the changes that it names and what they need, `--exclude` leaves out
// what it names and what depends on that.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import { grouped, listed } from "../../core/sentences.ts";
import {
  type Change,
  changeKey,
  type Delete,
  nameSourceOf,
  type Replace,
  removes,
  touches,
} from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import type { PlanInput } from "../model/input.ts";
import type { Plan } from "../model/plan.ts";
import { addDependent } from "../order/dependencies.ts";
import { transitiveClosure } from "../order/graph.ts";
import { type PassedNames, withPassedNames } from "./passed-names.ts";

/** A plan with `only` or `exclude`. */
export interface Selection extends PassedNames {
  /** Left out by `exclude`, with what depends on it. */
  readonly excluded: ReadonlySet<Address>;
  /** Those of them that would change and that no option names; `excluded` in the JSON of the plan. */
  readonly excludedDependents: readonly Address[];
}

/** What `only` asks for, with everything that a dependency or a name needs, and without what `exclude` leaves out. */
export function limitToSelected(context: PlanContext, changes: readonly Change[]): Selection | undefined {
  const { only, exclude } = context.input;
  if (only === undefined && exclude === undefined) return undefined;
  const excluded =
    exclude === undefined ? new Set<Address>() : excludedAddresses(context.input, changes, exclude);
  const included = changes.filter(({ address }) => !excluded.has(address));
  const selected = only === undefined ? included : limitChanges(context.input, included, only);
  const limited = new Set(selected.map(changeKey));
  const excludedDependents = changes.flatMap((change) =>
    excluded.has(change.address) && exclude?.(change.address) === false && touches(change)
      ? [change.address]
      : [],
  );
  // Names are passed again: an excluded change frees no name.
  const all = changes.map(withoutNameSource);
  const passed = withPassedNames(
    context,
    all.filter((change) => limited.has(changeKey(change))),
    all,
  );
  return { ...passed, excluded, excludedDependents };
}

function withoutNameSource(change: Change): Change {
  if (!("nameFrom" in change)) return change;
  const { nameFrom: _, ...rest } = change;
  return rest;
}

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
    registry.get(change.kind).planning.keptWhileUsedBy !== undefined &&
    !takenIds.has(change.id);
  return (change: Change): change is Delete | Replace => removes(change) && !canStay(change);
}

/** Whether a resource was applied with an object that the changes take from its users. */
function losesObject(
  input: Pick<PlanInput, "registry" | "destroy" | "state">,
  changes: readonly Change[],
): (address: Address) => boolean {
  const left = new Set(changes.filter(leavingObjects(input, changes)).map(({ address }) => address));
  return (address) =>
    input.state.records.get(address)?.depends_on.some((needed) => left.has(needed)) === true;
}

/** The refusals of the resources that the plan is about. */
export function refusalsInPlan(
  input: PlanInput,
  changes: readonly Change[],
  refusals: ReadonlyMap<Address, Diagnostic>,
  excluded: Selection["excluded"],
): readonly Diagnostic[] {
  const isConcerned = concernsOf(input, changes);
  return [...refusals].flatMap(([address, refusal]) =>
    isConcerned(address) && !excluded.has(address) ? [refusal] : [],
  );
}

export function excludedWarning(addresses: Selection["excludedDependents"]): readonly Diagnostic[] {
  if (addresses.length === 0) return [];
  const subject =
    addresses.length === 1
      ? "1 more resource is excluded, because its change depends"
      : `${grouped(addresses.length)} more resources are excluded, because their changes depend`;
  const message = `${subject} on an excluded one: ${listed(addresses, "and", 10)}`;
  return [warning("PLAN_EXCLUDED", message)];
}

/** How many of all resources a plan with `only` or `exclude` decides. `total` counts what the spec declares and the state records. Undeclared members of managed objects are neither. */
export function planPart(
  input: PlanInput,
  changes: readonly Change[],
  excludedDependents: readonly Address[],
): Plan["part"] {
  if (input.only === undefined && input.exclude === undefined) return undefined;
  const declared = input.destroy === true ? [] : input.spec.resources.keys();
  const decided = changes.filter(({ action }) => action !== "report");
  const planned = new Set(decided.map(({ address }) => address));
  const total = new Set([...declared, ...input.state.records.keys(), ...planned]).size;
  if (input.exclude === undefined) return { planned: planned.size, total };
  const options = input.only === undefined ? (["--exclude"] as const) : (["--only", "--exclude"] as const);
  return { planned: planned.size, total, options, excluded: excludedDependents };
}

/**
 * Whether a restricted plan is about a resource: `only` names it, the plan changes it, it loses an object, or one of these
 * depends on it. Refusals of other resources do not block the plan.
 */
function concernsOf(input: PlanInput, changes: readonly Change[]): (address: Address) => boolean {
  const { only, spec } = input;
  if (only === undefined) return () => true;
  const isLosing = losesObject(input, changes);
  const named = [...spec.resources.keys()].filter((address) => only(address) || isLosing(address));
  const planned = changes.map(({ address }) => address);
  const concerned = transitiveClosure(
    [...named, ...planned],
    (address) => spec.resources.get(address)?.dependsOn ?? [],
  );
  return (address) => concerned.has(address);
}
