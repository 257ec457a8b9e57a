// SCIM resources in answers and lists, and PATCH: add, remove, and replace with paths and value filters (RFC 7644, section 3.5.2).

import { defined, isObject, type Json, type JsonObject, listIn, objectIn, omit } from "../../../core/json.ts";
import {
  type Group,
  groupById,
  parentsOf,
  type ServicePrincipal,
  servicePrincipals,
  type User,
  userById,
} from "../../world/directory.ts";
import { ScimError } from "../../world/errors.ts";
import type { Reply, World } from "../../world/world.ts";
import { lookupIn, parseFilter, scimAttribute } from "./filter.ts";

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";
export const GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse";

/** A user as every call shows it. Empty lists are left out. */
export function shownUser(world: World, user: User): JsonObject {
  const { id, userName, displayName, name, emails, externalId, active } = user;
  return {
    schemas: [USER_SCHEMA],
    id,
    userName,
    ...defined({ displayName, name, emails, externalId }),
    active,
    ...shownLists(world, user),
  };
}

/** A group as every call shows it, with its direct members. */
export function shownGroup(world: World, group: Group): JsonObject {
  return {
    schemas: [GROUP_SCHEMA],
    id: group.id,
    displayName: group.displayName,
    ...defined({ externalId: group.externalId }),
    ...list(
      "members",
      group.members.flatMap((id) => memberReference(world, id)),
    ),
    ...shownLists(world, group),
  };
}

/** The lists that every principal has. */
export function shownLists(
  world: World,
  { id, entitlements = [], roles = [] }: Pick<ServicePrincipal, "id" | "entitlements" | "roles">,
): JsonObject {
  return {
    ...list("groups", parentsOf(world, id).map(groupReference)),
    ...list("entitlements", entitlements.map(asValue)),
    ...list("roles", roles.map(asValue)),
  };
}

function groupReference(group: Group): JsonObject {
  return { display: group.displayName, value: group.id, $ref: `Groups/${group.id}`, type: "direct" };
}

function memberReference(world: World, id: string): JsonObject[] {
  const user = userById(world, id);
  if (user !== undefined)
    return [{ display: user.displayName ?? user.userName, value: id, $ref: `Users/${id}` }];
  const group = groupById(world, id);
  if (group !== undefined) return [{ display: group.displayName, value: id, $ref: `Groups/${id}` }];
  const program = servicePrincipals(world).get(id);
  return program === undefined
    ? []
    : [{ display: program.displayName, value: id, $ref: `ServicePrincipals/${id}` }];
}

const asValue = (value: string): JsonObject => ({ value });

function list(name: string, members: readonly Json[]): JsonObject {
  return members.length === 0 ? {} : { [name]: members };
}

/** How the resources of a type are listed and found. */
interface Listing<T> {
  readonly all: () => Iterable<T>;
  /** The attribute that is unique, in lower case, and the resource by its value. */
  readonly unique: string;
  readonly named: (value: string) => T | undefined;
  readonly show: (resource: T) => JsonObject;
  /** Attributes that a filter may have. */
  readonly filtered: ReadonlySet<string>;
}

/** One page of a list. Paging counts from 1; without `count` the page is the rest (RFC 7644, section 3.4.2.4). */
export function shownList<T>(input: JsonObject, listing: Listing<T>): Reply {
  const all = selected(input.filter, listing);
  const startIndex = input.startIndex ?? 1;
  const first = Math.max(1, Number(startIndex));
  const count = Math.max(0, Number(input.count ?? all.length));
  const page = all.slice(first - 1, first - 1 + count).map(listing.show);
  return {
    json: {
      totalResults: all.length,
      startIndex: first === 1 ? 1 : startIndex,
      itemsPerPage: page.length,
      schemas: [LIST_SCHEMA],
      ...list("Resources", page),
    },
  };
}

function selected<T>(text: Json | undefined, { all, unique, named, show, filtered }: Listing<T>): T[] {
  if (typeof text !== "string") return [...all()];
  const filter = parseFilter(text);
  if (filter.exactly?.attribute === unique) {
    const resource = named(filter.exactly.value);
    return resource === undefined ? [] : [resource];
  }
  return [...all()].filter((resource) => filter.matches(lookupIn(show(resource), filtered)));
}

/** Throws invalidValue when the body does not name the schema that the call takes. */
export function checkSchemas(body: JsonObject, wanted: string): void {
  const { schemas } = body;
  if (!Array.isArray(schemas) || !schemas.includes(wanted))
    throw new ScimError(400, `schemas must name ${wanted}.`, "invalidValue");
}

/** Throws mutability when the body gives an immutable attribute another value. */
export function checkUnchanged(body: JsonObject, name: string, value: string): void {
  const member = body[name];
  if (member !== undefined && member !== value)
    throw new ScimError(400, `${name} cannot be changed.`, "mutability");
}

/** The `value`s of a list attribute of the body, each once; [] when it is absent. */
export function stringsIn(name: string, body: JsonObject): string[] {
  const member = body[name];
  if (member === undefined) return [];
  return [...new Set(listOf(listAttribute(name), member).map(({ value }) => String(value)))];
}

/** An attribute that a PATCH may name. A `list` contains objects that differ by their `value`. */
export interface Attribute {
  readonly name: string;
  readonly shape: "text" | "boolean" | "object" | "list";
  /** Immutable: writing another value than the present one is refused. */
  readonly fixed?: true;
}

export const listAttribute = (name: string): Attribute => ({ name, shape: "list" });

interface Path {
  readonly attribute: Attribute;
  readonly filter?: string | undefined;
  readonly sub?: string | undefined;
}

interface Patch extends Path {
  readonly op: "add" | "remove" | "replace";
  readonly value: Json | undefined;
}

/** The resource after all operations; the resource given is not touched. Throws ScimError when one cannot be done. */
export function applyPatch(
  resource: JsonObject,
  operations: readonly Json[],
  attributes: readonly Attribute[],
): JsonObject {
  return operations.reduce<JsonObject>(
    (before, operation) => applyOne(before, asObject(operation), attributes),
    resource,
  );
}

function applyOne(resource: JsonObject, operation: JsonObject, attributes: readonly Attribute[]): JsonObject {
  const op = readOp(operation.op);
  const { path, value } = operation;
  if (typeof path === "string") return applyAt(resource, { ...readPath(path, attributes), op, value });
  if (path !== undefined) throw new ScimError(400, "path must be text.", "invalidPath");
  if (!isObject(value)) {
    const [why, type] =
      op === "remove"
        ? ["A remove needs a path.", "noTarget"]
        : ["Without a path, value must be an object.", "invalidValue"];
    throw new ScimError(400, why, type);
  }
  // Unknown members of the object are ignored, as everywhere in requests.
  return Object.entries(value).reduce<JsonObject>((before, [name, member]) => {
    const attribute = attributes.find((attribute) => attribute.name.toLowerCase() === scimAttribute(name));
    return attribute === undefined ? before : applyAt(before, { attribute, op, value: member });
  }, resource);
}

function readOp(op: Json | undefined): Patch["op"] {
  const word = String(op).toLowerCase();
  if (word === "add" || word === "remove" || word === "replace") return word;
  throw new ScimError(400, `op must be add, remove or replace, not '${String(op)}'.`, "invalidSyntax");
}

const PATH = /^([\w$:-]+)(?:\[(.*)\])?(?:\.(\w+))?$/s;

function readPath(text: string, attributes: readonly Attribute[]): Path {
  const prefixless = text.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(User|Group):/i, "");
  const [, name = "", filter, sub] = PATH.exec(prefixless) ?? [];
  const attribute = attributes.find((attribute) => attribute.name.toLowerCase() === name.toLowerCase());
  if (attribute === undefined) throw new ScimError(400, `Attribute '${text}' does not exist.`, "invalidPath");
  if (filter !== undefined && attribute.shape !== "list")
    throw new ScimError(400, `${attribute.name} is not a list, so '${text}' selects nothing.`, "invalidPath");
  if (sub !== undefined && attribute.shape !== "object" && filter === undefined)
    throw new ScimError(
      400,
      `'${text}' names a part of every value of ${attribute.name}; say which with a filter.`,
      "invalidPath",
    );
  return { attribute, filter, sub };
}

function applyAt(resource: JsonObject, patch: Patch): JsonObject {
  const { attribute, op, value } = patch;
  const before = resource[attribute.name];
  if (op !== "remove" && value === undefined)
    throw new ScimError(400, `${op} of ${attribute.name} needs a value.`, "invalidValue");
  const after =
    attribute.shape === "list"
      ? patchedList(listIn(before).filter(isObject), patch)
      : patchedValue(before, patch);
  if (attribute.fixed && JSON.stringify(after) !== JSON.stringify(before))
    throw new ScimError(400, `${attribute.name} cannot be changed.`, "mutability");
  const rest = omit(resource, [attribute.name]);
  return after === undefined ? rest : { ...rest, [attribute.name]: after };
}

function patchedValue(before: Json | undefined, { attribute, sub, op, value }: Patch): Json | undefined {
  if (sub !== undefined) {
    const rest = omit(objectIn(before), [sub]);
    return op === "remove" || value === undefined ? rest : { ...rest, [sub]: value };
  }
  if (op === "remove") return undefined;
  const single = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (attribute.shape === "object") {
    if (!isObject(single)) throw wrongShape(attribute);
    return op === "add" && isObject(before) ? { ...before, ...single } : single;
  }
  if (typeof single !== (attribute.shape === "text" ? "string" : "boolean")) throw wrongShape(attribute);
  return single;
}

function patchedList(before: readonly JsonObject[], patch: Patch): readonly JsonObject[] {
  const { attribute, filter, op, value } = patch;
  if (filter !== undefined) return patchedMembers(before, patch, filter);
  const members = value === undefined ? [] : listOf(attribute, value);
  const named = new Set(members.map((member) => member.value));
  switch (op) {
    case "remove":
      return value === undefined ? [] : before.filter((member) => !named.has(member.value));
    case "replace":
      return unique(members);
    case "add":
      return unique([...before, ...members]);
  }
  return op satisfies never;
}

/** What a path with a filter selects, and what becomes of it. */
function patchedMembers(
  before: readonly JsonObject[],
  { attribute, sub, op, value = null }: Patch,
  filterText: string,
): readonly JsonObject[] {
  const filter = parseFilter(filterText);
  const selected = new Set(before.filter((member) => filter.matches((name) => partOf(member, name))));
  if (op === "remove") {
    if (sub === undefined) return before.filter((member) => !selected.has(member));
    return before.map((member) => (selected.has(member) ? omit(member, [sub]) : member));
  }
  if (selected.size === 0)
    throw new ScimError(400, `No value of ${attribute.name} matches '${filterText}'.`, "noTarget");
  const change = sub === undefined ? listOf(attribute, value)[0] : { [sub]: value };
  return unique(before.map((member) => (selected.has(member) ? { ...member, ...change } : member)));
}

const PARTS = new Set(["value", "display", "type", "primary"]);

function partOf(member: JsonObject, name: string): readonly Json[] | undefined {
  if (!PARTS.has(name)) return undefined;
  const part = member[name];
  return part === undefined ? [] : [part];
}

/** The members of a list as the contract writes them (`[{value}]`), or a single one. A bare text is none (contract A 4.1). */
export function listOf(attribute: Attribute, value: Json): JsonObject[] {
  const members = Array.isArray(value) ? value : [value];
  return members.map((member) => {
    if (!isObject(member) || typeof member.value !== "string" || member.value === "")
      throw wrongShape(attribute);
    return member;
  });
}

/** Of members with the same value, the last one is used, at the position of the first. */
function unique(members: readonly JsonObject[]): JsonObject[] {
  return [...new Map(members.map((member) => [member.value, member])).values()];
}

const SHAPES = {
  text: "text",
  boolean: "true or false",
  object: "an object",
  list: "a list of {value}",
} as const;

function wrongShape(attribute: Attribute): ScimError {
  return new ScimError(
    400,
    `The value of ${attribute.name} must be ${SHAPES[attribute.shape]}.`,
    "invalidValue",
  );
}

function asObject(value: Json): JsonObject {
  if (!isObject(value)) throw new ScimError(400, "An operation is an object.", "invalidSyntax");
  return value;
}
