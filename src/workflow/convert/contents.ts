// The resources of a Terraform state as live objects, as an export reads them from the service, with the contents of notebooks and files.

import { createHash } from "node:crypto";
import { isAbsolute, join, relative, sep } from "node:path";
import { isInFolder, resolvedPath } from "../../config/files.ts";
import { nestedNameOf, parentOf, type RemoteId, remoteId } from "../../core/address.ts";
import { type JsonObject, omit } from "../../core/json.ts";
import { isAtOrBelow, type Path } from "../../core/pointer.ts";
import { shellWord } from "../../core/sentences.ts";
import { hasContent, type Provider, type Registry } from "../../resource/kind.ts";
import { foldName } from "../../resource/names.ts";
import type { ExportedObject } from "../../spec/export/addresses.ts";
import { mostBytes } from "../../spec/files/contents.ts";
import { extensionFor, extensionOf, isNotebookKind } from "../../spec/files/notebook-format.ts";
import { type FileRefusal, openSpecFolder, type SpecFolder } from "../../spec/files/spec-folder.ts";
import {
  convertAttributes,
  type OmittedAttribute,
  type ResourceType,
  textAttribute,
  whyVariable,
} from "./attributes.ts";
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

export interface ContentFolders {
  readonly configuration: string;
  readonly spec: string;
}

/** A content, which is read when it is written. */
interface FoundContent {
  bytes(): Uint8Array;
  /** The path in the spec's folder of a file that need not be copied. */
  readonly path?: string;
}

type FoundContents = ReadonlyMap<string, FoundContent>;

export const contentKey = ({ provider, live }: ExportedObject): string =>
  convertedKey(provider.kind, live.id);

const REFUSALS: Readonly<Record<FileRefusal, string>> = {
  missing: "does not exist",
  outside: "is outside the folder of the Terraform configuration",
  loop: "cannot be read, because symbolic links form a loop",
  private: "is private",
  irregular: "is not a regular file",
  "too large": "is too large",
  unreadable: "cannot be read",
  hidden: "is hidden",
  "no folder": "is not in a folder",
};

/** The contents that were found, and the objects without those whose content was not. */
export function findContents(
  objects: ConvertedObjects,
  registry: Registry,
  folders: ContentFolders,
  log: ConversionLog,
): { readonly objects: ConvertedObjects; readonly contents: FoundContents } {
  const tree = openSpecFolder(join(folders.configuration, "main.tf"))?.tree;
  const contents = new Map<string, FoundContent>();
  const convertedObjectByKey = new Map<string, ConvertedObject>();
  for (const [key, convertedObject] of objects) {
    const provider = registry.get(convertedObject.kind);
    const content = hasContent(provider)
      ? contentOfObject(convertedObject, provider, tree, folders, log)
      : undefined;
    if (typeof content === "string")
      log.leave(
        convertedObject.instance,
        `${content}; to convert it, run \`workspace export --only ${shellWord(`${convertedObject.kind}.${convertedObject.live.name}`)} --out FOLDER\``,
      );
    else {
      convertedObjectByKey.set(key, convertedObject);
      if (content !== undefined) contents.set(key, content);
    }
  }
  return { objects: convertedObjectByKey, contents };
}

function contentOfObject(
  convertedObject: ConvertedObject,
  provider: Provider,
  tree: SpecFolder | undefined,
  folders: ContentFolders,
  log: ConversionLog,
): FoundContent | string {
  const { values } = convertedObject.instance;
  if (hasMark(values.content_base64)) return whySensitive(values.content_base64, "its content");
  if (hasMark(values.source)) return whySensitive(values.source, "its source");
  const encoded = textAttribute(values, "content_base64");
  if (encoded !== undefined) {
    const bytes = Buffer.from(encoded, "base64");
    const isWhole = bytes.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "");
    if (log.secrets.isIn(bytes.toString("utf8"))) return HAS_SECRET;
    return isWhole ? { bytes: () => bytes } : "its content_base64 is not valid";
  }
  const source = textAttribute(values, "source");
  if (source === undefined && values.content_base64 === "") return { bytes: () => new Uint8Array() };
  if (source === undefined) return "the state contains neither its content nor its source";
  const path = isAbsolute(source) ? relative(folders.configuration, source) : source;
  const most = mostBytes(provider);
  const read = (): Uint8Array | FileRefusal => {
    const openedFile = tree?.read(path, most) ?? ({ ok: false, refusal: "missing" } as const);
    return openedFile.ok ? openedFile.value : openedFile.refusal;
  };
  const first = read();
  if (typeof first === "string") return `its source ${JSON.stringify(source)} ${REFUSALS[first]}`;
  const sum = textAttribute(values, "md5");
  if (sum !== undefined && /^[0-9a-f]{32}$/.test(sum) && md5(first) !== sum)
    log.note(
      convertedObject.instance,
      "its source changed after Terraform applied it, so the plan updates it",
    );
  const inPlace = pathInSpec(tree, path, folders);
  // The extension says what the notebook is, as the spec infers it.
  const isUsable =
    inPlace !== undefined &&
    (!isNotebookKind(provider) || extensionOf(inPlace) === extensionFor(convertedObject.live.values));
  const bytes = (): Uint8Array => {
    const again = read();
    if (typeof again === "string") throw new Error(`${source} ${REFUSALS[again]}`);
    return again;
  };
  if (isUsable) return { bytes, path: inPlace };
  return log.secrets.isIn(new TextDecoder().decode(first)) ? HAS_SECRET : { bytes };
}

const HAS_SECRET =
  "its content contains a value that Terraform marks as sensitive, or that of a secret; put it into a file of the spec without the value";

/** The service and Terraform compare contents by this sum. */
const md5 = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("hex");

function pathInSpec(
  tree: SpecFolder | undefined,
  path: string,
  { spec }: ContentFolders,
): string | undefined {
  const real = tree?.realPath(path);
  if (real?.ok !== true) return undefined;
  const folder = resolvedPath(spec);
  const below = relative(folder, real.value);
  const isPlain = /^[\p{L}\p{N} ._@+,=()/\\-]+$/u.test(below);
  const isHidden = below.split(sep).some((part) => part.startsWith("."));
  return !isInFolder(folder, real.value) || isHidden || !isPlain ? undefined : below.split(sep).join("/");
}

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
