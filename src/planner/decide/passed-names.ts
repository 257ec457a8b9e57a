// Unique names that move between objects in one plan: renamed objects, and names that one object passes to another.

import { kindOf } from "../../core/address.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import type { Live, LiveKind, LiveObject } from "../../resource/live.ts";
import { isSameName, kindsNamedBy, translateNames } from "../../resource/names.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { isIgnored } from "../diff/normalize.ts";
import {
  type Change,
  type Delete,
  isUnresolved,
  type NameSource,
  type Replace,
  type Update,
  type Write,
  writes,
} from "../model/change.ts";
import { objectKey, type PlanContext } from "../model/context.ts";
import { isSelected, type PlanInput } from "../model/input.ts";
import { nameKey } from "../model/planned-workspace.ts";
import { changeKey, changesByObject, freeingKey, transitiveClosure, workGraph } from "../model/work-graph.ts";
import { unchangedListers } from "./dependencies.ts";

type Holder = Update | Replace | Delete;

type RenamedKind = PlannedKind & { readonly nameField: string };

interface Passing {
  readonly provider: RenamedKind;
  readonly taker: Write;
  readonly name: string;
  readonly held: LiveObject;
}

export interface PassedNames {
  readonly changes: readonly Change[];
  /** Names that cannot pass between objects of the plan. */
  readonly nameErrors: readonly Diagnostic[];
}

/**
 * The changes with the source of each name that they take (`nameFrom`). A name that comes free only after it was taken is an error.
 * `all`: also those that the plan leaves out.
 */
export function withPassedNames(
  context: PlanContext,
  changes: readonly Change[],
  all: readonly Change[] = changes,
): PassedNames {
  const { registry } = context.input;
  const takers = changes.filter(writes);
  const passings = registry.kinds.flatMap((provider) =>
    isRenamed(provider) ? passingsOf(context, provider, takers) : [],
  );
  // Few plans pass a name. The graph and the lists take a third of the time of a plan.
  if (passings.length === 0) return { changes, nameErrors: [] };
  const byId = changesByObject(changes);
  const graph = new Graph(changes);
  const listers = unchangedListers(context, all);
  const sources = new Map<Change, NameSource>();
  const nameErrors: Diagnostic[] = [];
  for (const passing of passings) {
    const { taker, held: liveObject } = passing;
    const holder = byId.get(objectKey(taker.kind, liveObject.id));
    const freedWhen = holder === undefined ? undefined : whenFreed(passing, holder, graph);
    const isDeleted = holder?.action === "delete" || holder?.action === "replace";
    const lister = isDeleted ? listers.get(nameKey(registry, taker.kind, passing.name)) : undefined;
    if (holder === undefined || freedWhen === undefined || lister !== undefined) {
      nameErrors.push(refusal(context, passing, holder, lister));
      continue;
    }
    sources.set(taker, { address: holder.address, id: liveObject.id, freedWhen });
    graph.add(changeKey(taker), freeingKey(holder, freedWhen));
  }
  const named = changes.map((change): Change => {
    const nameFrom = sources.get(change);
    return nameFrom === undefined || !writes(change) ? change : { ...change, nameFrom };
  });
  return { changes: named, nameErrors };
}

/** If the name is the key, an object cannot be renamed. */
export function isRenamed(provider: PlannedKind): provider is RenamedKind {
  return provider.unique && provider.nameField !== undefined && provider.nested === undefined;
}

/** The name that an object has once a change is done. */
export function nameReached(provider: PlannedKind, change: Write): string {
  const { nameField = "" } = provider;
  const reached = change.after[nameField];
  return typeof reached === "string" && !isUnresolved(change, nameField) ? reached : change.name;
}

/** Every change that takes a name which another live object has. By address, so that the same input gives the same errors. */
function passingsOf(
  context: PlanContext,
  provider: RenamedKind,
  takers: readonly Write[],
): readonly Passing[] {
  const passings: Passing[] = [];
  for (const taker of takers) {
    if (taker.kind !== provider.kind) continue;
    const name = nameReached(provider, taker);
    const own = taker.action === "create" ? undefined : taker.id;
    const namesakes = context.liveIndex.byName(provider.kind, name);
    // The service allows several objects of some names: an update takes no name that its object has.
    if (taker.action === "update" && namesakes.some(({ id }) => id === own)) continue;
    const liveObject = namesakes.find(({ id }) => id !== own);
    if (liveObject !== undefined) passings.push({ provider, taker, name, held: liveObject });
  }
  return passings.sort((a, b) => (a.taker.address < b.taker.address ? -1 : 1));
}

/** How the holder's change frees the name; undefined if it does not, or only after what waits for it. */
function whenFreed(
  { provider, taker, name }: Passing,
  holder: Change,
  graph: Graph,
): NameSource["freedWhen"] | undefined {
  if (!freesName(provider, holder, name)) return undefined;
  const isReplacedFirst = holder.action === "replace" && holder.replacing !== "delete-first";
  const freedWhen = isReplacedFirst ? "removed" : "done";
  return graph.leads(freeingKey(holder, freedWhen), changeKey(taker)) ? undefined : freedWhen;
}

export function freesName(provider: PlannedKind, holder: Change, name: string): holder is Holder {
  if (holder.action === "delete") return true;
  if (holder.action !== "update" && holder.action !== "replace") return false;
  return !isSameName(provider, nameReached(provider, holder), name);
}

/** Errors for changes whose name stays with a replaced object that is still in use. */
export function namesOfKeptObjects(context: PlanContext, changes: readonly Change[]): Diagnostic[] {
  const takers = changes.filter(takesName);
  // Few plans pass a name, and only those need the index.
  if (takers.length === 0) return [];
  const byId = changesByObject(changes);
  return takers.flatMap((taker) => {
    const { nameFrom: source } = taker;
    const holder = byId.get(objectKey(taker.kind, source.id));
    const stays = source.freedWhen === "removed" && holder?.action === "replace" && holder.keepsOld === true;
    if (holder !== undefined && !stays) return [];
    const provider = context.input.registry.get(taker.kind);
    const name = nameReached(provider, taker);
    return [
      error(
        "PLAN_ALREADY_EXISTS",
        `a replaced ${provider.singular} of ${source.address} has the name "${name}" and is still in use`,
        {
          address: taker.address,
          hint: `choose another name for ${taker.address}, or first move the users of the replaced ${provider.singular}`,
        },
      ),
    ];
  });
}

function takesName(change: Change): change is Write & { readonly nameFrom: NameSource } {
  return "nameFrom" in change && change.nameFrom !== undefined;
}

function refusal(
  context: PlanContext,
  passing: Passing,
  holder: Change | undefined,
  lister: Change | undefined,
): Diagnostic {
  const { provider, taker, name, held } = passing;
  const owner = holder?.address ?? context.owners.get(taker.kind, held.id);
  const message = (why: string): string => `${provider.singular} "${name}" already exists${why}`;
  const details = {
    address: taker.address,
    at: context.input.spec.resources.get(taker.address)?.locate([provider.nameField]),
  };
  if (owner === undefined)
    return error("PLAN_ALREADY_EXISTS", message(` and is not managed by ${taker.address}`), {
      ...details,
      hint: `choose another name, or rename or delete the ${provider.singular} that has it`,
    });
  const hint = `choose another name for ${taker.address} first, and apply in two steps`;
  const refused = (why: string): Diagnostic =>
    error("PLAN_ALREADY_EXISTS", message(`: ${why}`), { ...details, hint });
  if (lister !== undefined)
    return refused(`${lister.address} lists it, and would lose it with the ${provider.singular} of ${owner}`);
  return holder !== undefined && freesName(provider, holder, name)
    ? refused(`${owner} frees the name only after ${taker.address} has taken it`)
    : refused(`${owner} keeps this name`);
}

/** What each part of a plan waits for. */
class Graph {
  readonly #after = new Map<string, Set<string>>();

  constructor(changes: readonly Change[]) {
    for (const part of workGraph(changes)) this.#after.set(part.key, new Set(part.after));
  }

  add(key: string, after: string): void {
    this.#after.set(key, (this.#after.get(key) ?? new Set()).add(after));
  }

  /** Whether `key` waits for `target`, directly or through others. */
  leads(key: string, target: string): boolean {
    return transitiveClosure([key], (text) => this.#after.get(text) ?? []).has(target);
  }
}

/** The input with references in live objects and records changed to the names of the plan. */
export function withNewNames(input: PlanInput): PlanInput {
  const { registry, state } = input;
  const names = new Map([...namedKinds(registry)].flatMap((kind) => newNamesOf(input, registry.find(kind))));
  if (names.size === 0) return input;
  const renamed = renaming(registry, names);
  const live = renamedLive(registry, input.live, renamed);
  const records = new Map(
    [...state.records].map(([address, record]) => {
      const provider = registry.find(kindOf(address));
      return [address, provider === undefined ? record : renamedRecord(provider, record, renamed)];
    }),
  );
  return { ...input, live, state: { ...state, records } };
}

/** Live objects as a plan that was made earlier names them. */
export function withPlannedNames(registry: PlanningRegistry, live: Live, changes: readonly Change[]): Live {
  const named = namedKinds(registry);
  const names = new Map<string, string>();
  for (const change of changes) {
    if (change.action !== "update" || !named.has(change.kind)) continue;
    const liveKind = live.get(change.kind);
    if (liveKind?.readable !== true) continue;
    const object = liveKind.objects.find(({ id }) => id === change.id);
    const provider = registry.get(change.kind);
    if (object !== undefined && !isSameName(provider, object.name, change.name))
      names.set(nameKey(registry, change.kind, object.name), change.name);
  }
  return names.size === 0 ? live : renamedLive(registry, live, renaming(registry, names));
}

const namedKinds = (registry: PlanningRegistry): ReadonlySet<string> =>
  new Set(registry.kinds.flatMap(({ fields }) => [...kindsNamedBy(fields)]));

type Renaming = (fields: FieldTable, values: Values) => Values;

const renaming =
  (registry: PlanningRegistry, names: ReadonlyMap<string, string>): Renaming =>
  (fields, values) =>
    translateNames(fields, values, (kind, name) => names.get(nameKey(registry, kind, name)));

const renamedLive = (registry: PlanningRegistry, live: Live, renamed: Renaming): Live =>
  new Map([...live].map(([kind, liveKind]) => [kind, renamedObjects(registry.get(kind), liveKind, renamed)]));

function renamedObjects({ fields }: PlannedKind, liveKind: LiveKind, renamed: Renaming): LiveKind {
  if (!liveKind.readable) return liveKind;
  const objects = liveKind.objects.map((object) => ({ ...object, values: renamed(fields, object.values) }));
  return { ...liveKind, objects };
}

function renamedRecord({ fields }: PlannedKind, record: StateRecord, renamed: Renaming): StateRecord {
  const applied = renamed(fields, record.applied);
  return record.status === "ready"
    ? { ...record, applied, seen: renamed(fields, record.seen) }
    : { ...record, applied };
}

/** Old names of a kind, as keys, with the new ones. */
function newNamesOf(
  input: PlanInput,
  provider: PlannedKind | undefined,
): readonly (readonly [string, string])[] {
  const { live, spec, state, destroy } = input;
  const liveKind = provider === undefined ? undefined : live.get(provider.kind);
  if (destroy === true || provider === undefined || liveKind?.readable !== true) return [];
  const { nameField, fields } = provider;
  if (nameField === undefined || fields[nameField]?.onChange === "replace") return [];
  const byId = new Map(liveKind.objects.map((object) => [object.id, object]));
  return [...spec.resources.values()].flatMap(({ kind, address, name, lifecycle }) => {
    const record = kind === provider.kind ? state.records.get(address) : undefined;
    const object = record === undefined ? undefined : byId.get(record.id);
    const isKept = !isSelected(input, address) || isIgnored([nameField], lifecycle.ignore_changes);
    if (object === undefined || isKept || isSameName(provider, object.name, name)) return [];
    return [[nameKey(input.registry, kind, object.name), name]] as const;
  });
}
