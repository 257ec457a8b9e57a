// Clusters, their events, and runs of jobs as text.

import { duration } from "../../core/duration.ts";
import { type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { count } from "../../core/sentences.ts";
import { hasEnded, idText, whyText } from "../../resource/service-status.ts";
import { printable, printableLines } from "../text/printable.ts";
import { type Colors, textTable } from "../text/terminal.ts";
import { timeText } from "../text/vocabulary.ts";

/** `RUNNING, 2 workers`, `TERMINATED: Inactivity`. */
export function clusterText(cluster: JsonObject): string {
  const state = typeof cluster.state === "string" ? cluster.state : "UNKNOWN";
  if (state === "RUNNING" || state === "RESIZING") return printable(`${state}, ${sizeText(cluster)}`);
  const why = whyText(cluster);
  return printable(why === "" ? state : `${state}: ${why}`);
}

/** `2 workers`, `1 to 8 workers`. */
export function sizeText({ num_workers: workers, autoscale }: JsonObject): string {
  const { min_workers: min, max_workers: max } = objectIn(autoscale);
  if (min !== undefined && max !== undefined) return `${String(min)} to ${String(max)} workers`;
  return workers === undefined ? "size unknown" : workersOf(workers);
}

export function eventsText(events: readonly JsonObject[], colors: Colors): string {
  if (events.length === 0) return "No events.\n";
  const rows = events.map((jsonObject) => [
    timeText(jsonObject.timestamp),
    printable(String(jsonObject.type ?? "")),
    printable(detailsText(objectIn(jsonObject.details))),
  ]);
  return `${textTable([["time", "event", "details"], ...rows], { head: colors.dim }).join("\n")}\n`;
}

function detailsText(details: JsonObject): string {
  const { user, cause, reason, attributes } = details;
  const words = [
    typeof user === "string" && user !== "" ? `by ${user}` : "",
    sizesText(details) || workersText(details),
    typeof cause === "string" ? cause : "",
    reasonText(objectIn(reason)),
    changedText(objectIn(details.previous_attributes), objectIn(attributes)),
  ];
  return words.filter((word) => word !== "").join("; ");
}

function workersText({ current_num_workers: now, target_num_workers: target }: JsonObject): string {
  if (now === undefined) return target === undefined ? "" : `to ${workersOf(target)}`;
  return target !== undefined && target !== now ? `${String(now)} of ${workersOf(target)}` : workersOf(now);
}

/** A sensitive number is a string. */
const workersOf = (workers: Json): string =>
  typeof workers === "number" ? count(workers, "worker") : `${String(workers)} workers`;

function sizesText({ previous_cluster_size: before, cluster_size: after }: JsonObject): string {
  if (before === undefined || after === undefined) return "";
  const [from, to] = [sizeText(objectIn(before)), sizeText(objectIn(after))];
  return from === to ? "" : `from ${from} to ${to}`;
}

function reasonText({ code, parameters }: JsonObject): string {
  if (typeof code !== "string") return "";
  const more = Object.entries(objectIn(parameters)).map(
    ([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
  );
  return more.length === 0 ? code : `${code} (${more.join(", ")})`;
}

function changedText(before: JsonObject, after: JsonObject): string {
  if (Object.keys(before).length === 0) return "";
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  return names.length === 0 ? "" : `changed ${names.sort().join(", ")}`;
}

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

/** The service's message about the state; empty if there is none. */
export function messageOf(run: JsonObject): string {
  const { state_message: message } = objectIn(run.state);
  return typeof message === "string" ? printable(message) : "";
}

/** `RUNNING: the task is running`. */
export function stateText(run: JsonObject): string {
  const message = messageOf(run);
  return message === "" ? outcomeWord(run) : `${outcomeWord(run)}: ${message}`;
}

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
  const head = ["run", "name", "started", "took", "state", ""];
  return `${textTable([head, ...rows], { head: colors.dim }).join("\n")}\n`;
}

export function runText(run: JsonObject, colors: Colors): string {
  const rows = [
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
  ].flatMap(([name = "", words = ""]) => (words === "" ? [] : [[name, printable(words)]]));
  return `${textTable(rows, { label: colors.dim }).join("\n")}\n`;
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
  ].filter((text) => text !== "");
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
