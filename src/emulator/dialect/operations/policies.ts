// Cluster policies in force: what a policy gives to the clusters of requests, and the refusal of clusters that violate it.

import { isObject, type Json, type JsonObject, listIn, objectIn } from "../../../core/json.ts";
import { policyById } from "../../routes/admin/cluster-policies.ts";
import { invalidValue } from "../../world/errors.ts";
import type { World } from "../../world/world.ts";

type ClusterType = "all-purpose" | "job";

/** Attributes whose keys contain periods. */
const OPEN_MAPS = ["spark_conf", "spark_env_vars", "custom_tags"];
/** What a pool decides for its clusters. */
const OF_POOL = /^(node_type_id|driver_node_type_id|enable_elastic_disk|(azure|aws|gcp)_attributes\..*)$/;

/** A cluster of a request with the values of its policy. Throws INVALID_PARAMETER_VALUE for one that the policy does not allow. */
export function withPolicy(world: World, cluster: JsonObject, type: ClusterType): JsonObject {
  const { policy_id, apply_policy_default_values: applies } = cluster;
  // The ID of no policy is accepted, so that clusters of an imported world need none.
  const { definition = "{}" } = policyById(world, String(policy_id)) ?? {};
  const rules = Object.entries(objectIn(JSON.parse(String(definition)) as Json));
  let filled = cluster;
  for (const [attribute, rule] of rules.map(([name, value]) => [name, objectIn(value)] as const)) {
    const value = rule.type === "fixed" ? rule.value : applies === true ? rule.defaultValue : undefined;
    const isPlain = attribute !== "cluster_type" && !/(^|\.)(\*|\d+)(\.|$)/.test(attribute);
    if (value !== undefined && isPlain && valuesAt(filled, stepsOf(attribute)).length === 0)
      filled = withValue(filled, stepsOf(attribute), value);
  }
  const problems = rules.flatMap(([attribute, rule]) => violations(filled, type, attribute, objectIn(rule)));
  if (problems.length > 0) throw invalidValue(`Cluster validation error: ${problems.join("; ")}`);
  return filled;
}

/** The settings of a job whose clusters have the values of their policies. */
export function withPoliciesOfJob(world: World, settings: JsonObject): JsonObject {
  const inside = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(inside);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        name === "new_cluster" ? withPolicy(world, objectIn(member), "job") : inside(member),
      ]),
    );
  };
  return objectIn(inside(settings));
}

function stepsOf(attribute: string): readonly string[] {
  const map = OPEN_MAPS.find((name) => attribute.startsWith(`${name}.`));
  return map === undefined ? attribute.split(".") : [map, attribute.slice(map.length + 1)];
}

/** The values of an attribute; `*` stands for each element of a list. */
function valuesAt(value: Json | undefined, [step, ...rest]: readonly string[]): readonly Json[] {
  if (value === undefined || value === null) return [];
  if (step === undefined) return [value];
  if (Array.isArray(value)) {
    const elements = step === "*" ? value : value.slice(Number(step), Number(step) + 1);
    return elements.flatMap((element: Json) => valuesAt(element, rest));
  }
  return isObject(value) && Object.hasOwn(value, step) ? valuesAt(value[step], rest) : [];
}

function withValue(object: JsonObject, [step = "", ...rest]: readonly string[], value: Json): JsonObject {
  return { ...object, [step]: rest.length === 0 ? value : withValue(objectIn(object[step]), rest, value) };
}

function violations(
  cluster: JsonObject,
  type: ClusterType,
  attribute: string,
  rule: JsonObject,
): readonly string[] {
  const says = (problem: string): string => `Validation failed for ${attribute}, ${problem}`;
  if (attribute === "dbus_per_hour") return [];
  const values = attribute === "cluster_type" ? [type] : valuesAt(cluster, stepsOf(attribute));
  if (values.length > 0) return values.flatMap((value) => violation(rule, value).map(says));
  const isOpen = rule.type === "fixed" || rule.type === "forbidden" || rule.isOptional === true;
  const isOfPool = cluster.instance_pool_id !== undefined && OF_POOL.test(attribute);
  return isOpen || isOfPool || attribute.includes("*") ? [] : [says("the value must be present")];
}

function violation({ type, value, values, pattern, minValue, maxValue }: JsonObject, actual: Json): string[] {
  const text = String(actual);
  const wrong = (wanted: string): string[] => [`the value must be ${wanted} (is "${text}")`];
  const choices = listIn(values).map(String);
  if (type === "fixed") return text === String(value) ? [] : wrong(String(value));
  if (type === "forbidden") return ["the value must not be present"];
  if (type === "allowlist") return choices.includes(text) ? [] : wrong(`one of ${choices.join(", ")}`);
  if (type === "blocklist") return choices.includes(text) ? wrong(`none of ${choices.join(", ")}`) : [];
  if (type === "regex")
    return new RegExp(`^(?:${String(pattern)})$`).test(text) ? [] : wrong(`like ${String(pattern)}`);
  if (minValue !== undefined && Number(actual) < Number(minValue))
    return wrong(`at least ${Number(minValue)}`);
  if (maxValue !== undefined && Number(actual) > Number(maxValue))
    return wrong(`at most ${Number(maxValue)}`);
  return [];
}
