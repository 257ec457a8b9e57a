// Checks cluster attributes beyond the schema: combinations of fields, values that a pool decides, and single nodes.

import { isObject, type Json, objectIn } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Problem } from "../../resource/planning.ts";
import { problem } from "../kit/problems.ts";
import { OWN_IN_POOL } from "./fields.ts";

export function clusterProblems(values: Values, under: readonly string[] = []): readonly Problem[] {
  return [
    ...sizeProblems(values, under),
    ...nodeProblems(values, under),
    ...terminationProblems(values, under),
    ...scriptProblems(values, under),
    ...inheritedProblems(values, under),
    ...kindProblems(values, under),
  ];
}

function sizeProblems(values: Values, under: readonly string[]): readonly Problem[] {
  const { num_workers: workers, autoscale, is_single_node: isSingle } = values;
  if (isSingle === true) return singleSizeProblems(values, under);
  // A policy may set the size, which a plan checks.
  if (workers === undefined && autoscale === undefined && values.policy_id !== undefined) return [];
  if (workers === undefined && autoscale === undefined)
    return [
      combination(under, "num_workers or autoscale is required", "to run only a driver, set num_workers: 0"),
    ];
  if (workers !== undefined && autoscale !== undefined)
    return [combination([...under, "num_workers"], "num_workers and autoscale cannot be used together")];
  if (!isObject(autoscale)) return [];
  const { min_workers: min, max_workers: max } = autoscale;
  if (typeof min !== "number" || typeof max !== "number" || max > min) return [];
  const message = `max_workers (${max}) must be more than min_workers (${min})`;
  return [combination([...under, "autoscale", "max_workers"], message)];
}

function singleSizeProblems({ num_workers: workers, autoscale }: Values, under: readonly string[]) {
  const sized = autoscale !== undefined ? "autoscale" : "num_workers";
  if (autoscale === undefined && (workers === undefined || workers === 0)) return [];
  const hint = `remove ${sized}, or set is_single_node: false`;
  return [combination([...under, sized], `a cluster with is_single_node has no ${sized}`, hint)];
}

/** Settings of the preview that the service refuses without its name. */
function kindProblems(values: Values, under: readonly string[]): readonly Problem[] {
  const field = ["is_single_node", "use_ml_runtime"].find((name) => values[name] === true);
  if (field === undefined || values.kind !== undefined) return [];
  return [combination([...under, field], `${field} requires kind`, "set kind: CLASSIC_PREVIEW")];
}

function nodeProblems(values: Values, under: readonly string[]): readonly Problem[] {
  const { node_type_id: node, instance_pool_id: pool, policy_id: policy } = values;
  if (node !== undefined || pool !== undefined || policy !== undefined) return [];
  const message = "node_type_id or instance_pool_id is required";
  return [problem("SPEC_MISSING_FIELD", under, message)];
}

function terminationProblems(values: Values, under: readonly string[]): readonly Problem[] {
  const minutes = values.autotermination_minutes;
  if (typeof minutes !== "number" || minutes === 0 || minutes >= 10) return [];
  const message = `autotermination_minutes is ${minutes}; the allowed values are 0 (never) and 10 to 10000`;
  return [problem("SPEC_VALUE", [...under, "autotermination_minutes"], message)];
}

function scriptProblems(values: Values, under: readonly string[]): readonly Problem[] {
  const scripts = Array.isArray(values.init_scripts) ? values.init_scripts : [];
  return scripts.flatMap((script: Json, at): Problem[] =>
    isObject(script) && Object.keys(script).length !== 1
      ? [combination([...under, "init_scripts", at], "an init script has one location, and only one")]
      : [],
  );
}

/** A pool decides these for its members, and a service may refuse them next to a pool (facts 4.2), so they are never sent. */
const INHERITED = {
  node_type_id: "node_type_id",
  driver_node_type_id: "node_type_id",
  enable_elastic_disk: "enable_elastic_disk",
  azure_attributes: "azure_attributes",
  aws_attributes: "aws_attributes",
  gcp_attributes: "gcp_attributes",
} as const;

function inheritedProblems(values: Values, under: readonly string[]): readonly Problem[] {
  if (values.instance_pool_id === undefined) return [];
  return Object.entries(INHERITED).flatMap(([field, ofPool]): Problem[] =>
    decidedByPool(field, values[field]).map((inside) => {
      const path = [...under, ...inside];
      const [name] = inside.slice(-1);
      const hint = `remove ${name}, or set ${ofPool === name ? "it" : ofPool} on the pool`;
      const problem = combination(path, `${path.join(".")} has no effect next to instance_pool_id`, hint);
      return { severity: "warning", ...problem };
    }),
  );
}

function decidedByPool(field: string, value: Json | undefined): readonly (readonly string[])[] {
  if (value === undefined) return [];
  if (!isObject(value) || value[OWN_IN_POOL] === undefined) return [[field]];
  return Object.keys(value).flatMap((name) => (name === OWN_IN_POOL ? [] : [[field, name]]));
}

const combination = (path: Path, message: string, hint?: string): Problem =>
  problem("SPEC_COMBINATION", path, message, hint);

/** The settings that run Spark on the driver: the value of each as a pattern, and as a spec writes it. */
const SINGLE_NODE = [
  ["spark_conf", "spark.databricks.cluster.profile", /^singleNode$/, "singleNode"],
  ["spark_conf", "spark.master", /^local/, '"local[*]"'],
  ["custom_tags", "ResourceClass", /^SingleNode$/, "SingleNode"],
] as const;
const [[, PROFILE]] = SINGLE_NODE;

/** The service accepts clusters without workers and without these settings, and a policy may set them, so their absence is a warning. */
export function singleNodeProblems(values: Values, under: readonly string[] = []): readonly Problem[] {
  const { num_workers: workers, autoscale, policy_id: policy } = values;
  if (autoscale !== undefined || (typeof workers === "number" && workers > 0)) {
    if (objectIn(values.spark_conf)[PROFILE] !== "singleNode") return [];
    const message = `${PROFILE}: singleNode cannot be used with workers`;
    const hint = "set num_workers: 0, or remove the settings of a single node";
    return [combination([...under, autoscale ? "autoscale" : "num_workers"], message, hint)];
  }
  if (workers !== 0 || policy !== undefined) return [];
  const missing = SINGLE_NODE.filter(
    ([field, key, pattern]) => !isSet(objectIn(values[field])[key], pattern),
  );
  if (missing.length === 0) return [];
  const message = "num_workers is 0 without the settings of a single-node cluster";
  const settings = missing.map(([field, key, , value]) => `${field} ${key}: ${value}`);
  const hint = `set ${listed(settings)}; or set num_workers to 1 or more`;
  return [{ severity: "warning", ...combination([...under, "num_workers"], message, hint) }];
}

/** Whether a value matches, or is a reference that may. */
const isSet = (value: Json | undefined, pattern: RegExp): boolean =>
  typeof value === "string" && (pattern.test(value) || value.includes("${"));
