// Waits until a cluster reaches a state or a size, and fails if it cannot reach it.

import { type Failure, failureOf } from "../../core/diagnostic.ts";
import { duration } from "../../core/duration.ts";
import { type JsonObject, objectIn } from "../../core/json.ts";
import { shellWord } from "../../core/sentences.ts";
import { whyText } from "../../resource/service-status.ts";
import { nodeClock } from "../../state/backends/file/node-ports.ts";
import type { StateRecord } from "../../state/model/record.ts";
import type { RecordedObject } from "./recorded-object.ts";

/** Longer than a cluster takes to start when machines are scarce. */
export const DEADLINE_MS = 30 * 60_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

export interface ClusterWait {
  /** `run`, `be terminated`. */
  readonly what: string;
  readonly isThere: (cluster: JsonObject) => boolean;
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
  const begun = performance.now();
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 1.5)) {
    const found = await clusterNow(of);
    if (on.isThere(found)) return found;
    on.polled(found);
    if (on.lost.includes(String(found.state))) throw cannotCome(of, on, found);
    if (on.signal.aborted) return undefined;
    const left = on.timeoutMs - (performance.now() - begun);
    if (left <= 0) throw tooLong(of, on, found);
    await nodeClock.sleep(Math.min(wait, left), on.signal);
  }
}

function cannotCome({ address }: RecordedObject, { what }: ClusterWait, found: JsonObject): Failure {
  const cause = whyText(found);
  return failureOf("CLI_NOT_REACHED", `${address} is ${String(found.state)} and will not ${what}`, {
    address,
    ...(cause === "" ? {} : { cause }),
    hint: `to see what happened, run \`workspace clusters events ${shellWord(address)}\``,
  });
}

function tooLong({ address }: RecordedObject, { what, timeoutMs }: ClusterWait, found: JsonObject): Failure {
  return failureOf(
    "API_TIMEOUT",
    `timed out after ${duration(timeoutMs)} waiting for ${address} to ${what}; it is ${String(found.state)}`,
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
  return hasSize(applied, size) ? undefined : applied;
}
