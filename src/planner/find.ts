// Which live object a desired resource means: the recorded id first, then the natural name, never a guess.

import type { Address } from "../core/address.ts";
import { type Diagnostic, error } from "../core/diagnostic.ts";
import { foldName, isBuiltIn } from "../resource/names.ts";
import type { LiveObject, Provider } from "../resource/provider.ts";
import type { Resource } from "../spec/spec.ts";
import type { StateRecord } from "../state/record.ts";
import { type Context, holdsUnreadable, ownerKey } from "./context.ts";

/** `ours`: recorded and there. `takeover`: there, not recorded, and we may have it. `absent`: to be created. */
export type Found =
  | { readonly is: "ours" | "takeover"; readonly live: LiveObject }
  | { readonly is: "absent"; readonly newParent?: Address }
  | { readonly is: "refused"; readonly diagnostic: Diagnostic };

export function findLive(context: Context, resource: Resource, provider: Provider): Found {
  const newParent = newParentOf(context, resource, provider);
  if (newParent !== undefined) return { is: "absent", newParent };
  const record = context.input.state.records.get(resource.address);
  const recorded = record === undefined ? undefined : context.world.byId(resource.kind, record.id);
  const returning = recorded === undefined ? undefined : returningTo(context, resource, provider, recorded);
  if (returning !== undefined) return { is: "takeover", live: returning };
  if (recorded !== undefined) return { is: "ours", live: recorded };
  const named = context.world.byName(resource.kind, resource.name);
  const free = named.filter((one) => !context.owners.has(ownerKey(resource.kind, one.id)));
  if (!provider.unique) return withoutUniqueNames(context, resource, provider, free);
  const [only] = named;
  if (only === undefined) return { is: "absent" };
  const owner = context.owners.get(ownerKey(resource.kind, only.id));
  if (owner !== undefined && owner !== resource.address)
    return refuse(resource, provider, heldBy(owner, resource.address));
  return mayTakeOver(context, resource, provider)
    ? { is: "takeover", live: only }
    : refuse(resource, provider, adoptHint(resource.address, only, record));
}

/** A replacement was cut and the spec went back: the old object is still there under the name that is wanted again. */
function returningTo(
  context: Context,
  resource: Resource,
  provider: Provider,
  recorded: LiveObject,
): LiveObject | undefined {
  const wanted = foldName(provider, resource.name);
  if (foldName(provider, recorded.name) === wanted) return undefined;
  const deposed = context.input.state.records.get(resource.address)?.deposed ?? [];
  const old = deposed.flatMap((id) => context.world.byId(resource.kind, id) ?? []);
  return old.find((live) => foldName(provider, live.name) === wanted);
}

/** The parent of a nested resource, where this plan makes it anew: whatever is there now goes with the old one. */
function newParentOf(context: Context, resource: Resource, provider: Provider): Address | undefined {
  if (provider.nested === undefined) return undefined;
  return resource.dependsOn.find((address) => {
    const change = context.decided.get(address);
    return (
      change?.kind === provider.nested?.kind && (change?.action === "create" || change?.action === "replace")
    );
  });
}

function withoutUniqueNames(
  context: Context,
  resource: Resource,
  provider: Provider,
  free: readonly LiveObject[],
): Found {
  const [only, ...more] = free;
  if (only === undefined || context.input.adopt !== true) return { is: "absent" };
  if (more.length === 0) return { is: "takeover", live: only };
  return refuse(
    resource,
    provider,
    `${free.length} things have this name; choose one with: workspace import ${resource.address} ID`,
  );
}

function mayTakeOver(context: Context, resource: Resource, provider: Provider): boolean {
  if (context.input.adopt === true) return true;
  if (isBuiltIn(provider, resource.name)) return true;
  if (provider.nested !== undefined && !holdsUnreadable(provider)) return true;
  return context.input.state.open.some(
    (intent) => intent.address === resource.address && provider.crash === "repeatable",
  );
}

function refuse(resource: Resource, provider: Provider, hint: string): Found {
  const message = `${provider.one} "${resource.name}" exists in the workspace and is not managed by ${resource.address}`;
  return {
    is: "refused",
    diagnostic: error("PLAN_ALREADY_EXISTS", message, { address: resource.address, at: resource.at, hint }),
  };
}

function heldBy(owner: Address, address: Address): string {
  return `${owner} manages it; if the resource was only renamed in the spec, run: workspace state mv ${owner} ${address}`;
}

function adoptHint(address: Address, live: LiveObject, record: StateRecord | undefined): string {
  if (record !== undefined)
    return `the recorded one (id ${record.id}) is gone; take over the one that has its name now with --adopt`;
  return `take it over with --adopt, or with: workspace import ${address} ${live.id}`;
}
