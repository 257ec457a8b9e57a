// The size that `clusters resize` asks for, and what the spec said of it when it was last applied.

import { integerOption } from "../../cli/command/option.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import type { JsonObject } from "../../core/json.ts";
import { sizeText } from "../../report/inspect/cluster-text.ts";
import type { StateRecord } from "../../state/model/record.ts";

export const SIZE_OPTIONS = {
  workers: integerOption("--workers <number>", "fixed number of workers", 0, 100_000),
  min: integerOption("--min <number>", "minimum number of workers; requires --max", 0, 100_000),
  max: integerOption("--max <number>", "maximum number of workers; requires --min", 1, 100_000),
} as const;

type Given = { readonly [Name in keyof typeof SIZE_OPTIONS]: number | undefined };

/** Throws Failure with CLI_USAGE. */
export function requestedSize({ workers, min, max }: Given): JsonObject {
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
  return sizeText(cluster) === sizeText(size);
}

/** What the next apply makes of the size, where the spec said another one. */
export function sizeAfterNextApply(record: StateRecord, size: JsonObject): string | undefined {
  const { num_workers, autoscale } = record.applied;
  if (num_workers === undefined && autoscale === undefined) return undefined;
  return hasSize(record.applied, size) ? undefined : sizeText(record.applied);
}
