// An independent audit of a finished plan, its names included. It knows the rules of plans, not how they are made.

import { type Address, kindOf } from "../core/address.ts";
import { type Diagnostic, error, hasErrors } from "../core/diagnostic.ts";
import type { PlannedKind, PlanningRegistry } from "../resource/kind.ts";
import { foldName, isBuiltIn } from "../resource/names.ts";
import { isRenamable, nameReached } from "./decide/passed-names.ts";
import { comparable, liveFingerprint } from "./diff/normalize.ts";
import { type Change, changeKey } from "./model/change.ts";
import { indexLive, type LiveIndex } from "./model/context.ts";
import type { PlanInput } from "./model/input.ts";
import type { Plan } from "./model/plan.ts";
import { type WorkItem, workGraph } from "./order/apply-order.ts";
import { transitiveClosure } from "./order/graph.ts";

/** Contradictions in a plan. Each is a bug; a plan with one is never applied. */
export function auditPlan(
  plan: Plan,
  input: PlanInput,
  liveIndex = indexLive(input.live, input.registry),
): Diagnostic[] {
  return [
    ...duplicates(plan),
    ...order(plan),
    ...nameContradictions(plan, input.registry, liveIndex),
    ...plan.changes.flatMap((change) => contradictions(change, input, liveIndex)),
  ].map((message) =>
    error("PLAN_UNSOUND", message, { hint: "this is a bug in workspace; nothing was changed" }),
  );
}

function duplicates(plan: Plan): string[] {
  const messages: string[] = [];
  const keys = new Set<string>();
  const kinds = new Map<string, Map<string, Address>>();
  for (const change of plan.changes) {
    const key = changeKey(change);
    if (keys.has(key)) messages.push(`${key} is planned twice`);
    keys.add(key);
    if (!("id" in change) || change.action === "forget") continue;
    const ids = kinds.get(change.kind) ?? new Map<string, Address>();
    kinds.set(change.kind, ids);
    const other = ids.get(change.id);
    if (other !== undefined)
      messages.push(`${change.kind} ${change.id} is changed by both ${other} and ${change.address}`);
    ids.set(change.id, change.address);
  }
  return messages;
}

function order(plan: Plan): string[] {
  if (plan.changes.every(({ dependsOn }) => dependsOn.length === 0)) return [];
  const position = new Map(plan.changes.map((change, at) => [changeKey(change), at]));
  const messages: string[] = [];
  plan.changes.forEach((change, at) => {
    for (const need of change.dependsOn) {
      const before = position.get(need);
      if (before !== undefined && before > at)
        messages.push(`${change.address} depends on ${need}, which comes later`);
    }
  });
  return messages;
}

function contradictions(change: Change, input: PlanInput, liveIndex: LiveIndex): string[] {
  const provider = input.registry.get(change.kind);
  const messages: string[] = [];
  const declared = input.destroy !== true && input.spec.resources.has(change.address);
  if (change.action !== "forget" && liveIndex.unreadable(change.kind, change.name) !== undefined)
    messages.push(`${change.address} is planned, but its kind could not be read`);
  if ("id" in change && change.action !== "forget") messages.push(...wrongObject(change, input, liveIndex));
  switch (change.action) {
    case "create":
      if (!declared) messages.push(`${change.address} is created, but is not in the spec`);
      break;
    case "update":
      if (!declared) messages.push(`${change.address} is updated, but is not in the spec`);
      if (change.diffs.some((diff) => diff.replaces))
        messages.push(`${change.address} changes an immutable field in place`);
      if (change.steps.length === 0) messages.push(`${change.address} is updated without a step`);
      break;
    case "compare":
      if (!declared) messages.push(`${change.address} is compared, but is not in the spec`);
      if (change.steps.length === 0) messages.push(`${change.address} is compared without a step`);
      break;
    case "replace":
      if (!change.because.every((diff) => diff.replaces))
        messages.push(`${change.address} is replaced without a reason`);
      if (isBuiltIn(provider, change.name))
        messages.push(`${change.address} is built in and would be replaced`);
      break;
    case "delete":
      if (declared && change.deposed !== true)
        messages.push(`${change.address} is deleted, but is in the spec`);
      if (isBuiltIn(provider, change.name))
        messages.push(`${change.address} is built in and would be deleted`);
      if (!mayDelete(change.address, input, provider.nested !== undefined))
        messages.push(`${change.address} is deleted, but was never managed`);
      break;
    case "adopt":
    case "import":
    case "move":
    case "forget":
    case "noop":
    case "report":
      break;
    default:
      return change satisfies never;
  }
  return messages;
}

function wrongObject(
  change: Exclude<Change, { readonly action: "create" | "forget" }>,
  input: PlanInput,
  liveIndex: LiveIndex,
): string[] {
  const provider = input.registry.get(change.kind);
  const live = liveIndex.byId(change.kind, change.id);
  if (live === undefined) return [`${change.address} refers to ${change.id}, which is not live`];
  if (!("fingerprint" in change)) return [];
  const after = "after" in change ? change.after : undefined;
  const now = liveFingerprint(provider.fields, comparable(provider, live, after), after);
  return now === change.fingerprint ? [] : [`${change.address} has the fingerprint of another object`];
}

/** Recorded, a member of an authoritative list, or of a kind that the policy makes authoritative. */
function mayDelete(address: Address, input: PlanInput, nested: boolean): boolean {
  return (
    input.state.records.has(address) || nested || input.spec.policy.authoritative.includes(kindOf(address))
  );
}

/** Simulates the renames of a plan, part by part, on the live names. Knows the graph, not how its edges were found. */
export function nameContradictions(plan: Plan, registry: PlanningRegistry, liveIndex: LiveIndex): string[] {
  // A plan with errors is not applied, and a name that is not free is one of them.
  if (hasErrors(plan.diagnostics)) return [];
  const kinds = registry.kinds.filter(isRenamable);
  const names = new Set(kinds.map((provider) => provider.kind));
  if (!plan.changes.some((change) => names.has(change.kind) && gives(change, "whole"))) return [];
  const parts = workGraph(plan.changes);
  const graph = new Map(parts.map((part) => [part.key, part]));
  return kinds.flatMap((provider) => {
    const takers = parts.filter(
      (part) =>
        part.change.kind === provider.kind &&
        gives(part.change, part.phase) &&
        !keepsName(provider, liveIndex, part),
    );
    const byName = Map.groupBy(takers, (part) => foldName(provider, nameGiven(provider, part)));
    return takers.flatMap((taker) => [
      ...stillHeld(provider, liveIndex, graph, taker),
      ...rivals(provider, byName, taker),
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
    .filter((part) => part !== taker)
    .map((part) => `${taker.change.address} and ${part.change.address} take the same name`);
}

function gives(change: Change, phase: WorkItem["phase"]): boolean {
  return (
    phase !== "remove" &&
    (change.action === "create" || change.action === "update" || change.action === "replace")
  );
}

/** An update takes no name that its object has, also if another object has it, too. */
function keepsName(provider: PlannedKind, liveIndex: LiveIndex, part: WorkItem): boolean {
  const { change } = part;
  if (change.action !== "update") return false;
  return liveIndex.byName(change.kind, nameGiven(provider, part)).some(({ id }) => id === change.id);
}

function nameGiven(provider: PlannedKind, { change }: WorkItem): string {
  return "after" in change ? nameReached(provider, change as Parameters<typeof nameReached>[1]) : change.name;
}

const idOf = (change: Change): string | undefined => ("id" in change ? change.id : undefined);

/** Whether a part frees the name of an object: by a rename, or by deleting the object. */
function letsGo(provider: PlannedKind, { change, phase }: WorkItem, id: string, name: string): boolean {
  if (idOf(change) !== id) return false;
  if (phase === "remove" || change.action === "delete") return true;
  if (change.action === "replace") return change.replacing === "delete-first";
  return change.action === "update" && foldName(provider, nameReached(provider, change)) !== name;
}
