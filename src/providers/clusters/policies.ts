// Cluster policies as a plan needs them: clusters that violate a rule, and live values that a policy gave to a cluster.

import type { Reader } from "../../api/contract/reader.ts";
import { usedIds } from "../../api/contract/used-ids.ts";
import { kindOf, remoteId } from "../../core/address.ts";
import { isObject, type Json, type JsonObject, listIn, membersWhere, objectIn } from "../../core/json.ts";
import { type Path, toDottedPath, valueAt, withValueAt } from "../../core/pointer.ts";
import { hasDigest } from "../../core/sensitive/digests.ts";
import { SENSITIVE_TEXT } from "../../core/sensitive/texts.ts";
import { listed } from "../../core/sentences.ts";
import { schemaAt, type Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { DetailsContext, PlannedFrom } from "../../resource/operations.ts";
import type { Objection, PlannedChange, PlannedWorkspace } from "../../resource/planning.ts";
import { clusterPolicies, policyInSpecForm } from "../admin/cluster-policies.ts";
import { notCompared } from "../kit/problems.ts";
import { objectsIn } from "../kit/responses.ts";
import { clusterFields, withoutInherited } from "./fields.ts";

const KIND = clusterPolicies.kind;

/** The kinds whose objects decide whether a plan of these values is allowed. */
export const policyKinds = (values: Values): readonly string[] => (hasPolicy(values) ? [KIND] : []);

interface PolicedCluster {
  readonly path: Path;
  readonly cluster: JsonObject;
  readonly policy: string;
}

/** Most values have no cluster with a policy, and a search needs no paths. */
function hasPolicy(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasPolicy);
  if (!isObject(value)) return false;
  if (typeof value.policy_id === "string") return true;
  for (const name in value) if (hasPolicy(value[name])) return true;
  return false;
}

/** The clusters with a policy in a resource: the resource itself, or those of a job's tasks. */
function clustersIn(value: Json | undefined, path: Path = []): readonly PolicedCluster[] {
  if (!hasPolicy(value)) return [];
  const found: PolicedCluster[] = [];
  const enter = (key: string | number, member: Json): void => {
    if (typeof member === "object" && member !== null) found.push(...clustersIn(member, [...path, key]));
  };
  if (Array.isArray(value)) for (const [at, item] of value.entries()) enter(at, item as Json);
  if (!isObject(value)) return found;
  if (typeof value.policy_id === "string") found.push({ path, cluster: value, policy: value.policy_id });
  for (const [name, member] of Object.entries(value)) enter(name, member);
  return found;
}

/** Maps whose keys may contain periods. */
const MAPS = new Set(["spark_conf", "spark_env_vars", "custom_tags"]);

/** The path of a rule in a cluster, with `*` for each element of a list; undefined for what is not a field of a cluster. */
function pathOf(key: string): Path | undefined {
  const [head = "", ...rest] = key.split(".");
  if (head === CLUSTER_TYPE || head === "dbus_per_hour") return undefined;
  if (MAPS.has(head)) return [head, key.slice(head.length + 1)];
  return [head, ...rest].map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

const CLUSTER_TYPE = "cluster_type";
const isOfElements = (path: Path): boolean => !MAPS.has(String(path[0])) && path.includes("*");

/** The paths that a rule is about: those of the elements of a list that have no rule of their own. */
function pathsIn(cluster: JsonObject, path: Path, rules: JsonObject): readonly Path[] {
  const at = isOfElements(path) ? path.indexOf("*") : -1;
  if (at < 0) return [path];
  const [before, after] = [path.slice(0, at), path.slice(at + 1)];
  return listIn(valueAt(cluster, before)).flatMap((_, index) => {
    const own = [...before, index, ...after];
    return rules[own.join(".")] === undefined ? pathsIn(cluster, own, rules) : [];
  });
}

const isSet = (value: Json | undefined): value is Json => value !== undefined && value !== null;
const same = (a: Json | undefined, b: Json | undefined): boolean => String(a) === String(b);
const valuesOf = ({ values }: JsonObject): readonly Json[] => (Array.isArray(values) ? values : []);

/** The violation of a rule by a value, or undefined. `isHidden`: a value of the rule, or the value itself, is sensitive. */
function violation(rule: JsonObject, value: Json, isHidden = false): string | undefined {
  const text = String(value);
  const shown = (limit: string): string => (isHidden ? SENSITIVE_TEXT : limit);
  switch (rule.type) {
    case "fixed":
      return same(value, rule.value) ? undefined : `must be ${shown(JSON.stringify(rule.value ?? null))}`;
    case "forbidden":
      return "is forbidden";
    case "allowlist": {
      const allowed = valuesOf(rule);
      if (allowed.some((other) => same(other, value))) return undefined;
      return `must be ${allowed.length === 1 ? "" : "one of "}${shown(listed(allowed.map(String), "or"))}`;
    }
    case "blocklist":
      return valuesOf(rule).some((blocked) => same(blocked, value))
        ? `must not be ${shown(text)}`
        : undefined;
    case "regex":
      return matches(String(rule.pattern ?? ""), text)
        ? undefined
        : `must match ${shown(String(rule.pattern))}`;
    case "range":
      if (isSet(rule.minValue) && Number(value) < Number(rule.minValue))
        return `must be at least ${shown(String(rule.minValue))}`;
      if (isSet(rule.maxValue) && Number(value) > Number(rule.maxValue))
        return `must be at most ${shown(String(rule.maxValue))}`;
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

const DEFINITIONS = ["definition", "policy_family_definition_overrides"];

/** The rules of a policy; those of a family are unknown, except for its overrides. */
const rulesOf = (policy: Values): JsonObject =>
  Object.assign({}, ...DEFINITIONS.map((field) => objectIn(policy[field])));

/** The policy after the plan, by its ID, or by the reference to one that the plan creates. `isHidden`: whether a rule has a sensitive value. */
function policyAfter(workspace: PlannedWorkspace, policy: string) {
  const live = workspace.live(KIND).find(({ id }) => id === policy);
  const address = /^\$\{(.+)\.policy_id\}$/.exec(policy)?.[1];
  const object = live ?? workspace.created(KIND).find((created) => created.address === address);
  const values = live === undefined ? object?.values : workspace.valuesAfter(KIND, live);
  if (object === undefined || values === undefined) return undefined;
  const isHidden = (key: string): boolean =>
    DEFINITIONS.some((field) => workspace.isSensitive(KIND, object, [field, key]));
  return { values, isHidden };
}

/** What a pool decides for its clusters, which therefore need not set it. */
const OF_POOL = new Set([
  "node_type_id",
  "driver_node_type_id",
  "enable_elastic_disk",
  "azure_attributes",
  "aws_attributes",
  "gcp_attributes",
]);

/** Whether a cluster may leave the field of a rule out. A default applies only to clusters that ask for defaults. */
function mayLackValue(rule: JsonObject, path: Path, cluster: JsonObject): boolean {
  if (rule.type === "fixed" || rule.type === "forbidden" || rule.isOptional === true) return true;
  if (rule.defaultValue !== undefined && cluster.apply_policy_default_values === true) return true;
  return isOfElements(path) || (cluster.instance_pool_id !== undefined && OF_POOL.has(String(path[0])));
}

/** What a cluster violates, or undefined if a hidden value takes part: comparing it would test a guess. */
type Violation = readonly [at: Path, problem: string | undefined];

/** `isHidden`: whether the rule with a key, or the field at a path of the cluster, has a sensitive value. */
function violationsIn(
  cluster: JsonObject,
  rules: JsonObject,
  isHidden: (key: string, at: Path) => boolean,
): readonly Violation[] {
  return Object.entries(rules).flatMap(([key, rule]): readonly Violation[] => {
    const path = pathOf(key);
    if (path === undefined || !isObject(rule)) return [];
    return pathsIn(cluster, path, rules).flatMap((at): readonly Violation[] => {
      const value = valueAt(cluster, at);
      if (hasDigest(rule) || hasDigest(value)) return [[at, undefined]];
      const isShown = !isHidden(key, at);
      if (!isSet(value)) return mayLackValue(rule, path, cluster) ? [] : [[at, requirement(rule, isShown)]];
      const problem = String(value).includes("${") ? undefined : violation(rule, value, !isShown);
      return problem === undefined ? [] : [[at, problem]];
    });
  });
}

const requirement = ({ defaultValue }: JsonObject, isShown: boolean): string =>
  defaultValue === undefined
    ? "is required"
    : `is required (the default ${isShown ? String(defaultValue) : SENSITIVE_TEXT} needs apply_policy_default_values: true)`;

/** A size or machine type that neither the cluster nor its policy sets. */
function missingIn(cluster: JsonObject, rules: JsonObject): readonly string[] {
  const applies = cluster.apply_policy_default_values === true;
  const gives = (field: string): boolean =>
    isSet(cluster[field]) ||
    Object.entries(rules).some(([key, value]) => {
      const { type, defaultValue } = objectIn(value);
      const isOf = key === field || key.startsWith(`${field}.`);
      return isOf && (type === "fixed" || hasDigest(type) || (applies && defaultValue !== undefined));
    });
  const hasSize = gives("num_workers") || gives("autoscale") || cluster.is_single_node === true;
  const hasNodes = gives("node_type_id") || gives("instance_pool_id");
  return [
    ...(hasSize ? [] : ["num_workers or autoscale"]),
    ...(hasNodes ? [] : ["node_type_id or instance_pool_id"]),
  ];
}

/** A guard for each rule that a cluster of the change violates. A value that is known only after the apply is not checked. */
export function policyObjections(
  { action, address, after, diffs }: PlannedChange,
  workspace: PlannedWorkspace,
): readonly Objection[] {
  if (action === "delete" || after === undefined || (action === "update" && diffs.length === 0)) return [];
  return clustersIn(after).flatMap(({ path, cluster, policy }) => {
    const policed = policyAfter(workspace, policy);
    if (policed === undefined) return [];
    const { values } = policed;
    const rules = rulesOf(values);
    const isHidden = (key: string, at: Path): boolean =>
      policed.isHidden(key) || workspace.isSensitive(kindOf(address), { address }, [...path, ...at]);
    const violations = violationsIn(cluster, rules, isHidden);
    const unchecked = violations.filter(([, problem]) => problem === undefined);
    const by = `by the cluster policy ${String(values.name)}`;
    const objection = (message: string, hint: string): Objection => ({
      code: "GUARD_CLUSTER_POLICY",
      message: `${address}: ${message}`,
      hint,
    });
    const type = objectIn(rules[CLUSTER_TYPE]);
    const own = path.length === 0 ? "all-purpose" : "job";
    const wrongType =
      type.type === undefined || hasDigest(type)
        ? undefined
        : violation(type, own, policed.isHidden(CLUSTER_TYPE));
    // The rules of a family are unknown.
    const missing = values.policy_family_id === undefined ? missingIn(cluster, rules) : [];
    return [
      ...(wrongType === undefined
        ? []
        : [objection(`${CLUSTER_TYPE} ${wrongType}, ${by}`, `use a policy for ${own} clusters`)]),
      ...missing.map((fields) =>
        objection(
          `${toDottedPath(path)}${path.length === 0 ? "" : " "}needs ${fields}, which its cluster policy does not set`,
          `set ${fields}`,
        ),
      ),
      ...violations.flatMap(([at, problem]) =>
        problem === undefined
          ? []
          : objection(
              `${toDottedPath([...path, ...at])} ${problem}, ${by}`,
              "change the value, or the policy",
            ),
      ),
      ...(unchecked.length === 0
        ? []
        : [
            notCompared(
              address,
              unchecked.map(([at]) => toDottedPath([...path, ...at])),
              `with the cluster policy ${String(values.name)}`,
            ),
          ]),
    ];
  });
}

const FIELDS = clusterFields({ mostTags: 0 });

/** Whether an absent value counts as none: not for fields that every spec sets, and those that the service decides, whose values are recorded. */
function isPlain(path: Path): boolean {
  const [head] = path;
  return (
    head !== "spark_version" &&
    !path.some((_, at) => schemaAt(FIELDS, path.slice(0, at + 1)).serverDefault === true)
  );
}

/** Whether the policy gives the field of a rule its value at each edit, if the declared cluster leaves it out. */
function isGiven({ at, depth, rule }: PlacedRule, declared: Values | undefined): boolean {
  const cluster = objectIn(valueAt(declared ?? {}, at.slice(0, depth)));
  return (
    rule.type === "fixed" || (rule.defaultValue !== undefined && cluster.apply_policy_default_values === true)
  );
}

/**
 * The live object without values that the policies of its clusters give and the spec does not set. Another value than that of the policy
 * is from before the policy changed, and stays until the next edit. The object still uses what such values name: its facts have the IDs.
 */
export async function withoutPolicyValues(
  api: Reader,
  live: LiveObject,
  desired: Values | undefined,
  { plannedFrom }: DetailsContext = {},
): Promise<LiveObject> {
  const clusters = clustersIn(live.values);
  if (clusters.length === 0 || live.unmanageable !== undefined) return live;
  const policies = await policiesOf(api, clusters, plannedFrom);
  let values: JsonObject = live.values;
  for (const placed of simpleRules(clusters, policies)) {
    const { at, depth, rule } = placed;
    const value = valueAt(values, at);
    if (!isPlain(at.slice(depth)) || valueAt(desired ?? {}, at) !== undefined || value === undefined)
      continue;
    const isDefault = rule.defaultValue !== undefined && same(value, rule.defaultValue);
    if (!isDefault && !isGiven(placed, desired)) continue;
    const isPool = at.length === depth + 1 && at[depth] === "instance_pool_id";
    values = withoutMember(
      isPool ? withoutValuesOfPool(values, at.slice(0, depth), desired) : values,
      at,
      depth,
    );
  }
  if (values === live.values) return live;
  const kept = new Set(usedIds(values));
  const idsOfPolicy = usedIds(live.values).filter((id) => !kept.has(id));
  return idsOfPolicy.length === 0
    ? { ...live, values }
    : { ...live, values, facts: { ...live.facts, used_ids: idsOfPolicy } };
}

/** Without what the cluster at a path has from its pool, except what the spec sets. */
function withoutValuesOfPool(values: JsonObject, path: Path, desired: Values | undefined): JsonObject {
  const declared = objectIn(valueAt(desired ?? {}, path));
  const cluster = objectIn(valueAt(values, path));
  const kept = membersWhere(cluster, (field) => declared[field] !== undefined);
  return objectIn(withValueAt(values, path, { ...withoutInherited(cluster), ...kept }));
}

/** The values of a request without those that are only kept and that a policy gives: it may give others now, and the service fills them in. */
export async function withoutKeptPolicyValues(
  api: Reader,
  values: Values,
  declared: Values,
): Promise<Values> {
  const clusters = clustersIn(values);
  if (clusters.length === 0 || values === declared) return values;
  let result: JsonObject = values;
  for (const placed of simpleRules(clusters, await policiesOf(api, clusters))) {
    const { at, depth } = placed;
    if (valueAt(result, at) !== undefined && valueAt(declared, at) === undefined && isGiven(placed, declared))
      result = withoutMember(result, at, depth);
  }
  return result;
}

interface PlacedRule {
  /** The path in the resource. */
  readonly at: Path;
  /** The length of the path of the cluster in it. */
  readonly depth: number;
  readonly rule: JsonObject;
}

/** The rules about single fields of clusters. */
function simpleRules(
  clusters: readonly PolicedCluster[],
  policies: ReadonlyMap<string, Values>,
): readonly PlacedRule[] {
  return clusters.flatMap(({ path, policy }) =>
    Object.entries(rulesOf(policies.get(policy) ?? {})).flatMap(([key, rule]): readonly PlacedRule[] => {
      const own = pathOf(key);
      if (own === undefined || !isObject(rule) || own.includes("*")) return [];
      return [{ at: [...path, ...own], depth: path.length, rule }];
    }),
  );
}

export async function librariesOfPolicy(
  api: Reader,
  { values }: LiveObject,
  { plannedFrom }: DetailsContext = {},
): Promise<readonly JsonObject[]> {
  const own = clustersIn(values).filter(({ path }) => path.length === 0);
  if (own.length === 0) return [];
  const policies = await policiesOf(api, own, plannedFrom);
  return own.flatMap(({ policy }) => listIn(policies.get(policy)?.libraries).filter(isObject));
}

/** The policies of clusters by their IDs: their present values, or those that the plan was made from. One request reads all. */
async function policiesOf(
  api: Reader,
  clusters: readonly PolicedCluster[],
  plannedFrom: PlannedFrom = () => undefined,
): Promise<ReadonlyMap<string, Values>> {
  const planned = new Map(
    clusters.flatMap(({ policy }) => {
      const values = plannedFrom(KIND, remoteId(policy));
      return values === undefined ? [] : [[policy, values] as const];
    }),
  );
  if (clusters.every(({ policy }) => planned.has(policy))) return planned;
  const listed = objectsIn(await api.read("policies/clusters/list"), "policies").map(policyInSpecForm);
  return new Map([...listed.map(({ id, values }) => [id, values] as const), ...planned]);
}

/** Without the member, and without groups below the cluster that become empty. */
function withoutMember(values: JsonObject, path: Path, depth: number): JsonObject {
  const rest = objectIn(withValueAt(values, path, undefined));
  const parent = path.slice(0, -1);
  const left = valueAt(rest, parent);
  const isEmpty = parent.length > depth && isObject(left) && Object.keys(left).length === 0;
  return isEmpty ? withoutMember(rest, parent, depth) : rest;
}
