// Single-node clusters in the Databricks dialect: no workers, and three settings that run Spark on the driver.

import { isObject, type Json } from "../../core/json.ts";
import { listed } from "../../core/sentences.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Problem } from "../../resource/planning.ts";

const PROFILE = "spark.databricks.cluster.profile";
const MASTER = "spark.master";
const CLASS = "ResourceClass";

/** The service accepts clusters without these settings, and a policy may set them, so their absence is a warning. */
export function singleNodeProblems(values: Values, under: readonly string[] = []): readonly Problem[] {
  const { num_workers: workers, autoscale, policy_id: policy, spark_conf: conf, custom_tags: tags } = values;
  const profile = isObject(conf) ? conf[PROFILE] : undefined;
  if (autoscale !== undefined || (typeof workers === "number" && workers > 0))
    return profile === "singleNode" ? [withWorkers([...under, autoscale ? "autoscale" : "num_workers"])] : [];
  if (workers !== 0 || policy !== undefined) return [];
  const missing = [
    ...(isSet(profile, /^singleNode$/) ? [] : [`spark_conf ${PROFILE}: singleNode`]),
    ...(isSet(isObject(conf) ? conf[MASTER] : undefined, /^local/)
      ? []
      : [`spark_conf ${MASTER}: "local[*]"`]),
    ...(isSet(isObject(tags) ? tags[CLASS] : undefined, /^SingleNode$/)
      ? []
      : [`custom_tags ${CLASS}: SingleNode`]),
  ];
  if (missing.length === 0) return [];
  return [
    {
      severity: "warning",
      path: [...under, "num_workers"],
      code: "SPEC_COMBINATION",
      message: "num_workers is 0 without the settings of a single-node cluster",
      hint: `set ${listed(missing)}; or set num_workers to 1 or more`,
    },
  ];
}

/** Whether a value matches, or is a reference that may. */
const isSet = (value: Json | undefined, pattern: RegExp): boolean =>
  typeof value === "string" && (pattern.test(value) || value.includes("${"));

const withWorkers = (path: readonly string[]): Problem => ({
  path,
  code: "SPEC_COMBINATION",
  message: `${PROFILE}: singleNode cannot be used with workers`,
  hint: "set num_workers: 0, or remove the settings of a single node",
});
