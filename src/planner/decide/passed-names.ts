// Unique names that pass from one object of a plan to another: who frees each, and when.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { isSameName } from "../../resource/names.ts";
import {
  type Change,
  changeKey,
  type Delete,
  isUnresolved,
  type NameSource,
  type Replace,
  type Update,
  type Write,
  writes,
} from "../model/change.ts";
import { objectKey, type PlanContext } from "../model/context.ts";
import { nameKey } from "../model/planned-workspace.ts";
import { changesByObject, freeingKey, workGraph } from "../order/apply-order.ts";
import { unchangedListers } from "../order/dependencies.ts";
import { transitiveClosure } from "../order/graph.ts";

type Holder = Update | Replace | Delete;

type RenamableKind = PlannedKind & { readonly nameField: string };

interface Passing {
  readonly provider: RenamableKind;
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
    isRenamable(provider) ? passingsOf(context, provider, takers) : [],
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
export function isRenamable(provider: PlannedKind): provider is RenamableKind {
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
  provider: RenamableKind,
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
export function namesStillHeld(context: PlanContext, changes: readonly Change[]): Diagnostic[] {
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
    const { address } = taker;
    const message = `a replaced ${provider.singular} of ${source.address} has the name "${name}" and is still in use`;
    const hint = `choose another name for ${address}, or first move the users of the replaced ${provider.singular}`;
    return [error("PLAN_ALREADY_EXISTS", message, { address, hint })];
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
