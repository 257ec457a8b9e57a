// Converts memberships and entitlements: separate resources in Terraform, fields of users and groups in a spec.

import type { Json, JsonObject } from "../../core/json.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { ConversionLog, ConvertedObject, ConvertedObjects } from "./conversion.ts";
import { entitlementsIn, textAttribute } from "./resource-types.ts";
import type { TerraformInstance } from "./terraform-state.ts";

const AUTHORITATIVE =
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
    if (group !== undefined) log.note(group.instance, AUTHORITATIVE);
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
