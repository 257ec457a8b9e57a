// The resources of a Terraform state become resources of a spec: objects by kind, as an export reads them from the service.

import { nestedNameOf, parentOf, type RemoteId, remoteId } from "../../core/address.ts";
import { type JsonObject, omit } from "../../core/json.ts";
import { isAtOrBelow, type Path } from "../../core/pointer.ts";
import type { Registry } from "../../resource/kind.ts";
import { foldName } from "../../resource/names.ts";
import { convertAttributes, type OmittedAttribute, type ResourceType, whyVariable } from "./attributes.ts";
import {
  AUTHORITATIVE_ACCESS,
  ENTITLEMENT_PARTS,
  LIBRARY,
  MEMBERSHIP,
  principalsIn,
  withAccessLists,
  withConvertedLibraries,
  withEntitlements,
  withGroupMembers,
} from "./parts.ts";
import { namedAssignments, resourceType, settingInstances, withScriptOrder } from "./resource-types.ts";
import {
  type ConversionLog,
  type ConvertedObject,
  type ConvertedObjects,
  convertedKey,
  hasMark,
  sensitiveMarks,
  type TerraformInstance,
  whySensitive,
} from "./terraform-state.ts";

const VENDOR = "databricks_";
const PERMISSIONS = "databricks_permissions";
const PARTS = new Set([MEMBERSHIP, ENTITLEMENT_PARTS, PERMISSIONS, LIBRARY]);

/** In the order of the state. What cannot be converted is in the log. */
export function convertedObjects(
  instances: readonly TerraformInstance[],
  registry: Registry,
  log: ConversionLog,
): ConvertedObjects {
  const objects = new Map<string, ConvertedObject>();
  const parts: TerraformInstance[] = [];
  const principals = principalsIn(instances);
  for (const instance of namedAssignments(instances, principals).flatMap(settingInstances)) {
    if (!instance.managed) continue;
    const type = resourceType(instance.type);
    const reason = notConverted(instance, type);
    const hidden = reason === undefined ? undefined : hiddenMember(instance, type, registry, reason);
    if (hidden !== undefined) objects.set(convertedKey(hidden.kind, hidden.live.id), hidden);
    else if (reason !== undefined) log.leave(instance, reason);
    else if (type === undefined) parts.push(instance);
    else add(objects, instance, type, registry, log);
  }
  const partsOf = (type: string) => parts.filter((part) => part.type === type);
  const entitled = withEntitlements(objects, partsOf(ENTITLEMENT_PARTS), log);
  const grouped = withGroupMembers(entitled, partsOf(MEMBERSHIP), principals, log);
  const installed = withConvertedLibraries(withScriptOrder(grouped), partsOf(LIBRARY), registry, log);
  return withParents(withAccessLists(installed, partsOf(PERMISSIONS), registry, log), registry, log);
}

function notConverted(
  { type, state, values }: TerraformInstance,
  resourceType: ResourceType | undefined,
): string | undefined {
  if (!type.startsWith(VENDOR)) return "it belongs to another provider";
  if (resourceType === undefined && !PARTS.has(type)) return "`workspace` does not manage this type";
  if (state === "deposed") return "it is deposed: Terraform replaced it and did not delete it yet";
  if (state === "without attributes") return "the state has no attributes of it";
  if (resourceType === undefined) {
    const [mark] = type === LIBRARY || type === MEMBERSHIP ? [] : sensitiveMarks(values);
    return mark && whySensitive(mark.text, "a part of it");
  }
  const [id, name] = [resourceType.id(values), resourceType.name(values)];
  if (hasMark(name)) return whySensitive(name, "its name");
  if (hasMark(id)) return whySensitive(id, "its ID");
  return id === undefined || name === undefined ? "the state does not contain its ID and name" : undefined;
}

/** An entry of a list whose name has a mark: without it, the spec cannot contain the list. */
function hiddenMember(
  instance: TerraformInstance,
  type: ResourceType | undefined,
  registry: Registry,
  unmanageable: string,
): ConvertedObject | undefined {
  const name = type?.name(instance.values) ?? "";
  if (type === undefined || registry.get(type.kind).nested === undefined) return undefined;
  if (!hasMark(name) || hasMark(parentOf(name))) return undefined;
  const live = { id: remoteId(name), name, values: {}, facts: {}, unmanageable };
  return { kind: type.kind, live, instance };
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
  // A key of a map can be a name, and has no mark.
  const isSecret = log.secrets.isIn(name) ? whySensitive(name, "its name") : unmanageable;
  const problem = earlier === undefined ? isSecret : `${earlier.instance.address} is the same object`;
  if (problem !== undefined) {
    log.leave(instance, problem);
    return;
  }
  const steering = ["provider_config", ...type.computed];
  const convertedAttributes = convertAttributes(
    provider.fields,
    omit(attributes, steering),
    (path) => log.variable(instance, path),
    log.secrets,
  );
  if (convertedAttributes.unmanageable !== undefined) {
    log.leave(instance, convertedAttributes.unmanageable);
    return;
  }
  const lost = lostMarks(omit(instance.values, steering), attributes, left);
  for (const omittedAttribute of [...left, ...lost, ...convertedAttributes.left])
    log.leaveAttribute(instance, omittedAttribute.path, omittedAttribute.reason);
  if (instance.state === "tainted")
    log.note(instance, "it is tainted: Terraform would replace it, and `workspace` keeps it");
  const { nameField } = provider;
  const values =
    nameField === undefined
      ? convertedAttributes.values
      : { ...convertedAttributes.values, [nameField]: name };
  objects.set(key, { kind: type.kind, live: { id, name, values, facts: {} }, instance });
}

/** The values that Terraform marks as sensitive and that are in no field. */
function lostMarks(
  values: JsonObject,
  attributes: JsonObject,
  left: readonly OmittedAttribute[],
): readonly OmittedAttribute[] {
  const converted = new Set(sensitiveMarks(attributes).map(({ text }) => text));
  const isReported = (path: Path): boolean => left.some((omitted) => isAtOrBelow(path, omitted.path));
  return sensitiveMarks(values)
    .filter(({ text, path }) => !converted.has(text) && !isReported(path))
    .map(({ path, text }) => ({ path, reason: whyVariable(text) }));
}

/** Names that are IDs compare as their kind compares names. */
function foldedId(type: ResourceType, registry: Registry, attributes: JsonObject): string {
  const provider = registry.get(type.kind);
  const id = type.id(attributes) ?? "";
  return provider.nameField === undefined ? foldName(provider, id) : id;
}

/** Without ACLs and secrets of scopes that the state does not have, and with the ACL that a scope was created with. */
function withParents(objects: ConvertedObjects, registry: Registry, log: ConversionLog): ConvertedObjects {
  const convertedObjectByKey = new Map<string, ConvertedObject>();
  for (const [key, convertedObject] of objects) {
    const parent = registry.get(convertedObject.kind).nested?.kind;
    const name = parentOf(convertedObject.live.name);
    if (parent === undefined || objects.has(convertedKey(parent, name)))
      convertedObjectByKey.set(key, convertedObject);
    else log.leave(convertedObject.instance, `the secret scope ${JSON.stringify(name)} is not in the state`);
  }
  const acls = Map.groupBy(
    [...convertedObjectByKey.values()].filter((convertedObject) => convertedObject.kind === "acls"),
    (convertedObject) => parentOf(convertedObject.live.name),
  );
  for (const { kind, live, instance } of [...convertedObjectByKey.values()]) {
    if (kind !== "scopes" || !acls.has(live.name)) continue;
    log.note(instance, AUTHORITATIVE_ACCESS);
    const initial = instance.values.initial_manage_principal;
    if (typeof initial !== "string" || initial === "") continue;
    const name = nestedNameOf(live.name, initial);
    const id = remoteId(foldName(registry.get("acls"), name));
    const key = convertedKey("acls", id);
    if (!convertedObjectByKey.has(key))
      convertedObjectByKey.set(key, {
        kind: "acls",
        live: {
          ...{ id, name, values: { permission: "MANAGE" }, facts: {} },
          ...(hasMark(initial) ? { unmanageable: whySensitive(initial, "its name") } : {}),
        },
        instance,
      });
  }
  return convertedObjectByKey;
}
