// Follows a run of a job to its end, telling each new state once.

import type { JsonObject } from "../core/json.ts";
import { hasEnded, stateText } from "../report/run-text.ts";
import type { Connection } from "./connection.ts";
import { sleep } from "./connection.ts";
import type { Context } from "./context.ts";
import { numberId } from "./recorded.ts";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

/** The run as it ended. Rejects as its reads do; stops looking when the signal is given. */
export async function followRun(
  context: Context,
  connection: Connection,
  runId: string,
  signal: AbortSignal,
): Promise<JsonObject> {
  let told = "";
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 1.5)) {
    const run = await connection.reader.read("jobs/runs/get", { run_id: numberId(runId) });
    const now = stateText(run);
    if (now !== told) context.stderr.write(`run ${runId}: ${now}\n`);
    told = now;
    if (hasEnded(run) || signal.aborted) return run;
    await sleep(wait, signal);
  }
}
