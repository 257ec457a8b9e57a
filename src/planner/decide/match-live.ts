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

/** `managed`: recorded, and exists. `adoptable`: exists, is not recorded, and may be adopted. `imported`: the same, by an entry of the spec. `absent`: will be created. */
export type LiveMatch =
  | { readonly is: "managed" | "adoptable" | "imported"; readonly live: LiveObject }
  | { readonly is: "absent"; readonly newParent?: Address; readonly namesakes?: NonEmpty<Namesake> }
  | { readonly is: "refused"; readonly diagnostic: Diagnostic };

export function matchLive(context: PlanContext, resource: Resource, provider: PlannedKind): LiveMatch {
  const match = matchByIdOrName(context, resource, provider);
  const live = "live" in match ? match.live : undefined;
  const diagnostic = live === undefined ? undefined : unmanageableError(resource, provider, live);
  return diagnostic === undefined ? match : { is: "refused", diagnostic };
}

/** What the rules read: a resource, its record, and the objects with the recorded ID and with the desired name. */
interface Candidates {
  readonly context: PlanContext;
  readonly resource: Resource;
  readonly provider: PlannedKind;
  readonly record: StateRecord | undefined;
  readonly recorded: LiveObject | undefined;
  readonly named: readonly LiveObject[];
}

/** Undefined if the rule does not apply. */
type MatchRule = (candidates: Candidates) => LiveMatch | undefined;

/** In this order; the first rule that applies decides. If none does, the resource is created. */
const RULES: readonly MatchRule[] = [
  inNewParent,
  returnsToOldObject,
  recordedObject,
  importedObject,
  amongNamesakes,
  nameGivenUp,
  nameOfOtherResource,
  adoptableObject,
];

function matchByIdOrName(context: PlanContext, resource: Resource, provider: PlannedKind): LiveMatch {
  const { kind, name, address } = resource;
  const record = context.input.state.records.get(address);
  const recorded = record === undefined ? undefined : context.liveIndex.byId(kind, record.id);
  const named = recorded === undefined ? context.liveIndex.byName(kind, name) : NONE;
  const candidates = { context, resource, provider, record, recorded, named };
  for (const rule of RULES) {
    const match = rule(candidates);
    if (match !== undefined) return match;
  }
  return { is: "absent" };
}

const NONE: readonly LiveObject[] = [];

/** The parent of a nested resource is created by this plan: its live members are deleted with the old parent. */
function inNewParent({ context, resource, provider }: Candidates): LiveMatch | undefined {
  const newParent = resource.dependsOn.find((address) => {
    const change = context.decided.get(address);
    return (
      change?.kind === provider.nested?.kind && (change?.action === "create" || change?.action === "replace")
    );
  });
  return newParent && { is: "absent", newParent };
}

/** A replacement was interrupted and the spec was reverted: the old object still has the desired name. */
function returnsToOldObject(candidates: Candidates): LiveMatch | undefined {
  const { context, resource, provider, record, recorded } = candidates;
  if (recorded === undefined || isSameName(provider, recorded.name, resource.name)) return undefined;
  const deposed = record?.deposed ?? [];
  const old = deposed.flatMap((id) => context.liveIndex.byId(resource.kind, id) ?? []);
  const live = old.find((oldObject) => isSameName(provider, oldObject.name, resource.name));
  return live && { is: "adoptable", live };
}

function recordedObject({ recorded }: Candidates): LiveMatch | undefined {
  return recorded && { is: "managed", live: recorded };
}

function importedObject({ context, resource, provider, record }: Candidates): LiveMatch | undefined {
  const entry = context.imports.get(resource.address);
  if (record !== undefined || entry === undefined || context.input.partial === true) return undefined;
  const { address, kind } = resource;
  const live = context.liveIndex.byId(kind, remoteId(entry.id));
  const owner = context.owners.get(kind, remoteId(entry.id));
  if (live !== undefined && owner === undefined) return { is: "imported", live };
  const [what, hint] =
    owner === undefined
      ? ["does not exist", "correct the ID, or remove the entry to create the object"]
      : [
          `is managed by ${owner}`,
          `to give the record the new address, add { from: ${owner}, to: ${address} } under moved`,
        ];
  const message = `the ${provider.singular} ${entry.id} to import as ${address} ${what}`;
  return { is: "refused", diagnostic: error("PLAN_STATE_ENTRY", message, { address, at: entry.at, hint }) };
}

/** Names of some kinds are not unique, so only `--adopt` chooses one of the unmanaged objects. */
function amongNamesakes({ context, resource, provider, named }: Candidates): LiveMatch | undefined {
  if (provider.unique) return undefined;
  const free = named.filter((liveObject) => !context.owners.has(resource.kind, liveObject.id));
  const [only, ...more] = free;
  if (only === undefined) return { is: "absent" };
  const namesakes: NonEmpty<Namesake> = [namesakeOf(only), ...more.map(namesakeOf)];
  if (context.input.adopt !== true) return { is: "absent", namesakes };
  if (more.length === 0 || !free.some(isManageable)) return { is: "adoptable", live: only };
  return ambiguous(resource, provider, namesakes);
}

/** The spec gives the object that has the name another name, or the plan deletes it as a replaced one. */
function nameGivenUp({ context, resource, provider, named: [only] }: Candidates): LiveMatch | undefined {
  const { spec, state } = context.input;
  const owner = only && context.owners.get(resource.kind, only.id);
  const other = owner && spec.resources.get(owner);
  if (other === undefined || provider.nameField === undefined) return undefined;
  const record = state.records.get(other.address);
  const isItsOwn = record?.id === only?.id || (only && record?.deposed?.includes(only.id)) === true;
  const isGivenUp =
    isItsOwn &&
    !isSameName(provider, other.name, resource.name) &&
    !isIgnored([provider.nameField], other.lifecycle.ignore_changes);
  return isGivenUp ? { is: "absent" } : undefined;
}

function nameOfOtherResource({ context, resource, provider, named: [only] }: Candidates) {
  const owner = only && context.owners.get(resource.kind, only.id);
  return owner === undefined || owner === resource.address
    ? undefined
    : refuse(resource, provider, nameInUse(owner, resource.address));
}

function adoptableObject({ context, resource, provider, record, named: [only] }: Candidates) {
  if (only === undefined) return undefined;
  return mayAdopt(context, resource, provider, only) || !isManageable(only)
    ? ({ is: "adoptable", live: only } as const)
    : refuse(resource, provider, adoptHint(resource.address, only, record));
}

function mayAdopt(
  context: PlanContext,
  resource: Resource,
  provider: PlannedKind,
  live: LiveObject,
): boolean {
  if (context.input.adopt === true) return true;
  if (isBuiltIn(provider, resource.name) || live.facts.implied === true) return true;
  if (provider.nested !== undefined && !hasUnreadableValue(provider)) return true;
  return context.input.state.open.some(
    (intent) => intent.address === resource.address && provider.creationRecovery === "repeatable",
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
  if (live.unreadFields !== undefined)
    return error("PLAN_UNREADABLE", message, {
      address,
      at,
      hint: `let the caller manage the ${singular} (CAN_MANAGE), which the list of its access requires`,
    });
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

function namesakeOf(live: LiveObject): Namesake {
  const { id, unmanageable } = live;
  const { creator_user_name: creator } = live.facts;
  return { id, creator: typeof creator === "string" ? creator : undefined, unmanageable };
}

/** `ID 12, created by ada@example.com; ID 13, creator unknown`. */
function namesakesText(namesakes: readonly Namesake[]): string {
  const texts = namesakes.slice(0, MOST).map(({ id, creator, unmanageable }) => {
    const origin = creator === undefined ? "creator unknown" : `created by ${creator}`;
    return `ID ${id}, ${origin}${unmanageable === undefined ? "" : `, cannot be managed: ${unmanageable}`}`;
  });
  return [...texts, ...(namesakes.length > MOST ? [`${namesakes.length - MOST} more`] : [])].join("; ");
}

/** Commands that import one of them each: `` `workspace import jobs.a 12` or `workspace import jobs.a 13` ``; empty if none can be managed. */
function importCommands(address: Address, namesakes: readonly Namesake[]): string {
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
