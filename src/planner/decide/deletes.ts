// What goes: records that the spec no longer has, members of lists that are ours, leftovers of cut replaces.

import { type Address, addressOf, kindOf, parentOf, type RemoteId } from "../../core/address.ts";
import { foldName, isBuiltIn } from "../../resource/names.ts";
import type { PlannedWorkspace } from "../../resource/planning.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { stateExists } from "../check/state-exists.ts";
import type { Change, Forget } from "../model/change.ts";
import { holdsUnreadable, objectKey, type PlanContext } from "../model/context.ts";
import {
  deleteChange,
  type LiveMember,
  managedObjects,
  type PlannedDeletes,
  unmanagedMembers,
} from "./nested-members.ts";
import { isManageable } from "./unmanageable.ts";

/** Everything that leaves the workspace or the state. Runs after every desired resource was decided. */
export function planDeletes(context: PlanContext, workspace: PlannedWorkspace): PlannedDeletes {
  const changes = [...undeclared(context), ...untrue(context), ...deposed(context)];
  const members = unmanagedMembers(context, workspace);
  const unwanted = undeclaredObjects(context);
  return {
    changes: [...changes, ...members.changes, ...unwanted.map((one) => deletionOf(context, one))],
    // Before a first apply nothing can have appeared since.
    appeared: [...members.appeared, ...(stateExists(context.input.state) ? unwanted : [])],
    callerMatters: members.callerMatters,
  };
}

function undeclared(context: PlanContext): Change[] {
  const { records } = context.input.state;
  const changes: Change[] = [];
  const going = new Set<Address>();
  for (const record of records.values()) if (!isDesired(context, record.address)) going.add(record.address);
  for (const address of going) {
    const record = records.get(address);
    if (record !== undefined) changes.push(...removalOf(context, record, going));
  }
  return changes;
}

/** Records of one thing under the address of another: what they speak of was never this resource, and stays. */
function untrue(context: PlanContext): Change[] {
  return [...context.invalidRecords.values()].flatMap((record) =>
    isDesired(context, record.address)
      ? []
      : [
          forget(
            record,
            context.input.registry.of(record.address),
            `it is recorded as ${record.name}, which this address cannot stand for`,
            [],
          ),
        ],
  );
}

function isDesired(context: PlanContext, address: Address): boolean {
  return context.input.destroy !== true && context.input.spec.resources.has(address);
}

function removalOf(context: PlanContext, record: StateRecord, going: ReadonlySet<Address>): Change[] {
  const provider = context.input.registry.of(record.address);
  if (!context.input.live.has(provider.kind)) return [];
  if (context.liveIndex.unreadable(provider.kind, record.name) !== undefined) return [];
  const live = context.liveIndex.byId(provider.kind, record.id);
  if (live === undefined) return [forget(record, provider, "it is no longer in the workspace", [])];
  if (isBuiltIn(provider, record.name))
    return [forget(record, provider, "it is part of every workspace and stays", [])];
  if (live.unmanageable !== undefined)
    return [forget(record, provider, `it cannot be managed any longer: ${live.unmanageable}`, [])];
  const parent = parentAddress(context, provider, record);
  if (parent !== undefined && (going.has(parent) || context.decided.get(parent)?.action === "replace")) {
    return [forget(record, provider, `it goes with ${parent}`, [parent])];
  }
  if (parent !== undefined && isReleased(context, provider, parent))
    return [forget(record, provider, `${parent} no longer manages its ${provider.kind}`, [])];
  const reason =
    context.input.destroy === true ? destroyed(context.input, record.address) : "it is no longer in the spec";
  return [deleteChange(provider, record.address, record.name, live, reason)];
}

function destroyed({ only }: PlanContext["input"], address: Address): string {
  if (only === undefined) return "everything managed is to be destroyed";
  return only(address) ? "it is to be destroyed" : "what it needs is to be destroyed";
}

/** The record of the thing that a nested record lives in. */
function parentAddress(
  context: PlanContext,
  provider: PlannedKind,
  record: StateRecord,
): Address | undefined {
  if (provider.nested === undefined) return undefined;
  const parentKind = context.input.registry.get(provider.nested.kind);
  const parent = foldName(parentKind, parentOf(record.name));
  return (
    record.depends_on.find((one) => kindOf(one) === parentKind.kind) ?? addressOf(parentKind.kind, parent)
  );
}

/** A parent that is still there and whose list is managed no more ("absent means not managed", design 4). */
function isReleased(context: PlanContext, provider: PlannedKind, parent: Address): boolean {
  const owner = context.input.spec.resources.get(parent);
  return owner !== undefined && !owner.owns.includes(provider.kind) && !holdsUnreadable(provider);
}

function forget(
  record: StateRecord,
  provider: PlannedKind,
  reason: string,
  dependsOn: readonly Address[],
): Forget {
  const { address, name, id } = record;
  return {
    action: "forget",
    address,
    kind: provider.kind,
    name,
    id,
    cause: "spec",
    reasons: [reason],
    consequences: [],
    dependsOn,
  };
}

/** Objects of ours that were replaced, or committed late, and are still there. */
function deposed(context: PlanContext): Change[] {
  const changes: Change[] = [];
  for (const record of context.input.state.records.values()) {
    for (const id of leaving(context, record)) {
      const provider = context.input.registry.of(record.address);
      const live = context.liveIndex.byId(provider.kind, id);
      if (live === undefined || !isManageable(live)) continue;
      const going = deleteChange(
        provider,
        record.address,
        live.name,
        live,
        "it was replaced earlier and is still there",
      );
      changes.push({ ...going, deposed: true });
    }
  }
  return changes;
}

/** The deposed objects of a record; where one of them takes its place again, the recorded one goes instead. */
function leaving(context: PlanContext, record: StateRecord): readonly RemoteId[] {
  const { id, deposed = [] } = record;
  const change = context.decided.get(record.address);
  const stays = change !== undefined && "id" in change ? change.id : id;
  return stays === id ? deposed : [id, ...deposed].filter((one) => one !== stays);
}

/** Kinds that the policy calls authoritative: whatever is live and not declared goes. */
function undeclaredObjects(context: PlanContext): LiveMember[] {
  if (context.input.destroy === true) return [];
  const known = managedObjects(context);
  const found: LiveMember[] = [];
  for (const kind of context.input.spec.policy.authoritative) {
    const provider = context.input.registry.get(kind);
    if (provider.nested !== undefined) continue;
    const wanted = wantedNames(context, provider);
    for (const live of context.liveIndex.all(kind)) {
      if (known.has(objectKey(kind, live.id)) || isBuiltIn(provider, live.name)) continue;
      if (wanted.has(foldName(provider, live.name)) || !isManageable(live)) continue;
      found.push({ address: freeAddress(context, kind, live.name, live.id), live });
    }
  }
  return found;
}

function deletionOf({ input }: PlanContext, { address, live }: LiveMember): Change {
  const provider = input.registry.of(address);
  const reason = `the policy makes ${provider.kind} authoritative and the spec does not have it`;
  return deleteChange(provider, address, live.name, live, reason);
}

/** What the spec declares and may not take over is refused there; it is not also deleted here. */
function wantedNames(context: PlanContext, provider: PlannedKind): ReadonlySet<string> {
  const names = new Set<string>();
  if (!provider.unique) return names;
  for (const { kind, name } of context.input.spec.resources.values())
    if (kind === provider.kind) names.add(foldName(provider, name));
  return names;
}

/** An address for something that the spec never named; its id tells it apart where the name is taken. */
function freeAddress(context: PlanContext, kind: string, name: string, id: RemoteId): Address {
  const plain = addressOf(kind, name === "" ? id : name);
  return context.decided.has(plain) || context.input.state.records.has(plain)
    ? addressOf(kind, `${name}@${id}`)
    : plain;
}
