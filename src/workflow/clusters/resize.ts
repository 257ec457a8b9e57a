// The size that `clusters resize` asks for, and what the spec said of it when it was last applied.

import { error, Failure } from "../../core/diagnostic.ts";
import { type JsonObject, objectIn } from "../../core/json.ts";
import type { StateRecord } from "../../state/model/record.ts";

export interface RequestedSize {
  readonly workers: number | undefined;
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** Throws Failure with CLI_USAGE. */
export function requestedSize({ workers, min, max }: RequestedSize): JsonObject {
  if (workers !== undefined && min === undefined && max === undefined) return { num_workers: workers };
  if (workers !== undefined)
    throw new Failure(error("CLI_USAGE", "--workers cannot be used together with --min and --max"));
  if (min === undefined || max === undefined)
    throw new Failure(
      error("CLI_USAGE", "no cluster size specified", { hint: "pass --workers N, or --min N and --max N" }),
    );
  if (min >= max) throw new Failure(error("CLI_USAGE", `--max (${max}) must be more than --min (${min})`));
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
