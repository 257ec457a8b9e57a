// The resource types of the vendor's Terraform provider for kinds that only the Databricks dialect has.

import { remoteId } from "../../core/address.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { initScriptOrder } from "../../providers/admin/init-script-order.ts";
import { initScripts } from "../../providers/admin/init-scripts.ts";
import { ASSIGNMENT_TYPES } from "./assignments.ts";
import {
  blocks,
  isUnset,
  OF_PRINCIPAL,
  principal,
  type ResourceType,
  renamed,
  text,
  treePath,
} from "./attributes.ts";
import { hasMark } from "./marks.ts";
import { type ConvertedObjects, convertedKey, type TerraformInstance } from "./terraform-state.ts";

const SETTINGS = "databricks_workspace_conf";

/** An instance for each setting: a resource of Terraform holds several. */
export function settingInstances(instance: TerraformInstance): readonly TerraformInstance[] {
  const { type, values, state } = instance;
  const { custom_config: settings } = values;
  if (type !== SETTINGS || state !== undefined) return [instance];
  if (hasMark(settings)) return [{ ...instance, values: { key: settings ?? null } }];
  return Object.entries(objectIn(settings)).map(([key, value]) => ({ ...instance, values: { key, value } }));
}

/** Rules in a spec instead of their text. */
function policyAttributes({
  definition,
  policy_family_definition_overrides: overrides,
  ...rest
}: JsonObject) {
  const isOfFamily = !isUnset(rest.policy_family_id);
  const attributes: { [name: string]: Json } = {
    ...rest,
    ...(isOfFamily || isUnset(definition) ? {} : { definition: rulesIn(definition) }),
    ...(isUnset(overrides) ? {} : { policy_family_definition_overrides: rulesIn(overrides) }),
  };
  if (hasMark(definition) || hasMark(overrides))
    return { attributes, unmanageable: "Terraform marks its definition as sensitive" };
  const isBroken = [attributes.definition, attributes.policy_family_definition_overrides].includes(null);
  return { attributes, unmanageable: isBroken ? "its definition is not a JSON object" : undefined };
}

function rulesIn(value: Json | undefined): Json {
  try {
    const rules: Json = JSON.parse(String(value));
    return isObject(rules) ? rules : null;
  } catch {
    return null;
  }
}

function warehouseAttributes({ tags, ...attributes }: JsonObject): JsonObject {
  const pairs = blocks(tags).flatMap((block) => blocks(block.custom_tags));
  const custom_tags = Object.fromEntries(pairs.map(({ key, value }) => [String(key), value ?? ""]));
  return { ...attributes, custom_tags };
}

function scriptAttributes({ content_base64: encoded, ...attributes }: JsonObject) {
  const isInline = typeof encoded === "string" && encoded !== "";
  return {
    attributes: isInline
      ? {
          ...attributes,
          script: hasMark(encoded) ? encoded : Buffer.from(encoded, "base64").toString("utf8"),
        }
      : attributes,
    unmanageable: isInline ? undefined : "its script is in a file; `workspace export` writes it",
  };
}

/** The objects with the order of the scripts, which have positions in Terraform. Two with the same position have no order. */
export function withScriptOrder(objects: ConvertedObjects): ConvertedObjects {
  const scripts = [...objects.values()].filter(({ kind }) => kind === initScripts.kind);
  const byPosition = Map.groupBy(scripts, ({ instance }) => Number(instance.values.position ?? Number.NaN));
  const ordered = [...byPosition]
    .filter(([position, there]) => !Number.isNaN(position) && there.length === 1)
    .toSorted(([a], [b]) => a - b)
    .flatMap(([, there]) => there);
  const [first, ...rest] = ordered;
  if (first === undefined || rest.length === 0) return objects;
  const { kind, builtIn: [name = ""] = [] } = initScriptOrder;
  const values = { scripts: ordered.map(({ live }) => live.name) };
  const order = { kind, live: { id: remoteId(name), name, values, facts: {} }, instance: first.instance };
  return new Map([...objects, [convertedKey(kind, name), order]]);
}

/** The service returns nothing but the addresses of e-mails, and `*_set` for everything else. */
function destinationAttributes({ config, ...attributes }: JsonObject) {
  const [parts = {}] = blocks(config);
  const addresses = blocks(parts.email).flatMap(({ addresses: all }) => all ?? []);
  const left = Object.entries(parts).flatMap(([part, value]) =>
    Object.entries(blocks(value)[0] ?? {}).flatMap(([name, attribute]) =>
      part === "email" || name.endsWith("_set") || isUnset(attribute)
        ? []
        : [{ path: ["config", 0, part, 0, name], reason: UNREADABLE }],
    ),
  );
  return { attributes: { ...attributes, ...(addresses.length === 0 ? {} : { addresses }) }, left };
}

const UNREADABLE = "the service does not return it; to manage it, set it with a sensitive variable";

function credentialAttributes({ personal_access_token: token, ...attributes }: JsonObject) {
  const left = isUnset(token) ? [] : [{ path: ["personal_access_token"], reason: UNREADABLE }];
  return { attributes, left };
}

export const ADMIN_TYPES: Readonly<Record<string, ResourceType>> = {
  databricks_service_principal: {
    kind: "service_principals",
    id: text("id"),
    name: text("display_name"),
    fields: (attributes) =>
      principal(attributes, { display_name: "displayName", application_id: "applicationId" }),
    computed: OF_PRINCIPAL,
  },
  databricks_cluster_policy: {
    kind: "cluster_policies",
    id: text("policy_id"),
    name: text("name"),
    fields: policyAttributes,
    computed: ["id", "policy_id"],
  },
  databricks_sql_endpoint: {
    kind: "warehouses",
    id: text("id"),
    name: text("name"),
    fields: (attributes) => ({ attributes: warehouseAttributes(attributes) }),
    computed: [
      "id",
      "state",
      "health",
      "jdbc_url",
      "odbc_params",
      "num_clusters",
      "num_active_sessions",
      "creator_name",
      "data_source_id",
      "no_wait",
    ],
  },
  databricks_repo: {
    kind: "repos",
    id: text("id"),
    name: treePath,
    fields: (attributes) => ({ attributes: renamed(attributes, { git_provider: "provider" }) }),
    computed: ["id", "path", "workspace_path", "commit_hash", "git_credential_id"],
  },
  databricks_git_credential: {
    kind: "git_credentials",
    id: text("id"),
    name: text("git_provider"),
    fields: credentialAttributes,
    computed: ["id", "force"],
  },
  databricks_global_init_script: {
    kind: "global_init_scripts",
    id: text("id"),
    name: text("name"),
    fields: scriptAttributes,
    computed: ["id", "source", "md5", "position"],
  },
  databricks_instance_profile: {
    kind: "instance_profiles",
    id: text("id"),
    name: text("instance_profile_arn"),
    computed: ["id", "skip_validation"],
  },
  databricks_ip_access_list: {
    kind: "ip_access_lists",
    id: text("id"),
    name: text("label"),
    computed: ["id", "list_id", "address_count", "created_at", "created_by", "updated_at", "updated_by"],
  },
  databricks_notification_destination: {
    kind: "notification_destinations",
    id: text("id"),
    name: text("display_name"),
    fields: destinationAttributes,
    computed: ["id"],
  },
  ...ASSIGNMENT_TYPES,
  [SETTINGS]: { kind: "workspace_conf", id: text("key"), name: text("key"), computed: ["id", "key"] },
};
