// Cluster policies: rules for the fields of clusters, kept as text. The contract has none of these calls; a dialect has.

import { isObject, type JsonObject } from "../../../core/json.ts";
import { alreadyExists, invalidValue, notFound } from "../../world/errors.ts";
import type { Call, Collection, Operations, World } from "../../world/world.ts";

const policiesOf = (world: World): Collection<JsonObject> => world.collection("cluster-policies");

const TYPES = ["fixed", "forbidden", "allowlist", "blocklist", "regex", "range", "unlimited"];

export const clusterPolicyOperations: Operations = {
  "policies/clusters/create": ({ input, caller, now }, world) => {
    checkPolicy(world, input, undefined);
    const policy_id = world.hex(16).toUpperCase();
    const created = {
      policy_id,
      created_at_timestamp: now,
      creator_user_name: caller.userName,
      is_default: false,
    };
    policiesOf(world).set(policy_id, { ...input, ...created });
    return { json: { policy_id } };
  },
  "policies/clusters/edit": ({ input }, world) => {
    const { policy_id, created_at_timestamp, creator_user_name, is_default } = policyOr404(world, input);
    checkPolicy(world, input, String(policy_id));
    const created = { policy_id, created_at_timestamp, creator_user_name, is_default };
    policiesOf(world).set(String(policy_id), { ...input, ...created } as JsonObject);
  },
  "policies/clusters/delete": ({ input }, world) => {
    policiesOf(world).delete(String(policyOr404(world, input).policy_id));
  },
  "policies/clusters/get": ({ input }, world) => ({ json: policyOr404(world, input) }),
  "policies/clusters/list": (_call, world) => {
    const policies = [...policiesOf(world).values()];
    return { json: policies.length === 0 ? {} : { policies } };
  },
  "policy-families/list": () => ({ json: { policy_families: FAMILIES } }),
  "policy-families/get": ({ params: { id } }) => {
    const family = FAMILIES.find(({ policy_family_id }) => policy_family_id === id);
    if (family === undefined) throw notFound(`Policy family ${String(id).slice(0, 100)} does not exist.`);
    return { json: family };
  },
};

/** Their rules are not known. */
const FAMILIES = [
  ["personal-vm", "Personal Compute"],
  ["shared-compute", "Shared Compute"],
  ["power-user", "Power User Compute"],
  ["job-cluster", "Job Compute"],
].map(([policy_family_id, name]) => ({ policy_family_id, name, description: name, definition: "{}" }));

export const policyById = (world: World, id: string): JsonObject | undefined => policiesOf(world).get(id);

export function policyOr404(world: World, { policy_id: id }: Call["input"]): JsonObject {
  const policy = policyById(world, String(id));
  if (policy === undefined) throw notFound(`Cluster policy ${String(id).slice(0, 100)} does not exist.`);
  return policy;
}

function checkPolicy(world: World, input: JsonObject, own: string | undefined): void {
  const { name, definition, policy_family_id: family } = input;
  for (const policy of policiesOf(world).values())
    if (policy.name === name && policy.policy_id !== own)
      throw alreadyExists(`Policy with name ${String(name)} already exists.`);
  if (definition === undefined && family === undefined)
    throw invalidValue("Missing required field: definition or policy_family_id");
  if (typeof definition !== "string") return;
  for (const [path, rule] of Object.entries(parsed(definition)))
    if (!isObject(rule) || !TYPES.includes(String(rule.type)))
      throw invalidValue(`Validation failed: ${path} has an invalid type`);
}

function parsed(definition: string): JsonObject {
  try {
    const rules: unknown = JSON.parse(definition);
    if (isObject(rules as JsonObject)) return rules as JsonObject;
  } catch {
    // The same refusal as for text that is not an object.
  }
  throw invalidValue("Validation failed: the definition is not a JSON object");
}
