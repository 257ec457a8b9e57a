// Live objects without a record: those of lists and kinds that the spec owns are deleted, secrets of such lists are reported, and all others are only named.

import {
  type Address,
  addressOf,
  memberOf,
  nameOf,
  nestedNameOf,
  parentOf,
  type RemoteId,
} from "../../core/address.ts";
import { possibleCreators } from "../../core/past-run.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldName, isBuiltIn } from "../../resource/names.ts";
import type { Change } from "../model/change.ts";
import { hasUnreadableValue, objectKey, type PlanContext, type UndeclaredObject } from "../model/context.ts";
import { stateExists } from "../model/input.ts";
import type { Unmanaged } from "../model/plan.ts";
import { deleteChange } from "./deletes.ts";
import { isManageable } from "./match-live.ts";
import { occupiedFolders } from "./paths.ts";

interface PlannedUnmanaged {
  readonly changes: readonly Change[];
  /** Unrecorded members of lists that the spec declares, and unrecorded objects of authoritative kinds. */
  readonly appeared: readonly UndeclaredObject[];
  /** Objects that would be judged differently if the caller were known. */
  readonly needsCaller: boolean;
}

/** Runs after every desired resource was decided. */
export function planUndeclared(context: PlanContext, caller: string | undefined): PlannedUnmanaged {
  const isManaged = isManagedObject(context);
  const members = unmanagedMembers(context, caller, isManaged);
  const unwanted = undeclaredObjects(context, isManaged);
  return {
    changes: [...members.changes, ...unwanted.map((liveMember) => deletionOf(context, liveMember))],
    // Before the first apply, nothing can have appeared.
    appeared: [...members.appeared, ...(stateExists(context.input.state) ? unwanted : [])],
    needsCaller: members.needsCaller,
  };
}

/** Kinds that the policy makes authoritative: undeclared live objects are deleted. */
function undeclaredObjects(context: PlanContext, isManaged: IsManaged): UndeclaredObject[] {
  if (context.input.destroy === true) return [];
  const undeclared: UndeclaredObject[] = [];
  for (const kind of context.input.spec.policy.authoritative) {
    const provider = context.input.registry.get(kind);
    if (provider.nested !== undefined) continue;
    const wanted = wantedNames(context, provider);
    for (const live of context.liveIndex.all(kind)) {
      if (isManaged(kind, live.id) || isBuiltIn(provider, live.name)) continue;
      if (wanted.has(foldName(provider, live.name)) || !isManageable(live)) continue;
      undeclared.push({ address: freeAddress(context, kind, live.name, live.id), live });
    }
  }
  return undeclared;
}

function deletionOf({ input }: PlanContext, unwanted: UndeclaredObject): Change {
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

/** Live members of nested lists: deleted if the list is authoritative, reported if their value cannot be read. */
function unmanagedMembers(
  context: PlanContext,
  caller: string | undefined,
  isManaged: IsManaged,
): PlannedUnmanaged {
  const changes: Change[] = [];
  const appeared: UndeclaredObject[] = [];
  let needsCaller = false;
  const creatorsOf = possibleCreators(context.input.state);
  for (const provider of context.input.registry.kinds) {
    if (provider.nested === undefined) continue;
    const parents = ownersByName(context, provider);
    for (const live of context.liveIndex.all(provider.kind)) {
      if (isManaged(provider.kind, live.id)) continue;
      const parent = parents.get(parentOf(live.name));
      if (parent === undefined) continue;
      const givenTo = [caller, ...creatorsOf(parent.address)];
      const address = addressOf(provider.kind, nestedNameOf(nameOf(parent.address), memberOf(live.name)));
      if (hasUnreadableValue(provider)) {
        // A declared one that cannot be adopted is an error elsewhere.
        if (context.input.spec.resources.has(address)) continue;
        changes.push(reported(provider, { address, live }));
        if (parent.owns && appearedOutside(context, provider, parent, live, givenTo))
          appeared.push({ address, live });
      } else if (parent.owns) {
        if (isImplicit(provider, live, givenTo, parent.values)) continue;
        if (caller === undefined && provider.planning.isImplicit !== undefined) needsCaller = true;
        const cause = appearedOutside(context, provider, parent, live, givenTo) ? "drift" : "spec";
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
  givenTo: readonly (string | undefined)[],
): boolean {
  const record = context.input.state.records.get(parent.address);
  if (record === undefined || record.owns?.includes(provider.kind) === false) return false;
  return !isImplicit(provider, live, givenTo, record.applied);
}

/** Whether the service gave it to one of these. */
function isImplicit(
  { planning }: PlannedKind,
  live: LiveObject,
  givenTo: readonly (string | undefined)[],
  parent: Values,
): boolean {
  return givenTo.some((name) => planning.isImplicit?.(live, name, parent) === true);
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

function reported(provider: PlannedKind, member: UndeclaredObject): Change {
  const reason = "it is in the workspace but not in the spec; it is kept because its value cannot be read";
  return { ...deleteChange(provider, member, reason), action: "report", cause: "drift" };
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
