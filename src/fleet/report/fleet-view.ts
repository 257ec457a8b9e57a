// The state of a fleet as a view that all reports use, and the terms and numbers that they share.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { count } from "../../core/sentences.ts";
import { SEVERITIES, type Severity } from "../../resource/field-schema.ts";
import type { Fleet } from "../model/fleet.ts";
import { isAnswer, type ResultStatus, type WorkspaceResult } from "../model/result.ts";

export interface FleetView {
  /** Unix time in milliseconds. */
  readonly madeAt: number;
  readonly rows: readonly FleetRow[];
  /** Workspaces by status of their last result; `never` if there is none. */
  readonly statuses: Readonly<Partial<Record<ResultStatus | "never", number>>>;
  readonly drift: Readonly<Partial<Record<Severity, number>>>;
  /** Open drift of the whole fleet at the end of each of the last days, oldest first, as far as results are kept. */
  readonly days: readonly FleetDay[];
}

interface FleetDay {
  /** `2026-03-01`, in UTC. */
  readonly day: string;
  readonly drifted: number;
}

export interface FleetRow {
  readonly workspace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly status: ResultStatus | "never";
  readonly last?: WorkspaceResult;
  /** Milliseconds since the last result ended. */
  readonly ageMs?: number;
  /** Counts of the last plan, until an apply makes its changes; of an apply that did not complete, what it made and what failed. */
  readonly changes: Readonly<Record<string, number>>;
  readonly drift: Readonly<Partial<Record<Severity, number>>>;
  /** Runs without an answer since the last answer. */
  readonly failuresInARow: number;
  /** Milliseconds since the first drift run that found drift, without a clean one after it; at least that long ago. */
  readonly driftAgeMs?: number;
  /** Drifted resources in the last drift runs, oldest first. */
  readonly trend: readonly number[];
  readonly diagnostics: readonly Diagnostic[];
}

const TREND = 20;
const DAYS = 14;
const DAY_MS = 86_400_000;

/** `results`: of each workspace, newest first, and at most `limit` of each command. Rows are in the order of the names. */
export function fleetView(
  fleet: Pick<Fleet, "workspaces">,
  results: ReadonlyMap<string, readonly WorkspaceResult[]>,
  now: number,
  limit = Number.POSITIVE_INFINITY,
): FleetView {
  const rows = fleet.workspaces.map(({ name, labels }) => rowOf(name, labels, results.get(name) ?? [], now));
  const statuses: Partial<Record<ResultStatus | "never", number>> = {};
  for (const { status } of rows) statuses[status] = (statuses[status] ?? 0) + 1;
  const histories = fleet.workspaces.map(({ name }) => historyOf(results.get(name) ?? [], limit));
  const days = daysOf(histories, now);
  return { madeAt: now, rows, statuses, drift: sumOf(rows.map(({ drift }) => drift)), days };
}

function driftRuns(results: readonly WorkspaceResult[]): readonly WorkspaceResult[] {
  return results.filter((result) => result.command === "drift" && isAnswer(result));
}

interface DriftHistory {
  /** Newest first. */
  readonly runs: readonly WorkspaceResult[];
  /** Whether older results may exist that were not read. */
  readonly isCut: boolean;
}

function historyOf(results: readonly WorkspaceResult[], limit: number): DriftHistory {
  const read = results.filter(({ command }) => command === "drift").length;
  return { runs: driftRuns(results), isCut: read >= limit };
}

/** Days before the first run are left out, and days on which the drift of a workspace is not known. */
function daysOf(histories: readonly DriftHistory[], now: number): readonly FleetDay[] {
  const today = Math.floor(now / DAY_MS);
  const days = Array.from({ length: DAYS }, (_, at) => today - DAYS + 1 + at);
  return days.flatMap((day) => {
    const all = histories.map(({ runs, isCut }) => {
      const last = runs.find(({ startedAt }) => startedAt < (day + 1) * DAY_MS);
      return { last, isUnknown: last === undefined && isCut };
    });
    const last = all.flatMap((one) => one.last ?? []);
    if (last.length === 0 || all.some(({ isUnknown }) => isUnknown)) return [];
    const drifted = last.reduce((sum, { drift }) => sum + totalOf(drift), 0);
    return [{ day: new Date(day * DAY_MS).toISOString().slice(0, 10), drifted }];
  });
}

function driftAge(runs: readonly WorkspaceResult[], now: number): number | undefined {
  const clean = runs.findIndex(({ drift }) => totalOf(drift) === 0);
  const first = runs[(clean < 0 ? runs.length : clean) - 1];
  return first === undefined ? undefined : Math.max(0, now - first.startedAt);
}

function rowOf(
  workspace: string,
  labels: FleetRow["labels"],
  results: readonly WorkspaceResult[],
  now: number,
): FleetRow {
  const runs = results.filter(({ command }) => command !== "validate");
  const last = lastOf(results, runs);
  const drifts = driftRuns(results);
  const driftAgeMs = driftAge(drifts, now);
  const planned = results.find(({ command }) => command === "plan" || command === "apply");
  const counted = last === undefined || runs.includes(last) ? runs : [last, ...runs];
  const answered = counted.findIndex(isAnswer);
  return {
    workspace,
    labels,
    status: last?.status ?? "never",
    ...(last === undefined ? {} : { last, ageMs: Math.max(0, now - last.startedAt - last.durationMs) }),
    changes: planned === undefined || isMade(planned) ? {} : planned.counts,
    drift: drifts[0]?.drift ?? {},
    failuresInARow: answered < 0 ? counted.length : answered,
    ...(driftAgeMs === undefined ? {} : { driftAgeMs }),
    trend: drifts
      .slice(0, TREND)
      .map(({ drift }) => totalOf(drift))
      .reverse(),
    diagnostics: last?.diagnostics ?? [],
  };
}

const isMade = (result: WorkspaceResult): boolean => result.command === "apply" && isAnswer(result);

/** A validation contacts no workspace, so a successful one does not hide that the last run failed. */
function lastOf(
  [newest]: readonly WorkspaceResult[],
  runs: readonly WorkspaceResult[],
): WorkspaceResult | undefined {
  const isHidden = newest !== undefined && newest.command === "validate" && isAnswer(newest);
  return isHidden ? (runs[0] ?? newest) : newest;
}

export function totalOf(drift: FleetRow["drift"]): number {
  return Object.values(drift).reduce((sum, count) => sum + count, 0);
}

function sumOf(all: readonly FleetRow["drift"][]): FleetRow["drift"] {
  const sum: Partial<Record<Severity, number>> = {};
  for (const severity of SEVERITIES) {
    const count = all.reduce((total, drift) => total + (drift[severity] ?? 0), 0);
    if (count > 0) sum[severity] = count;
  }
  return sum;
}

export const STATUS_WORDS: Readonly<Record<FleetRow["status"], string>> = {
  ok: "ok",
  changes: "changes",
  blocked: "blocked",
  failed: "failed",
  timeout: "timed out",
  interrupted: "interrupted",
  never: "never run",
};

/** `2 security, 1 cost`; a dash without drift. */
export function driftWords(drift: FleetRow["drift"]): string {
  const parts = SEVERITIES.flatMap((severity) => {
    const found = drift[severity] ?? 0;
    return found === 0 ? [] : [`${found} ${severity}`];
  });
  return parts.length === 0 ? "-" : parts.join(", ");
}

const BARS = "▁▂▃▄▅▆▇█";

/** One bar for each number, from none to the greatest; a dash for fewer than two. */
export function trendBars(counts: readonly number[]): string {
  if (counts.length < 2) return "-";
  const most = Math.max(1, ...counts);
  return counts.map((value) => BARS[Math.round((value / most) * (BARS.length - 1))] ?? "").join("");
}

/** `3 create, 1 delete`; a dash without changes. */
export function changeWords(changes: FleetRow["changes"]): string {
  const parts = Object.entries(changes).map(([action, number]) => `${number} ${action}`);
  return parts.length === 0 ? "-" : parts.join(", ");
}

/** `5 min`; a dash for a workspace that was never run. */
export function ageWords(ageMs: number | undefined): string {
  if (ageMs === undefined) return "-";
  const seconds = Math.round(ageMs / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

export function verdict({ rows, statuses, drift }: FleetView): string {
  const failing = (statuses.failed ?? 0) + (statuses.timeout ?? 0) + (statuses.blocked ?? 0);
  const drifted = rows.filter((row) => Object.keys(row.drift).length > 0).length;
  const parts = [
    `${count(rows.length, "workspace")}`,
    `${failing} failing`,
    `${drifted} with drift${Object.keys(drift).length === 0 ? "" : ` (${driftWords(drift)})`}`,
    `${statuses.never ?? 0} never run`,
  ];
  return `${parts.join(", ")}.`;
}
