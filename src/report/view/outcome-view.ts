// The outcome of an apply as a view that all reports use, and as JSON: one event per line.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { duration, secondsOf } from "../../core/duration.ts";
import { count, grouped } from "../../core/sentences.ts";
import type { Action } from "../../planner/model/change.ts";
import {
  type ApplyEvent,
  type ApplyOutcome,
  type ChangeOutcome,
  type ChangeStatus,
  wasStopped,
} from "../../planner/model/plan.ts";
import { CHANGING_ACTIONS } from "../../resource/planning.ts";
import { diagnosticJson } from "../text/diagnostic-text.ts";
import { JSON_FORMAT } from "../text/printable.ts";
import { type RunInfo, runJson } from "../text/run-info.ts";
import { DONE, summaryActions } from "../text/vocabulary.ts";
import type { PlanView } from "./plan-view.ts";

export interface OutcomeView {
  /** `Applied in 12 s: 3 created, 1 updated, 0 replaced, 0 deleted; 1 failed, 2 blocked.` */
  readonly title: string;
  /** The title of a page or a comment: the verdict and what it rests on come first, `Failed after 12 s: 1 failed, 2 blocked; 3 created.` */
  readonly heading: string;
  readonly applied: Readonly<Record<(typeof CHANGING_ACTIONS)[number], number>>;
  readonly unapplied: Readonly<Record<Exclude<ChangeStatus, "applied">, number>>;
  readonly changes: readonly OutcomeItem[];
  readonly diagnostics: readonly Diagnostic[];
  /** Findings about the run before the first change. Text is on standard error already, events were written as they came. */
  readonly notes: readonly Diagnostic[];
  readonly interrupted: boolean;
  readonly elapsedMs: number;
  readonly plan: PlanView | undefined;
  /** Whether the same output shows the plan before it, and with it the run. */
  readonly followsPlan: boolean;
}

export interface OutcomeItem {
  readonly address: string;
  readonly kind: string;
  readonly action: Action;
  readonly result: ChangeStatus;
  /** `created`, `failed`, `skipped`. */
  readonly word: string;
  readonly finding: Diagnostic | undefined;
  /** Whether the finding is about this change itself; else the change was not tried, because of `blockedBy` or `stopped`. */
  readonly tried: boolean;
  /** For blocked changes: the address that they wait for. */
  readonly blockedBy: string | undefined;
  /** Whether it was not begun because the run was stopped. */
  readonly stopped: boolean;
  readonly elapsedMs: number;
}

export function outcomeView(
  outcome: ApplyOutcome,
  notes: readonly Diagnostic[] = [],
  plan?: PlanView,
  followsPlan = false,
): OutcomeView {
  const { changes, diagnostics, interrupted, elapsedMs } = outcome;
  const number = (is: (outcome: ChangeOutcome) => boolean) => changes.filter(is).length;
  const applied = countsBy(CHANGING_ACTIONS, (action) =>
    number(({ result, action: done }) => result === "applied" && done === action),
  );
  const unapplied = countsBy(RESULTS, (result) => number((change) => change.result === result));
  return {
    ...titlesOf(outcome, applied, unapplied),
    applied,
    unapplied,
    changes: changes.map(itemOf).toSorted((a, b) => rankOf(a) - rankOf(b)),
    diagnostics,
    notes,
    interrupted,
    elapsedMs,
    plan,
    followsPlan,
  };
}

/** More changes with one cause have it once. */
const MOST_ALONE = 2;

/** Causes of several changes each, such as a lost lock, with the changes that failed or were not tried because of it. */
export function sharedCauses(items: readonly OutcomeItem[]): ReadonlyMap<Diagnostic, readonly OutcomeItem[]> {
  const alike = Map.groupBy(
    items.filter(({ finding }) => finding !== undefined),
    causeKey,
  );
  return new Map(
    [...alike.values()].flatMap((own) => {
      const [first] = own;
      if (first?.finding === undefined || own.length <= MOST_ALONE) return [];
      const { address: _, at: __, usedAt: ___, ...cause } = first.finding;
      return [
        [{ ...cause, message: `${count(own.length, "change")} ${first.result}: ${reasonOf(first)}` }, own],
      ];
    }),
  );
}

/** How often and how long a request was tried is not what failed. */
const ATTEMPTS = /\d+ attempts? in [^:]*/;

function causeKey({ result, tried, stopped, blockedBy, finding }: OutcomeItem): string {
  const { code, message, cause, hint } = finding ?? {};
  return tried
    ? JSON.stringify([result, code, message, cause?.replace(ATTEMPTS, ""), hint])
    : JSON.stringify([result, code, stopped, blockedBy]);
}

/** Why the changes of a cause are not applied. */
export function reasonOf({ tried, stopped, blockedBy, finding }: OutcomeItem): string {
  if (!tried && stopped) return "the run was stopped";
  return !tried && blockedBy !== undefined ? `${blockedBy} was not applied` : (finding?.message ?? "");
}

function itemOf(changeOutcome: ChangeOutcome): OutcomeItem {
  const { address, kind, action, result, diagnostic, blockedBy, elapsedMs } = changeOutcome;
  const stopped = wasStopped(changeOutcome);
  return {
    address,
    kind,
    action,
    result,
    word: result === "applied" ? DONE[action] : result,
    finding: diagnostic,
    tried: result !== "blocked" && !stopped,
    blockedBy,
    stopped,
    elapsedMs,
  };
}

const RESULTS = ["failed", "unknown", "blocked", "skipped"] as const;

/** Changes that are not applied come in this order, after those that are. */
const rankOf = ({ result }: OutcomeItem): number => (result === "applied" ? -1 : RESULTS.indexOf(result));

function countsBy<Name extends string>(names: readonly Name[], count: (name: Name) => number) {
  return Object.fromEntries(names.map((name) => [name, count(name)])) as Readonly<Record<Name, number>>;
}

function titlesOf(
  { changes, interrupted, elapsedMs }: ApplyOutcome,
  applied: OutcomeView["applied"],
  unapplied: OutcomeView["unapplied"],
): Pick<OutcomeView, "title" | "heading"> {
  const same = changes.filter(({ action, result }) => action === "noop" && result === "applied").length;
  const unchanged = same === 0 ? "" : `; ${count(same, "secret")} unchanged`;
  const counts = summaryActions(applied).map((action) => `${grouped(applied[action])} ${DONE[action]}`);
  const done = `${counts.join(", ")}${unchanged}`;
  const rest = RESULTS.filter((result) => unapplied[result] > 0)
    .map((result) => `${grouped(unapplied[result])} ${result}`)
    .join(", ");
  const time = duration(elapsedMs);
  const title = `${interrupted ? "Stopped after" : "Applied in"} ${time}: ${done}${rest === "" ? "" : `; ${rest}`}.`;
  const isFailed = unapplied.failed + unapplied.unknown > 0 || (!interrupted && unapplied.blocked > 0);
  const verdict = interrupted ? "Stopped after" : "Failed after";
  return { title, heading: isFailed ? `${verdict} ${time}: ${rest}; ${done}.` : title };
}

type Line = Record<string, unknown>;

const line = (type: string, rest: Line): Line => ({ format_version: JSON_FORMAT, type, ...rest });

export function eventJson(event: ApplyEvent): Line {
  switch (event.type) {
    case "apply_begin":
      return line(event.type, { totals: event.totals });
    case "apply_start":
      return line(event.type, { address: event.address, kind: event.kind, action: event.action });
    case "apply_waiting":
      return line(event.type, { address: event.address, kind: event.kind, what: event.what });
    case "apply_complete":
    case "apply_skipped":
    case "apply_errored":
      return line(event.type, changeOutcomeJson(event.outcome));
  }
  return event satisfies never;
}

/** Of a run as a whole; `addresses`: what a guard's objection is about. */
export function diagnosticEventJson(diagnostic: Diagnostic, addresses?: readonly string[]): Line {
  return line("diagnostic", { diagnostic: { ...diagnosticJson(diagnostic), addresses } });
}

export function changeOutcomeJson(changeOutcome: ChangeOutcome): Line {
  const { address, kind, action, result, id, blockedBy, elapsedMs, diagnostic } = changeOutcome;
  return {
    address,
    kind,
    action,
    result,
    id,
    because: blockedBy,
    elapsed_s: secondsOf(elapsedMs),
    diagnostic: diagnostic && diagnosticJson(diagnostic),
  };
}

/** The last line: `{type: "change_summary", applied: {create: 3, …}, failed, unknown, blocked, skipped, …}`. */
export function outcomeJson(view: OutcomeView, info?: RunInfo): Line {
  const { applied, unapplied, interrupted, elapsedMs } = view;
  return line("change_summary", {
    applied,
    ...unapplied,
    interrupted,
    elapsed_s: secondsOf(elapsedMs),
    run: info && { tool_version: info.toolVersion, host: info.host, ...runJson(info) },
  });
}
