// The state of a fleet as a view that all reports use, and the terms and numbers that they share.

import { Cron } from "croner";
import { type Diagnostic, error, placeText } from "../../core/diagnostic.ts";
import { count } from "../../core/sentences.ts";
import { SEVERITIES, type Severity } from "../../resource/field-schema.ts";
import { isPausedBy, type Pause } from "../database/pauses.ts";
import type { ActiveRun } from "../database/workspace-lease.ts";
import type { Fleet, FleetWorkspace } from "../model/fleet.ts";
import { type FleetCommand, isAnswer, type ResultStatus, type WorkspaceResult } from "../model/result.ts";
import type { DeadJob, PresentJob, QueueWorker } from "../queue/job-queue.ts";
import { unsettled } from "../queue/job-queue.ts";

export interface FleetView {
  /** Unix time in milliseconds, by the clock of the results. */
  readonly madeAt: number;
  /** Failed first, then blocked, drift, changes, never run, and ok; in each group by name. */
  readonly rows: readonly FleetRow[];
  readonly states: Readonly<Partial<Record<FleetState, number>>>;
  readonly drift: Readonly<Partial<Record<Severity, number>>>;
  /** Open drift of the whole fleet at the end of each of the last days, oldest first, as far as results are kept. */
  readonly days: readonly FleetDay[];
  /** Absent without a database. */
  readonly queue?: QueueView;
}

/** In the order of the reports: the most urgent state first. */
export const FLEET_STATES = ["failed", "blocked", "drift", "changes", "never", "ok"] as const;
export type FleetState = (typeof FLEET_STATES)[number];

interface FleetDay {
  /** `2026-03-01`, in UTC. */
  readonly day: string;
  readonly drifted: number;
}

export interface FleetRow {
  readonly workspace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: FleetState;
  readonly status: ResultStatus | "never";
  readonly last?: WorkspaceResult;
  /** Milliseconds since the last result ended, or since the job failed that the row is about. */
  readonly ageMs?: number;
  /** Why the workspace counts as failed or blocked. */
  readonly cause?: RowCause;
  /** Counts of the last plan, until an apply makes its changes; of an apply that did not complete, what it made and what failed. */
  readonly changes: Readonly<Record<string, number>>;
  readonly drift: Readonly<Partial<Record<Severity, number>>>;
  /** The first addresses that drifted. */
  readonly drifted: readonly string[];
  /** Runs without an answer since the last answer. */
  readonly failuresInARow: number;
  /** Milliseconds since the first drift run that found drift, without a clean one after it; at least that long ago. */
  readonly driftAgeMs?: number;
  /** Drifted resources in the last drift runs, oldest first. */
  readonly trend: readonly number[];
  readonly diagnostics: readonly Diagnostic[];
}

interface RowCause {
  readonly command: FleetCommand;
  readonly attempts: number;
  readonly code: string;
  readonly message: string;
  /** HTTP status of the last answer; 0 if there was none. */
  readonly lastStatus?: number;
}

/** `cause`: that of the first row. */
interface CauseGroup {
  readonly cause: RowCause;
  readonly rows: readonly FleetRow[];
}

export interface QueueView {
  readonly queued: readonly PresentJob[];
  readonly waiting: readonly PresentJob[];
  readonly running: readonly ActiveRun[];
  readonly next?: { readonly workspace: string; readonly at: number };
  readonly workers: readonly QueueWorker[];
  readonly pauses: readonly (Pause & { readonly of: number })[];
  readonly dead: readonly DeadJob[];
  /** Workspaces whose schedule only the fleet file has: nothing starts their checks. */
  readonly unscheduled: readonly string[];
}

/** The other facts that the database has. */
export interface QueueFacts {
  readonly jobs: readonly PresentJob[];
  readonly active: readonly ActiveRun[];
  readonly workers: readonly QueueWorker[];
  readonly pauses: readonly Pause[];
  readonly dead: readonly DeadJob[];
  /** Workspaces whose schedule is in the database. */
  readonly scheduled: readonly string[];
}

/** Results of each command that a report reads. */
export const TREND_RUNS = 30;
const DAYS = 14;
const DAY_MS = 86_400_000;

/** `results`: of each workspace, newest first, and at most `limit` of each command. */
export function fleetView(
  fleet: Pick<Fleet, "workspaces">,
  results: ReadonlyMap<string, readonly WorkspaceResult[]>,
  now: number,
  limit = Number.POSITIVE_INFINITY,
  queue?: QueueFacts,
): FleetView {
  const dead = new Map(unsettled(queue?.dead ?? [], results).map((job) => [job.workspace, job]));
  const lost = new Map(
    (queue?.active ?? []).filter(({ isLost }) => isLost).map((run) => [run.workspace, run]),
  );
  const rows = fleet.workspaces.map(({ name, labels }) =>
    rowOf(name, labels, results.get(name) ?? [], now, dead.get(name), lost.get(name)),
  );
  const sorted = FLEET_STATES.flatMap((state) => rows.filter((row) => row.state === state));
  const states: Partial<Record<FleetState, number>> = {};
  for (const { state } of sorted) states[state] = (states[state] ?? 0) + 1;
  const histories = fleet.workspaces.map(({ name }) => historyOf(results.get(name) ?? [], limit));
  const drift = sumOf(rows.map((row) => row.drift));
  const view = { madeAt: now, rows: sorted, states, drift, days: daysOf(histories, now) };
  return queue === undefined ? view : { ...view, queue: queueView(fleet, queue, [...dead.values()], now) };
}

function queueView(
  { workspaces }: Pick<Fleet, "workspaces">,
  { jobs, active, workers, pauses, scheduled }: QueueFacts,
  dead: readonly DeadJob[],
  now: number,
): QueueView {
  const names = new Set(workspaces.map(({ name }) => name));
  const own = jobs.filter(({ workspace }) => names.has(workspace));
  const isScheduled = ({ name }: FleetWorkspace): boolean => scheduled.includes(name);
  const next = workspaces
    .filter(isScheduled)
    .flatMap((workspace) => nextRun(workspace, now))
    .reduce<QueueView["next"]>(
      (first, run) => (first === undefined || run.at < first.at ? run : first),
      undefined,
    );
  const pausedOf = (pause: Pause): number =>
    workspaces.filter((workspace) => isPausedBy({ ...pause, command: undefined }, workspace, "drift")).length;
  return {
    queued: own.filter(({ state }) => state === "queued"),
    waiting: own.filter(({ state }) => state === "waiting"),
    running: active.filter(({ workspace, isLost }) => names.has(workspace) && !isLost),
    next,
    workers,
    pauses: pauses.map((pause) => ({ ...pause, of: pausedOf(pause) })),
    dead,
    unscheduled: workspaces
      .filter((workspace) => workspace.schedule !== undefined && !isScheduled(workspace))
      .map(({ name }) => name),
  };
}

function nextRun(
  { name, schedule }: FleetWorkspace,
  now: number,
): readonly { workspace: string; at: number }[] {
  if (schedule === undefined) return [];
  const at = new Cron(schedule.cron, { timezone: schedule.timezone }).nextRun(new Date(now));
  return at === null ? [] : [{ workspace: name, at: at.getTime() }];
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
    const last = all.flatMap((history) => history.last ?? []);
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
  dead: DeadJob | undefined,
  lost: ActiveRun | undefined,
): FleetRow {
  const runs = results.filter(({ command }) => command !== "validate");
  const last = lastOf(results, runs);
  const drifts = driftRuns(results);
  const driftAgeMs = driftAge(drifts, now);
  const planned = results.find(({ command }) => command === "plan" || command === "apply");
  const counted = last === undefined || runs.includes(last) ? runs : [last, ...runs];
  const answered = counted.findIndex(isAnswer);
  // A run after the job that failed at every attempt says more about the present than that job.
  const isLater = last !== undefined && dead !== undefined && last.startedAt >= dead.failedAt;
  const later = isLater && last.command === dead.command ? resultProblem(last) : undefined;
  const problem = lostProblem(lost, results) ?? later ?? deadProblem(dead) ?? resultProblem(last);
  const changes = planned === undefined || isMade(planned) ? {} : planned.counts;
  const drift = drifts[0]?.drift ?? {};
  const endedAt = problem?.endedAt ?? (last && last.startedAt + last.durationMs);
  const state = problem?.state ?? stateOf(drift, changes, last);
  return {
    workspace,
    labels,
    state,
    status: problem?.status ?? last?.status ?? "never",
    last,
    ageMs: endedAt === undefined ? undefined : Math.max(0, now - endedAt),
    cause: problem?.cause,
    changes,
    drift,
    drifted: totalOf(drift) === 0 ? [] : (drifts[0]?.drifted ?? []),
    failuresInARow: (answered < 0 ? counted.length : answered) + (problem?.isUnrecorded === true ? 1 : 0),
    driftAgeMs,
    trend: drifts
      .slice(0, TREND_RUNS)
      .map((run) => totalOf(run.drift))
      .reverse(),
    diagnostics: problem?.diagnostics ?? last?.diagnostics ?? [],
  };
}

function stateOf(drift: FleetRow["drift"], changes: FleetRow["changes"], last: FleetRow["last"]): FleetState {
  if (last === undefined) return "never";
  if (totalOf(drift) > 0) return "drift";
  return Object.keys(changes).length > 0 ? "changes" : "ok";
}

interface Problem {
  readonly state: "failed" | "blocked";
  readonly status: ResultStatus;
  readonly cause: RowCause;
  readonly diagnostics: readonly Diagnostic[];
  /** The run has no result. */
  readonly isUnrecorded?: boolean;
  /** When it ended, where that was not the last result. */
  readonly endedAt?: number;
}

/** A run whose process ended before it reported a result, unless its result came after all. */
function lostProblem(lost: ActiveRun | undefined, [newest]: readonly WorkspaceResult[]): Problem | undefined {
  if (lost?.command === undefined) return undefined;
  if (newest !== undefined && newest.startedAt + newest.durationMs >= lost.startedAt) return undefined;
  const { command, attempt = 1, worker } = lost;
  const diagnostic = error("FLEET_CRASH", `${worker} ended before the run reported a result`, {
    hint: "see the logs of that worker; a worker of the queue starts the run again",
  });
  return { ...problemOf("crashed", command, attempt, [diagnostic]), isUnrecorded: true };
}

/** A job that failed at every attempt, however green another command is. */
function deadProblem(dead: DeadJob | undefined): Problem | undefined {
  if (dead === undefined) return undefined;
  const { command, attempts, failure, failedAt } = dead;
  const { status = "crashed", diagnostics, message = "the run left no result" } = failure;
  const all = diagnostics.length > 0 ? diagnostics : [error("FLEET_CRASH", message)];
  return { ...problemOf(status, command, attempts, all), endedAt: failedAt };
}

function resultProblem(last: WorkspaceResult | undefined): Problem | undefined {
  if (last === undefined || isAnswer(last)) return undefined;
  const { status, command, attempt = 1, diagnostics, requests } = last;
  // The last answer says nothing about a run that a person stopped.
  const lastStatus = status === "interrupted" ? undefined : requests?.lastStatus;
  return problemOf(status, command, attempt, diagnostics, lastStatus);
}

function problemOf(
  status: ResultStatus,
  command: FleetCommand,
  attempts: number,
  diagnostics: readonly Diagnostic[],
  lastStatus?: number,
): Problem {
  const first = diagnostics.find(({ severity }) => severity === "error") ?? diagnostics[0];
  const cause = {
    command,
    attempts,
    code: first?.code ?? "",
    message: first === undefined ? STATUS_WORDS[status] : locatedMessage(first),
    lastStatus,
  };
  return { state: status === "blocked" ? "blocked" : "failed", status, cause, diagnostics };
}

/** `workspace.yaml:3:1: the document is not valid YAML`. */
export function locatedMessage({ at, message }: Diagnostic): string {
  return at === undefined ? message : `${placeText(at)}: ${message}`;
}

/** `drift, 2 attempts: FLEET_CRASH: the run needs more than its memory limit`. */
export function causeWords({ command, attempts, code, message, lastStatus }: RowCause): string {
  const tries = attempts > 1 ? `, ${attempts} attempts` : "";
  const http =
    lastStatus === undefined || lastStatus === 200
      ? ""
      : ` (HTTP ${lastStatus === 0 ? "without an answer" : lastStatus})`;
  return `${command}${tries}: ${code === "" ? "" : `${code}: `}${message}${message.includes(String(lastStatus)) ? "" : http}`;
}

/** Rows that failed, or were blocked, for the same reason, whatever the number of attempts; most rows first. */
export function foldCauses(rows: readonly FleetRow[]): readonly CauseGroup[] {
  const failed = rows.flatMap((row) => (row.cause === undefined ? [] : [{ row, cause: row.cause }]));
  const alike = Map.groupBy(failed, ({ row, cause: { command, code, message } }) =>
    JSON.stringify([row.state, command, code, message]),
  );
  return [...alike.values()]
    .flatMap((group) => {
      const [{ cause } = {}] = group;
      return cause === undefined ? [] : [{ cause, rows: group.map(({ row }) => row) }];
    })
    .sort((a, b) => b.rows.length - a.rows.length);
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
  return Object.values(drift).reduce((sum, number) => sum + number, 0);
}

function sumOf(all: readonly FleetRow["drift"][]): FleetRow["drift"] {
  const sum: Partial<Record<Severity, number>> = {};
  for (const severity of SEVERITIES) {
    const total = all.reduce((before, drift) => before + (drift[severity] ?? 0), 0);
    if (total > 0) sum[severity] = total;
  }
  return sum;
}

export const STATUS_WORDS: Readonly<Record<FleetRow["status"], string>> = {
  ok: "ok",
  changes: "changes",
  blocked: "blocked",
  failed: "failed",
  timeout: "timed out",
  crashed: "crashed",
  interrupted: "interrupted",
  never: "never run",
};

export function stateWord(state: FleetState): string {
  return state === "never" ? STATUS_WORDS.never : state;
}

/** How a row failed; its state otherwise. */
export function rowWord({ state, status }: Pick<FleetRow, "state" | "status">): string {
  return state === "failed" ? STATUS_WORDS[status] : stateWord(state);
}

/** `2 security, 1 cost`; a dash without drift. */
export function driftWords(drift: FleetRow["drift"]): string {
  const parts = SEVERITIES.flatMap((severity) => {
    const number = drift[severity] ?? 0;
    return number === 0 ? [] : [`${number} ${severity}`];
  });
  return parts.length === 0 ? "-" : parts.join(", ");
}

/** `jobs.nightly, pools.shared, … 3 more`; empty without drift. */
export function driftedWords({ drifted, drift }: Pick<FleetRow, "drifted" | "drift">): string {
  const more = totalOf(drift) - drifted.length;
  return [...drifted, ...(drifted.length > 0 && more > 0 ? [`… ${more} more`] : [])].join(", ");
}

const BARS = "▁▂▃▄▅▆▇█";

/** One bar for each number, from none to the greatest; the newest is last, below that of every other row. */
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

export function verdict({ rows, states, drift }: FleetView): string {
  const drifted = rows.filter((row) => totalOf(row.drift) > 0).length;
  const parts = [
    `${count(rows.length, "workspace")}`,
    `${states.failed ?? 0} failed`,
    `${states.blocked ?? 0} blocked`,
    `${drifted} with drift${drifted === 0 ? "" : ` (${driftWords(drift)})`}`,
    `${states.never ?? 0} never run`,
  ];
  return `${parts.join(", ")}.`;
}
