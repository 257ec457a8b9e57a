// The view of a plan for all reports: plain data; each format only lays it out.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { type Change, changesAnything } from "../../planner/model/change.ts";
import { changeKey } from "../../planner/model/order.ts";
import {
  type Guard,
  type Mode,
  type Plan,
  type Summary,
  summaryOf,
  type Unmanaged,
} from "../../planner/model/plan.ts";
import type { ChangeOrigin } from "../../planner/model/split.ts";
import { causedPart } from "../../planner/split-plan.ts";
import type { KindRegistry } from "../../resource/registry.ts";
import { NO_PLACES, type SpecPlaces } from "./change-fields.ts";
import { ChangeView } from "./change-view.ts";
import { originText } from "./drift-marks.ts";
import { type DriftItem, driftItem } from "./drift-view.ts";
import { type ExitcodeFor, PENDING_NOTE, type SplitView, splitView } from "./split-view.ts";
import { isUnknownSecret, refusalLine, summaryLine } from "./summary.ts";

export interface PlanView {
  readonly host: string;
  readonly modes: readonly Mode[];
  /** Of a plan with `--only`; undefined if it covers everything. The title says it. */
  readonly part: Plan["part"];
  /** `Plan: 3 to create, 1 to update, 0 to replace, 0 to delete.` */
  readonly title: string;
  readonly refusal: string | undefined;
  readonly changesAnything: boolean;
  readonly split?: SplitView;
  /** With `change`, no guard, error, or annotation counts that was pending. */
  readonly exitcodeFor: ExitcodeFor;
  readonly summary: Summary;
  /** Every change in the order of the plan, also those that change nothing; made when first asked for. */
  readonly changes: readonly ChangeView[];
  /** The changes that do something or report something: often few of many. */
  readonly notable: readonly ChangeView[];
  readonly drift: readonly DriftItem[];
  readonly unmanaged: readonly UnmanagedItem[];
  readonly guards: readonly Guard[];
  readonly diagnostics: readonly PlanFinding[];
  /** Findings about the run around the plan. The text form leaves them out, because they are on standard error already. */
  readonly notes: readonly Diagnostic[];
}

/** `origin`: of a plan that was compared with a base, and of an error of a single resource. */
export interface PlanFinding extends Diagnostic {
  readonly origin?: ChangeOrigin;
}

/** A live object that is not in the spec: of a kind, or inside a managed object (a secret in a scope). */
export interface UnmanagedItem {
  readonly address: string;
  /** `pools`, or `secrets in etl`. */
  readonly group: string;
  readonly name: string;
  /** Absent for what is inside a managed object: a change reports it. */
  readonly source?: Unmanaged;
}

/** `notes`: findings about the run around the plan. `places`: where the spec declares what changes. */
export function planView(
  plan: Plan,
  registry: KindRegistry,
  notes: readonly Diagnostic[] = [],
  places: SpecPlaces = NO_PLACES,
  exitcodeFor: ExitcodeFor = "all",
): PlanView {
  const { split } = plan;
  const own = new Set(causedPart(plan).diagnostics);
  const drifted = new Map(plan.drift.map((one) => [one.address, originText(one.origin)]));
  const viewed = (change: Change): ChangeView => {
    const origin = drifted.get(change.address) ?? "";
    return new ChangeView(change, registry, places, split?.changes[changeKey(change)], origin);
  };
  const notable = plan.changes.filter(({ action }) => action !== "noop").map(viewed);
  let made: readonly ChangeView[] | undefined;
  const changes = (): readonly ChangeView[] => {
    const rest = notable.values();
    made ??= plan.changes.map((change) =>
      change.action === "noop" ? viewed(change) : (rest.next().value ?? viewed(change)),
    );
    return made;
  };
  return {
    host: plan.host,
    modes: plan.modes ?? [],
    part: plan.part,
    title: summaryLine(plan, plan.changes.filter((one) => isUnknownSecret(one, registry)).length),
    refusal: refusalLine(plan),
    changesAnything: changesAnything(plan),
    summary: summaryOf(plan.changes),
    get changes() {
      return changes();
    },
    notable,
    ...(split === undefined ? {} : { split: splitView(split, changes(), registry) }),
    exitcodeFor: split === undefined ? "all" : exitcodeFor,
    drift: plan.drift.map((one) => driftItem(one, registry, places)),
    unmanaged: [...plan.unmanaged.map(unmanagedItem), ...plan.changes.flatMap(foundInside)],
    guards: plan.guards.map(guardItem),
    diagnostics: plan.diagnostics.map((one) => (own.has(one) ? one : pendingFinding(one))),
    notes,
  };
}

/** Marks a guard that exists with and without the change. */
function guardItem(guard: Guard): Guard {
  if (guard.origin !== "pending") return guard;
  return { ...guard, diagnostic: pendingFinding(guard.diagnostic) };
}

function pendingFinding(one: Diagnostic): PlanFinding {
  return { ...one, message: `${one.message}${PENDING_NOTE}`, origin: "pending" };
}

function unmanagedItem(source: Unmanaged): UnmanagedItem {
  const { kind, name } = source;
  return { address: `${kind}.${name}`, group: kind, name, source };
}

function foundInside({ action, kind, name, address }: Change): readonly UnmanagedItem[] {
  if (action !== "report") return [];
  const slash = name.indexOf("/");
  return [{ address, group: `${kind} in ${name.slice(0, slash)}`, name: name.slice(slash + 1) }];
}
