// The order of changes: dependencies of each change, also on deletions that free its path, and what a restricted plan contains.

import { type Address, addressOf } from "../../core/address.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import { foldersAbove, foldName } from "../../resource/names.ts";
import { tableSchema, visitValue } from "../../resource/walk.ts";
import type { Change, Delete } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import type { PlanInput } from "../model/input.ts";
import { nameKey } from "../model/planned-workspace.ts";
import { transitiveClosure } from "../model/work-graph.ts";

/** The changes with `dependsOn` and `removeAfter` completed and reduced to addresses that the plan acts on. */
export function withDependencies(context: PlanContext, changes: readonly Change[]): Change[] {
  const acting = new Set(changes.filter((change) => acts(change)).map((change) => change.address));
  // Otherwise, the users of every object take a thirtieth of the time of a plan.
  const removes = changes.some(({ action }) => action === "delete" || action === "replace");
  const dependents = removes ? dependentsOf(context) : new Map<Address, Set<Address>>();
  for (const [going, holders] of liveHolders(context, changes))
    for (const holder of holders) addTo(dependents, holder, going);
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
  const add = (from: Address, to: Address): void => addTo(dependents, from, to);
  for (const record of context.input.state.records.values())
    for (const address of record.depends_on) add(record.address, address);
  for (const resource of context.input.spec.resources.values())
    for (const address of resource.dependsOn) add(resource.address, address);
  return dependents;
}

function addTo(dependents: Map<Address, Set<Address>>, from: Address, to: Address): void {
  const addresses = dependents.get(to);
  if (addresses === undefined) dependents.set(to, new Set([from]));
  else addresses.add(from);
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
    for (const needed of dependsOn) addTo(dependents, address, needed);
  for (const address of planned) for (const needed of needs(address)) addTo(dependents, address, needed);
  const all = [...declared.map(({ address }) => address), ...input.state.records.keys(), ...planned];
  return transitiveClosure(all.filter(exclude), (address) => dependents.get(address) ?? NONE);
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
    if (action === "forget") for (const parent of dependsOn) addTo(forgotten, address, parent);
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
      ...("nameFrom" in change && change.nameFrom !== undefined ? [change.nameFrom.address] : []),
    ]);
}

/** Changes that take an object from its users; not those that keep a replaced object while it is used, if its name is free. */
function leavingObjects(
  { registry, destroy }: Pick<PlanInput, "registry" | "destroy">,
  changes: readonly Change[],
) {
  const sources = changes.flatMap((change) => ("nameFrom" in change ? (change.nameFrom ?? []) : []));
  const takenIds = new Set(sources.map(({ id }) => id));
  const canStay = (change: Extract<Change, { readonly action: "delete" | "replace" }>): boolean =>
    (change.action === "replace" || change.deposed === true) &&
    destroy !== true &&
    registry.get(change.kind).planning.usersOf !== undefined &&
    !takenIds.has(change.id);
  return (change: Change): change is Extract<Change, { readonly action: "delete" | "replace" }> =>
    (change.action === "delete" || change.action === "replace") && !canStay(change);
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

/** The folders above the declared resources, by address, with the first such resource. */
export function occupiedFolders({ registry, spec, destroy }: PlanInput): ReadonlyMap<Address, Address> {
  const occupied = new Map<Address, Address>();
  if (destroy === true) return occupied;
  const kinds = registry.kinds.filter(({ tree }) => tree?.folders === true);
  for (const { address, kind, name } of spec.resources.values())
    for (const folder of kinds) {
      if (folder.tree?.root !== registry.get(kind).tree?.root) continue;
      for (const path of foldersAbove(name)) {
        const above = addressOf(folder.kind, path);
        const first = occupied.get(above);
        if (first === undefined || address < first) occupied.set(above, address);
      }
    }
  return occupied;
}

/** A creation depends on the deletions that free its path. Users of the deleted objects are deleted before, or move afterwards. */
export function withFreedPaths(registry: PlanningRegistry, changes: readonly Change[]): readonly Change[] {
  const deletes = changes.filter(isWhole);
  const paths = indexDeletes(registry, deletes);
  const blockers = new Map<Change, readonly Address[]>();
  for (const change of changes) {
    const { tree } = registry.get(change.kind);
    if (change.action !== "create" || tree === undefined) continue;
    const addresses = blockersOf(paths, tree, change.name);
    if (addresses.length > 0) blockers.set(change, addresses);
  }
  const byAddress = new Map(deletes.map((deletion) => [deletion.address, deletion]));
  const amongDeletes = (address: Address): readonly Address[] =>
    (byAddress.get(address)?.dependsOn ?? []).filter((address) => byAddress.has(address));
  const first = transitiveClosure([...blockers.values()].flat(), amongDeletes);
  return changes.map((change) => {
    const blocking = blockers.get(change);
    if (blocking !== undefined)
      return { ...change, dependsOn: [...new Set([...change.dependsOn, ...blocking])].sort() };
    return isWhole(change) && first.has(change.address)
      ? { ...change, dependsOn: amongDeletes(change.address) }
      : change;
  });
}

/** Errors for creations at the path of an object of another kind, or below one, that the plan does not delete. */
export function pathsOfOthers({ input }: PlanContext, changes: readonly Change[]): readonly Diagnostic[] {
  const { registry, spec, live } = input;
  const blocked = changes.flatMap(({ action, address, kind, name }) => {
    const liveKind = action === "create" ? live.get(kind) : undefined;
    const other = liveKind?.readable === true ? liveKind.others?.get(name) : undefined;
    return other === undefined ? [] : [{ address, kind, other }];
  });
  const deletes = indexDeletes(registry, changes.filter(isWhole));
  return blocked.flatMap(({ address, kind, other: { path, type } }) => {
    const { tree } = registry.get(kind);
    if (tree === undefined || (deletes.get(keyOf(tree, path))?.at.length ?? 0) > 0) return [];
    const contents = type === "folder" ? " and everything in it" : "";
    return error("PLAN_ALREADY_EXISTS", `${address} cannot be created: ${path} is a ${type}`, {
      address,
      at: spec.resources.get(address)?.at,
      hint: `choose another path, or delete the ${type} ${path}${contents}, then plan again`,
    });
  });
}

const isWhole = (change: Change): change is Delete => change.action === "delete" && change.deposed !== true;

type Tree = NonNullable<PlannedKind["tree"]>;

/** The deletions at a path, and those below it. */
interface Going {
  readonly at: Address[];
  readonly below: Address[];
}

const keyOf = ({ root }: Tree, path: string): string => `${root}\n${path}`;

function indexDeletes(registry: PlanningRegistry, deletes: readonly Delete[]): ReadonlyMap<string, Going> {
  const paths = new Map<string, Going>();
  const going = (key: string): Going => {
    const going = paths.get(key) ?? { at: [], below: [] };
    paths.set(key, going);
    return going;
  };
  for (const { kind, name, address } of deletes) {
    const { tree } = registry.get(kind);
    if (tree === undefined) continue;
    going(keyOf(tree, name)).at.push(address);
    for (const folder of foldersAbove(name)) going(keyOf(tree, folder)).below.push(address);
  }
  return paths;
}

/** Objects below a new folder do not block it. A folder above stays, because it is occupied. */
function blockersOf(paths: ReadonlyMap<string, Going>, tree: Tree, path: string): readonly Address[] {
  const here = paths.get(keyOf(tree, path));
  const above = foldersAbove(path).flatMap((folder) => paths.get(keyOf(tree, folder))?.at ?? []);
  return [...(here?.at ?? []), ...above, ...(tree.folders ? [] : (here?.below ?? []))];
}
