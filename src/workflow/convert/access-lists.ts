// Access lists of a Terraform state, which are resources of their own there, as `access` and `owner` of the object.

import { remoteId } from "../../core/address.ts";
import { defined, type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { OWNER } from "../../providers/access/access-list.ts";
import { isAdmins, principalIn, principalText } from "../../providers/access/principals.ts";
import { ACCESS_RULES } from "../../providers/access/rules.ts";
import { plainTreePath } from "../../providers/kit/names.ts";
import { memberSchema } from "../../resource/field-schema.ts";
import type { Registry } from "../../resource/kind.ts";
import { textAttribute } from "./attributes.ts";
import {
  type ConversionLog,
  type ConvertedObject,
  type ConvertedObjects,
  convertedKey,
  type TerraformInstance,
} from "./terraform-state.ts";

const AUTHORITATIVE =
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
      log.note(object.instance, AUTHORITATIVE);
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
  const values = { ...object.live.values, access, ...defined({ owner }) };
  return { ...object, live: { ...object.live, values } };
}
