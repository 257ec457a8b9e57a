// SCIM resources in answers, lists, and the parts of a request that users and groups share.

import { defined, type Json, type JsonObject } from "../../../core/json.ts";
import {
  type Group,
  groupById,
  parentsOf,
  servicePrincipals,
  type User,
  userById,
} from "../../world/directory.ts";
import { ScimError } from "../../world/errors.ts";
import type { Reply, World } from "../../world/world.ts";
import { lookupIn, parseFilter } from "./filter.ts";
import { listAttribute, listOf } from "./patch.ts";

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
    ...list("groups", parentsOf(world, id).map(groupReference)),
    ...list("entitlements", user.entitlements.map(asValue)),
    ...list("roles", user.roles.map(asValue)),
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
    ...list("groups", parentsOf(world, group.id).map(groupReference)),
    ...list("entitlements", group.entitlements.map(asValue)),
    ...list("roles", group.roles.map(asValue)),
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
export interface Listing<T> {
  readonly all: () => Iterable<T>;
  /** The attribute that is unique, in lower case, and the resource by its value. */
  readonly unique: string;
  readonly named: (value: string) => T | undefined;
  readonly show: (one: T) => JsonObject;
  /** Attributes that a filter may have. */
  readonly filtered: ReadonlySet<string>;
}

/** One page of a list. Paging counts from 1; without `count` the page is the rest (RFC 7644, section 3.4.2.4). */
export function shownList<T>(input: JsonObject, listing: Listing<T>): Reply {
  const all = selected(input.filter, listing);
  const given = input.startIndex ?? 1;
  const first = Math.max(1, Number(given));
  const count = Math.max(0, Number(input.count ?? all.length));
  const page = all.slice(first - 1, first - 1 + count).map(listing.show);
  return {
    json: {
      totalResults: all.length,
      startIndex: first === 1 ? 1 : given,
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
    const found = named(filter.exactly.value);
    return found === undefined ? [] : [found];
  }
  return [...all()].filter((one) => filter.matches(lookupIn(show(one), filtered)));
}

/** Throws invalidValue when the body does not name the schema that the call takes. */
export function checkSchemas(body: JsonObject, wanted: string): void {
  const { schemas } = body;
  if (!Array.isArray(schemas) || !schemas.includes(wanted))
    throw new ScimError(400, `schemas must name ${wanted}.`, "invalidValue");
}

/** Throws mutability when the body gives an immutable attribute another value. */
export function checkUnchanged(body: JsonObject, name: string, value: string): void {
  const given = body[name];
  if (given !== undefined && given !== value)
    throw new ScimError(400, `${name} cannot be changed.`, "mutability");
}

/** The `value`s of a list attribute of the body, each once; [] when it is absent. */
export function stringsIn(name: string, body: JsonObject): string[] {
  const given = body[name];
  if (given === undefined) return [];
  return [...new Set(listOf(listAttribute(name), given).map((member) => String(member.value)))];
}
