// Resources of a Terraform state that become parts of another resource: access lists, libraries of clusters, memberships, and entitlements.

import { remoteId } from "../../core/address.ts";
import { defined, type Json, type JsonObject, listIn, objectIn, omit } from "../../core/json.ts";
import { OWNER } from "../../providers/access/access-list.ts";
import { isAdmins, principalIn, principalText } from "../../providers/access/principals.ts";
import { ACCESS_RULES } from "../../providers/access/rules.ts";
import { withoutEqualLibraries } from "../../providers/clusters/libraries.ts";
import { memberSchema, type Values } from "../../resource/field-schema.ts";
import type { Registry } from "../../resource/kind.ts";
import { plainTreePath } from "../../resource/names.ts";
import { blocks, convertAttributes, entitlementsIn, textAttribute } from "./attributes.ts";
import {
  type ConversionLog,
  type ConvertedObject,
  type ConvertedObjects,
  convertedKey,
  hasMark,
  type TerraformInstance,
  whySensitive,
} from "./terraform-state.ts";

export const AUTHORITATIVE_ACCESS =
  "its access list is authoritative: the plan removes entries that Terraform did not manage";

/** Kinds by the type in the ID of an access list: `/jobs/1`. A warehouse has two forms. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(ACCESS_RULES).map(([kind, { type }]) => [type, kind] as const),
  ["sql/warehouses", "warehouses"],
]);

/** Lists without another object. */
const AUTHORIZATIONS = "authorizations";

/** The attributes of an access list that hold the path of an object in the workspace tree. */
const PATHS = ["notebook_path", "directory_path", "repo_path", "workspace_file_path"];

/** The objects with the access lists that the instances contain. */
export function withAccessLists(
  objects: ConvertedObjects,
  instances: readonly TerraformInstance[],
  registry: Registry,
  log: ConversionLog,
): ConvertedObjects {
  const result = new Map(objects);
  for (const instance of instances) {
    const [, type = "", id = ""] = /^\/(.+)\/([^/]+)$/.exec(textAttribute(instance.values, "id") ?? "") ?? [];
    const kind = KINDS.get(type);
    if (kind === AUTHORIZATIONS && !result.has(convertedKey(kind, id)))
      result.set(convertedKey(kind, id), {
        kind,
        live: { id: remoteId(id), name: id, values: {}, facts: {} },
        instance,
      });
    const key = kind === undefined ? undefined : keyOf(result, kind, id, instance.values);
    const object = key === undefined ? undefined : result.get(key);
    if (kind === undefined)
      log.leave(instance, `\`workspace\` does not manage access lists of ${type || "it"}`);
    else if (key === undefined || object === undefined) log.leave(instance, "its object is not in the state");
    else {
      result.set(key, withList(object, instance, registry, log));
      log.note(object.instance, AUTHORITATIVE_ACCESS);
    }
  }
  return result;
}

/** Objects of the tree have their path as ID in a spec, and a number in the ID of a list. */
function keyOf(
  objects: ConvertedObjects,
  kind: string,
  id: string,
  attributes: JsonObject,
): string | undefined {
  const path = PATHS.flatMap((name) => textAttribute(attributes, name) ?? [])[0];
  const byPath = path === undefined ? undefined : plainTreePath(path);
  for (const [key, object] of objects) {
    if (object.kind !== kind) continue;
    const isSame = key === convertedKey(kind, id) || object.live.name === byPath;
    if (isSame || String(object.instance.values.object_id ?? "") === id) return key;
  }
  return undefined;
}

function withList(
  object: ConvertedObject,
  instance: TerraformInstance,
  registry: Registry,
  log: ConversionLog,
): ConvertedObject {
  const { fields } = registry.get(object.kind);
  const levels = memberSchema(fields.access ?? {}, "any").enum ?? [];
  const access: { [principal: string]: string } = {};
  let owner: string | undefined;
  for (const [index, entry] of listIn(instance.values.access_control).map(objectIn).entries()) {
    const level = textAttribute(entry, "permission_level") ?? "";
    const principal = principalIn(entry);
    if (principal !== undefined && isAdmins(principal)) continue;
    const isOwner = level === OWNER && fields.owner !== undefined;
    if (principal === undefined || !(isOwner || levels.includes(level)))
      log.leaveAttribute(
        instance,
        ["access_control", index],
        `the level ${level} is unknown to this version`,
      );
    else if (isOwner) owner = principalText(principal);
    else access[principalText(principal)] = level;
  }
  return withValues(object, { access, ...defined({ owner }) });
}

export const LIBRARY = "databricks_library";

const AUTHORITATIVE_LIBRARIES =
  "its list of libraries is authoritative: the plan uninstalls libraries that Terraform did not manage";

/** The objects with the libraries that the instances contain, each once. */
export function withConvertedLibraries(
  objects: ConvertedObjects,
  instances: readonly TerraformInstance[],
  registry: Registry,
  log: ConversionLog,
): ConvertedObjects {
  const result = new Map(objects);
  const { libraries = {} } = registry.get("clusters").fields;
  for (const instance of instances) {
    const { values } = instance;
    const key = convertedKey("clusters", textAttribute(values, "cluster_id") ?? "");
    const cluster = result.get(key);
    if (cluster === undefined) {
      log.leave(instance, "its cluster is not in the state");
      continue;
    }
    const attributes: JsonObject = omit(values, ["id", "cluster_id", "provider_config"]);
    const converted = convertAttributes(
      { libraries },
      { libraries: [attributes] },
      (path) => log.variable(instance, path.slice(2)),
      log.secrets,
    );
    if (converted.unmanageable !== undefined) {
      log.leave(instance, converted.unmanageable);
      continue;
    }
    for (const { path, reason } of converted.left) log.leaveAttribute(instance, path.slice(2), reason);
    const before = blocks(cluster.live.values.libraries);
    const added = withoutEqualLibraries(blocks(converted.values.libraries), before);
    result.set(key, withValues(cluster, { libraries: [...before, ...added] }));
  }
  for (const { kind, live, instance } of result.values())
    if (kind === "clusters" && listIn(live.values.libraries).length > 0)
      log.note(instance, AUTHORITATIVE_LIBRARIES);
  return result;
}

export const MEMBERSHIP = "databricks_group_member";

export const ENTITLEMENT_PARTS = "databricks_entitlements";

const AUTHORITATIVE_MEMBERS =
  "its list of members is authoritative: the plan removes members that Terraform did not manage";

interface Principal {
  readonly kind: "users" | "groups" | "service principals";
  readonly name: string;
}

/** The users and groups that resources and data sources of the state name, by ID. */
export function principalsIn(instances: readonly TerraformInstance[]): ReadonlyMap<string, Principal> {
  const principalByKey = new Map<string, Principal>();
  for (const { type, values } of instances) {
    const naming = NAMED.get(type);
    const id = textAttribute(values, "id");
    const name = naming === undefined ? undefined : textAttribute(values, naming.attribute);
    if (naming !== undefined && id !== undefined && name !== undefined && !hasMark(name))
      principalByKey.set(id, { kind: naming.kind, name });
  }
  return principalByKey;
}

const NAMED = new Map<string, { readonly kind: Principal["kind"]; readonly attribute: string }>([
  ["databricks_user", { kind: "users", attribute: "user_name" }],
  ["databricks_current_user", { kind: "users", attribute: "user_name" }],
  ["databricks_group", { kind: "groups", attribute: "display_name" }],
  ["databricks_service_principal", { kind: "service principals", attribute: "application_id" }],
]);

/** The groups with the members that the instances give them. */
export function withGroupMembers(
  objects: ConvertedObjects,
  instances: readonly TerraformInstance[],
  names: ReadonlyMap<string, Principal>,
  log: ConversionLog,
): ConvertedObjects {
  const result = new Map(objects);
  const incomplete = new Set<string>();
  let isAnyIncomplete = false;
  const members: { readonly key: string; readonly member: Principal; readonly part: TerraformInstance }[] =
    [];
  for (const part of instances) {
    const group = textAttribute(part.values, "group_id") ?? "";
    const key = convertedKey("groups", group);
    const member = names.get(textAttribute(part.values, "member_id") ?? "");
    if (hasMark(group)) {
      isAnyIncomplete = true;
      log.leave(part, whySensitive(group, "a part of it"));
    } else if (!result.has(key)) log.leave(part, "its group is not a resource of the state");
    else if (member === undefined) {
      incomplete.add(key);
      log.leave(part, "the state does not contain the name of the member");
    } else if (member.kind === "service principals")
      log.leave(
        part,
        "its member is a service principal; the spec does not manage it, and it stays a member",
      );
    else members.push({ key, member, part });
  }
  for (const [key, ofGroup] of Map.groupBy(members, (member) => member.key)) {
    if (isAnyIncomplete || incomplete.has(key)) {
      for (const { part } of ofGroup)
        log.leave(part, "another member of its group is unknown, so the spec does not manage the members");
      continue;
    }
    const named = Map.groupBy(ofGroup, ({ member }) => member.kind);
    const lists = (["users", "groups"] as const).flatMap((kind) => {
      const names = (named.get(kind) ?? []).map(({ member }) => member.name);
      return names.length === 0 ? [] : [[kind, together(undefined, names)] as const];
    });
    const group = result.get(key);
    if (group === undefined) continue;
    result.set(key, withValues(group, { members: Object.fromEntries(lists) }));
    log.note(group.instance, AUTHORITATIVE_MEMBERS);
  }
  return result;
}

/** The principals with the entitlements that the instances give them. */
export function withEntitlements(
  objects: ConvertedObjects,
  instances: readonly TerraformInstance[],
  log: ConversionLog,
): ConvertedObjects {
  const result = new Map(objects);
  for (const instance of instances) {
    const key = principalKey(instance.values) ?? "";
    const principal = result.get(key);
    if (principal === undefined)
      log.leave(instance, "its user, group, or service principal is not in the state");
    else {
      const entitlements = together(principal.live.values.entitlements, entitlementsIn(instance.values));
      result.set(key, withValues(principal, { entitlements }));
    }
  }
  return result;
}

function withValues(object: ConvertedObject, values: Values): ConvertedObject {
  return { ...object, live: { ...object.live, values: { ...object.live.values, ...values } } };
}

function principalKey(attributes: JsonObject): string | undefined {
  for (const [attribute, kind] of Object.entries(PRINCIPAL_IDS)) {
    const id = textAttribute(attributes, attribute);
    if (id !== undefined) return convertedKey(kind, id);
  }
  return undefined;
}

/** The kinds of the principals that entitlements name by their IDs. */
const PRINCIPAL_IDS: Readonly<Record<string, string>> = {
  user_id: "users",
  group_id: "groups",
  service_principal_id: "service_principals",
};

const together = (before: Json | undefined, more: readonly string[]): readonly string[] =>
  [...new Set([...(Array.isArray(before) ? before.map(String) : []), ...more])].sort();
