// Finds the object that a request created, and decides whether it matches the request.

import type { Address, RemoteId } from "../../core/address.ts";
import { diffResource } from "../../planner/diff/diff.ts";
import { comparable } from "../../planner/diff/fingerprint.ts";
import type { LiveIndex } from "../../planner/model/live-index.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Provider } from "../../resource/provider.ts";
import type { Registry } from "../../resource/registry.ts";
import type { OpenIntent, StateRecord } from "../../state/model/record.ts";

export interface RecoveryContext {
  readonly registry: Registry;
  readonly liveIndex: LiveIndex;
  /** Whether a missing object is known to be missing. */
  readonly readable: (kind: string, name: string) => boolean;
  readonly now: number;
  /** The address that manages a live object in the state. */
  readonly owner: (kind: string, id: RemoteId) => Address | undefined;
  /** `--adopt` is set, so an unknown origin does not block. */
  readonly adopt: boolean;
}

export function carriesToken(provider: Provider): boolean {
  return provider.recovery === "tagged" || provider.recovery === "two-phase";
}

/** Whether only its natural name identifies what a request created. */
export function isFoundByName({ recovery, unique }: Provider): boolean {
  return recovery === "client-named" && unique;
}

/** The created object by ID, token, or natural name; an object that another address records does not count. */
export function findCreated(
  intent: Pick<OpenIntent, "address" | "name" | "token" | "made">,
  provider: Provider,
  { liveIndex, owner }: Pick<RecoveryContext, "liveIndex" | "owner">,
): LiveObject | undefined {
  const { kind } = provider;
  if (intent.made !== undefined) return liveIndex.byId(kind, intent.made);
  if (carriesToken(provider)) return liveIndex.all(kind).find((one) => one.facts.token === intent.token);
  return liveIndex
    .byName(kind, intent.name)
    .find((one) => (owner(kind, one.id) ?? intent.address) === intent.address);
}

/** Other objects under the same token: the service got the same request more than once. */
export function duplicatesOf(
  token: string,
  live: Pick<LiveObject, "id">,
  provider: Provider,
  world: Pick<LiveIndex, "all">,
): readonly RemoteId[] {
  if (!carriesToken(provider)) return [];
  return world
    .all(provider.kind)
    .filter((one) => one.facts.token === token && one.id !== live.id)
    .map((one) => one.id);
}

/** The record with further objects that have to go. */
export function withDeposed(record: StateRecord, ids: readonly RemoteId[]): StateRecord {
  const deposed = [...new Set([...(record.deposed ?? []), ...ids])];
  return deposed.length === 0 ? record : { ...record, deposed };
}

/** Whether a live object matches the request; values that cannot be read back count as equal. */
export function matchesRequest(provider: Provider, wanted: Values, live: LiveObject): boolean {
  const found = diffResource(provider.fields, wanted, comparable(provider, live), undefined);
  return found.every((diff) => provider.fields[String(diff.path[0])]?.writeOnly === true);
}

/** The values that a live object proves: not those that others may have written since. */
export function confirmableValues(fields: FieldTable, wanted: Values): Values {
  const isOpen = (name: string): boolean =>
    fields[name]?.writeOnly === true && fields[name].witness !== undefined;
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => !isOpen(name)));
}
