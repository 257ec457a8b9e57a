// Reports kinds that could not be read, once per cause. An unreadable kind blocks the apply.

import { type Address, kindOf, nameOf } from "../../core/address.ts";
import { type Diagnostic, error, warning } from "../../core/diagnostic.ts";
import { listed } from "../../core/sentences.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { LiveKind } from "../../resource/live.ts";
import type { Change } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import type { PlanFacts, PlanInput } from "../model/input.ts";

interface Unread {
  /** `pools`, or `acls of etl`. */
  readonly what: string;
  readonly reason: Diagnostic;
}

/** Deletes of such a kind are not even planned: unreadable is never empty. */
export function unreadableKinds({ input: { live, spec, state } }: PlanContext): Diagnostic[] {
  const managed = new Set([...spec.resources.values()].map((one) => one.kind));
  for (const kind of spec.policy.authoritative) managed.add(kind);
  for (const address of state.records.keys()) managed.add(kindOf(address));
  const unread: Unread[] = [];
  for (const [kind, found] of live) {
    if (!managed.has(kind)) continue;
    if (!found.readable) unread.push({ what: kind, reason: found.diagnostic });
    else
      for (const [parent, reason] of found.unreadableParents)
        unread.push({ what: `${kind} of ${parent}`, reason });
  }
  return [...Map.groupBy(unread, ({ reason }) => causeOf(reason)).values()].map(told);
}

/** The reason without what differs from one request to the next: its operation, its attempts and their time. */
function causeOf({ code, message, hint = "" }: Diagnostic): string {
  const rest = message
    .replace(/^.* could not be read: /, "")
    .replace(/^[\w-]+(\/[\w-]+)+ /, "")
    .replace(/, \d+ attempts in \d+ s$/, "");
  return `${code}\n${rest}\n${hint}`;
}

/** The shortest reason is the one that names no kind but its own. */
function told(group: readonly Unread[]): Diagnostic {
  const reasons = group.map(({ reason }) => reason);
  const reason = reasons.reduce((best, one) => (one.message.length < best.message.length ? one : best));
  const message = `${listed(group.map(({ what }) => what))} could not be read, so their differences are unknown`;
  return error("PLAN_UNREADABLE", message, {
    hint: reason.hint ?? "fix the cause, then plan again",
    cause: `${reason.code}: ${reason.message}`,
  });
}

/** Kinds that may use deleted objects and that the input contains only in part, or lacks. */
export function dependentKinds(input: PlanInput, changes: readonly Change[]): ReadonlyMap<string, Address> {
  const kinds = new Map<string, Address>();
  for (const change of changes) {
    if (change.action !== "delete" && change.action !== "replace") continue;
    for (const kind of input.registry.get(change.kind).usedBy ?? [])
      if (!kinds.has(kind) && !isSeen(input, input.registry.get(kind), change))
        kinds.set(kind, change.address);
  }
  return kinds;
}

function isSeen({ live, spec, state }: PlanInput, { kind, nested }: PlannedKind, change: Change): boolean {
  if (nested === undefined) return live.has(kind);
  const isManaged = (address: Address) => spec.resources.has(address) || state.records.has(address);
  if (nested.kind === change.kind) return isManaged(change.address);
  const parents = live.get(nested.kind);
  if (parents?.readable !== true) return false;
  // Members are read where the spec or the state has the parent.
  const known = new Set<string>();
  for (const one of spec.resources.values()) if (one.kind === nested.kind) known.add(one.name);
  for (const one of state.records.values()) if (kindOf(one.address) === nested.kind) known.add(one.name);
  return parents.objects.every(({ name }) => known.has(name));
}

/** Reported if a plan deletes an object and its side effects cannot be determined. */
export function unreadDependents(
  input: PlanInput,
  { dependents }: PlanFacts,
  changes: readonly Change[],
): Diagnostic[] {
  if (dependents === undefined) return [];
  return [...dependentKinds(input, changes)].flatMap(([kind, address]) => {
    const found = dependents.get(kind);
    return found === undefined ? [] : untold(kind, address, found);
  });
}

function untold(kind: string, address: Address, found: LiveKind): Diagnostic[] {
  const reason = found.readable ? [...found.unreadableParents.values()][0] : found.diagnostic;
  if (reason === undefined) return [];
  const what = found.readable ? `the ${kind} of ${[...found.unreadableParents.keys()].join(", ")}` : kind;
  return [
    warning(
      "PLAN_UNSEEN",
      `${what} could not be read, so the users of ${kindOf(address)} such as ${nameOf(address)} are unknown`,
      {
        address,
        cause: `${reason.code}: ${reason.message}`,
        hint: "check for side effects that the plan does not show, or plan again",
      },
    ),
  ];
}
