// The task of a job or a run: exactly one task, on exactly one cluster, with libraries (contract B 2.2).

import { defined, type JsonObject, pick } from "../../../core/json.ts";
import { ApiError, invalidValue } from "../../world/errors.ts";
import { CLUSTERS } from "../../world/limits.ts";
import { extraOf, type World } from "../../world/world.ts";
import { clusterOr400 } from "../clusters/cluster.ts";
import { type GivenCluster, type ReadCluster, readCluster } from "../clusters/settings.ts";

const TASKS = ["notebook_task", "spark_jar_task", "spark_python_task", "spark_submit_task"] as const;
export type TaskKind = (typeof TASKS)[number];

/** Types were checked with openapi.yaml. */
export interface GivenTask {
  readonly existing_cluster_id?: string;
  readonly new_cluster?: GivenCluster;
  readonly notebook_task?: JsonObject;
  readonly spark_jar_task?: JsonObject;
  readonly spark_python_task?: JsonObject;
  readonly spark_submit_task?: JsonObject;
  readonly libraries?: readonly JsonObject[];
}

/** The same with what is unknown left out, tags as a list and configuration as text. */
export interface ReadTask {
  readonly cluster:
    | { readonly existing_cluster_id: string }
    | { readonly new_cluster: JsonObject }
    | Readonly<Record<string, never>>;
  readonly task: JsonObject;
  readonly libraries?: readonly JsonObject[];
}

/** Throws INVALID_PARAMETER_VALUE, or what `clusters/get` would for the existing cluster. */
export function readTask(world: World, givenTask: GivenTask): ReadTask {
  if (isUnmodeled(givenTask)) return { cluster: {}, task: {} };
  const [kind, ...others] = TASKS.filter((name) => givenTask[name] !== undefined);
  if (kind === undefined) throw invalidValue(`One of ${TASKS.join(", ")} must be specified.`);
  if (others.length > 0)
    throw invalidValue(`Only one task may be specified. Found: ${[kind, ...others].join(", ")}.`);
  const cluster = readClusterChoice(world, givenTask);
  const libraries = givenTask.libraries?.map(readLibrary);
  if (kind === "spark_submit_task") checkSubmit(givenTask);
  return {
    cluster,
    task: { [kind]: readFields(kind, givenTask[kind] ?? {}) },
    ...defined({ libraries }),
  };
}

/** Tasks of a dialect that are none of the four, or several: kept, and run without a cluster. */
function isUnmodeled(givenTask: GivenTask): boolean {
  return (
    extraOf(givenTask).extra?.tasks !== undefined && TASKS.every((name) => givenTask[name] === undefined)
  );
}

export function taskKind(task: JsonObject): TaskKind {
  return TASKS.find((name) => task[name] !== undefined) ?? "notebook_task";
}

function readClusterChoice(world: World, givenTask: GivenTask): ReadTask["cluster"] {
  const { existing_cluster_id, new_cluster } = givenTask;
  if (existing_cluster_id === undefined && new_cluster === undefined)
    throw invalidValue("Either new_cluster or existing_cluster_id must be specified.");
  if (existing_cluster_id === undefined) return { new_cluster: readNewCluster(world, new_cluster) };
  if (new_cluster !== undefined)
    throw invalidValue("Only one of new_cluster and existing_cluster_id may be specified.");
  clusterOr400(world, existing_cluster_id);
  return { existing_cluster_id };
}

/** The description with only what was given: defaults are the cluster's, when it is made. */
function readNewCluster(world: World, givenCluster: GivenCluster | undefined): JsonObject {
  if (givenCluster === undefined) return {};
  const { attributes, size } = readJobCluster(world, givenCluster);
  const fields = { ...attributes, ...size } as unknown as JsonObject;
  const set = Object.entries(fields).filter(
    ([name]) => name === "extra" || Object.hasOwn(givenCluster, name),
  );
  return Object.fromEntries(set);
}

/** Throws INVALID_PARAMETER_VALUE in the words of the jobs service. */
export function readJobCluster(world: World, givenCluster: GivenCluster): ReadCluster {
  try {
    return readCluster(world, givenCluster, CLUSTERS.custom_tags_in_job);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const message = error.message.replace(
      /^Missing required field: /,
      "Missing required field: settings.cluster_spec.new_cluster.",
    );
    throw invalidValue(`Cluster validation error: ${message}`);
  }
}

const FIELDS: Readonly<Record<TaskKind, readonly string[]>> = {
  notebook_task: ["notebook_path", "base_parameters"],
  spark_jar_task: ["main_class_name", "jar_uri", "parameters"],
  spark_python_task: ["python_file", "parameters"],
  spark_submit_task: ["parameters"],
};

function readFields(kind: TaskKind, task: JsonObject): JsonObject {
  const path = task.notebook_path;
  if (kind === "notebook_task" && !String(path).startsWith("/"))
    throw invalidValue(`notebook_path must be absolute and begin with a slash. Found: ${path}.`);
  return pick(task, FIELDS[kind]);
}

/** A submit task has its own libraries, configuration, and cluster (facts 4.8). */
function checkSubmit({ existing_cluster_id, new_cluster, libraries = [] }: GivenTask): void {
  if (existing_cluster_id !== undefined)
    throw invalidValue("A spark_submit_task runs on a new_cluster only.");
  if (libraries.length > 0) throw invalidValue("libraries cannot be given with a spark_submit_task.");
  if (Object.keys(new_cluster?.spark_conf ?? {}).length > 0)
    throw invalidValue("spark_conf cannot be given with a spark_submit_task.");
}

const LIBRARY_FIELDS: Readonly<Record<string, readonly string[]>> = {
  jar: [],
  egg: [],
  whl: [],
  pypi: ["package", "repo"],
  maven: ["coordinates", "repo", "exclusions"],
  cran: ["package", "repo"],
};

function readLibrary(library: JsonObject): JsonObject {
  const kinds = Object.keys(LIBRARY_FIELDS).filter((name) => library[name] !== undefined);
  const [kind, ...others] = kinds;
  if (kind === undefined || others.length > 0)
    throw invalidValue(
      `A library must be exactly one of ${Object.keys(LIBRARY_FIELDS).join(", ")}. Found: ${kinds.join(", ") || "none"}.`,
    );
  const value = library[kind] ?? null;
  if (value === null || typeof value !== "object") return { [kind]: value };
  const fields = LIBRARY_FIELDS[kind] ?? [];
  return { [kind]: Object.fromEntries(Object.entries(value).filter(([name]) => fields.includes(name))) };
}
