// The state of a fleet as text, and one line for each result as it arrives.

import { printable } from "../../report/text/printable.ts";
import type { WorkspaceResult } from "../model/result.ts";
import type { FleetRun } from "../run-fleet.ts";
import {
  ageWords,
  changeWords,
  driftWords,
  type FleetView,
  STATUS_WORDS,
  trendBars,
  verdict,
} from "./fleet-view.ts";

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
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, cell.length);
    });
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, at) => printable(cell).padEnd(widths[at] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
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
  for (const { status } of results)
    counts.set(STATUS_WORDS[status], (counts.get(STATUS_WORDS[status]) ?? 0) + 1);
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
  return `${results.length} of ${results.length + skipped.length} workspaces: ${parts.join(", ") || "none run"}.\n${stop}`;
}

function shortened(names: readonly string[]): string {
  return names.length <= 10 ? names.join(", ") : `${names.slice(0, 10).join(", ")}, …`;
}
