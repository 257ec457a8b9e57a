// The part of the audit about unique names: executed in order, a plan never gives an object a name that another object has.

import { hasErrors } from "../../core/diagnostic.ts";
import { foldName } from "../../resource/names.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import { isRenamed, longestName, nameReached } from "../decide/passed-names.ts";
import type { Change } from "../model/change.ts";
import type { LiveIndex } from "../model/live-index.ts";
import { transitiveClosure } from "../model/order.ts";
import type { Plan } from "../model/plan.ts";
import { type WorkItem, workGraph } from "../model/work-graph.ts";

/** Simulates the renames of a plan, part by part, on the live names. Knows the graph, not how its edges were found. */
export function nameContradictions(plan: Plan, registry: PlanningRegistry, liveIndex: LiveIndex): string[] {
  // A plan with errors is not applied, and a name that is not free is one of them.
  if (hasErrors(plan.diagnostics)) return [];
  const kinds = registry.kinds.filter(isRenamed);
  const names = new Set(kinds.map((one) => one.kind));
  if (!plan.changes.some((change) => names.has(change.kind) && gives(change, "whole"))) return [];
  const parts = workGraph(plan.changes);
  const graph = new Map(parts.map((part) => [part.key, part]));
  return kinds.flatMap((provider) => {
    const takers = parts.filter(({ change, half }) => change.kind === provider.kind && gives(change, half));
    const byName = Map.groupBy(takers, (part) => foldName(provider, nameGiven(provider, part)));
    return takers.flatMap((taker) => [
      ...stillHeld(provider, liveIndex, graph, taker),
      ...rivals(provider, byName, taker),
      ...unfit(provider, taker),
    ]);
  });
}

/** An object that has the name, unless what the part waits for takes it from the object. */
function stillHeld(
  provider: PlannedKind,
  liveIndex: LiveIndex,
  graph: ReadonlyMap<string, WorkItem>,
  taker: WorkItem,
): string[] {
  const name = foldName(provider, nameGiven(provider, taker));
  const holders = liveIndex.byName(provider.kind, name).filter((live) => live.id !== idOf(taker.change));
  if (holders.length === 0) return [];
  const before = transitiveClosure([taker], (part) => part.after.flatMap((key) => graph.get(key) ?? []));
  return holders
    .filter((live) => ![...before].some((part) => letsGo(provider, part, live.id, name)))
    .map((live) => `${taker.change.address} takes the name of ${live.id}, which still has it`);
}

function rivals(
  provider: PlannedKind,
  byName: ReadonlyMap<string, readonly WorkItem[]>,
  taker: WorkItem,
): string[] {
  const others = byName.get(foldName(provider, nameGiven(provider, taker))) ?? [];
  return others
    .filter((one) => one !== taker)
    .map((one) => `${taker.change.address} and ${one.change.address} take the same name`);
}

function gives(change: Change, half: WorkItem["half"]): boolean {
  if (half === "aside") return true;
  return (
    half !== "remove" &&
    (change.action === "create" || change.action === "update" || change.action === "replace")
  );
}

function nameGiven(provider: PlannedKind, { change, half }: WorkItem): string {
  if (half === "aside" && "temporaryName" in change) return change.temporaryName ?? "";
  return "after" in change ? nameReached(provider, change as Parameters<typeof nameReached>[1]) : change.name;
}

const idOf = (change: Change): string | undefined => ("id" in change ? change.id : undefined);

/** Whether a part frees the name of an object: by a rename, or by deleting the object. */
function letsGo(provider: PlannedKind, { change, half }: WorkItem, id: string, name: string): boolean {
  if (idOf(change) !== id) return false;
  if (half === "aside" || half === "remove" || change.action === "delete") return true;
  if (change.action === "replace") return change.replacing === "delete-first";
  return change.action === "update" && foldName(provider, nameReached(provider, change)) !== name;
}

function unfit(provider: PlannedKind, part: WorkItem): string[] {
  if (part.half !== "aside") return [];
  const { address } = part.change;
  if (provider.operations.rename === undefined)
    return [`${address} gets a temporary name, but ${provider.kind} cannot be renamed`];
  return nameGiven(provider, part).length > longestName(provider)
    ? [`the temporary name of ${address} is too long`]
    : [];
}
