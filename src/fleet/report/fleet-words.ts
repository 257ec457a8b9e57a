// The words and numbers that the reports of a fleet share.

import { count } from "../../core/sentences.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import type { FleetRow, FleetView } from "./fleet-view.ts";

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
