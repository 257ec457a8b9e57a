// The view of a plan that was compared with its base: caused, pending, and resolved changes.

import { toDottedPath } from "../../core/pointer.ts";
import { count, grouped, listed } from "../../core/sentences.ts";
import { type Summary, summaryOf } from "../../planner/model/plan.ts";
import type { ChangeOrigin, PlanSplit, ResolvedChange } from "../../planner/model/split.ts";
import type { KindRegistry } from "../../resource/registry.ts";
import type { Colors } from "../text/color.ts";
import { printable } from "../text/printable.ts";
import { PLANNED_ACTIONS, plannedCounts } from "../text/vocabulary.ts";
import { NO_PLACES } from "./change-fields.ts";
import { ChangeView } from "./change-view.ts";

export interface SplitView {
  /** The folder or Git reference that the plan was compared with. */
  readonly base: string;
  /** `Compared with origin/main: 1 caused by this change (1 to create), 2 already pending, 1 resolved by this change.` */
  readonly title: string;
  readonly caused: Summary;
  readonly pending: Summary;
  readonly resolved: readonly ResolvedItem[];
}

export interface ResolvedItem {
  /** As the plan of the base has it. */
  readonly change: ChangeView;
  /** The fields that are resolved, where others are not; else empty. */
  readonly fields: readonly string[];
  readonly source: ResolvedChange;
}

export const ORIGIN_HEADS: Readonly<Record<ChangeOrigin | "resolved", string>> = {
  caused: "Caused by this change",
  pending: "Already pending (drift, or merged but not applied)",
  resolved: "Resolved by this change",
};

/** What a guard or an error of a single resource says that the plan of the base has, too. */
export const PENDING_NOTE = "; this was already pending";

/** Which changes decide: all of them, or with `--exitcode-for change` only those that the change causes. */
export type ExitcodeFor = "all" | "change";

export const ORIGINS: Readonly<Record<ChangeOrigin, string>> = {
  caused: "caused by this change",
  pending: "already pending",
};

export function splitView(
  split: PlanSplit,
  changes: readonly ChangeView[],
  registry: KindRegistry,
): SplitView {
  const of = (origin: ChangeOrigin): Summary => summaryOf(changes.filter((one) => one.origin === origin));
  const [caused, pending] = [of("caused"), of("pending")];
  const resolved = split.resolved.map((source) => ({
    change: new ChangeView(source.change, registry, NO_PLACES),
    fields: (source.fields ?? []).map((path) => printable(toDottedPath(path))),
    source,
  }));
  const parts = [
    counted(caused, ORIGINS.caused),
    counted(pending, ORIGINS.pending),
    `${grouped(resolved.length)} resolved by this change`,
  ];
  return {
    base: split.base,
    title: `Compared with ${printable(split.base)}: ${parts.join(", ")}.`,
    caused,
    pending,
    resolved,
  };
}

/** `2 caused by this change (1 to create, 1 to delete)`. */
function counted(summary: Summary, what: string): string {
  const number = PLANNED_ACTIONS.reduce((sum, action) => sum + summary[action], 0);
  const parts = plannedCounts(summary);
  return `${grouped(number)} ${what}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}`;
}

/** Changes by origin, each group under its head; one group without a head where the plan was not compared. */
export function byOrigin(
  changes: readonly ChangeView[],
  split: SplitView | undefined,
): readonly { readonly head?: string; readonly changes: readonly ChangeView[] }[] {
  if (split === undefined) return [{ changes }];
  return (["caused", "pending"] as const)
    .map((origin) => ({
      head: ORIGIN_HEADS[origin],
      changes: changes.filter((one) => one.origin === origin),
    }))
    .filter((group) => group.changes.length > 0);
}

/** Where a form has room for a few lines alone. */
export function splitSentences(split: SplitView | undefined): readonly string[] {
  if (split === undefined) return [];
  const resolved = split.resolved.map(resolvedSentence);
  return [split.title, ...(resolved.length === 0 ? [] : [`resolved: ${listed(resolved, "and", 10)}`])];
}

/** For documents that contain no changes. */
export function splitProperties(split: SplitView | undefined): Readonly<Record<string, unknown>> {
  if (split === undefined) return {};
  const { base, title, resolved } = split;
  return { split: { base, summary: title, resolved: resolved.map(resolvedSentence) } };
}

/** `update pools.b: size` or `delete pools.a`. */
export function resolvedSentence({ change, fields }: ResolvedItem): string {
  const which = fields.length === 0 ? "" : `: only ${listed(fields)}`;
  return `${change.action} ${printable(change.address)}${which}`;
}

export function resolvedLines(split: SplitView | undefined, colors: Colors): readonly string[] {
  if (split === undefined || split.resolved.length === 0) return [];
  const head = `${ORIGIN_HEADS.resolved}: ${count(split.resolved.length, "change")} of ${printable(split.base)} no longer needed`;
  return [colors.bold(head), ...split.resolved.map((one) => colors.dim(`  ✓ ${resolvedSentence(one)}`))];
}
