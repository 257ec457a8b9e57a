// SCIM groups: list, get, create, PATCH of members, DELETE (contract A 4.1).

import { defined, type JsonObject, listIn } from "../../../core/json.ts";
import {
  ADMINS,
  administratorName,
  allGroups,
  createsCycle,
  ensureAdministrator,
  type Group,
  groupById,
  groupByName,
  newPrincipalId,
  PURGE,
  purgeUser,
  putGroup,
  removeGroup,
  servicePrincipals,
  setMembers,
  USERS,
  userById,
} from "../../world/directory.ts";
import { ScimError } from "../../world/errors.ts";
import type { Area, Call, Operations, Reply, World } from "../../world/world.ts";
import {
  type Attribute,
  applyPatch,
  checkSchemas,
  checkUnchanged,
  GROUP_SCHEMA,
  listAttribute,
  PATCH_SCHEMA,
  shownGroup,
  shownList,
  stringsIn,
} from "./resource.ts";
import { userOperations } from "./users.ts";

const groupOperations: Operations = {
  "scim/groups/list": list,
  "scim/groups/get": (call, world) => ({ json: shownGroup(world, existing(world, call)) }),
  "scim/groups/create": create,
  "scim/groups/patch": patch,
  "scim/groups/delete": remove,
};

const ATTRIBUTES: readonly Attribute[] = [
  { name: "displayName", shape: "text", fixed: true },
  { name: "id", shape: "text", fixed: true },
  { name: "externalId", shape: "text" },
  ...["members", "entitlements", "roles"].map(listAttribute),
];

const RENAMING = ATTRIBUTES.map(
  (attribute): Attribute =>
    attribute.name === "displayName" ? { name: attribute.name, shape: attribute.shape } : attribute,
);

const FILTERED = new Set([
  ...["displayname", "id", "externalid", "members.display", "groups.display"],
  ...["members", "groups", "entitlements", "roles"].flatMap((name) => [name, `${name}.value`]),
]);

function existing(world: World, call: Call): Group {
  const id = call.params.id ?? "";
  const group = groupById(world, id);
  if (group === undefined) throw new ScimError(404, `Group with id ${id} not found.`);
  return group;
}

function list({ input }: Call, world: World): Reply {
  return listGroups(input, world, () => true);
}

function listGroups(input: JsonObject, world: World, isListed: (group: Group) => boolean): Reply {
  return shownList(input, {
    all: () => [...allGroups(world)].filter(isListed),
    unique: "displayname",
    named: (name) => {
      const group = groupByName(world, name);
      return group !== undefined && isListed(group) ? group : undefined;
    },
    show: (group) => shownGroup(world, group),
    filtered: FILTERED,
  });
}

const isOfAccount = ({ account }: Group): boolean => account === true;

/** Groups of the account, which only a dialect has. */
export const listAccountGroups = ({ input }: Call, world: World): Reply =>
  listGroups(input, world, isOfAccount);

export function getAccountGroup(call: Call, world: World): Reply {
  const group = existing(world, call);
  if (!isOfAccount(group)) throw new ScimError(404, `Group with id ${group.id} not found.`);
  return { json: shownGroup(world, group) };
}

function create(call: Call, world: World): Reply {
  checkSchemas(call.input, GROUP_SCHEMA);
  const displayName = String(call.input.displayName);
  if (groupByName(world, displayName) !== undefined)
    throw new ScimError(409, `Group with name ${displayName} already exists.`, "uniqueness");
  const group = { id: newPrincipalId(world), displayName, members: [] };
  return { status: 201, json: shownGroup(world, write(world, group, call.input)) };
}

function patch(call: Call, world: World): Reply {
  const group = existing(world, call);
  checkSchemas(call.input, PATCH_SCHEMA);
  const operations = call.input.Operations;
  const attributes = call.allows?.groupNames === true ? RENAMING : ATTRIBUTES;
  const after = applyPatch(plain(group), listIn(operations), attributes);
  const displayName = String(after.displayName ?? "");
  checkNewName(world, group, displayName);
  return { json: shownGroup(world, write(world, { ...group, displayName }, after)) };
}

function checkNewName(world: World, group: Group, displayName: string): void {
  if (displayName === group.displayName) return;
  if (displayName === "") throw new ScimError(400, "displayName must not be empty.", "invalidValue");
  if (groupByName(world, displayName) !== undefined)
    throw new ScimError(409, `Group with name ${displayName} already exists.`, "uniqueness");
  if (group.displayName === ADMINS || group.displayName === USERS)
    throw new ScimError(403, `The built-in group ${group.displayName} cannot be renamed.`);
}

/** Writes every attribute of a group, its name too. The contract has no such call; a dialect has. */
export function overwriteGroup(call: Call, world: World): Reply {
  const group = existing(world, call);
  checkSchemas(call.input, GROUP_SCHEMA);
  checkUnchanged(call.input, "id", group.id);
  const displayName = String(call.input.displayName);
  checkNewName(world, group, displayName);
  return { json: shownGroup(world, write(world, { ...group, displayName }, call.input)) };
}

/** A group as a PATCH works on it: without the names of its members, which may be many. */
function plain(group: Group): JsonObject {
  const { id, displayName, externalId, members, entitlements, roles } = group;
  const values = (list: readonly string[]) => list.map((value) => ({ value }));
  return {
    id,
    displayName,
    members: values(members),
    entitlements: values(entitlements),
    roles: values(roles),
    ...defined({ externalId }),
  };
}

function write(world: World, group: Pick<Group, "id" | "displayName" | "members">, body: JsonObject): Group {
  const { externalId } = body;
  const members = stringsIn("members", body);
  const before = new Set(group.members);
  for (const id of members) if (!before.has(id)) checkMember(world, group, id);
  const changed: Group = {
    id: group.id,
    displayName: group.displayName,
    members: group.members,
    entitlements: stringsIn("entitlements", body),
    roles: stringsIn("roles", body),
    ...(typeof externalId === "string" ? { externalId } : {}),
  };
  return setMembers(world, changed, members);
}

const isPrincipal = (world: World, id: string): boolean =>
  userById(world, id) !== undefined || groupById(world, id) !== undefined || servicePrincipals(world).has(id);

function checkMember(world: World, group: Pick<Group, "id" | "displayName">, id: string): void {
  if (!isPrincipal(world, id)) throw new ScimError(400, `Member with id ${id} not found.`, "invalidValue");
  if (createsCycle(world, group.id, id)) {
    const message = `Group ${id} cannot be a member of ${group.displayName}: it contains that group.`;
    throw new ScimError(400, message, "invalidValue");
  }
}

function remove(call: Call, world: World): Reply {
  const group = existing(world, call);
  if (group.displayName === ADMINS || group.displayName === USERS)
    throw new ScimError(403, `The built-in group ${group.displayName} cannot be deleted.`);
  removeGroup(world, group);
  return { status: 204, json: {} };
}

export const scimArea: Area = {
  operations: { ...userOperations, ...groupOperations },
  timers: { [PURGE]: (world, payload) => purgeUser(world, String(payload.name)) },
  seed,
};

/** The built-in groups and the administrator. */
function seed(world: World): void {
  for (const displayName of [ADMINS, USERS])
    putGroup(world, { id: newPrincipalId(world), displayName, entitlements: [], roles: [], members: [] });
  ensureAdministrator(world, administratorName(world));
}
