// Reports kinds that could not be read, once per cause. An unreadable kind blocks the apply.

import { type Address, kindOf, nameOf } from "../../core/address.ts";
import { type Diagnostic, error, warning } from "../../core/diagnostic.ts";
import { listed } from "../../core/sentences.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { LiveKind } from "../../resource/live.ts";
import { type Change, removes } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import type { PlanFacts, PlanInput } from "../model/input.ts";

interface Unread {
  /** `pools`, or `acls of etl`. */
  readonly what: string;
  readonly reason: Diagnostic;
}

/** Deletes of such a kind are not even planned: unreadable is never empty. */
export function unreadableKinds({ input: { live, spec, state } }: PlanContext): Diagnostic[] {
  const managed = new Set([...spec.resources.values()].map((resource) => resource.kind));
  for (const kind of spec.policy.authoritative) managed.add(kind);
  for (const address of state.records.keys()) managed.add(kindOf(address));
  const unread: Unread[] = [];
  for (const [kind, liveKind] of live) {
    if (!managed.has(kind)) continue;
    if (!liveKind.readable) unread.push({ what: kind, reason: liveKind.diagnostic });
    else
      for (const [parent, reason] of liveKind.unreadableParents)
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
  const reason = reasons.reduce((best, diagnostic) =>
    diagnostic.message.length < best.message.length ? diagnostic : best,
  );
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
    if (!removes(change)) continue;
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
  const parentNames = new Set<string>();
  for (const resource of spec.resources.values())
    if (resource.kind === nested.kind) parentNames.add(resource.name);
  for (const stateRecord of state.records.values())
    if (kindOf(stateRecord.address) === nested.kind) parentNames.add(stateRecord.name);
  return parents.objects.every(({ name }) => parentNames.has(name));
}

/** Reported if a plan deletes an object and its side effects cannot be determined. */
export function unreadDependents(
  input: PlanInput,
  { dependents }: PlanFacts,
  changes: readonly Change[],
): Diagnostic[] {
  if (dependents === undefined) return [];
  return [...dependentKinds(input, changes)].flatMap(([kind, address]) => {
    const liveKind = dependents.get(kind);
    return liveKind === undefined ? [] : untold(kind, address, liveKind);
  });
}

function untold(kind: string, address: Address, liveKind: LiveKind): Diagnostic[] {
  const reason = liveKind.readable ? [...liveKind.unreadableParents.values()][0] : liveKind.diagnostic;
  if (reason === undefined) return [];
  const what = liveKind.readable
    ? `the ${kind} of ${[...liveKind.unreadableParents.keys()].join(", ")}`
    : kind;
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
