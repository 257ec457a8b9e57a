// Values that Terraform treats as sensitive: at the paths that the converted attributes have, or in a name.

import type { Path } from "../../core/pointer.ts";

/** Blocks of a job whose attributes become attributes of the job itself. */
const MERGED = new Set<unknown>(["task", "job_cluster"]);
const RENAMED: Readonly<Record<string, string>> = { library: "libraries", is_pinned: "pinned" };
const NAMES = new Set<unknown>([
  "cluster_name",
  "display_name",
  "instance_pool_name",
  "key",
  "name",
  "path",
  "principal",
  "scope",
  "user_name",
]);

/** The paths in the attributes that are converted. */
export function convertedPaths(sensitive: readonly Path[]): readonly Path[] {
  return sensitive
    .map((path) => (MERGED.has(path[0]) ? path.slice(2) : path))
    .map(([first, ...rest]) =>
      typeof first === "string" && Object.hasOwn(RENAMED, first)
        ? [RENAMED[first] ?? first, ...rest]
        : [...(first === undefined ? [] : [first]), ...rest],
    );
}

/** Why an instance cannot be converted without a sensitive value; undefined if it can. */
export function sensitiveReason(sensitive: readonly Path[]): string | undefined {
  if (sensitive.some((path) => path.length === 1 && NAMES.has(path[0])))
    return "Terraform marks its name as sensitive";
  return sensitive.some((path) => path.length < 3 && (path.length === 0 || MERGED.has(path[0])))
    ? "Terraform marks its settings as sensitive"
    : undefined;
}
