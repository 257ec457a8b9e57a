// Whether a run of a job is tried again, and by which run (contract B 2.2 and contract B 2.3).

import type { Reader } from "../../api/contract/reader.ts";
import { type JsonObject, objectIn } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import { idText } from "../../resource/service-status.ts";
import { newestRuns } from "../session/paging.ts";
import { numberId } from "../session/recorded-object.ts";

export type RunId = number | bigint;

/** The next attempt, or how long the job waits before it makes one; undefined where there is to be none. */
export type NextAttempt = { readonly next: RunId } | { readonly withinMs: number } | undefined;

/** Of a job that runs very often, an attempt may lie behind more runs than these; then it is not found. */
const MOST_RUNS = 200;

export async function findNextAttempt(reader: Reader, ended: JsonObject): Promise<NextAttempt> {
  if (!isUnsuccessful(ended) || ended.job_id === undefined) return undefined;
  const attempts = await attemptsOf(reader, ended);
  const next = attempts[attempts.indexOf(idText(ended.run_id)) + 1];
  if (next !== undefined) return { next: numberId(next) };
  const settings = await settingsOf(reader, ended);
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
    .filter((one) => idText(one.original_attempt_run_id) === first)
    .map((one) => idText(one.run_id))
    .reverse();
}

/** A deleted job, as that of a one-time run, has no retries. */
async function settingsOf(reader: Reader, { job_id = null }: JsonObject): Promise<JsonObject> {
  try {
    return objectIn((await reader.read("jobs/get", { job_id })).settings);
  } catch (failure) {
    if (failure instanceof Refused) return {};
    throw failure;
  }
}
