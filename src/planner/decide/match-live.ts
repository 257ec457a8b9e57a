// Finds the live object of a resource, or the reason why it has none: unmanageable objects, and namesakes in kinds without unique names.

import { type Address, remoteId } from "../../core/address.ts";
import { type Diagnostic, error, warning } from "../../core/diagnostic.ts";
import { listed, shellWord } from "../../core/sentences.ts";
import type { Kind, PlannedKind } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { isBuiltIn, isSameName } from "../../resource/names.ts";
import type { Resource } from "../../spec/model/spec.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { isIgnored } from "../diff/normalize.ts";
import type { Change, Create, Namesake, NonEmpty } from "../model/change.ts";
import { hasUnreadableValue, type PlanContext } from "../model/context.ts";
import { stateExists } from "../model/input.ts";
import type { Plan } from "../model/plan.ts";

/** `managed`: recorded, and exists. `adoptable`: exists, is not recorded, and may be adopted. `absent`: will be created. */
export type LiveMatch =
  | { readonly is: "managed" | "adoptable"; readonly live: LiveObject }
  | {
      readonly is: "absent";
      readonly newParent?: Address;
      readonly namesakes?: NonEmpty<Namesake>;
    }
  | { readonly is: "refused"; readonly diagnostic: Diagnostic };

export function matchLive(context: PlanContext, resource: Resource, provider: PlannedKind): LiveMatch {
  const match = matchByIdOrName(context, resource, provider);
  const live = match.is === "managed" || match.is === "adoptable" ? match.live : undefined;
  const diagnostic = live === undefined ? undefined : unmanageableError(resource, provider, live);
  return diagnostic === undefined ? match : { is: "refused", diagnostic };
}

function matchByIdOrName(context: PlanContext, resource: Resource, provider: PlannedKind): LiveMatch {
  const newParent = newParentOf(context, resource, provider);
  if (newParent !== undefined) return { is: "absent", newParent };
  const record = context.input.state.records.get(resource.address);
  const recorded = record === undefined ? undefined : context.liveIndex.byId(resource.kind, record.id);
  const returning = recorded === undefined ? undefined : returningTo(context, resource, provider, recorded);
  if (returning !== undefined) return { is: "adoptable", live: returning };
  if (recorded !== undefined) return { is: "managed", live: recorded };
  const imported = record === undefined ? importOf(context, resource, provider) : undefined;
  if (imported !== undefined) return imported;
  const named = context.liveIndex.byName(resource.kind, resource.name);
  const free = named.filter((liveObject) => !context.owners.has(resource.kind, liveObject.id));
  if (!provider.unique) return withoutUniqueNames(context, resource, provider, free);
  const [only] = named;
  if (only === undefined) return { is: "absent" };
  const owner = context.owners.get(resource.kind, only.id);
  if (owner !== undefined && givesUpName(context, owner, resource, provider, only)) return { is: "absent" };
  if (owner !== undefined && owner !== resource.address)
    return refuse(resource, provider, nameInUse(owner, resource.address));
  return mayAdopt(context, resource, provider) || !isManageable(only)
    ? { is: "adoptable", live: only }
    : refuse(resource, provider, adoptHint(resource.address, only, record));
}

/** The object that an `import` entry names; undefined without an entry for the resource. */
function importOf(context: PlanContext, resource: Resource, provider: PlannedKind): LiveMatch | undefined {
  const entry = context.imports.get(resource.address);
  if (entry === undefined || context.input.partial === true) return undefined;
  const { address, kind } = resource;
  const live = context.liveIndex.byId(kind, remoteId(entry.id));
  const owner = context.owners.get(kind, remoteId(entry.id));
  if (live !== undefined && owner === undefined) return { is: "adoptable", live };
  const message =
    owner === undefined
      ? `the ${provider.singular} ${entry.id} to import as ${address} does not exist`
      : `the ${provider.singular} ${entry.id} to import as ${address} is managed by ${owner}`;
  const hint =
    owner === undefined
      ? "correct the ID, or remove the entry to create the object"
      : `to give the record the new address, add { from: ${owner}, to: ${address} } under moved`;
  return { is: "refused", diagnostic: error("PLAN_STATE_ENTRY", message, { address, at: entry.at, hint }) };
}

/** Whether the spec gives the object that has the name of a resource another name, or the plan deletes it as a replaced one. */
function givesUpName(
  context: PlanContext,
  owner: Address,
  { name }: Resource,
  provider: PlannedKind,
  live: LiveObject,
): boolean {
  const { spec, state } = context.input;
  const other = spec.resources.get(owner);
  if (other === undefined || provider.nameField === undefined) return false;
  const record = state.records.get(owner);
  const isItsOwn = record?.id === live.id || record?.deposed?.includes(live.id) === true;
  return (
    isItsOwn &&
    !isSameName(provider, other.name, name) &&
    !isIgnored([provider.nameField], other.lifecycle.ignore_changes)
  );
}

/** A replacement was interrupted and the spec was reverted: the old object still has the desired name. */
function returningTo(
  context: PlanContext,
  resource: Resource,
  provider: PlannedKind,
  recorded: LiveObject,
): LiveObject | undefined {
  if (isSameName(provider, recorded.name, resource.name)) return undefined;
  const deposed = context.input.state.records.get(resource.address)?.deposed ?? [];
  const old = deposed.flatMap((id) => context.liveIndex.byId(resource.kind, id) ?? []);
  return old.find((live) => isSameName(provider, live.name, resource.name));
}

/** The parent of a nested resource, if this plan replaces it: its live members are deleted with the old parent. */
function newParentOf(context: PlanContext, resource: Resource, provider: PlannedKind): Address | undefined {
  return resource.dependsOn.find((address) => {
    const change = context.decided.get(address);
    return (
      change?.kind === provider.nested?.kind && (change?.action === "create" || change?.action === "replace")
    );
  });
}

function withoutUniqueNames(
  context: PlanContext,
  resource: Resource,
  provider: PlannedKind,
  free: readonly LiveObject[],
): LiveMatch {
  const [only, ...more] = free;
  if (only === undefined) return { is: "absent" };
  const namesakes: NonEmpty<Namesake> = [namesakeOf(only), ...more.map(namesakeOf)];
  if (context.input.adopt !== true) return { is: "absent", namesakes };
  if (more.length === 0 || !free.some(isManageable)) return { is: "adoptable", live: only };
  return ambiguous(resource, provider, namesakes);
}

function mayAdopt(context: PlanContext, resource: Resource, provider: PlannedKind): boolean {
  if (context.input.adopt === true) return true;
  if (isBuiltIn(provider, resource.name)) return true;
  if (provider.nested !== undefined && !hasUnreadableValue(provider)) return true;
  return context.input.state.open.some(
    (intent) => intent.address === resource.address && provider.recovery === "repeatable",
  );
}

function ambiguous(resource: Resource, provider: PlannedKind, namesakes: NonEmpty<Namesake>): LiveMatch {
  const { address, at, name } = resource;
  const message = `${namesakes.length} unmanaged ${provider.kind} are named ${JSON.stringify(name)}, so --adopt cannot choose one for ${address}`;
  const cause = namesakesText(namesakes);
  const hint = `to adopt one of them, run ${importCommands(address, namesakes)}`;
  return { is: "refused", diagnostic: error("PLAN_ALREADY_EXISTS", message, { address, at, cause, hint }) };
}

function refuse(resource: Resource, provider: PlannedKind, hint: string): LiveMatch {
  const message = `${provider.singular} "${resource.name}" already exists and is not managed by ${resource.address}`;
  return {
    is: "refused",
    diagnostic: error("PLAN_ALREADY_EXISTS", message, { address: resource.address, at: resource.at, hint }),
  };
}

function nameInUse(owner: Address, address: Address): string {
  return `${owner} manages it; if the resource was only renamed in the spec, run \`workspace state mv ${shellWord(owner)} ${shellWord(address)}\``;
}

function adoptHint(address: Address, live: LiveObject, record: StateRecord | undefined): string {
  if (record !== undefined)
    return `the recorded object (ID ${record.id}) no longer exists; to adopt the one that has its name now, pass --adopt`;
  return `to adopt it, pass --adopt or run \`workspace import ${shellWord(address)} ${shellWord(live.id)}\``;
}

/** Why a resource cannot be a live object; undefined if it can. */
export function unmanageableError(
  resource: Pick<Resource, "address" | "at">,
  { singular }: Pick<Kind, "singular">,
  live: LiveObject,
): Diagnostic | undefined {
  if (live.unmanageable === undefined) return undefined;
  const { address, at } = resource;
  const message = `${address} cannot manage the ${singular} ${live.id}: ${live.unmanageable}`;
  return error("PLAN_UNMANAGEABLE", message, {
    address,
    at,
    hint: `give the resource another name, or remove it from the spec and change the ${singular} with other tools; to remove it from the state, run \`workspace state rm ${shellWord(address)}\``,
  });
}

export const isManageable = ({ unmanageable }: Pick<LiveObject, "unmanageable">): boolean =>
  unmanageable === undefined;

/** Maximum number of objects to list in a message. */
const MOST = 10;

export function namesakeOf(live: LiveObject): Namesake {
  const { id, unmanageable } = live;
  const { creator_user_name: creator } = live.facts;
  return {
    id,
    creator: typeof creator === "string" ? creator : undefined,
    unmanageable,
  };
}

/** `ID 12, created by ada@example.com; ID 13, creator unknown`. */
export function namesakesText(namesakes: readonly Namesake[]): string {
  const texts = namesakes.slice(0, MOST).map(({ id, creator, unmanageable }) => {
    const origin = creator === undefined ? "creator unknown" : `created by ${creator}`;
    return `ID ${id}, ${origin}${unmanageable === undefined ? "" : `, cannot be managed: ${unmanageable}`}`;
  });
  return [...texts, ...(namesakes.length > MOST ? [`${namesakes.length - MOST} more`] : [])].join("; ");
}

/** Commands that import one of them each: `` `workspace import jobs.a 12` or `workspace import jobs.a 13` ``; empty if none can be managed. */
export function importCommands(address: Address, namesakes: readonly Namesake[]): string {
  const commands = namesakes
    .filter(isManageable)
    .map(({ id }) => `\`workspace import ${shellWord(address)} ${shellWord(id)}\``);
  return listed(commands, "or", MOST);
}

interface Duplicates {
  readonly guards: Plan["guards"];
  readonly warnings: readonly Diagnostic[];
}

/** Without a state, an object with the name of a new one is probably from a lost state: a guard blocks the plan. Else a warning is enough. */
export function duplicatesIn({ input }: PlanContext, changes: readonly Change[]): Duplicates {
  const { spec, state, registry } = input;
  const creates = changes.filter(hasNamesakes);
  const details = (change: WithNamesakes) => {
    const at = spec.resources.get(change.address)?.at;
    const cause = namesakesText(change.namesakes);
    return { address: change.address, at, cause };
  };
  const existing = ({ address, kind, name }: Change): string =>
    `${address}: an unmanaged ${registry.get(kind).singular} named ${JSON.stringify(name)} already exists`;
  if (stateExists(state) || input.allowDuplicates === true || spec.policy.duplicate_names === "allow") {
    const warnings = creates.map((change) =>
      warning("PLAN_DUPLICATE_NAME", `${existing(change)}, and the plan creates another one`, {
        ...details(change),
        hint: toAdopt(change),
      }),
    );
    return { guards: [], warnings };
  }
  const guards = creates.map((change) => ({
    diagnostic: error("GUARD_DUPLICATE_NAME", `${existing(change)}, and no state exists yet`, {
      ...details(change),
      hint: `${toAdopt(change)}; if its state is lost or elsewhere, restore it or pass --state (a shared state: \`--state workspace:/FOLDER\` or PostgreSQL); to create another one, pass --allow-duplicates or set policy.duplicate_names: allow`,
    }),
    addresses: [change.address],
  }));
  return { guards, warnings: [] };
}

type WithNamesakes = Create & Required<Pick<Create, "namesakes">>;

function hasNamesakes(change: Change): change is WithNamesakes {
  return change.action === "create" && change.namesakes !== undefined;
}

function toAdopt({ address, namesakes }: WithNamesakes): string {
  const commands = importCommands(address, namesakes);
  switch (namesakes.filter(isManageable).length) {
    case 0:
      return "to avoid a second object with this name, give the resource another name";
    case 1:
      return `to adopt it, ${namesakes.length === 1 ? "pass --adopt or " : ""}run ${commands}`;
    default:
      return `to adopt one of them, run ${commands}`;
  }
}
