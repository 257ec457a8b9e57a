// Follows a run of a job to its end, and on through the attempts that the job makes after it, telling each new state once.

import type { Reader } from "../../api/contract/reader.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { duration } from "../../core/duration.ts";
import type { JsonObject } from "../../core/json.ts";
import { hasEnded } from "../../resource/service-status.ts";
import { nodeClock } from "../../state/backends/file/node-ports.ts";
import { findNextAttempt, type RunId } from "./next-attempt.ts";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** How much later than its job says another attempt may show. */
const PATIENCE_MS = 60_000;

export interface FollowRunInput {
  readonly run: RunId;
  readonly signal: AbortSignal;
  /** Timeout of the wait; the job run continues. */
  readonly timeoutMs: number | undefined;
  readonly patienceMs?: number;
}

export interface FollowedRun {
  /** The last attempt that was seen. */
  readonly id: RunId;
  /** That attempt as it ended; undefined when the signal came first. */
  readonly ended: JsonObject | undefined;
}

/** Receives what happens while a run is followed. */
export interface FollowRunObserver {
  /** The run at each poll, whether it changed or not. */
  polled(id: RunId, run: JsonObject): void;
  /** The run has ended, and its job will try again. */
  retryExpected(id: RunId, run: JsonObject): void;
  retried(next: RunId, id: RunId, run: JsonObject): void;
}

/** Throws Failure with API_TIMEOUT. */
export async function followRun(
  reader: Reader,
  following: FollowRunInput,
  observer: FollowRunObserver,
): Promise<FollowedRun> {
  const begun = performance.now();
  for (let id = following.run; ; ) {
    const one: Attempt = { id, reader, following, begun, observer };
    const ended = await endOf(one);
    const next = ended === undefined ? undefined : await nextOf(one, ended);
    if (next === undefined) return { id, ended };
    observer.retried(next, id, ended ?? {});
    id = next;
  }
}

interface Attempt {
  readonly id: RunId;
  readonly reader: Reader;
  readonly following: FollowRunInput;
  readonly begun: number;
  readonly observer: FollowRunObserver;
}

async function endOf(one: Attempt): Promise<JsonObject | undefined> {
  for (let round = 0; ; round++) {
    const found = await one.reader.read("jobs/runs/get", { run_id: one.id });
    if (hasEnded(found)) return found;
    one.observer.polled(one.id, found);
    if (!(await paused(one, round))) return undefined;
  }
}

/** The attempt that comes after one that has ended, once it is there. */
async function nextOf(one: Attempt, ended: JsonObject): Promise<RunId | undefined> {
  const { patienceMs = PATIENCE_MS } = one.following;
  const begun = performance.now();
  for (let round = 0; ; round++) {
    const outlook = await findNextAttempt(one.reader, ended);
    if (outlook === undefined || "next" in outlook) return outlook?.next;
    if (performance.now() - begun > outlook.withinMs + patienceMs) return undefined;
    if (round === 0) one.observer.retryExpected(one.id, ended);
    if (!(await paused(one, round))) return undefined;
  }
}

/** Waits longer each round; false once the signal came. */
async function paused({ id, begun, following }: Attempt, round: number): Promise<boolean> {
  const { signal, timeoutMs } = following;
  if (signal.aborted) return false;
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 1.5 ** round);
  const left = timeoutMs === undefined ? wait : timeoutMs - (performance.now() - begun);
  if (left <= 0) throw new Failure(tooLong(id, timeoutMs ?? 0));
  await nodeClock.sleep(Math.min(wait, left), signal);
  return true;
}

function tooLong(run: RunId, timeoutMs: number) {
  return error("API_TIMEOUT", `run ${run} has not ended after ${duration(timeoutMs)} and continues`, {
    hint: `to wait for it, run \`workspace runs get ${run} --wait\``,
  });
}
