// Plans deletions: of objects whose record is no longer in the spec, and of replaced objects, unless they are in use. `unmanaged.ts` plans those
// of objects that have no record.

import {
  type Address,
  addressOf,
  isModuleAddress,
  kindOf,
  parentOf,
  type RemoteId,
} from "../../core/address.ts";
import { type Diagnostic, warning } from "../../core/diagnostic.ts";
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
import { hasUnreadableValue, isRead, type PlanContext } from "../model/context.ts";
import type { PlanFacts } from "../model/input.ts";
import { isManageable } from "./match-live.ts";
import { occupiedFolders } from "./paths.ts";

/** Managed objects and records that leave the workspace or the state. Runs after every desired resource was decided. */
export function planDeletes(context: PlanContext): readonly Change[] {
  return [...undeclaredRecords(context), ...forgetMisplaced(context), ...replacedObjects(context)];
}

function undeclaredRecords(context: PlanContext): Change[] {
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
function forgetMisplaced(context: PlanContext): Change[] {
  return [...context.misplacedRecords.values()]
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
function replacedObjects(context: PlanContext): Change[] {
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

/** The changes without deletions of replaced objects that are in use, and a diagnostic for each kept object. */
export function retainReplacedInUse(
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
  { dependentsOfDeleted }: PlanFacts,
  change: Change,
  workspace: PlannedWorkspace,
): readonly string[] {
  const isOld =
    (change.action === "replace" && change.replacing !== "delete-first") || change.action === "delete";
  const live = isOld ? liveIndex.byId(change.kind, change.id) : undefined;
  const { planning, usedBy = [] } = input.registry.get(change.kind);
  if (live === undefined || planning.keptWhileUsedBy === undefined) return [];
  const unread = usedBy.filter(
    (kind) => (dependentsOfDeleted?.get(kind) ?? input.live.get(kind))?.readable === false,
  );
  // Unreadable is never empty.
  return [
    ...planning.keptWhileUsedBy(live, workspace),
    ...unread.map((kind) => `possibly ${kind}, which could not be read`),
  ];
}

function staying({ address, name }: Change, holders: readonly string[]): Diagnostic {
  const message = `${address}: the replaced object ${name} is kept because it is in use: ${holders.join(", ")}`;
  return warning("PLAN_KEPT", message, {
    address,
    hint: "move its users to the new object, and declare its ID in those that have it from a cluster policy; the next plan then deletes the old one",
  });
}

export function deleteChange(
  provider: PlannedKind,
  { address, live }: { readonly address: Address; readonly live: LiveObject },
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
