// Waits until a cluster reaches a state or a size, or until a job run ends, its retries included (contract B 2.2 and contract B 2.3).

import type { Reader } from "../../api/contract/reader.ts";
import { type Failure, failureOf } from "../../core/diagnostic.ts";
import { duration, poll } from "../../core/duration.ts";
import { type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import { withoutDigests } from "../../core/sensitive/digests.ts";
import { shellWord } from "../../core/sentences.ts";
import { int64In } from "../../providers/kit/responses.ts";
import { hasEnded, idText, whyText } from "../../resource/service-status.ts";
import { nodeClock } from "../../state/backends/file/node-ports.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { newestRuns } from "./paging.ts";
import type { RecordedObject } from "./recorded-object.ts";

/** Longer than a cluster takes to start when machines are scarce. */
export const DEADLINE_MS = 30 * 60_000;
const PAUSES = { clock: nodeClock, firstMs: 250, longestMs: 10_000 } as const;

export interface ClusterWait {
  /** `run`, `be terminated`. */
  readonly what: string;
  readonly isReached: (cluster: JsonObject) => boolean;
  /** States from which the goal can no longer be reached. */
  readonly lost: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Receives the cluster at each poll, whether it changed or not. */
  readonly polled: (cluster: JsonObject) => void;
}

export async function clusterNow({ connection, id }: RecordedObject): Promise<JsonObject> {
  return connection.reader.read("clusters/get", { cluster_id: id });
}

/** The cluster once it is there; undefined when the signal came first. Throws Failure with CLI_NOT_REACHED or API_TIMEOUT. */
export async function waitForCluster(of: RecordedObject, on: ClusterWait): Promise<JsonObject | undefined> {
  let cluster: JsonObject = {};
  const look = async (): Promise<JsonObject | undefined> => {
    cluster = await clusterNow(of);
    if (on.isReached(cluster)) return cluster;
    const shown = of.masked(cluster);
    on.polled(shown);
    if (on.lost.includes(String(cluster.state))) throw cannotCome(of, on, shown);
    return undefined;
  };
  const { timeoutMs, signal } = on;
  return poll(look, { ...PAUSES, timeoutMs, signal }, () => tooLong(of, on, of.masked(cluster)));
}

function cannotCome({ address }: RecordedObject, { what }: ClusterWait, cluster: JsonObject): Failure {
  const cause = whyText(cluster);
  return failureOf("CLI_NOT_REACHED", `${address} is ${String(cluster.state)} and will not ${what}`, {
    address,
    ...(cause === "" ? {} : { cause }),
    hint: `to see what happened, run \`workspace clusters events ${shellWord(address)}\``,
  });
}

function tooLong(
  { address }: RecordedObject,
  { what, timeoutMs }: ClusterWait,
  cluster: JsonObject,
): Failure {
  return failureOf(
    "API_TIMEOUT",
    `timed out after ${duration(timeoutMs)} waiting for ${address} to ${what}; it is ${String(cluster.state)}`,
    {
      address,
      hint: `to see what happens, run \`workspace clusters events ${shellWord(address)}\``,
    },
  );
}

/** Throws Failure with CLI_USAGE. */
export function requestedSize({
  workers,
  min,
  max,
}: Readonly<Record<"workers" | "min" | "max", number | undefined>>): JsonObject {
  if (workers !== undefined && min === undefined && max === undefined) return { num_workers: workers };
  if (workers !== undefined)
    throw failureOf("CLI_USAGE", "--workers cannot be used together with --min and --max");
  if (min === undefined || max === undefined)
    throw failureOf("CLI_USAGE", "no cluster size specified", {
      hint: "pass --workers N, or --min N and --max N",
    });
  if (min >= max) throw failureOf("CLI_USAGE", `--max (${max}) must be more than --min (${min})`);
  return { autoscale: { min_workers: min, max_workers: max } };
}

/** Also the machines themselves, where the service shows them. */
export function isResized(cluster: JsonObject, size: JsonObject): boolean {
  const { executors } = cluster;
  const shown =
    Array.isArray(executors) && typeof size.num_workers === "number" ? executors.length : undefined;
  return (
    cluster.state === "RUNNING" &&
    hasSize(cluster, size) &&
    (shown === undefined || shown === size.num_workers)
  );
}

function hasSize(cluster: JsonObject, size: JsonObject): boolean {
  return JSON.stringify(sizeIn(cluster)) === JSON.stringify(sizeIn(size));
}

function sizeIn({ num_workers, autoscale }: JsonObject): readonly unknown[] {
  const { min_workers: min, max_workers: max } = objectIn(autoscale);
  return min !== undefined && max !== undefined ? [String(min), String(max)] : [num_workers];
}

/** The fields of the size that the next apply restores; undefined if the spec declares this size or none. */
export function sizeAfterNextApply({ applied }: StateRecord, size: JsonObject): JsonObject | undefined {
  if (applied.num_workers === undefined && applied.autoscale === undefined) return undefined;
  return hasSize(applied, size) ? undefined : withoutDigests(applied);
}

/** Tolerance for the start of the next attempt. */
const PATIENCE_MS = 60_000;

interface FollowRunInput {
  readonly run: RunId;
  readonly signal: AbortSignal;
  /** Timeout of the wait; the job run continues. */
  readonly timeoutMs: number | undefined;
  readonly patienceMs?: number;
}

interface FollowedRun {
  readonly id: RunId;
  /** The last attempt; undefined if the signal came first. */
  readonly ended: JsonObject | undefined;
}

export interface FollowRunObserver {
  /** The run at each poll, whether it changed or not. */
  polled(id: RunId, run: JsonObject): void;
  retryExpected(id: RunId, run: JsonObject): void;
  retried(next: RunId, id: RunId, run: JsonObject): void;
}

/** Follows a run to the end of its last attempt. Throws Failure with API_TIMEOUT. */
export async function followRun(
  reader: Reader,
  { run: first, signal, timeoutMs, patienceMs = PATIENCE_MS }: FollowRunInput,
  observer: FollowRunObserver,
): Promise<FollowedRun> {
  const since = performance.now();
  const polled = <T>(id: RunId, look: (round: number) => Promise<T | undefined>): Promise<T | undefined> =>
    poll(look, { ...PAUSES, timeoutMs, signal, since }, () =>
      failureOf("API_TIMEOUT", `run ${id} has not ended after ${duration(timeoutMs ?? 0)} and continues`, {
        hint: `to wait for it, run \`workspace runs get ${id} --wait\``,
      }),
    );
  const endOf = (id: RunId): Promise<JsonObject | undefined> =>
    polled(id, async () => {
      const run = await reader.read("jobs/runs/get", { run_id: id });
      if (hasEnded(run)) return run;
      observer.polled(id, run);
      return undefined;
    });
  /** The attempt that comes after one that has ended, once it is there. */
  const nextOf = async (id: RunId, ended: JsonObject): Promise<RunId | undefined> => {
    const begun = performance.now();
    const outlook = await polled(id, async (round) => {
      const attempt = await findNextAttempt(reader, ended);
      if (attempt === undefined || "next" in attempt) return { next: attempt?.next };
      if (performance.now() - begun > attempt.withinMs + patienceMs) return { next: undefined };
      if (round === 0) observer.retryExpected(id, ended);
      return undefined;
    });
    return outlook?.next;
  };
  for (let id = first; ; ) {
    const ended = await endOf(id);
    const next = ended === undefined ? undefined : await nextOf(id, ended);
    if (next === undefined) return { id, ended };
    observer.retried(next, id, ended ?? {});
    id = next;
  }
}

type RunId = number | bigint;

/** The next attempt, or how long the job waits before it makes one; undefined where there is to be none. */
type NextAttempt = { readonly next: RunId } | { readonly withinMs: number } | undefined;

/** Of a job that runs very often, an attempt may lie behind more runs than these; then it is not found. */
const MOST_RUNS = 200;

async function findNextAttempt(reader: Reader, ended: JsonObject): Promise<NextAttempt> {
  if (!isUnsuccessful(ended) || ended.job_id === undefined) return undefined;
  const attempts = await attemptsOf(reader, ended);
  const next = attempts[attempts.indexOf(idText(ended.run_id)) + 1];
  if (next !== undefined) return { next: int64In({ run_id: next }, "run_id") };
  // A deleted job, as that of a one-time run, has no retries.
  const settings = await jobSettings(reader, ended.job_id).catch((failure: unknown): JsonObject => {
    if (failure instanceof Refused) return {};
    throw failure;
  });
  const { max_retries: most, min_retry_interval_millis: interval } = settings;
  const retries = typeof most === "number" ? most : 0;
  const isLast = retries >= 0 && attempts.length > retries;
  if (isLast || (isTimedOut(ended) && settings.retry_on_timeout !== true)) return undefined;
  return { withinMs: typeof interval === "number" ? interval : 0 };
}

const resultOf = (run: JsonObject): string => String(objectIn(run.state).result_state);

/** Both spellings are seen. */
const isTimedOut = (run: JsonObject): boolean => /^TIMED_?OUT$/.test(resultOf(run));

/** Skipped and canceled runs are not retried. */
function isUnsuccessful(run: JsonObject): boolean {
  const isBroken = objectIn(run.state).life_cycle_state === "INTERNAL_ERROR";
  return isBroken || resultOf(run) === "FAILED" || isTimedOut(run);
}

/** Ids of the attempts that are known, the first one first. */
async function attemptsOf(reader: Reader, run: JsonObject): Promise<readonly string[]> {
  const first = idText(run.original_attempt_run_id ?? run.run_id);
  const runs = await newestRuns(reader, { job_id: run.job_id ?? null }, MOST_RUNS);
  return runs
    .filter((attempt) => idText(attempt.original_attempt_run_id) === first)
    .map((attempt) => idText(attempt.run_id))
    .reverse();
}

export async function jobSettings(reader: Reader, job_id: Json): Promise<JsonObject> {
  return objectIn((await reader.read("jobs/get", { job_id })).settings);
}
