// The state of a fleet as text, JSON, Markdown, and metrics, and one line for each result as it arrives.

import { count } from "../../core/sentences.ts";
import { markdownText, printable } from "../../report/text/printable.ts";
import { textTable } from "../../report/text/terminal.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import { RESULT_STATUSES, type WorkspaceResult } from "../model/result.ts";
import type { FleetRun } from "../run-fleet.ts";
import {
  ageWords,
  changeWords,
  driftWords,
  type FleetRow,
  type FleetView,
  STATUS_WORDS,
  trendBars,
  verdict,
} from "./fleet-view.ts";

export function fleetJson(view: FleetView): Record<string, unknown> {
  return {
    format_version: "1.0",
    made_at: new Date(view.madeAt).toISOString(),
    statuses: view.statuses,
    drift: view.drift,
    days: view.days,
    workspaces: view.rows.map((row) => ({
      name: row.workspace,
      labels: row.labels,
      status: row.status,
      ...(row.last === undefined
        ? {}
        : {
            command: row.last.command,
            started_at: new Date(row.last.startedAt).toISOString(),
            duration_ms: row.last.durationMs,
            age_ms: row.ageMs,
          }),
      changes: row.changes,
      drift: row.drift,
      ...(row.driftAgeMs === undefined ? {} : { drift_age_ms: row.driftAgeMs }),
      failures_in_a_row: row.failuresInARow,
      trend: row.trend,
      diagnostics: row.diagnostics,
    })),
  };
}

export function fleetMarkdown(view: FleetView): string {
  const rows = view.rows.map(
    (row) =>
      `| ${markdownText(row.workspace)} | ${STATUS_WORDS[row.status]} | ${ageWords(row.ageMs)} | ${driftWords(row.drift)} | ${ageWords(row.driftAgeMs)} | ${trendBars(row.trend)} | ${markdownText(changeWords(row.changes))} |`,
  );
  const failed = view.rows.flatMap(({ workspace, diagnostics }) =>
    diagnostics
      .filter(({ severity }) => severity === "error")
      .slice(0, 3)
      .map(({ code, message }) => `- **${markdownText(workspace)}**: ${code}: ${markdownText(message)}`),
  );
  return [
    `**${verdict(view)}**`,
    "",
    "| workspace | status | age | drift | since | trend | changes |",
    "|---|---|---|---|---|---|---|",
    ...rows,
    ...(failed.length === 0 ? [] : ["", "### Failures", "", ...failed]),
    "",
  ].join("\n");
}

/** The text format of Prometheus; label values are names of the fleet file, which need no escapes. */
export function fleetMetrics(view: FleetView): string {
  const family = (name: string, help: string, samples: readonly string[]): string =>
    samples.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${samples.join("\n")}\n`;
  const ofRows = (name: string, help: string, value: (row: FleetRow) => number | undefined): string => {
    const samples = view.rows.flatMap((row) => {
      const found = value(row);
      return found === undefined ? [] : [`${name}{workspace="${row.workspace}"} ${found}`];
    });
    return family(name, help, samples);
  };
  return [
    family(
      "workspace_fleet_status",
      "Status of the last run: 1 for the one that applies, 0 for every other.",
      view.rows.flatMap((row) =>
        [...RESULT_STATUSES, "never"].map(
          (status) =>
            `workspace_fleet_status{workspace="${row.workspace}",status="${status}"} ${status === row.status ? 1 : 0}`,
        ),
      ),
    ),
    family(
      "workspace_fleet_drift",
      "Drifted resources that the last drift run found; absent before the first one.",
      view.rows
        .filter(({ trend }) => trend.length > 0)
        .flatMap((row) =>
          SEVERITIES.map(
            (severity) =>
              `workspace_fleet_drift{workspace="${row.workspace}",severity="${severity}"} ${row.drift[severity] ?? 0}`,
          ),
        ),
    ),
    ofRows(
      "workspace_fleet_last_run_timestamp_seconds",
      "Unix time at which the last run ended.",
      ({ last }) => last && (last.startedAt + last.durationMs) / 1000,
    ),
    ofRows(
      "workspace_fleet_run_duration_seconds",
      "Time that the last run took.",
      ({ last }) => last && last.durationMs / 1000,
    ),
    ofRows(
      "workspace_fleet_drift_age_seconds",
      "Time since the first run that found the open drift; absent without drift.",
      ({ driftAgeMs }) => (driftAgeMs === undefined ? undefined : driftAgeMs / 1000),
    ),
    ofRows(
      "workspace_fleet_failures_in_a_row",
      "Runs without an answer since the last answer.",
      ({ failuresInARow }) => failuresInARow,
    ),
  ].join("");
}

export function fleetText(view: FleetView): string {
  const cells = view.rows.map((row) => [
    row.workspace,
    STATUS_WORDS[row.status],
    ageWords(row.ageMs),
    driftWords(row.drift),
    ageWords(row.driftAgeMs),
    trendBars(row.trend),
    changeWords(row.changes),
  ]);
  return `${columns([["WORKSPACE", "STATUS", "AGE", "DRIFT", "SINCE", "TREND", "CHANGES"], ...cells])}${verdict(view)}\n`;
}

/** Left-aligned columns; control characters are shown as boxes. */
export function columns(rows: readonly (readonly string[])[]): string {
  return `${textTable(rows.map((row) => row.map(printable))).join("\n")}\n`;
}

/** `ads-prod: changes in 1.2 s (2 security)`. */
export function resultLine(result: WorkspaceResult): string {
  const { workspace, status, durationMs, command, drift, counts, diagnostics } = result;
  const details = command === "drift" ? driftWords(drift) : changeWords(counts);
  const [first] = diagnostics;
  const kind = first?.severity === "warning" ? "warning: " : "";
  const cause = first === undefined ? "" : `: ${kind}${printable(first.message)}`;
  const shown = details === "-" ? "" : ` (${details})`;
  return `${workspace}: ${STATUS_WORDS[status]} in ${(durationMs / 1000).toFixed(1)} s${shown}${cause}\n`;
}

/** A run without a workspace is one of `fleet run`: other selections are not empty. */
export function runSummary({ results, skipped, stopped }: FleetRun): string {
  if (results.length + skipped.length === 0) return "No workspace is due.\n";
  const counts = new Map<string, number>();
  for (const { status } of results) {
    const words = status === "changes" ? "with changes" : STATUS_WORDS[status];
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  const parts = [...counts].map(([word, number]) => `${number} ${word}`);
  const why = {
    wave: `wave "${stopped?.wave ?? ""}" failed`,
    failures: "too many workspaces failed",
    interrupted: "the run was interrupted",
  };
  const stop =
    stopped === undefined
      ? ""
      : `Stopped because ${why[stopped.reason]}. Not started: ${skipped.length} (${shortened(skipped)}).\n`;
  return `${results.length} of ${count(results.length + skipped.length, "workspace")}: ${parts.join(", ") || "none run"}.\n${stop}`;
}

function shortened(names: readonly string[]): string {
  return names.length <= 10 ? names.join(", ") : `${names.slice(0, 10).join(", ")}, …`;
}
