// Passes unique names between objects within a plan: the change that frees a name runs first, and a temporary name breaks a cycle.

import type { Address } from "../../core/address.ts";
import { fingerprint } from "../../core/canonical.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldName, isSameName } from "../../resource/names.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { Change, Create, Delete, NameSource, Replace, Update } from "../model/change.ts";
import { objectKey, type PlanContext } from "../model/context.ts";
import { changeKey, changesByObject, transitiveClosure } from "../model/order.ts";
import { nameKey } from "../model/planned-workspace.ts";
import { freeingKey, workGraph } from "../model/work-graph.ts";
import { unchangedListers } from "./dependencies.ts";

type Taker = Create | Update | Replace;
type Holder = Update | Replace | Delete;

type RenamedKind = PlannedKind & { readonly nameField: string };

interface Passing {
  readonly provider: RenamedKind;
  readonly taker: Taker;
  readonly name: string;
  readonly held: LiveObject;
}

export interface PassedNames {
  readonly changes: readonly Change[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * The changes with the source of each name that they take (`nameFrom`), and with temporary names where names go round in a cycle.
 * `all`: also those that the plan leaves out.
 */
export function withPassedNames(
  context: PlanContext,
  changes: readonly Change[],
  all: readonly Change[] = changes,
): PassedNames {
  const { registry } = context.input;
  const takers = changes.filter(isTaker);
  const passings = registry.kinds.flatMap((provider) =>
    isRenamed(provider) ? passingsOf(context, provider, takers) : [],
  );
  // Few plans pass a name. The graph and the lists take a third of the time of a plan.
  if (passings.length === 0) return { changes, diagnostics: [] };
  const byId = changesByObject(changes);
  const graph = new Graph(changes);
  const listers = unchangedListers(context, all);
  const sources = new Map<Change, NameSource>();
  const asides = new Map<Change, LiveObject>();
  const diagnostics: Diagnostic[] = [];
  for (const passing of passings) {
    const { taker, held } = passing;
    const holder = byId.get(objectKey(taker.kind, held.id));
    const once = holder === undefined ? undefined : onceFreed(passing, holder, graph);
    const isDeleted = holder?.action === "delete" || holder?.action === "replace";
    const lister = isDeleted ? listers.get(nameKey(registry, taker.kind, passing.name)) : undefined;
    if (holder === undefined || once === undefined || lister !== undefined) {
      diagnostics.push(refusal(context, passing, holder, lister));
      continue;
    }
    sources.set(taker, { address: holder.address, id: held.id, once });
    if (once === "aside") asides.set(holder, held);
    graph.add(changeKey(taker), freeingKey(holder, once));
  }
  const temporary = temporaryNames(context, changes, asides);
  const named = changes.map((change) => {
    const more = defined({ nameFrom: sources.get(change), temporaryName: temporary.get(change) });
    return { ...change, ...more } as Change;
  });
  return { changes: named, diagnostics };
}

/** If the name is the key, an object cannot be renamed. */
export function isRenamed(provider: PlannedKind): provider is RenamedKind {
  return provider.unique && provider.nameField !== undefined && provider.nested === undefined;
}

/** The name that an object has once a change is done. */
export function nameReached(provider: PlannedKind, change: Taker): string {
  const { nameField = "" } = provider;
  const reached = change.after[nameField];
  const unknown = change.unresolved.some((one) => one.path[0] === nameField);
  return typeof reached === "string" && !unknown ? reached : change.name;
}

function isTaker(change: Change): change is Taker {
  return change.action === "create" || change.action === "update" || change.action === "replace";
}

/** Every change that takes a name which another live object has. By address, so that the same input gives the same cycle breaks. */
function passingsOf(
  context: PlanContext,
  provider: RenamedKind,
  takers: readonly Taker[],
): readonly Passing[] {
  const found: Passing[] = [];
  for (const taker of takers) {
    if (taker.kind !== provider.kind) continue;
    const name = nameReached(provider, taker);
    const own = taker.action === "create" ? undefined : taker.id;
    const [held] = context.liveIndex.byName(provider.kind, name).filter((one) => one.id !== own);
    if (held !== undefined) found.push({ provider, taker, name, held });
  }
  return found.sort((a, b) => (a.taker.address < b.taker.address ? -1 : 1));
}

/** How the holder's change frees the name; undefined if it does not, or only after what waits for it. */
function onceFreed(
  { provider, taker, name }: Passing,
  holder: Change,
  graph: Graph,
): NameSource["once"] | undefined {
  if (!freesName(provider, holder, name)) return undefined;
  const renames = provider.operations.rename !== undefined;
  if (holder.action === "replace" && renames) return "aside";
  const once = holder.action === "replace" && holder.replacing !== "delete-first" ? "removed" : "done";
  if (!graph.leads(freeingKey(holder, once), changeKey(taker))) return once;
  return renames ? "aside" : undefined;
}

export function freesName(provider: PlannedKind, holder: Change, name: string): holder is Holder {
  if (holder.action === "delete") return true;
  if (holder.action !== "update" && holder.action !== "replace") return false;
  return !isSameName(provider, nameReached(provider, holder), name);
}

/** Returns a temporary name for each object: its current name with a mark, unused now and after the plan. */
function temporaryNames(
  context: PlanContext,
  changes: readonly Change[],
  asides: ReadonlyMap<Change, LiveObject>,
): ReadonlyMap<Change, string> {
  const found = new Map<Change, string>();
  for (const provider of context.input.registry.kinds) {
    const moving = [...asides].filter(([{ kind }]) => kind === provider.kind);
    const used = new Set(context.liveIndex.all(provider.kind).map((one) => foldName(provider, one.name)));
    for (const one of changes)
      if (one.kind === provider.kind && "after" in one)
        used.add(foldName(provider, nameReached(provider, one as Taker)));
    for (const [change, live] of moving) {
      const name = freeName(provider, live.name, change.address, used);
      used.add(foldName(provider, name));
      found.set(change, name);
    }
  }
  return found;
}

const MARK_DIGITS = 6;

function freeName(provider: PlannedKind, name: string, address: Address, used: ReadonlySet<string>): string {
  for (let turn = 0; ; turn++) {
    const mark = ` (temporary ${fingerprint([address, name, turn]).slice(0, MARK_DIGITS)})`;
    const made = `${name.slice(0, longestName(provider) - mark.length)}${mark}`;
    if (!used.has(foldName(provider, made))) return made;
  }
}

export function longestName(provider: PlannedKind): number {
  const field = provider.nameField === undefined ? undefined : provider.fields[provider.nameField];
  return typeof field?.maxLength === "number" ? field.maxLength : Number.POSITIVE_INFINITY;
}

/** Errors for changes whose name stays with a replaced object that is still in use. */
export function namesOfKeptObjects(context: PlanContext, changes: readonly Change[]): Diagnostic[] {
  const takers = changes.filter(takesName);
  // Few plans pass a name. The index takes 50 ms for 100,000 changes.
  if (takers.length === 0) return [];
  const byId = changesByObject(changes);
  return takers.flatMap((taker) => {
    const { nameFrom: source } = taker;
    const holder = byId.get(objectKey(taker.kind, source.id));
    const stays = source.once === "removed" && holder?.action === "replace" && holder.keepsOld === true;
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

function takesName(change: Change): change is Taker & { readonly nameFrom: NameSource } {
  return "nameFrom" in change && change.nameFrom !== undefined;
}

function refusal(
  context: PlanContext,
  passing: Passing,
  holder: Change | undefined,
  lister: Change | undefined,
): Diagnostic {
  const { provider, taker, name, held } = passing;
  const resource = context.input.spec.resources.get(taker.address);
  const owner = holder?.address ?? context.owners.get(taker.kind, held.id);
  const head = `${provider.singular} "${name}" already exists`;
  const unmanaged = owner === undefined;
  const cycle = holder !== undefined && freesName(provider, holder, name);
  const message = unmanaged
    ? `${head} and is not managed by ${taker.address}`
    : lister !== undefined
      ? `${head}: ${lister.address} lists it, and would lose it with the ${provider.singular} of ${owner}`
      : cycle
        ? `${head}: ${owner} frees the name only after ${taker.address} has taken it`
        : `${head}: ${owner} keeps this name`;
  return error("PLAN_ALREADY_EXISTS", message, {
    address: taker.address,
    at: resource?.locate([provider.nameField]),
    hint: unmanaged
      ? `choose another name, or rename or delete the ${provider.singular} that has it`
      : `choose another name for ${taker.address} first, and apply in two steps`,
  });
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
    return transitiveClosure([key], (one) => this.#after.get(one) ?? []).has(target);
  }
}
