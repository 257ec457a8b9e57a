// The state of a fleet and its queue as text and Markdown, and one line for each result as it arrives.

import { count, firstFew, shellWord } from "../../core/sentences.ts";
import { markdownText, printable } from "../../report/text/printable.ts";
import { textTable } from "../../report/text/terminal.ts";
import type { PauseScope } from "../database/pauses.ts";
import type { WorkspaceResult } from "../model/result.ts";
import type { PresentJob, QueueWorker } from "../queue/job-queue.ts";
import type { FleetRun } from "../run-fleet.ts";
import {
  ageWords,
  causeWords,
  changeWords,
  driftedWords,
  driftWords,
  type FleetRow,
  type FleetView,
  foldCauses,
  locatedMessage,
  rowWord,
  STATUS_WORDS,
  trendBars,
  verdict,
} from "./fleet-view.ts";

export function fleetMarkdown(view: FleetView): string {
  const rowOf = (row: FleetRow): string => `| ${cellsOf(row).map(markdownText).join(" | ")} |`;
  const head = [
    "| workspace | status | command | age | drift | since | trend | changes |",
    "|---|---|---|---|---|---|---|---|",
  ];
  const [ok, rest] = [view.rows.filter(isOk), view.rows.filter((row) => !isOk(row))];
  const listed = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ["", `### ${title}`, "", ...lines];
  return [
    `**${verdict(view)}**`,
    ...(rest.length === 0 ? [] : ["", ...head, ...rest.map(rowOf)]),
    ...listed(
      "Failures",
      foldCauses(view.rows).map(({ cause, rows }) => {
        const names = rows.map(({ workspace }) => `**${markdownText(workspace)}**`);
        return `- ${membersText(names)}: ${markdownText(causeWords(cause))}`;
      }),
    ),
    ...listed(
      "Drifted",
      view.rows.flatMap((row) =>
        row.drifted.length === 0
          ? []
          : [`- **${markdownText(row.workspace)}**: ${markdownText(driftedWords(row))}`],
      ),
    ),
    ...listed(
      "Queue",
      queueLines(view).map((line) => `- ${markdownText(line)}`),
    ),
    ...(ok.length === 0
      ? []
      : [
          "",
          "<details>",
          `<summary>${count(ok.length, "workspace")} ok</summary>`,
          "",
          ...head,
          ...ok.map(rowOf),
          "",
          "</details>",
        ]),
    "",
  ].join("\n");
}

const cellsOf = (row: FleetRow): readonly string[] => [
  row.workspace,
  rowWord(row),
  row.cause?.command ?? row.last?.command ?? "-",
  ageWords(row.ageMs),
  driftWords(row.drift),
  ageWords(row.driftAgeMs),
  trendBars(row.trend),
  changeWords(row.changes),
];

/** So many workspaces with one cause are named. */
const MOST_NAMED = 5;

/** `ads-prod`, or `3 workspaces (ads-prod, bi-prod, ml-prod)`. */
function membersText(names: readonly string[]): string {
  const text = firstFew(names, MOST_NAMED);
  return names.length === 1 ? text : `${count(names.length, "workspace")} (${text})`;
}

const isOk = ({ state }: FleetRow): boolean => state === "ok";

/** In a larger fleet, the workspaces that are ok are one line. */
const MOST_OK_ROWS = 20;

export function fleetText(view: FleetView): string {
  const ok = view.rows.filter(isOk);
  const isFolded = ok.length > MOST_OK_ROWS;
  const rows = isFolded ? view.rows.filter((row) => !isOk(row)) : view.rows;
  const cells = rows.map(cellsOf);
  const heads = ["WORKSPACE", "STATUS", "COMMAND", "AGE", "DRIFT", "SINCE", "TREND", "CHANGES"];
  const table = cells.length === 0 ? "" : columns([heads, ...cells], "TREND");
  const folded = isFolded ? `${count(ok.length, "workspace")} ok.\n` : "";
  const block = (lines: readonly string[]): string =>
    lines.length === 0 ? "" : `\n${lines.map((line) => `${printable(line)}\n`).join("")}`;
  const causes = foldCauses(rows).map(({ cause, rows: own }) => {
    const names = own.map(({ workspace }) => workspace);
    return `${membersText(names)}: ${causeWords(cause)}`;
  });
  const drifted = rows.flatMap((row) =>
    row.drifted.length === 0 ? [] : [`${row.workspace}: drift of ${driftedWords(row)}`],
  );
  return `${table}${folded}${block([...causes, ...drifted])}${block(queueLines(view))}\n${verdict(view)}\n`;
}

/** A table below the heads of its columns; `right` is the column that is aligned on the right. */
export function columns(rows: readonly (readonly string[])[], right?: string): string {
  const cells = rows.map((row) => row.map(printable));
  return `${textTable(cells, { right: (column) => right !== undefined && rows[0]?.[column] === right }).join("\n")}\n`;
}

/** `ads-prod: drift in 1.2 s (2 security)`. */
export function resultLine(result: WorkspaceResult): string {
  const {
    workspace,
    status,
    durationMs,
    command,
    drift,
    counts,
    reverted = 0,
    diagnostics,
    attempt = 1,
    triedAgain,
  } = result;
  const changes = `${changeWords(counts)}${reverted === 0 ? "" : `, reverts acknowledged drift of ${count(reverted, "resource")}`}`;
  const details = command === "drift" ? driftWords(drift) : changes;
  const word = status === "changes" && command === "drift" ? "drift" : STATUS_WORDS[status];
  const [first] = diagnostics;
  const kind = first?.severity === "warning" ? "warning: " : "";
  const cause = first === undefined ? "" : `: ${kind}${printable(locatedMessage(first))}`;
  const shown = details === "-" ? "" : ` (${details})`;
  const again = triedAgain === true ? `; attempt ${attempt}, tried again` : "";
  return `${workspace}: ${word} in ${(durationMs / 1000).toFixed(1)} s${shown}${cause}${again}\n`;
}

/** A run without a workspace is one of `fleet run`: other selections are not empty. */
export function runSummary({ results, skipped, stopped }: FleetRun): string {
  if (results.length + skipped.length === 0) return "No workspace is due.\n";
  const counts = new Map<string, number>();
  for (const { status, command } of results) {
    const changed = command === "drift" ? "with drift" : "with changes";
    const words = status === "changes" ? changed : STATUS_WORDS[status];
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

/** A longer list is of a fleet whose operator reads `-o json`. */
const MOST_LISTED = 10;

/** Nothing without a database. */
export function queueLines({ queue, madeAt }: FleetView): readonly string[] {
  if (queue === undefined) return [];
  const { queued, waiting, running, next, workers, pauses, dead, unscheduled } = queue;
  const ago = (time: number): string => ageWords(Math.max(0, madeAt - time));
  const oldest = queued.reduce((first, { createdAt }) => Math.min(first, createdAt), madeAt);
  const age = queued.length === 0 ? "" : `, the oldest for ${ago(oldest)}`;
  const live = workers.filter((worker) => worker.live);
  return [
    `Queue: ${queued.length} queued${byCommand(queued)}${age}, ${waiting.length} waiting, ${running.length} running, ${dead.length} failed at every attempt.`,
    ...(dead.length === 0
      ? []
      : [
          "To list the jobs that failed, run `workspace fleet dead-letters`; to try them again, add `--retry`.",
        ]),
    ...listed(running, ({ workspace, command = "run", worker, startedAt, attempt = 1 }) => {
      const tries = attempt > 1 ? `, attempt ${attempt}` : "";
      return `Running: ${command} of ${workspace} on ${worker} for ${ago(startedAt)}${tries}.`;
    }),
    ...waves(waiting),
    ...(next === undefined
      ? []
      : [`Next: drift of ${next.workspace} at ${new Date(next.at).toISOString().slice(0, 16)}Z.`]),
    ...(unscheduled.length === 0
      ? []
      : [
          `Not scheduled: ${count(unscheduled.length, "workspace")} (${listWords(unscheduled)}). To start their checks, run \`workspace fleet schedule\`.`,
        ]),
    workers.length === 0
      ? "No worker runs."
      : `Workers: ${live.length} live${versions(live)}${live.length === workers.length ? "" : `, ${workers.length - live.length} silent`}.`,
    ...listed(workers, (worker) => `Worker: ${workerWords(worker, ago(worker.heartbeatAt))}.`),
    ...pauses.map(
      (pause) =>
        `Paused: ${scopeWords(pause)} (${count(pause.of, "workspace")}) by ${pause.by}${pause.reason === "" ? "" : `, ${pause.reason}`}, ${pause.until === undefined ? `until \`workspace fleet resume ${shellWord(pause.id)}\`` : `until ${new Date(pause.until).toISOString()}`}.`,
    ),
  ];
}

function workerWords(
  { name, version, running, parallelism, live, memoryBytes }: QueueWorker,
  ago: string,
): string {
  const memory = memoryBytes === undefined ? "" : `, ${Math.round(memoryBytes / 1024 / 1024)} MB`;
  return `${name}, workspace ${version}, ${running} of ${parallelism} running${memory}, ${live ? "" : "silent, "}heartbeat ${ago} ago`;
}

function versions(workers: readonly QueueWorker[]): string {
  const all = [...new Set(workers.map(({ version }) => version))].sort();
  return all.length > 1 ? ` (versions ${all.join(", ")})` : "";
}

function byCommand(jobs: readonly PresentJob[]): string {
  const groups = Map.groupBy(jobs, ({ command }) => command);
  const parts = [...groups].map(([command, own]) => `${own.length} ${command}`);
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function waves(waiting: readonly PresentJob[]): readonly string[] {
  const inWaves = waiting.filter(({ rollout }) => rollout !== undefined);
  const groups = Map.groupBy(inWaves, ({ rollout }) => rollout?.wave ?? "");
  return [...groups].map(
    ([wave, own]) => `Wave "${wave}": ${count(own.length, "apply", "applies")} waiting for the wave before.`,
  );
}

function listed<T>(items: readonly T[], line: (item: T) => string): readonly string[] {
  const more = items.length - MOST_LISTED;
  return [...items.slice(0, MOST_LISTED).map(line), ...(more > 0 ? [`… and ${more} more.`] : [])];
}

/** `every run`, `drift of env=prod`, `every run of ads, web`. */
export function scopeWords({ workspaces, select, command }: PauseScope): string {
  const of = [...workspaces, ...select];
  return `${command ?? "every run"}${of.length === 0 ? " of the fleet" : ` of ${of.join(", ")}`}`;
}

function listWords(names: readonly string[]): string {
  const more = names.length - 3;
  return `${names.slice(0, 3).join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}
