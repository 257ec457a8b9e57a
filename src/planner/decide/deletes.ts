// Plans deletions: records that are no longer in the spec, members of authoritative lists, and replaced objects; those in use stay. And finds
// the live objects that are not in the spec: members of other lists are reported, and all others only named.

import {
  type Address,
  addressOf,
  isModuleAddress,
  kindOf,
  memberOf,
  nameOf,
  nestedNameOf,
  parentOf,
  type RemoteId,
} from "../../core/address.ts";
import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { addressesOf, foldName, isBuiltIn } from "../../resource/names.ts";
import type { PlannedWorkspace } from "../../resource/planning.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { comparable, liveFingerprint } from "../diff/normalize.ts";
import {
  type Change,
  type Delete,
  deletesCurrent,
  type Forget,
  removes,
  UNDECLARED,
} from "../model/change.ts";
import {
  hasUnreadableValue,
  isRead,
  type LiveMember,
  objectKey,
  type PlanContext,
} from "../model/context.ts";
import { type PlanFacts, stateExists } from "../model/input.ts";
import type { Unmanaged } from "../model/plan.ts";
import { isManageable } from "./match-live.ts";
import { occupiedFolders } from "./paths.ts";

/** Everything that leaves the workspace or the state. Runs after every desired resource was decided. */
export function planDeletes(context: PlanContext, caller: string | undefined): PlannedDeletes {
  const isManaged = isManagedObject(context);
  const members = unmanagedMembers(context, caller, isManaged);
  const unwanted = undeclaredObjects(context, isManaged);
  return {
    changes: [
      ...undeclared(context),
      ...untrue(context),
      ...deposed(context),
      ...members.changes,
      ...unwanted.map((liveMember) => deletionOf(context, liveMember)),
    ],
    // Before the first apply, nothing can have appeared.
    appeared: [...members.appeared, ...(stateExists(context.input.state) ? unwanted : [])],
    needsCaller: members.needsCaller,
  };
}

function undeclared(context: PlanContext): Change[] {
  const { spec, state } = context.input;
  const { records } = state;
  const removed = spec.stateEntries?.removed ?? [];
  const excepted = new Set(removed.flatMap(({ address, destroy }) => (destroy ? [] : [address])));
  const changes: Change[] = [];
  const going = new Set<Address>();
  for (const record of records.values()) if (!isDesired(context, record.address)) going.add(record.address);
  const occupied = occupiedFolders(context.input);
  for (const record of records.values())
    if (going.has(record.address)) changes.push(...removalOf(context, record, { going, excepted, occupied }));
  return changes;
}

/** Records whose address belongs to another object. The recorded object was never this resource, so it is kept. */
function untrue(context: PlanContext): Change[] {
  return [...context.invalidRecords.values()]
    .filter(({ address }) => !isDesired(context, address))
    .map((record) =>
      forget(record, `the state records it as ${record.name}, which is not a valid name for this address`),
    );
}

function isDesired(context: PlanContext, address: Address): boolean {
  return context.input.destroy !== true && context.input.spec.resources.has(address);
}

interface Removals {
  readonly going: ReadonlySet<Address>;
  readonly excepted: ReadonlySet<Address>;
  /** Folders with a declared resource in them, by address. */
  readonly occupied: ReadonlyMap<Address, Address>;
}

function removalOf(
  context: PlanContext,
  record: StateRecord,
  { going, excepted, occupied }: Removals,
): Change[] {
  const provider = context.input.registry.of(record.address);
  if (!isRead(context, provider.kind, record.name)) return [];
  const live = context.liveIndex.byId(provider.kind, record.id);
  if (live === undefined) return [forget(record, "it no longer exists in the workspace")];
  if (isBuiltIn(provider, record.name)) return [forget(record, "it is built in and cannot be deleted")];
  if (live.unmanageable !== undefined)
    return [forget(record, `it cannot be managed any longer: ${live.unmanageable}`)];
  const parent = parentAddress(context, provider, record);
  if (
    isKept(context, excepted, record.address) ||
    (parent !== undefined && isKept(context, excepted, parent))
  )
    return [forget(record, "the spec removes it from the state and keeps the object")];
  if (parent !== undefined && (going.has(parent) || context.decided.get(parent)?.action === "replace"))
    return [forget(record, `it is deleted together with ${parent}`, [parent])];
  if (parent !== undefined && isReleased(context, provider, parent))
    return [forget(record, `${parent} no longer manages its ${provider.kind}`)];
  const inside = occupied.get(record.address);
  if (inside !== undefined) return [forget(record, `${inside} is in it and stays in the spec`)];
  const { input } = context;
  const reason =
    input.destroy === true ? destroyed(input, record.address) : undeclaredReason(provider, excepted);
  return [deleteChange(provider, { address: record.address, live }, reason, record.name)];
}

/** The address of an object whose key is its name does not show the module, so the plan says what is not kept. */
function undeclaredReason({ kind, nameField }: PlannedKind, excepted: ReadonlySet<Address>): string {
  const isUnclear = nameField === undefined && [...excepted].some(isModuleAddress);
  return isUnclear ? `${UNDECLARED}, and an entry that keeps a module keeps no ${kind}` : UNDECLARED;
}

/** Whether a `removed` entry with `destroy: false` covers an address. */
function isKept({ input }: PlanContext, excepted: ReadonlySet<Address>, address: Address): boolean {
  return [...addressesOf(input.registry.of(address), address)].some((address) => excepted.has(address));
}

function destroyed({ only, exclude }: PlanContext["input"], address: Address): string {
  if (only === undefined && exclude === undefined) return "the plan destroys every managed resource";
  return only?.(address) !== false ? "it is destroyed" : "a resource that it depends on is destroyed";
}

/** The record of the parent of a nested record. */
function parentAddress(
  context: PlanContext,
  provider: PlannedKind,
  record: StateRecord,
): Address | undefined {
  if (provider.nested === undefined) return undefined;
  const parentKind = context.input.registry.get(provider.nested.kind);
  const parent = foldName(parentKind, parentOf(record.name));
  return (
    record.depends_on.find((address) => kindOf(address) === parentKind.kind) ??
    addressOf(parentKind.kind, parent)
  );
}

/** A parent that is still there and whose list is managed no more ("absent means not managed", design 4). */
function isReleased(context: PlanContext, provider: PlannedKind, parent: Address): boolean {
  const owner = context.input.spec.resources.get(parent);
  return owner !== undefined && !owner.owns.includes(provider.kind) && !hasUnreadableValue(provider);
}

function forget(
  { address, name, id }: StateRecord,
  reason: string,
  dependsOn: readonly Address[] = [],
): Forget {
  return {
    action: "forget",
    address,
    kind: kindOf(address),
    name,
    id,
    cause: "spec",
    reasons: [reason],
    consequences: [],
    dependsOn,
  };
}

/** Managed objects that were replaced, or created late: deletes those that still exist, and forgets the others. */
function deposed(context: PlanContext): Change[] {
  const changes: Change[] = [];
  for (const record of context.input.state.records.values()) {
    for (const id of leaving(context, record)) {
      const provider = context.input.registry.of(record.address);
      const live = context.liveIndex.byId(provider.kind, id);
      if (live === undefined && record.deposed?.includes(id) === true && isFullyRead(context, provider)) {
        const gone = forget(record, "the replaced object no longer exists in the workspace");
        changes.push({ ...gone, id, deposed: true });
      }
      if (live === undefined || !isManageable(live)) continue;
      const old = { address: record.address, live };
      const going = deleteChange(provider, old, "it was replaced earlier and still exists");
      changes.push({ ...going, deposed: true });
    }
  }
  return changes;
}

/** Whether an object that was not found does not exist. Of a tree, only the paths of the spec and the state are read. */
function isFullyRead({ input }: PlanContext, { kind, tree }: PlannedKind): boolean {
  const liveKind = input.live.get(kind);
  if (input.partial === true || tree !== undefined) return false;
  return liveKind?.readable === true && liveKind.unreadableParents.size === 0;
}

/** The deposed objects of a record; where one of them takes its place again, the recorded one goes instead. */
function leaving(context: PlanContext, record: StateRecord): readonly RemoteId[] {
  const { id, deposed = [] } = record;
  const change = context.decided.get(record.address);
  const stays = change !== undefined && "id" in change ? change.id : id;
  return [id, ...deposed].filter((old) => old !== stays);
}

/** Kinds that the policy makes authoritative: undeclared live objects are deleted. */
function undeclaredObjects(context: PlanContext, isManaged: IsManaged): LiveMember[] {
  if (context.input.destroy === true) return [];
  const liveMembers: LiveMember[] = [];
  for (const kind of context.input.spec.policy.authoritative) {
    const provider = context.input.registry.get(kind);
    if (provider.nested !== undefined) continue;
    const wanted = wantedNames(context, provider);
    for (const live of context.liveIndex.all(kind)) {
      if (isManaged(kind, live.id) || isBuiltIn(provider, live.name)) continue;
      if (wanted.has(foldName(provider, live.name)) || !isManageable(live)) continue;
      liveMembers.push({ address: freeAddress(context, kind, live.name, live.id), live });
    }
  }
  return liveMembers;
}

function deletionOf({ input }: PlanContext, unwanted: LiveMember): Change {
  const provider = input.registry.of(unwanted.address);
  const reason = `the policy makes ${provider.kind} authoritative, and the spec does not declare it`;
  return deleteChange(provider, unwanted, reason);
}

/**
 * A declared object that cannot be adopted is an error elsewhere; it is not deleted here as well. A folder stays while the
 * spec declares something in it.
 */
function wantedNames(context: PlanContext, provider: PlannedKind): ReadonlySet<string> {
  const names = new Set<string>();
  if (!provider.unique) return names;
  for (const { kind, name } of context.input.spec.resources.values())
    if (kind === provider.kind) names.add(foldName(provider, name));
  if (provider.tree?.folders === true)
    for (const address of occupiedFolders(context.input).keys()) names.add(nameOf(address));
  return names;
}

/** Returns an address for an object that the spec never named; adds the ID if the name is in use. */
function freeAddress(context: PlanContext, kind: string, name: string, id: RemoteId): Address {
  const plain = addressOf(kind, name === "" ? id : name);
  return context.decided.has(plain) || context.input.state.records.has(plain)
    ? addressOf(kind, `${name}@${id}`)
    : plain;
}

/** The changes without deletions of replaced objects that are in use, and a diagnostic for each kept object. */
export function retainInUse(
  context: PlanContext,
  facts: PlanFacts,
  changes: readonly Change[],
  workspace: PlannedWorkspace,
): { readonly changes: readonly Change[]; readonly notes: readonly Diagnostic[] } {
  if (context.input.destroy === true || !changes.some(removes)) return { changes, notes: [] };
  const notes: Diagnostic[] = [];
  // An object without a replacement is deleted with its resource, because its users cannot be moved.
  const going = new Set(changes.filter(deletesCurrent).map(({ address }) => address));
  const spared = changes.flatMap((change): readonly Change[] => {
    const holders = going.has(change.address) ? [] : holdersOf(context, facts, change, workspace);
    if (holders.length === 0) return [change];
    if (change.action === "replace") return [{ ...change, keepsOld: true }];
    notes.push(staying(change, holders));
    return [];
  });
  return { changes: spared, notes };
}

/** Applies only to objects with a replacement. The spec decides about other deletions. */
function holdersOf(
  { input, liveIndex }: PlanContext,
  { dependents }: PlanFacts,
  change: Change,
  workspace: PlannedWorkspace,
): readonly string[] {
  const isOld =
    (change.action === "replace" && change.replacing !== "delete-first") || change.action === "delete";
  const live = isOld ? liveIndex.byId(change.kind, change.id) : undefined;
  const { planning, usedBy = [] } = input.registry.get(change.kind);
  if (live === undefined || planning.usersOf === undefined) return [];
  const unread = usedBy.filter((kind) => (dependents?.get(kind) ?? input.live.get(kind))?.readable === false);
  // Unreadable is never empty.
  return [
    ...planning.usersOf(live, workspace),
    ...unread.map((kind) => `possibly ${kind}, which could not be read`),
  ];
}

function staying({ address, name }: Change, holders: readonly string[]): Diagnostic {
  const message = `${address}: the replaced object ${name} is kept because it is in use: ${holders.join(", ")}`;
  return warning("PLAN_KEPT", message, {
    address,
    hint: "move its users to the new object; the next plan then deletes the old one",
  });
}

interface PlannedDeletes {
  readonly changes: readonly Change[];
  /** Unrecorded members of lists that the spec declares, and unrecorded objects of authoritative kinds. */
  readonly appeared: readonly LiveMember[];
  /** Objects that would be judged differently if the caller were known. */
  readonly needsCaller: boolean;
}

/** Live members of nested lists: deleted if the list is authoritative, reported if their value cannot be read. */
function unmanagedMembers(
  context: PlanContext,
  caller: string | undefined,
  isManaged: IsManaged,
): PlannedDeletes {
  const changes: Change[] = [];
  const appeared: LiveMember[] = [];
  let needsCaller = false;
  for (const provider of context.input.registry.kinds) {
    if (provider.nested === undefined) continue;
    const parents = ownersByName(context, provider);
    for (const live of context.liveIndex.all(provider.kind)) {
      if (isManaged(provider.kind, live.id)) continue;
      const parent = parents.get(parentOf(live.name));
      if (parent === undefined) continue;
      const address = addressOf(provider.kind, nestedNameOf(nameOf(parent.address), memberOf(live.name)));
      if (hasUnreadableValue(provider)) {
        // A declared one that cannot be adopted is an error elsewhere.
        if (context.input.spec.resources.has(address)) continue;
        changes.push(reported(provider, { address, live }));
        if (parent.owns && appearedOutside(context, provider, parent, live, caller))
          appeared.push({ address, live });
      } else if (parent.owns) {
        if (caller === undefined && provider.planning.isImplicit !== undefined) needsCaller = true;
        if (provider.planning.isImplicit?.(live, caller, parent.values) === true) continue;
        const cause = appearedOutside(context, provider, parent, live, caller) ? "drift" : "spec";
        if (cause === "drift") appeared.push({ address, live });
        const reason = `the ${provider.kind} of ${parent.address} do not include it`;
        changes.push({ ...deleteChange(provider, { address, live }, reason), cause });
      }
    }
  }
  return { changes, appeared, needsCaller };
}

/** Whether the list was the spec's own at the last apply: then the member was added outside. Otherwise, the list becomes authoritative now. */
function appearedOutside(
  context: PlanContext,
  provider: PlannedKind,
  parent: Parent,
  live: LiveObject,
  caller: string | undefined,
): boolean {
  const record = context.input.state.records.get(parent.address);
  if (record === undefined || record.owns?.includes(provider.kind) === false) return false;
  return provider.planning.isImplicit?.(live, caller, record.applied) !== true;
}

interface Parent {
  readonly address: Address;
  readonly owns: boolean;
  readonly values: Values;
}

/** Parents in the spec that exist now and stay, by their natural name. */
function ownersByName(context: PlanContext, provider: PlannedKind): ReadonlyMap<string, Parent> {
  const parents = new Map<string, Parent>();
  for (const resource of context.input.spec.resources.values()) {
    if (resource.kind !== provider.nested?.kind) continue;
    const action = context.decided.get(resource.address)?.action;
    if (action === undefined || action === "create" || action === "replace") continue;
    const { address, values } = resource;
    parents.set(resource.name, { address, owns: resource.owns.includes(provider.kind), values });
  }
  return parents;
}

type IsManaged = (kind: string, id: RemoteId) => boolean;

/** Whether a record or a decision already covers a live object. */
function isManagedObject(context: PlanContext): IsManaged {
  const decided = new Set<string>();
  for (const change of context.decided.values()) {
    // An unchanged resource has the recorded object. The keys of 100,000 take 100 ms.
    if (change.action !== "noop" && "id" in change) decided.add(objectKey(change.kind, change.id));
  }
  return (kind, id) => context.owners.has(kind, id) || decided.has(objectKey(kind, id));
}

function reported(provider: PlannedKind, member: LiveMember): Change {
  const reason = "it is in the workspace but not in the spec; it is kept because its value cannot be read";
  return { ...deleteChange(provider, member, reason), action: "report", cause: "drift" };
}

function deleteChange(
  provider: PlannedKind,
  { address, live }: LiveMember,
  reason: string,
  name = live.name,
): Delete {
  return {
    action: "delete",
    address,
    kind: provider.kind,
    name,
    cause: "spec",
    reasons: [reason],
    consequences: [],
    dependsOn: [],
    id: live.id,
    before: live.values,
    fingerprint: liveFingerprint(provider.fields, comparable(provider, live), undefined),
  };
}

/** Live objects that are in neither the spec nor the state, of the kinds that these use. */
export function unmanagedOf(context: PlanContext, changes: readonly Change[]): Unmanaged[] {
  // `--only` and `--exclude` can limit `changes`.
  const all = [...changes, ...context.decided.values()];
  const kinds = new Set(all.map(({ kind }) => kind));
  const unmanaged: Unmanaged[] = [];
  for (const provider of context.input.registry.kinds) {
    if (provider.nested !== undefined || !kinds.has(provider.kind)) continue;
    for (const live of context.liveIndex.all(provider.kind)) {
      if (context.owners.has(provider.kind, live.id) || isBuiltIn(provider, live.name)) continue;
      unmanaged.push({ kind: provider.kind, name: live.name, id: live.id });
    }
  }
  // Most workspaces have no such object, so the keys of all planned objects are made only now.
  if (unmanaged.length === 0) return unmanaged;
  const planned = new Set(
    all.flatMap((change) => ("id" in change ? [objectKey(change.kind, change.id)] : [])),
  );
  return unmanaged.filter(({ kind, id }) => !planned.has(objectKey(kind, id)));
}
