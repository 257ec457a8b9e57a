// The order of changes: the dependencies of each change, from the spec, the state, and the live objects.

import type { Address } from "../../core/address.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import { foldName } from "../../resource/names.ts";
import { tableSchema, visitValue } from "../../resource/walk.ts";
import type { Change } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import { nameKey } from "../model/planned-workspace.ts";
import { addDependent, transitiveClosure } from "../model/work-graph.ts";

/** The changes with `dependsOn` and `removeAfter` completed and reduced to addresses that the plan acts on. */
export function withDependencies(context: PlanContext, changes: readonly Change[]): Change[] {
  const acting = new Set(changes.filter((change) => acts(change)).map((change) => change.address));
  // Otherwise, the users of every object take a thirtieth of the time of a plan.
  const removes = changes.some(({ action }) => action === "delete" || action === "replace");
  const dependents = removes ? dependentsOf(context) : new Map<Address, Set<Address>>();
  for (const [going, holders] of liveHolders(context, changes))
    for (const holder of holders) addDependent(dependents, holder, going);
  const holders = (address: Address): readonly Address[] =>
    [...(dependents.get(address) ?? [])].filter((holder) => acting.has(holder) && holder !== address).sort();
  const createdFirst = new Set(changes.flatMap((change) => (isCreatedFirst(change) ? [change.address] : [])));
  /** A holder that is replaced too, and whose old object did not hold the old object: only the new ones depend on each other. */
  const isNewHolder = (holder: Address, address: Address): boolean =>
    createdFirst.has(holder) &&
    context.input.state.records.get(holder)?.depends_on.includes(address) === false;
  const unchanged = new Map<Address, Change>();
  for (const change of changes)
    if (change.action === "noop" && change.dependsOn.length > 0) unchanged.set(change.address, change);
  /** Also through unchanged resources of the same kind: a group cannot enter another while that one contains it through a third. */
  const withIndirect = ({ kind, dependsOn }: Change): readonly Address[] => {
    const isBetween = (address: Address): boolean => unchanged.get(address)?.kind === kind;
    if (!dependsOn.some(isBetween)) return dependsOn;
    const all = transitiveClosure(dependsOn, (address) =>
      isBetween(address) ? (unchanged.get(address)?.dependsOn ?? NONE) : NONE,
    );
    return [...all].sort();
  };
  return changes.map((change) => {
    const needs = withIndirect(change).filter((address) => acting.has(address));
    switch (change.action) {
      case "delete":
        return { ...change, dependsOn: [...new Set([...needs, ...holders(change.address)])].sort() };
      case "replace":
        return {
          ...change,
          dependsOn: needs,
          removeAfter: holders(change.address).filter((address) => !isNewHolder(address, change.address)),
        };
      case "create":
      case "update":
      case "adopt":
      case "import":
      case "move":
      case "forget":
      case "compare":
      case "noop":
      case "report":
        return isEqual(needs, change.dependsOn) ? change : { ...change, dependsOn: needs };
      default:
        return change satisfies never;
    }
  });
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

/** The users of each object, now and at the last apply. */
function dependentsOf(context: PlanContext): Map<Address, Set<Address>> {
  const dependents = new Map<Address, Set<Address>>();
  const add = (from: Address, to: Address): void => addDependent(dependents, from, to);
  for (const record of context.input.state.records.values())
    for (const address of record.depends_on) add(record.address, address);
  for (const resource of context.input.spec.resources.values())
    for (const address of resource.dependsOn) add(resource.address, address);
  return dependents;
}

/** Updated objects whose live values refer to a deleted object, even if neither the spec nor the state records that. */
function liveHolders(
  context: PlanContext,
  changes: readonly Change[],
): ReadonlyMap<Address, readonly Address[]> {
  const { registry } = context.input;
  const going = new Map<string, Address>();
  for (const change of changes)
    if (change.action === "delete") {
      const { kind, name, address, id } = change;
      going.set(`${kind}\n${foldName(registry.get(kind), name)}`, address);
      going.set(`${kind}\n${id}`, address);
    }
  const holders = new Map<Address, Address[]>();
  for (const change of changes) {
    if (change.action !== "update") continue;
    for (const [kind, text] of mentioned(registry.get(change.kind).fields, change.before)) {
      const address =
        going.get(`${kind}\n${foldName(registry.get(kind), text)}`) ?? going.get(`${kind}\n${text}`);
      if (address !== undefined) holders.set(address, [...(holders.get(address) ?? []), change.address]);
    }
  }
  return holders;
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
