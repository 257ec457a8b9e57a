// Converts the resources of a Terraform state to live objects, in the form that an export reads from the service. Memberships
// and entitlements are separate resources there, and fields of users and groups in a spec.

import { nestedNameOf, parentOf, type RemoteId, remoteId } from "../../core/address.ts";
import { type Json, type JsonObject, omit } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import type { Values } from "../../resource/field-schema.ts";
import { foldName } from "../../resource/names.ts";
import type { Registry } from "../../resource/registry.ts";
import { convertAttributes } from "./attributes.ts";
import {
  type ConversionLog,
  type ConvertedObject,
  type ConvertedObjects,
  convertedKey,
} from "./conversion.ts";
import { entitlementsIn, type ResourceType, resourceType, textAttribute } from "./resource-types.ts";
import type { TerraformInstance } from "./terraform-state.ts";

const VENDOR = "databricks_";
const ACCESS_AUTHORITATIVE =
  "its access list is authoritative: the plan removes entries that Terraform did not manage";

const PARTS = new Set(["databricks_group_member", "databricks_entitlements"]);

/** In the order of the state. What cannot be converted is in the log. */
export function convertedObjects(
  instances: readonly TerraformInstance[],
  registry: Registry,
  log: ConversionLog,
): ConvertedObjects {
  const objects = new Map<string, ConvertedObject>();
  const parts: TerraformInstance[] = [];
  for (const instance of instances) {
    if (!instance.managed) continue;
    const type = resourceType(instance.type);
    const reason = notConverted(instance, type);
    if (reason !== undefined) log.leave(instance, reason);
    else if (type === undefined) parts.push(instance);
    else add(objects, instance, type, registry, log);
  }
  return withParents(withMemberships(objects, parts, instances, log), registry, log);
}

function notConverted(
  { type, state, values, sensitive }: TerraformInstance,
  known: ResourceType | undefined,
): string | undefined {
  if (!type.startsWith(VENDOR)) return "it belongs to another provider";
  if (known === undefined && !PARTS.has(type)) return "`workspace` does not manage this type";
  if (state === "deposed") return "it is deposed: Terraform replaced it and did not delete it yet";
  if (state === "without attributes") return "the state has no attributes of it";
  const hidden = sensitiveReason(sensitive);
  if (hidden !== undefined || known === undefined) return hidden;
  const [id, name] = [known.id(values), known.name(values)];
  return id === undefined || name === undefined ? "the state does not contain its ID and name" : undefined;
}

function add(
  objects: Map<string, ConvertedObject>,
  instance: TerraformInstance,
  type: ResourceType,
  registry: Registry,
  log: ConversionLog,
): void {
  const provider = registry.get(type.kind);
  const name = type.name(instance.values) ?? "";
  const id: RemoteId = remoteId(foldedId(type, registry, instance.values));
  const key = convertedKey(type.kind, id);
  const earlier = objects.get(key);
  const {
    attributes,
    left = [],
    unmanageable,
  } = type.fields?.(instance.values) ?? { attributes: instance.values };
  const reason = earlier === undefined ? unmanageable : `${earlier.instance.address} is the same object`;
  if (reason !== undefined) {
    log.leave(instance, reason);
    return;
  }
  const given = omit(attributes, ["provider_config", ...type.computed]);
  const found = convertAttributes(provider.fields, given, convertedPaths(instance.sensitive));
  for (const one of [...left, ...found.left]) log.leaveAttribute(instance, one.path, one.reason);
  if (instance.state === "tainted")
    log.note(instance, "it is tainted: Terraform would replace it, and `workspace` keeps it");
  const { nameField } = provider;
  const values = nameField === undefined ? found.values : { ...found.values, [nameField]: name };
  objects.set(key, { kind: type.kind, live: { id, name, values, facts: {} }, instance });
}

/** Names that are IDs compare as their kind compares names. */
function foldedId(type: ResourceType, registry: Registry, attributes: JsonObject): string {
  const provider = registry.get(type.kind);
  const id = type.id(attributes) ?? "";
  return provider.nameField === undefined ? foldName(provider, id) : id;
}

/** Without ACLs and secrets of scopes that the state does not have, and with the ACL that a scope was created with. */
function withParents(objects: ConvertedObjects, registry: Registry, log: ConversionLog): ConvertedObjects {
  const kept = new Map<string, ConvertedObject>();
  for (const [key, one] of objects) {
    const parent = registry.get(one.kind).nested?.kind;
    const name = parentOf(one.live.name);
    if (parent === undefined || objects.has(convertedKey(parent, name))) kept.set(key, one);
    else log.leave(one.instance, `the secret scope ${JSON.stringify(name)} is not in the state`);
  }
  const acls = Map.groupBy(
    [...kept.values()].filter((one) => one.kind === "acls"),
    (one) => parentOf(one.live.name),
  );
  for (const { kind, live, instance } of [...kept.values()]) {
    if (kind !== "scopes" || !acls.has(live.name)) continue;
    log.note(instance, ACCESS_AUTHORITATIVE);
    const initial = instance.values.initial_manage_principal;
    if (typeof initial !== "string" || initial === "") continue;
    const name = nestedNameOf(live.name, initial);
    const id = remoteId(foldName(registry.get("acls"), name));
    const key = convertedKey("acls", id);
    if (!kept.has(key))
      kept.set(key, {
        kind: "acls",
        live: { id, name, values: { permission: "MANAGE" }, facts: {} },
        instance,
      });
  }
  return kept;
}

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

function convertedPaths(sensitive: readonly Path[]): readonly Path[] {
  return sensitive
    .map((path) => (MERGED.has(path[0]) ? path.slice(2) : path))
    .map(([first, ...rest]) =>
      typeof first === "string" && Object.hasOwn(RENAMED, first)
        ? [RENAMED[first] ?? first, ...rest]
        : [...(first === undefined ? [] : [first]), ...rest],
    );
}

/** Why an instance cannot be converted without a sensitive value; undefined if it can. */
function sensitiveReason(sensitive: readonly Path[]): string | undefined {
  if (sensitive.some((path) => path.length === 1 && NAMES.has(path[0])))
    return "Terraform marks its name as sensitive";
  return sensitive.some((path) => path.length < 3 && (path.length === 0 || MERGED.has(path[0])))
    ? "Terraform marks its settings as sensitive"
    : undefined;
}

const MEMBERS_AUTHORITATIVE =
  "its list of members is authoritative: the plan removes members that Terraform did not manage";

interface Principal {
  readonly kind: "users" | "groups" | "service principals";
  readonly name: string;
}

/** The users and groups that resources and data sources of the state name, by ID. */
function principalsIn(instances: readonly TerraformInstance[]): ReadonlyMap<string, Principal> {
  const found = new Map<string, Principal>();
  for (const { type, values } of instances) {
    const known = NAMED.get(type);
    const id = textAttribute(values, "id");
    const name = known === undefined ? undefined : textAttribute(values, known.attribute);
    if (known !== undefined && id !== undefined && name !== undefined)
      found.set(id, { kind: known.kind, name });
  }
  return found;
}

const NAMED = new Map<string, { readonly kind: Principal["kind"]; readonly attribute: string }>([
  ["databricks_user", { kind: "users", attribute: "user_name" }],
  ["databricks_current_user", { kind: "users", attribute: "user_name" }],
  ["databricks_group", { kind: "groups", attribute: "display_name" }],
  ["databricks_service_principal", { kind: "service principals", attribute: "application_id" }],
]);

/** The objects with the members and entitlements that `parts` give them. */
export function withMemberships(
  objects: ConvertedObjects,
  parts: readonly TerraformInstance[],
  instances: readonly TerraformInstance[],
  log: ConversionLog,
): ConvertedObjects {
  const result = new Map(objects);
  const names = principalsIn(instances);
  const update = (key: string, change: (values: Values) => Values): void => {
    const one = result.get(key) as ConvertedObject;
    result.set(key, { ...one, live: { ...one.live, values: change(one.live.values) } });
  };
  const incomplete = new Set<string>();
  const members: { readonly key: string; readonly member: Principal; readonly part: TerraformInstance }[] =
    [];
  for (const part of parts) {
    if (part.type === "databricks_entitlements") {
      const key = principalKey(part.values);
      if (key === undefined || !result.has(key)) log.leave(part, "its user or group is not in the state");
      else
        update(key, (values) => ({
          ...values,
          entitlements: together(values.entitlements, entitlementsIn(part.values)),
        }));
      continue;
    }
    const key = `groups\n${textAttribute(part.values, "group_id") ?? ""}`;
    const member = names.get(textAttribute(part.values, "member_id") ?? "");
    if (!result.has(key)) log.leave(part, "its group is not a resource of the state");
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
  for (const [key, ones] of Map.groupBy(members, (one) => one.key)) {
    if (incomplete.has(key)) {
      for (const { part } of ones)
        log.leave(part, "another member of its group is unknown, so the spec does not manage the members");
      continue;
    }
    const named = Map.groupBy(ones, ({ member }) => member.kind);
    const lists = (["users", "groups"] as const).flatMap((kind) => {
      const names = (named.get(kind) ?? []).map(({ member }) => member.name);
      return names.length === 0 ? [] : [[kind, together(undefined, names)] as const];
    });
    update(key, (values) => ({ ...values, members: Object.fromEntries(lists) }));
    const group = result.get(key);
    if (group !== undefined) log.note(group.instance, MEMBERS_AUTHORITATIVE);
  }
  return result;
}

function principalKey(attributes: JsonObject): string | undefined {
  const user = textAttribute(attributes, "user_id");
  const group = textAttribute(attributes, "group_id");
  if (user !== undefined) return `users\n${user}`;
  return group === undefined ? undefined : `groups\n${group}`;
}

const together = (before: Json | undefined, more: readonly string[]): readonly string[] =>
  [...new Set([...(Array.isArray(before) ? before.map(String) : []), ...more])].sort();
