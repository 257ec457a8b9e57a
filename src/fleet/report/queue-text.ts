// The queue of a fleet in sentences: what waits, what runs where, what comes next, who works, and what is paused.

import { count, shellWord } from "../../core/sentences.ts";
import type { PauseScope } from "../database/pauses.ts";
import type { PresentJob, QueueWorker } from "../queue/job-queue.ts";
import { ageWords, type FleetView } from "./fleet-view.ts";

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
