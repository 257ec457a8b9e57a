// SCIM resources as they are shown, and the envelope of a list.

import type { Json, JsonObject } from "../../../core/json.ts";
import { type Group, groupById, parentsOf, type User, userById } from "../../directory.ts";
import type { World } from "../../world.ts";

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
    ...present({ displayName, name, emails, externalId }),
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
    ...present({ externalId: group.externalId }),
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
  return group === undefined ? [] : [{ display: group.displayName, value: id, $ref: `Groups/${id}` }];
}

const asValue = (value: string): JsonObject => ({ value });

function list(name: string, members: readonly Json[]): JsonObject {
  return members.length === 0 ? {} : { [name]: members };
}

function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** One page of a list. Paging counts from 1; without `count` the page is the rest (RFC 7644, section 3.4.2.4). */
export function shownList<T>(all: readonly T[], input: JsonObject, show: (one: T) => JsonObject): JsonObject {
  const given = input.startIndex ?? 1;
  const first = Math.max(1, Number(given));
  const count = Math.max(0, Number(input.count ?? all.length));
  const page = all.slice(first - 1, first - 1 + count).map(show);
  return {
    totalResults: all.length,
    startIndex: first === 1 ? 1 : given,
    itemsPerPage: page.length,
    schemas: [LIST_SCHEMA],
    ...list("Resources", page),
  };
}
