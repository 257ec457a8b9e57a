// Finding what a request made, and judging whether it is what was sent.

import type { Address, RemoteId } from "../../core/address.ts";
import { diffResource } from "../../planner/diff/diff.ts";
import { comparable } from "../../planner/diff/fingerprint.ts";
import type { LiveIndex } from "../../planner/model/live-index.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Provider } from "../../resource/provider.ts";
import type { Registry } from "../../resource/registry.ts";
import type { OpenIntent, StateRecord } from "../../state/model/record.ts";

/** What recovery looks at. */
export interface RecoveryContext {
  readonly registry: Registry;
  readonly liveIndex: LiveIndex;
  /** Whether the absence of a thing can be believed. */
  readonly readable: (kind: string, name: string) => boolean;
  readonly now: number;
  /** Who the state says manages a live object. */
  readonly owner: (kind: string, id: RemoteId) => Address | undefined;
  /** The user takes over what exists; then an unclear origin is no objection. */
  readonly adopt: boolean;
}

export function carriesToken(provider: Provider): boolean {
  return provider.recovery === "tagged" || provider.recovery === "two-phase";
}

/** Whether what a request made is told by its natural name alone. */
export function isFoundByName({ recovery, unique }: Provider): boolean {
  return recovery === "client-named" && unique;
}

/**
 * What a creation made, by id, token or natural name; undefined when nothing of it is there. An object of another address that has
 * the name, because it was renamed since, was not made by it.
 */
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

/** Whether a live object is what was sent; what cannot be read back is taken as equal. */
export function matchesRequest(provider: Provider, wanted: Values, live: LiveObject): boolean {
  const found = diffResource(provider.fields, wanted, comparable(provider, live), undefined);
  return found.every((diff) => provider.fields[String(diff.path[0])]?.writeOnly === true);
}

/**
 * The values that a live object proves: without those that others may have written since. A value that can only be sent with
 * the creation (no witness) is proved by the object itself.
 */
export function confirmableValues(fields: FieldTable, wanted: Values): Values {
  const isOpen = (name: string): boolean =>
    fields[name]?.writeOnly === true && fields[name].witness !== undefined;
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => !isOpen(name)));
}
