// SCIM users: list, get, create, PATCH, PUT, and DELETE, which inactivates (contract A 4.1, contract A 3).

import { isObject, type JsonObject, listIn } from "../../../core/json.ts";
import {
  allUsers,
  groupById,
  inactivateUser,
  newPrincipalId,
  parentsOf,
  putUser,
  removeMember,
  setMembers,
  takeInactive,
  type User,
  userById,
  userByName,
} from "../../world/directory.ts";
import { ScimError } from "../../world/errors.ts";
import type { Call, Operations, Reply, World } from "../../world/world.ts";
import {
  type Attribute,
  applyPatch,
  checkSchemas,
  checkUnchanged,
  listAttribute,
  listOf,
  PATCH_SCHEMA,
  shownList,
  shownUser,
  stringsIn,
  USER_SCHEMA,
} from "./resource.ts";

export const userOperations: Operations = {
  "scim/users/list": list,
  "scim/users/get": (call, world) => ({ json: shownUser(world, existing(world, call)) }),
  "scim/users/create": create,
  "scim/users/patch": patch,
  "scim/users/put": put,
  "scim/users/delete": (call, world) => {
    inactivateUser(world, existing(world, call));
    return { status: 204, json: {} };
  },
  "scim/me/get": (call, world) => ({ json: shownUser(world, existingUser(world, call.caller.userId)) }),
};

const ATTRIBUTES: readonly Attribute[] = [
  { name: "userName", shape: "text", fixed: true },
  { name: "id", shape: "text", fixed: true },
  { name: "displayName", shape: "text" },
  { name: "externalId", shape: "text" },
  { name: "active", shape: "boolean" },
  { name: "name", shape: "object" },
  ...["emails", "groups", "entitlements", "roles"].map(listAttribute),
];

const FILTERED = new Set([
  ...["username", "id", "displayname", "externalid", "active", "name.givenname", "name.familyname"],
  ...["emails", "groups", "entitlements", "roles"].flatMap((name) => [name, `${name}.value`]),
  ...["emails.type", "groups.display"],
]);

function existingUser(world: World, id: string): User {
  const user = userById(world, id);
  if (user === undefined) throw new ScimError(404, `User with id ${id} not found.`);
  return user;
}

const existing = (world: World, call: Call): User => existingUser(world, call.params.id ?? "");

function list({ input }: Call, world: World): Reply {
  return shownList(input, {
    all: () => allUsers(world),
    unique: "username",
    named: (name) => userByName(world, name),
    show: (user) => shownUser(world, user),
    filtered: FILTERED,
  });
}

/** A name that was deleted less than 30 days ago comes back under its old id, with nothing else of what it was. */
function create(call: Call, world: World): Reply {
  const { input } = call;
  checkSchemas(input, USER_SCHEMA);
  const userName = String(input.userName);
  if (userByName(world, userName) !== undefined)
    throw new ScimError(409, `User with username ${userName} already exists.`, "uniqueness");
  const id = takeInactive(world, userName)?.id ?? newPrincipalId(world);
  return { status: 201, json: shownUser(world, write(world, id, userName, input)) };
}

function put(call: Call, world: World): Reply {
  const user = existing(world, call);
  checkSchemas(call.input, USER_SCHEMA);
  checkUnchanged(call.input, "id", user.id);
  const userName = call.input.userName;
  if (typeof userName !== "string" || userName.toLowerCase() !== user.userName.toLowerCase())
    checkUnchanged(call.input, "userName", user.userName);
  return { json: shownUser(world, write(world, user.id, user.userName, call.input)) };
}

function patch(call: Call, world: World): Reply {
  const user = existing(world, call);
  checkSchemas(call.input, PATCH_SCHEMA);
  const operations = call.input.Operations;
  const after = applyPatch(shownUser(world, user), listIn(operations), ATTRIBUTES);
  // A patch that took the last group away leaves no `groups`; for a PUT that would mean "leave them".
  return { json: shownUser(world, write(world, user.id, user.userName, { groups: [], ...after })) };
}

/** Writes all attributes of a user. Absent ones get their defaults; absent `groups` are not changed. */
function write(world: World, id: string, userName: string, body: JsonObject): User {
  const { displayName, externalId, active, name, emails } = body;
  const user: User = {
    id,
    userName,
    displayName: typeof displayName === "string" ? displayName : userName,
    emails:
      emails === undefined
        ? [{ type: "work", value: userName, primary: true }]
        : listOf(listAttribute("emails"), emails).map(emailOf),
    active: active !== false,
    entitlements: stringsIn("entitlements", body),
    roles: stringsIn("roles", body),
    ...(typeof externalId === "string" ? { externalId } : {}),
    ...(isObject(name) ? { name: nameOf(name) } : {}),
  };
  putUser(world, user);
  if (body.groups !== undefined) joinExactly(world, id, stringsIn("groups", body));
  return user;
}

function emailOf(email: JsonObject): NonNullable<User["emails"]>[number] {
  const { value, type, primary } = email;
  return {
    value: String(value),
    ...(typeof type === "string" ? { type } : {}),
    ...(typeof primary === "boolean" ? { primary } : {}),
  };
}

function nameOf(name: JsonObject): NonNullable<User["name"]> {
  const { givenName, familyName } = name;
  return {
    ...(typeof givenName === "string" ? { givenName } : {}),
    ...(typeof familyName === "string" ? { familyName } : {}),
  };
}

/** Makes the direct memberships of a user exactly these groups. */
function joinExactly(world: World, id: string, groups: readonly string[]): void {
  for (const group of parentsOf(world, id)) if (!groups.includes(group.id)) removeMember(world, group, id);
  for (const groupId of groups) {
    const group = groupById(world, groupId);
    if (group === undefined) throw new ScimError(400, `Group with id ${groupId} not found.`, "invalidValue");
    if (!group.members.includes(id)) setMembers(world, group, [...group.members, id]);
  }
}
