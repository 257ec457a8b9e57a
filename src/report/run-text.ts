// Runs of jobs as text: one in a line, or one with its times, state and output.

import type { Json, JsonObject } from "../core/json.ts";
import type { Colors } from "./color.ts";
import { printable } from "./printable.ts";
import { duration } from "./words.ts";

/** `RUNNING`, `TERMINATED SUCCESS: done`. */
export function stateText(run: JsonObject): string {
  const state = objectIn(run.state);
  const words = [state.life_cycle_state, state.result_state]
    .filter((word) => typeof word === "string")
    .join(" ");
  const message =
    typeof state.state_message === "string" && state.state_message !== "" ? `: ${state.state_message}` : "";
  return printable(`${words}${message}`);
}

export function hasEnded(run: JsonObject): boolean {
  return ["TERMINATED", "SKIPPED", "INTERNAL_ERROR"].includes(String(objectIn(run.state).life_cycle_state));
}

export function hasSucceeded(run: JsonObject): boolean {
  return objectIn(run.state).result_state === "SUCCESS";
}

/** The table of a list, newest first. */
export function runsText(runs: readonly JsonObject[], colors: Colors): string {
  if (runs.length === 0) return "No runs.\n";
  const rows = runs.map((run) => [
    String(run.run_id),
    startText(run),
    durationText(run),
    printable(String(run.run_name ?? "")),
    stateText(run),
  ]);
  const all = [["run", "started", "took", "name", "state"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row, at) => {
    const line = row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
    return at === 0 ? colors.dim(line) : line;
  });
  return `${lines.join("\n")}\n`;
}

function startText(run: JsonObject): string {
  return typeof run.start_time === "number"
    ? new Date(run.start_time).toISOString().replace("T", " ").slice(0, 19)
    : "";
}

function durationText(run: JsonObject): string {
  if (!hasEnded(run)) return "";
  const parts = [run.setup_duration, run.execution_duration, run.cleanup_duration];
  return duration(parts.reduce<number>((sum, part) => sum + (typeof part === "number" ? part : 0), 0));
}

/** What `runs/get-output` tells: the notebook's result, or why there is none. */
export function outputText(answer: JsonObject): string {
  const notebook = objectIn(answer.notebook_output);
  const lines: string[] = [];
  if (typeof notebook.result === "string") lines.push(...notebook.result.split("\n").map(printable));
  if (notebook.truncated === true) lines.push("(truncated by the service)");
  if (typeof answer.error === "string")
    lines.push(...answer.error.split("\n").map((line) => `error: ${printable(line)}`));
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function objectIn(value: Json | undefined): JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : {};
}
