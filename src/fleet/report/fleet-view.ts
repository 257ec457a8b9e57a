// The state of a fleet as every report shows it: each workspace with its last results, its age, its failures, and its trend.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { SEVERITIES, type Severity } from "../../resource/field-schema.ts";
import type { Fleet } from "../model/fleet.ts";
import { isAnswer, type ResultStatus, type WorkspaceResult } from "../model/result.ts";

export interface FleetView {
  /** Unix time in milliseconds. */
  readonly madeAt: number;
  readonly rows: readonly FleetRow[];
  /** Workspaces by status of their last result; `never` if there is none. */
  readonly statuses: Readonly<Partial<Record<ResultStatus | "never", number>>>;
  /** Open drift of the whole fleet. */
  readonly drift: Readonly<Partial<Record<Severity, number>>>;
}

export interface FleetRow {
  readonly workspace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly status: ResultStatus | "never";
  readonly last?: WorkspaceResult;
  /** Milliseconds since the last result ended. */
  readonly ageMs?: number;
  /** Counts of the last plan or apply. */
  readonly changes: Readonly<Record<string, number>>;
  /** Open drift that the last drift run found. */
  readonly drift: Readonly<Partial<Record<Severity, number>>>;
  /** Runs without an answer since the last answer. */
  readonly failuresInARow: number;
  /** Drifted resources in the last drift runs, oldest first. */
  readonly trend: readonly number[];
  readonly diagnostics: readonly Diagnostic[];
}

const TREND = 20;

/** `results`: of each workspace, newest first. Rows are in the order of the names. */
export function fleetView(
  fleet: Pick<Fleet, "workspaces">,
  results: ReadonlyMap<string, readonly WorkspaceResult[]>,
  now: number,
): FleetView {
  const rows = fleet.workspaces.map(({ name, labels }) => rowOf(name, labels, results.get(name) ?? [], now));
  const statuses: Partial<Record<ResultStatus | "never", number>> = {};
  for (const { status } of rows) statuses[status] = (statuses[status] ?? 0) + 1;
  return { madeAt: now, rows, statuses, drift: sumOf(rows.map(({ drift }) => drift)) };
}

function rowOf(
  workspace: string,
  labels: FleetRow["labels"],
  results: readonly WorkspaceResult[],
  now: number,
): FleetRow {
  const [last] = results;
  const drifts = results.filter((result) => result.command === "drift" && isAnswer(result));
  const planned = results.find(({ command }) => command === "plan" || command === "apply");
  const answered = results.findIndex(isAnswer);
  return {
    workspace,
    labels,
    status: last?.status ?? "never",
    ...(last === undefined ? {} : { last, ageMs: Math.max(0, now - last.startedAt - last.durationMs) }),
    changes: planned?.counts ?? {},
    drift: drifts[0]?.drift ?? {},
    failuresInARow: answered < 0 ? results.length : answered,
    trend: drifts
      .slice(0, TREND)
      .map(({ drift }) => totalOf(drift))
      .reverse(),
    diagnostics: last?.diagnostics ?? [],
  };
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
