// Runs of jobs as text: a table of many, the story of one, and what it gave.

import { duration } from "../../core/duration.ts";
import { type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { hasEnded, idText } from "../../resource/service-status.ts";
import type { Colors } from "../text/color.ts";
import { tableText } from "../text/layout.ts";
import { printable, printableLines } from "../text/printable.ts";
import { timeText } from "../text/vocabulary.ts";

/** Both spellings are seen (contract B 2.3). */
export function hasSucceeded(run: JsonObject): boolean {
  const { life_cycle_state, result_state } = objectIn(run.state);
  return life_cycle_state === "TERMINATED" && (result_state === "SUCCESS" || result_state === "SUCCESSFUL");
}

/** `RUNNING`, `SUCCESS`, `FAILED`: how it is, in one word; how it ended where it did. */
export function outcomeWord(run: JsonObject): string {
  const { life_cycle_state: life, result_state: result } = objectIn(run.state);
  const word = life === "TERMINATED" && typeof result === "string" ? result : life;
  return printable(typeof word === "string" ? word : "UNKNOWN");
}

/** The service's own words about the state; empty where it has none. */
export function messageOf(run: JsonObject): string {
  const { state_message: message } = objectIn(run.state);
  return typeof message === "string" ? printable(message) : "";
}

/** `RUNNING: the task is running`. */
export function stateText(run: JsonObject): string {
  const message = messageOf(run);
  return message === "" ? outcomeWord(run) : `${outcomeWord(run)}: ${message}`;
}

/** The table of a list, newest first. */
export function runsText(runs: readonly JsonObject[], colors: Colors): string {
  if (runs.length === 0) return "No runs.\n";
  const rows = runs.map((run) => [
    idText(run.run_id),
    printable(String(run.run_name ?? "")),
    timeText(run.start_time),
    hasEnded(run) && tookMs(run) > 0 ? duration(tookMs(run)) : "",
    outcomeWord(run),
    messageOf(run),
  ]);
  return tableText(["run", "name", "started", "took", "state", ""], rows, colors);
}

/** Everything about one run that people ask first. */
export function runText(run: JsonObject, colors: Colors): string {
  const lines: (readonly [string, string])[] = [
    ["run", `${idText(run.run_id)}${run.run_name === undefined ? "" : ` of ${String(run.run_name)}`}`],
    ["state", stateText(run)],
    ["job", run.job_id === undefined ? "" : `${idText(run.job_id)}${numberInJob(run)}`],
    ["attempt", retryOf(run)],
    ["trigger", String(run.trigger ?? "")],
    ["started", timeText(run.start_time)],
    ["took", hasEnded(run) ? durations(run) : ""],
    ["cluster", idText(objectIn(run.cluster_instance).cluster_id)],
    ["by", String(run.creator_user_name ?? "")],
    ["page", String(run.run_page_url ?? "")],
  ];
  return lines
    .filter(([, words]) => words !== "")
    .map(([name, words]) => `${colors.dim(name.padEnd(8))} ${printable(words)}\n`)
    .join("");
}

function retryOf(run: JsonObject): string {
  const first = run.original_attempt_run_id;
  return first === undefined || first === run.run_id ? "" : `again, after ${idText(first)}`;
}

/** A shorter phase would be shown as 0.0 s. */
const SHORTEST_MS = 50;

/** `12 s: 4 s to set up, 7 s of work, 1 s to clean up`. */
export function durations(run: JsonObject): string {
  const part = (value: Json | undefined, what: string): string =>
    typeof value === "number" && value >= SHORTEST_MS ? `${duration(value)} ${what}` : "";
  const parts = [
    part(run.setup_duration, "to set up"),
    part(run.execution_duration, "of work"),
    part(run.cleanup_duration, "to clean up"),
  ].filter((one) => one !== "");
  return parts.length === 0 ? "" : `${duration(tookMs(run))}: ${parts.join(", ")}`;
}

function tookMs(run: JsonObject): number {
  const parts = [run.setup_duration, run.execution_duration, run.cleanup_duration];
  return parts.reduce<number>((sum, part) => sum + (typeof part === "number" ? part : 0), 0);
}

/** The answer of `runs/get-output`: the notebook's result, or the reason why there is none. */
export function outputText(answer: JsonObject): string {
  const { result, truncated } = objectIn(answer.notebook_output);
  const lines: string[] = [];
  if (typeof result === "string") lines.push(...printableLines(result));
  if (truncated === true) lines.push("(truncated by the service, which keeps the first 1 MB)");
  if (typeof answer.error === "string") lines.push(...printableLines(answer.error));
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/** `, run 3 of it`; empty if the service numbers runs by their IDs. */
export function numberInJob({ number_in_job: number, run_id: id }: JsonObject): string {
  return number === undefined || number === id ? "" : `, run ${idText(number)} of it`;
}
