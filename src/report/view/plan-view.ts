// The view of a plan for all reports, also of one that was compared with its base: plain data; each format only lays it out.

import { type Diagnostic, hasErrors } from "../../core/diagnostic.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { count, grouped, listed } from "../../core/sentences.ts";
import { movedEntry } from "../../planner/decide/likely-renames.ts";
import { driftToRecord, isAgreedBySpec } from "../../planner/diff/known-drift.ts";
import { type Change, changeKey, changesAnything, touches } from "../../planner/model/change.ts";
import {
  type ChangeOrigin,
  type DriftOrigin,
  findingsOf,
  type Guard,
  type LikelyRename,
  type Mode,
  type Plan,
  type PlanSplit,
  type ResolvedChange,
  type Summary,
  summaryOf,
  type Unmanaged,
} from "../../planner/model/plan.ts";
import { causedPart } from "../../planner/split-plan.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { CHANGING_ACTIONS } from "../../resource/planning.ts";
import { printable } from "../text/printable.ts";
import { partOptions } from "../text/run-info.ts";
import { PLANNED_ACTIONS, plannedCounts, summaryActions } from "../text/vocabulary.ts";
import { type AccessGrouping, type AccessView, accessView } from "./access-view.ts";
import { ChangeView, NO_PLACES, type SpecPlaces } from "./change-view.ts";
import {
  type Choice,
  changeEntry,
  driftEntry,
  hiddenLine,
  isChosen,
  SHOW_ALL,
  unmanagedEntry,
} from "./choice.ts";
import { costSentences, totalCostText } from "./cost-view.ts";
import { type DriftItem, driftItem } from "./drift-view.ts";

export interface PlanView extends Pick<Plan, "host" | "part" | "renames" | "cost" | "capacity"> {
  readonly modes: readonly Mode[];
  /** `Plan: 3 to create, 1 to update, 0 to replace, 0 to delete.` */
  readonly title: string;
  /** The codes of its guards and errors; with one, the plan is not applied. */
  readonly refusalCodes: readonly string[];
  /** `Blocked by GUARD_PREVENT_DESTROY.` Undefined for a plan that may be applied. */
  readonly refusal: string | undefined;
  /** The comparison with the plan of the base; absent without a base. */
  readonly split?: SplitView;
  /** With `change`, no guard, error, or annotation counts that was pending. */
  readonly exitcodeFor: ExitcodeFor;
  readonly summary: Summary;
  /** Resources without a change whose drift an apply records. */
  readonly resourcesToRecord: number;
  /** In the order of the plan, also those that change nothing: for documents. */
  readonly allChanges: readonly ChangeView[];
  /** The changes that do something, often few of many: for sums and losses. A list for readers is in `shown`. */
  readonly touching: readonly ChangeView[];
  /** Undefined if the plan changes no access. */
  readonly access: AccessView | undefined;
  readonly drift: readonly DriftItem[];
  readonly unmanaged: readonly UnmanagedItem[];
  readonly guards: readonly Guard[];
  readonly diagnostics: readonly PlanFinding[];
  /** Findings about the run around the plan. The text form leaves them out where standard error shows them. */
  readonly notes: readonly Diagnostic[];
  /** Whether equal changes are listed one by one. */
  readonly expand: boolean;
  /** What all changes cost, as a sentence without a subject; undefined if none has a cost. */
  readonly costTotal: string | undefined;
  /** The rows for readers, by `--show` and `--hide`. */
  readonly shown: ShownRows;
  readonly choice: Choice;
}

interface ShownRows {
  readonly changes: readonly ChangeView[];
  readonly drift: readonly DriftItem[];
  readonly unmanaged: readonly UnmanagedItem[];
  /** One sentence that counts the other rows; undefined if there are none. */
  readonly hidden: string | undefined;
  /** Numbers of the other rows. */
  readonly numbers: Readonly<Record<"hidden_changes" | "hidden_drift" | "hidden_unmanaged", number>>;
}

/** How a report for readers is laid out. */
export interface Layout {
  readonly expand?: boolean;
  readonly choice?: Choice;
  readonly accessBy?: AccessGrouping;
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

interface PlanViewOptions extends Layout {
  /** Findings about the run around the plan. */
  readonly notes?: readonly Diagnostic[];
  /** Where the spec declares what changes. */
  readonly places?: SpecPlaces;
  readonly exitcodeFor?: ExitcodeFor;
}

export function planView(
  plan: Plan,
  registry: KindRegistry,
  {
    notes = [],
    places = NO_PLACES,
    exitcodeFor = "all",
    expand = false,
    choice = SHOW_ALL,
    accessBy = "principal",
  }: PlanViewOptions = {},
): PlanView {
  const { split } = plan;
  const refusalCodes = codesOfErrors(findingsOf(plan));
  const allChanges = changeViews(plan, registry, places);
  const drift = driftItems(plan, registry, places);
  const unmanaged = unmanagedItems(plan);
  return {
    host: plan.host,
    modes: plan.modes ?? [],
    part: plan.part,
    title: summaryLine(plan),
    refusalCodes,
    refusal: refusalCodes.length === 0 ? undefined : `Blocked by ${listed(refusalCodes)}.`,
    summary: summaryOf(plan.changes),
    resourcesToRecord: driftToRecord(plan).length,
    allChanges,
    touching: allChanges.filter((change) => change.touches),
    split: split && splitView(split, allChanges, registry),
    exitcodeFor: split === undefined ? "all" : exitcodeFor,
    renames: plan.renames,
    access: plan.access && accessView(plan.access, registry, accessBy),
    drift,
    unmanaged,
    guards: plan.guards.map(guardItem),
    diagnostics: markedDiagnostics(plan),
    notes,
    cost: plan.cost,
    capacity: plan.capacity,
    costTotal: totalCostText(plan),
    expand,
    choice,
    shown: shownRows(choice, allChanges, drift, unmanaged),
  };
}

const codesOfErrors = (findings: readonly Diagnostic[]): readonly string[] => [
  ...new Set(findings.filter(({ severity }) => severity === "error").map(({ code }) => code)),
];

function changeViews(plan: Plan, registry: KindRegistry, places: SpecPlaces): readonly ChangeView[] {
  const drift = new Map(plan.drift.map((drift) => [drift.address, drift]));
  // Of drift that the spec has already, only a forgotten record comes.
  const originOf = ({ address, action }: Change): DriftOrigin | undefined => {
    const own = drift.get(address);
    return own !== undefined && isAgreedBySpec(own) && action !== "forget" ? undefined : own?.origin;
  };
  const costs = costSentences(plan);
  return plan.changes.map(
    (change) =>
      new ChangeView(change, registry, places, {
        split: plan.split?.changes[changeKey(change)],
        driftOrigin: originOf(change),
        cost: costs.size === 0 ? "" : printable(costs.get(change.address) ?? ""),
      }),
  );
}

/** A change that reverts drift shows the diff of its content. */
function driftItems(plan: Plan, registry: KindRegistry, places: SpecPlaces): readonly DriftItem[] {
  const changed = new Set(plan.changes.filter(touches).map(({ address }) => address));
  return plan.drift.map((drift) => {
    const item = driftItem(drift, registry, places);
    return changed.has(drift.address) ? { ...item, content: [] } : item;
  });
}

function unmanagedItems({ unmanaged, changes, drift }: Plan): readonly UnmanagedItem[] {
  const drifted = new Set(drift.map(({ address }) => address));
  return [
    ...unmanaged.map(unmanagedItem),
    ...changes.flatMap((change) => (drifted.has(change.address) ? [] : foundInside(change))),
  ];
}

function markedDiagnostics(plan: Plan): readonly PlanFinding[] {
  const caused = new Set(causedPart(plan).diagnostics);
  return plan.diagnostics.map((diagnostic) =>
    caused.has(diagnostic) ? diagnostic : pendingFinding(diagnostic),
  );
}

function shownRows(
  choice: Choice,
  allChanges: readonly ChangeView[],
  drift: readonly DriftItem[],
  unmanaged: readonly UnmanagedItem[],
): ShownRows {
  const rows = allChanges.filter(({ action }) => action !== "noop");
  const numbers = { hidden_changes: 0, hidden_drift: 0, hidden_unmanaged: 0 };
  if (choice === SHOW_ALL) return { changes: rows, drift, unmanaged, hidden: undefined, numbers };
  const shown = {
    changes: rows.filter((change) => isChosen(choice, changeEntry(change))),
    drift: drift.filter((item) => isChosen(choice, driftEntry(item))),
    unmanaged: unmanaged.filter((item) => isChosen(choice, unmanagedEntry(item))),
  };
  const isShown = new Set(shown.changes);
  const changes = rows.filter((change) => change.touches && !isShown.has(change));
  const left = {
    drift: drift.length - shown.drift.length,
    unmanaged: unmanaged.length - shown.unmanaged.length,
  };
  return {
    ...shown,
    hidden: hiddenLine(choice, { changes, ...left }),
    numbers: { hidden_changes: changes.length, hidden_drift: left.drift, hidden_unmanaged: left.unmanaged },
  };
}

/** Marks a guard that exists with and without the change. */
function guardItem(guard: Guard): Guard {
  if (guard.origin !== "pending") return guard;
  return { ...guard, diagnostic: pendingFinding(guard.diagnostic) };
}

function pendingFinding(diagnostic: Diagnostic): PlanFinding {
  return { ...diagnostic, message: `${diagnostic.message}${PENDING_NOTE}`, origin: "pending" };
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

/** `Plan: 3 to create, … 2 secrets are written if they differ.` */
function summaryLine(plan: Pick<Plan, "changes" | "diagnostics" | "drift" | "part">): string {
  const summary = summaryOf(plan.changes);
  const isBroken = !changesAnything(plan) && hasErrors(plan.diagnostics);
  const parts = [
    isBroken ? "Nothing is planned." : changesLine(summary),
    comparesLine(summary),
    recordsLine(driftToRecord(plan).length),
    partLine(plan),
  ];
  return parts.filter((part) => part !== undefined).join(" ");
}

function comparesLine({ compare }: Summary): string | undefined {
  if (compare === 0) return undefined;
  const subject = count(compare, "secret is", "secrets are");
  return `${subject} written if ${compare === 1 ? "it differs" : "they differ"}.`;
}

function recordsLine(resources: number): string | undefined {
  if (resources === 0) return undefined;
  const subject = count(resources, "resource has", "resources have");
  return `${subject} drift that the spec has already; an apply records it.`;
}

/** `Partial plan (--only): 10 of 301 resources.` Undefined for a plan of everything. */
export function partLine({ part }: { readonly part?: Plan["part"] | undefined }): string | undefined {
  if (part === undefined) return undefined;
  return `Partial plan (${partOptions(part)}): ${grouped(part.planned)} of ${count(part.total, "resource")}.`;
}

function changesLine(summary: Summary): string {
  const { noop } = summary;
  if (CHANGING_ACTIONS.every((action) => summary[action] === 0))
    return noop === 0
      ? "No changes."
      : `No changes. ${count(noop, "resource matches", "resources match")} the spec.`;
  const parts = summaryActions(summary).map((action) => `${grouped(summary[action])} to ${action}`);
  return `Plan: ${parts.join(", ")}.`;
}

/** So many changes, or drifted resources, are longer than a screen. */
export const MANY_ROWS = 20;

/** Rows of the table by kind: first the heads, then a row for each kind that changes. Empty below `least`, where the summary says as much. */
export function kindTable(
  touching: readonly ChangeView[],
  least: { readonly changes: number; readonly kinds: number },
): readonly (readonly string[])[] {
  const kinds = [...new Set(touching.map((change) => change.kind))];
  if (touching.length < least.changes || kinds.length < least.kinds) return [];
  const actions = PLANNED_ACTIONS.filter((action) => touching.some((change) => change.action === action));
  const rows = kinds.map((kind) => {
    const own = summaryOf(touching.filter((change) => change.kind === kind));
    return [kind, ...actions.map((action) => (own[action] === 0 ? "·" : grouped(own[action])))];
  });
  return [["", ...actions], ...rows];
}

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

function splitView(split: PlanSplit, changes: readonly ChangeView[], registry: KindRegistry): SplitView {
  const of = (origin: ChangeOrigin): Summary =>
    summaryOf(changes.filter((change) => change.origin === origin));
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
      changes: changes.filter((change) => change.origin === origin),
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
  return `${change.action} ${change.title}${which}`;
}

/** The `moved` entries of all likely renames at once, to paste into the spec. */
export function movedLines({ renames }: Pick<PlanView, "renames">): readonly string[] {
  if (renames === undefined || renames.pairs.length === 0) return [];
  const note = ({ to, name }: LikelyRename): string =>
    name === undefined ? "" : ` # with ${name.field}: ${name.value} in ${to}`;
  return ["moved:", ...renames.pairs.map((pair) => `  - ${movedEntry(pair)}${note(pair)}`)];
}
