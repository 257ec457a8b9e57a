// Waits until a cluster reaches a state, and reports each new state once; fails if the state can no longer be
// reached.

import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { duration } from "../../core/duration.ts";
import type { JsonObject } from "../../core/json.ts";
import { whyText } from "../../resource/service-status.ts";
import { nodeClock } from "../../state/backends/file/node-ports.ts";
import type { RecordedObject } from "../session/recorded-object.ts";

/** Longer than a cluster takes to come up where machines are scarce. */
export const DEADLINE_MS = 30 * 60_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

export interface ClusterWait {
  /** `run`, `be terminated`. */
  readonly what: string;
  readonly isThere: (cluster: JsonObject) => boolean;
  /** States that it can no longer come from. */
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
  const begun = performance.now();
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 1.5)) {
    const found = await clusterNow(of);
    if (on.isThere(found)) return found;
    on.polled(found);
    if (on.lost.includes(String(found.state))) throw new Failure(cannotCome(of, on, found));
    if (on.signal.aborted) return undefined;
    const left = on.timeoutMs - (performance.now() - begun);
    if (left <= 0) throw new Failure(tooLong(of, on, found));
    await nodeClock.sleep(Math.min(wait, left), on.signal);
  }
}

function cannotCome({ address }: RecordedObject, { what }: ClusterWait, found: JsonObject): Diagnostic {
  const cause = whyText(found);
  return error("CLI_NOT_REACHED", `${address} is ${String(found.state)} and will not ${what}`, {
    address,
    ...(cause === "" ? {} : { cause }),
    hint: `to see what happened, run \`workspace clusters events ${address}\``,
  });
}

function tooLong(
  { address }: RecordedObject,
  { what, timeoutMs }: ClusterWait,
  found: JsonObject,
): Diagnostic {
  return error(
    "API_TIMEOUT",
    `timed out after ${duration(timeoutMs)} waiting for ${address} to ${what}; it is ${String(found.state)}`,
    {
      address,
      hint: `to see what happens, run \`workspace clusters events ${address}\``,
    },
  );
}
