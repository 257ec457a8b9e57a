// What goes: records that the spec no longer has, members of lists that are ours, leftovers of cut replaces.

import { type Address, addressOf, kindOf, nameOf, type RemoteId } from "../core/address.ts";
import type { LiveObject, Look, Provider } from "../resource/provider.ts";
import type { StateRecord } from "../state/record.ts";
import type { Change, Delete, Forget } from "./change.ts";
import { type Context, holdsUnreadable, ownerKey } from "./context.ts";
import { comparable, liveFingerprint } from "./fingerprint.ts";
import { foldName, parentOf } from "./world.ts";

export interface Removals {
  readonly changes: readonly Change[];
  /** Live members of lists that are ours and that nothing recorded: they came from outside. */
  readonly appeared: readonly LiveMember[];
  /** Objects that would be judged differently if the caller were known. */
  readonly callerMatters: boolean;
}

export interface LiveMember {
  readonly address: Address;
  readonly live: LiveObject;
}

/** Everything that leaves the workspace or the state. Runs after every desired resource was decided. */
export function removals(context: Context, look: Look): Removals {
  const changes = [...undeclared(context), ...deposed(context)];
  const members = foreignMembers(context, look);
  return {
    changes: [...changes, ...members.changes, ...authoritative(context)],
    appeared: members.appeared,
    callerMatters: members.callerMatters,
  };
}

function undeclared(context: Context): Change[] {
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

function isDesired(context: Context, address: Address): boolean {
  return context.input.destroy !== true && context.input.spec.resources.has(address);
}

function removalOf(context: Context, record: StateRecord, going: ReadonlySet<Address>): Change[] {
  const provider = context.input.registry.of(record.address);
  if (context.world.unreadable(provider.kind, record.name) !== undefined) return [];
  const live = context.world.byId(provider.kind, record.id);
  if (live === undefined) return [forget(record, provider, "it is no longer in the workspace", [])];
  if (isBuiltIn(provider, record.name))
    return [forget(record, provider, "it is part of every workspace and stays", [])];
  const parent = parentAddress(context, provider, record);
  if (parent !== undefined && (going.has(parent) || context.decided.get(parent)?.action === "replace")) {
    return [forget(record, provider, `it goes with ${parent}`, [parent])];
  }
  if (parent !== undefined && isReleased(context, provider, parent))
    return [forget(record, provider, `${parent} no longer manages its ${provider.kind}`, [])];
  const reason =
    context.input.destroy === true ? "everything managed is to be destroyed" : "it is no longer in the spec";
  return [deletion(provider, record.address, record.name, live, reason)];
}

/** The record of the thing that a nested record lives in. */
function parentAddress(context: Context, provider: Provider, record: StateRecord): Address | undefined {
  if (provider.nested === undefined) return undefined;
  const parentKind = context.input.registry.get(provider.nested.kind);
  const parent = foldName(parentKind, parentOf(record.name));
  return (
    record.depends_on.find((one) => kindOf(one) === parentKind.kind) ?? addressOf(parentKind.kind, parent)
  );
}

/** A parent that is still there and whose list is managed no more ("absent means not managed", DESIGN 4). */
function isReleased(context: Context, provider: Provider, parent: Address): boolean {
  const owner = context.input.spec.resources.get(parent);
  return owner !== undefined && !owner.owns.includes(provider.kind) && !holdsUnreadable(provider);
}

function forget(
  record: StateRecord,
  provider: Provider,
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

function deletion(
  provider: Provider,
  address: Address,
  name: string,
  live: LiveObject,
  reason: string,
): Delete {
  const fingerprint = liveFingerprint(provider.fields, comparable(provider, live), undefined);
  const head = {
    address,
    kind: provider.kind,
    name,
    cause: "spec",
    reasons: [reason],
    consequences: [],
    dependsOn: [],
  } as const;
  return { action: "delete", ...head, id: live.id, before: live.values, fingerprint };
}

export function isBuiltIn(provider: Provider, name: string): boolean {
  return provider.builtIn?.some((one) => foldName(provider, one) === foldName(provider, name)) === true;
}

/** Objects of ours that were replaced, or committed late, and are still there. */
function deposed(context: Context): Change[] {
  const changes: Change[] = [];
  for (const record of context.input.state.records.values()) {
    for (const id of record.deposed ?? []) {
      const provider = context.input.registry.of(record.address);
      const live = context.world.byId(provider.kind, id);
      if (live === undefined) continue;
      const going = deletion(
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

/** Live members of nested lists: removed where the list is ours, reported where their value is nobody's to judge. */
function foreignMembers(context: Context, look: Look): Removals {
  const changes: Change[] = [];
  const appeared: LiveMember[] = [];
  let callerMatters = false;
  if (context.input.destroy === true) return { changes, appeared, callerMatters };
  const known = knownMembers(context);
  for (const provider of context.input.registry.kinds) {
    if (provider.nested === undefined) continue;
    const parents = ownersByName(context, provider);
    for (const live of context.world.all(provider.kind)) {
      const parent = parents.get(parentOf(live.name));
      if (parent === undefined || known.has(ownerKey(provider.kind, live.id))) continue;
      const address = addressOf(
        provider.kind,
        `${nameOf(parent.address)}/${live.name.slice(live.name.indexOf("/") + 1)}`,
      );
      if (context.decided.has(address)) continue;
      if (holdsUnreadable(provider)) changes.push(reported(provider, address, live));
      else if (parent.owns) {
        if (look.caller === undefined && provider.keeps !== undefined) callerMatters = true;
        if (provider.keeps?.(live, look) === true) continue;
        appeared.push({ address, live });
        changes.push({
          ...deletion(
            provider,
            address,
            live.name,
            live,
            `the ${provider.kind} of ${parent.address} do not name it`,
          ),
          cause: "drift",
        });
      }
    }
  }
  return { changes, appeared, callerMatters };
}

interface Parent {
  readonly address: Address;
  readonly owns: boolean;
}

/** Parents in the spec that exist now and stay, by their natural name. */
function ownersByName(context: Context, provider: Provider): ReadonlyMap<string, Parent> {
  const parents = new Map<string, Parent>();
  for (const resource of context.input.spec.resources.values()) {
    if (resource.kind !== provider.nested?.kind) continue;
    const action = context.decided.get(resource.address)?.action;
    if (action === undefined || action === "create" || action === "replace") continue;
    parents.set(resource.name, { address: resource.address, owns: resource.owns.includes(provider.kind) });
  }
  return parents;
}

/** Ids of live things that a record or a decision already speaks for. */
function knownMembers(context: Context): ReadonlySet<string> {
  const known = new Set<string>(context.owners.keys());
  for (const change of context.decided.values())
    if ("id" in change) known.add(ownerKey(change.kind, change.id));
  return known;
}

function reported(provider: Provider, address: Address, live: LiveObject): Change {
  const head = {
    address,
    kind: provider.kind,
    name: live.name,
    cause: "drift",
    consequences: [],
    dependsOn: [],
  } as const;
  const reasons = ["it is in the workspace and not in the spec; its value cannot be read, so it stays"];
  return {
    action: "report",
    ...head,
    reasons,
    id: live.id,
    before: live.values,
    fingerprint: liveFingerprint(provider.fields, comparable(provider, live), undefined),
  };
}

/** Kinds that the policy calls authoritative: whatever is live and not declared goes. */
function authoritative(context: Context): Change[] {
  if (context.input.destroy === true) return [];
  const known = knownMembers(context);
  const changes: Change[] = [];
  for (const kind of context.input.spec.policy.authoritative) {
    const provider = context.input.registry.get(kind);
    if (provider.nested !== undefined) continue;
    for (const live of context.world.all(kind)) {
      if (known.has(ownerKey(kind, live.id)) || isBuiltIn(provider, live.name)) continue;
      const address = freeAddress(context, kind, live.name, live.id);
      changes.push(
        deletion(
          provider,
          address,
          live.name,
          live,
          `the policy makes ${kind} authoritative and the spec does not have it`,
        ),
      );
    }
  }
  return changes;
}

/** An address for something that the spec never named; its id tells it apart where the name is taken. */
function freeAddress(context: Context, kind: string, name: string, id: RemoteId): Address {
  const plain = addressOf(kind, name === "" ? id : name);
  return context.decided.has(plain) || context.input.state.records.has(plain)
    ? addressOf(kind, `${name}@${id}`)
    : plain;
}
