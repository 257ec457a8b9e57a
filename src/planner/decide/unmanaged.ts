// Live objects that are not in the spec: members of nested lists, which are deleted if the list is authoritative and else reported, and all
// others, which a plan only names.

import {
  type Address,
  addressOf,
  memberOf,
  nameOf,
  nestedNameOf,
  parentOf,
  type RemoteId,
} from "../../core/address.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { isBuiltIn } from "../../resource/names.ts";
import { comparable, liveFingerprint } from "../diff/normalize.ts";
import type { Change, Delete } from "../model/change.ts";
import { hasUnreadableValue, type LiveMember, objectKey, type PlanContext } from "../model/context.ts";
import type { Unmanaged } from "../model/plan.ts";

export interface PlannedDeletes {
  readonly changes: readonly Change[];
  /** Unrecorded members of lists that the spec declares, and unrecorded objects of authoritative kinds. */
  readonly appeared: readonly LiveMember[];
  /** Objects that would be judged differently if the caller were known. */
  readonly needsCaller: boolean;
}

/** Live members of nested lists: deleted if the list is authoritative, reported if their value cannot be read. */
export function unmanagedMembers(
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
        changes.push(reported(provider, address, live));
        if (parent.owns && appearedOutside(context, provider, parent, live, caller))
          appeared.push({ address, live });
      } else if (parent.owns) {
        if (caller === undefined && provider.planning.isImplicit !== undefined) needsCaller = true;
        if (provider.planning.isImplicit?.(live, caller, parent.values) === true) continue;
        const cause = appearedOutside(context, provider, parent, live, caller) ? "drift" : "spec";
        if (cause === "drift") appeared.push({ address, live });
        const reason = `the ${provider.kind} of ${parent.address} do not include it`;
        changes.push({ ...deleteChange(provider, address, live.name, live, reason), cause });
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

export type IsManaged = (kind: string, id: RemoteId) => boolean;

/** Whether a record or a decision already covers a live object. */
export function isManagedObject(context: PlanContext): IsManaged {
  const decided = new Set<string>();
  for (const change of context.decided.values()) {
    // An unchanged resource has the recorded object. The keys of 100,000 take 100 ms.
    if (change.action !== "noop" && "id" in change) decided.add(objectKey(change.kind, change.id));
  }
  return (kind, id) => context.owners.has(kind, id) || decided.has(objectKey(kind, id));
}

function reported(provider: PlannedKind, address: Address, live: LiveObject): Change {
  const reason = "it is in the workspace but not in the spec; it is kept because its value cannot be read";
  return { ...deleteChange(provider, address, live.name, live, reason), action: "report", cause: "drift" };
}

export function deleteChange(
  provider: PlannedKind,
  address: Address,
  name: string,
  live: LiveObject,
  reason: string,
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
