// An independent audit of a finished plan. It knows the rules of plans, not how they are made.

import { type Address, kindOf } from "../core/address.ts";
import { type Diagnostic, error } from "../core/diagnostic.ts";
import { isBuiltIn } from "../resource/names.ts";
import { nameContradictions } from "./check/audit-names.ts";
import { comparable, liveFingerprint } from "./diff/fingerprint.ts";
import type { Change } from "./model/change.ts";
import type { PlanInput } from "./model/input.ts";
import { indexLive, type LiveIndex } from "./model/live-index.ts";
import { changeKey } from "./model/order.ts";
import type { Plan } from "./model/plan.ts";

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
  const found: string[] = [];
  const keys = new Set<string>();
  const kinds = new Map<string, Map<string, Address>>();
  for (const change of plan.changes) {
    const key = changeKey(change);
    if (keys.has(key)) found.push(`${key} is planned twice`);
    keys.add(key);
    if (!("id" in change) || change.action === "forget") continue;
    const ids = kinds.get(change.kind) ?? new Map<string, Address>();
    kinds.set(change.kind, ids);
    const other = ids.get(change.id);
    if (other !== undefined)
      found.push(`${change.kind} ${change.id} is changed by both ${other} and ${change.address}`);
    ids.set(change.id, change.address);
  }
  return found;
}

function order(plan: Plan): string[] {
  if (plan.changes.every(({ dependsOn }) => dependsOn.length === 0)) return [];
  const place = new Map(plan.changes.map((change, at) => [changeKey(change), at]));
  const found: string[] = [];
  plan.changes.forEach((change, at) => {
    for (const need of change.dependsOn) {
      const before = place.get(need);
      if (before !== undefined && before > at)
        found.push(`${change.address} depends on ${need}, which comes later`);
    }
  });
  return found;
}

function contradictions(change: Change, input: PlanInput, liveIndex: LiveIndex): string[] {
  const provider = input.registry.get(change.kind);
  const found: string[] = [];
  const declared = input.destroy !== true && input.spec.resources.has(change.address);
  if (change.action !== "forget" && liveIndex.unreadable(change.kind, change.name) !== undefined)
    found.push(`${change.address} is planned, but its kind could not be read`);
  if ("id" in change && change.action !== "forget") found.push(...wrongObject(change, input, liveIndex));
  switch (change.action) {
    case "create":
      if (!declared) found.push(`${change.address} is created, but is not in the spec`);
      break;
    case "update":
      if (!declared) found.push(`${change.address} is updated, but is not in the spec`);
      if (change.diffs.some((diff) => diff.replaces))
        found.push(`${change.address} changes an immutable field in place`);
      if (change.steps.length === 0) found.push(`${change.address} is updated without a step`);
      break;
    case "compare":
      if (!declared) found.push(`${change.address} is compared, but is not in the spec`);
      if (change.steps.length === 0) found.push(`${change.address} is compared without a step`);
      break;
    case "replace":
      if (!change.because.every((diff) => diff.replaces))
        found.push(`${change.address} is replaced without a reason`);
      if (isBuiltIn(provider, change.name)) found.push(`${change.address} is built in and would be replaced`);
      break;
    case "delete":
      if (declared && change.deposed !== true) found.push(`${change.address} is deleted, but is in the spec`);
      if (isBuiltIn(provider, change.name)) found.push(`${change.address} is built in and would be deleted`);
      if (!mayDelete(change.address, input, provider.nested !== undefined))
        found.push(`${change.address} is deleted, but was never managed`);
      break;
    case "adopt":
    case "forget":
    case "noop":
    case "report":
      break;
    default:
      return change satisfies never;
  }
  return found;
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
  const now = liveFingerprint(provider.fields, comparable(provider, live), after);
  return now === change.fingerprint ? [] : [`${change.address} has the fingerprint of another object`];
}

/** Recorded, a member of an authoritative list, or of a kind that the policy makes authoritative. */
function mayDelete(address: Address, input: PlanInput, nested: boolean): boolean {
  return (
    input.state.records.has(address) || nested || input.spec.policy.authoritative.includes(kindOf(address))
  );
}
