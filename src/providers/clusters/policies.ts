// Cluster policies as a plan needs them: clusters that violate a rule, and live values that a policy gave to a cluster.

import type { Reader } from "../../api/contract/reader.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { type Path, toDottedPath, valueAt } from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Objection, PlannedChange, PlannedWorkspace } from "../../resource/planning.ts";
import { clusterPolicies, policyInSpecForm } from "../admin/cluster-policies.ts";
import { liveIfPresent } from "../kit/responses.ts";

const KIND = clusterPolicies.kind;

/** The kinds whose objects decide whether a plan of these values is allowed. */
export const policyKinds = (values: Values): readonly string[] =>
  clustersIn(values).length > 0 ? [KIND] : [];

interface PolicedCluster {
  readonly path: Path;
  readonly cluster: JsonObject;
  readonly policy: string;
}

/** The clusters with a policy in a resource: the resource itself, or those of a job's tasks. */
function clustersIn(value: Json | undefined, path: Path = []): readonly PolicedCluster[] {
  if (Array.isArray(value)) return value.flatMap((item: Json, at) => clustersIn(item, [...path, at]));
  if (!isObject(value)) return [];
  const inside = Object.entries(value).flatMap(([name, member]) => clustersIn(member, [...path, name]));
  const { policy_id: policy } = value;
  return typeof policy === "string" ? [{ path, cluster: value, policy }, ...inside] : inside;
}

/** Maps whose keys may contain periods. */
const MAPS = new Set(["spark_conf", "spark_env_vars", "custom_tags"]);

/** The path of a rule; undefined for what is not a field of a cluster, or stands for several. */
function pathOf(key: string): Path | undefined {
  const [head = "", ...rest] = key.split(".");
  if (head === "cluster_type" || head === "dbus_per_hour" || rest.includes("*")) return undefined;
  if (MAPS.has(head)) return [head, key.slice(head.length + 1)];
  return [head, ...rest].map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

const isSet = (value: Json | undefined): value is Json => value !== undefined && value !== null;
const same = (a: Json | undefined, b: Json | undefined): boolean => String(a) === String(b);
const valuesOf = ({ values }: JsonObject): readonly Json[] => (Array.isArray(values) ? values : []);

/** The violation of a rule by a value, or undefined. An absent value gets that of the policy. */
function violation(rule: JsonObject, value: Json | undefined): string | undefined {
  const limits = rule.type === "allowlist" || rule.type === "regex" || rule.type === "range";
  if (!isSet(value))
    return limits && rule.isOptional !== true && rule.defaultValue === undefined ? "is required" : undefined;
  const text = String(value);
  switch (rule.type) {
    case "fixed":
      return same(value, rule.value) ? undefined : `must be ${JSON.stringify(rule.value ?? null)}`;
    case "forbidden":
      return "is forbidden";
    case "allowlist":
      return valuesOf(rule).some((allowed) => same(allowed, value))
        ? undefined
        : `must be ${valuesOf(rule).length === 1 ? "" : "one of "}${listed(valuesOf(rule).map(String), "or")}`;
    case "blocklist":
      return valuesOf(rule).some((blocked) => same(blocked, value)) ? `must not be ${text}` : undefined;
    case "regex":
      return matches(String(rule.pattern ?? ""), text) ? undefined : `must match ${String(rule.pattern)}`;
    case "range":
      if (isSet(rule.minValue) && Number(value) < Number(rule.minValue))
        return `must be at least ${String(rule.minValue)}`;
      if (isSet(rule.maxValue) && Number(value) > Number(rule.maxValue))
        return `must be at most ${String(rule.maxValue)}`;
      return undefined;
    default:
      return undefined;
  }
}

/** Whether a string matches. A pattern whose check could take long is left to the service. */
function matches(pattern: string, text: string): boolean {
  const isQuick =
    pattern.length <= 500 &&
    text.length <= 300 &&
    !/\)[*+{?]|\\\d|\(\?/.test(pattern) &&
    (pattern.match(/[*+{]/g) ?? []).length <= 3;
  if (!isQuick) return true;
  try {
    return new RegExp(`^(?:${pattern})$`).test(text);
  } catch {
    return true;
  }
}

/** The rules of a policy; those of a family are unknown, except for its overrides. */
const rulesOf = (policy: Values): JsonObject => ({
  ...objectIn(policy.definition),
  ...objectIn(policy.policy_family_definition_overrides),
});

/** The policy after the plan, by its ID, or by the reference to one that the plan creates. */
function policyAfter(workspace: PlannedWorkspace, policy: string): Values | undefined {
  const live = workspace.live(KIND).find(({ id }) => id === policy);
  if (live !== undefined) return workspace.valuesAfter(KIND, live);
  const address = /^\$\{(.+)\.policy_id\}$/.exec(policy)?.[1];
  return workspace.created(KIND).find((created) => created.address === address)?.values;
}

/** A guard for each rule that a cluster of the change violates. A value that is known only after the apply is not checked. */
export function policyObjections(
  { action, address, after, diffs }: PlannedChange,
  workspace: PlannedWorkspace,
): readonly Objection[] {
  if (action === "delete" || after === undefined || (action === "update" && diffs.length === 0)) return [];
  return clustersIn(after).flatMap(({ path, cluster, policy }) => {
    const values = policyAfter(workspace, policy);
    if (values === undefined) return [];
    return Object.entries(rulesOf(values)).flatMap(([key, rule]): readonly Objection[] => {
      const at = pathOf(key);
      const value = at === undefined ? undefined : valueAt(cluster, at);
      if (at === undefined || !isObject(rule) || String(value).includes("${")) return [];
      const problem = violation(rule, value);
      if (problem === undefined) return [];
      const field = toDottedPath([...path, ...at]);
      return [
        {
          code: "GUARD_CLUSTER_POLICY",
          message: `${address}: ${field} ${problem}, by the cluster policy ${String(values.name)}`,
          hint: "change the value, or the policy",
        },
      ];
    });
  });
}

/** The live object without values that its policy fixes or gives by default and the spec does not set. */
export async function withoutPolicyValues(
  api: Reader,
  live: LiveObject,
  desired: Values | undefined,
): Promise<LiveObject> {
  const { policy_id: id } = live.values;
  if (typeof id !== "string") return live;
  const policy = await liveIfPresent(
    () => api.read("policies/clusters/get", { policy_id: id }),
    policyInSpecForm,
  );
  let values: JsonObject = live.values;
  for (const [key, rule] of Object.entries(rulesOf(policy?.values ?? {}))) {
    const path = pathOf(key);
    if (path === undefined || path.length !== 2 || !MAPS.has(String(path[0])) || !isObject(rule)) continue;
    const policyValue = rule.type === "fixed" ? rule.value : rule.defaultValue;
    const isGiven = policyValue !== undefined && same(valueAt(values, path), policyValue);
    if (isGiven && valueAt(desired ?? {}, path) === undefined) values = withoutMember(values, path);
  }
  return values === live.values ? live : { ...live, values };
}

function withoutMember(values: JsonObject, [map = "", key]: Path): JsonObject {
  const { [String(key)]: _, ...others } = objectIn(values[map]);
  const { [map]: __, ...rest } = values;
  return Object.keys(others).length === 0 ? rest : { ...rest, [map]: others };
}
