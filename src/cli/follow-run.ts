// Follows a run of a job to its end, telling each new state once.

import { error, Failure } from "../core/diagnostic.ts";
import type { JsonObject } from "../core/json.ts";
import { hasEnded, stateText } from "../report/run-text.ts";
import { duration } from "../report/words.ts";
import type { Connection } from "./connection.ts";
import { sleep } from "./connection.ts";
import type { Context } from "./context.ts";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

export interface Following {
  readonly run: number | bigint;
  readonly signal: AbortSignal;
  /** Give up after this time; the run goes on. */
  readonly timeoutMs: number | undefined;
}

/** The run as it ended; undefined when the signal came first. Throws Failure with API_TIMEOUT. */
export async function followRun(
  context: Context,
  { reader }: Connection,
  { run, signal, timeoutMs }: Following,
): Promise<JsonObject | undefined> {
  const begun = performance.now();
  let told = "";
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 1.5)) {
    const found = await reader.read("jobs/runs/get", { run_id: run });
    if (hasEnded(found)) return found;
    const now = stateText(found);
    if (now !== told) context.stderr.write(`run ${run}: ${now}\n`);
    told = now;
    if (signal.aborted) return undefined;
    const left = timeoutMs === undefined ? wait : timeoutMs - (performance.now() - begun);
    if (left <= 0) throw new Failure(tooLong(run, timeoutMs ?? 0));
    await sleep(Math.min(wait, left), signal);
  }
}

function tooLong(run: number | bigint, timeoutMs: number) {
  return error("API_TIMEOUT", `run ${run} has not ended after ${duration(timeoutMs)}; it goes on`, {
    hint: `follow it with: workspace runs get ${run} --wait`,
  });
}
