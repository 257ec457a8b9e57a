// The legacy groups API (contract A 4.2), over the same groups as SCIM.

import type { JsonObject } from "../../../core/json.ts";
import {
  ADMINS,
  allGroups,
  createsCycle,
  type Group,
  groupById,
  groupByName,
  newPrincipalId,
  parentsOf,
  putGroup,
  removeGroup,
  removeMember,
  setMembers,
  USERS,
  userById,
  userByName,
} from "../../world/directory.ts";
import { alreadyExists, invalidValue, notFound, permissionDenied } from "../../world/errors.ts";
import type { Area, Call, Reply, World } from "../../world/world.ts";

export const groupsArea: Area = {
  operations: {
    "groups/create": create,
    "groups/delete": remove,
    "groups/list": (_call, world) => ({ json: names([...allGroups(world)]) }),
    "groups/list-members": listMembers,
    "groups/list-parents": (call, world) => ({
      json: names(parentsOf(world, principalId(world, call.input))),
    }),
    "groups/add-member": addMember,
    "groups/remove-member": leaveGroup,
  },
};

function create(call: Call, world: World): Reply {
  const name = String(call.input.group_name);
  if (groupByName(world, name) !== undefined) throw alreadyExists(`Group ${name} already exists.`);
  putGroup(world, { id: newPrincipalId(world), displayName: name, entitlements: [], roles: [], members: [] });
  return { json: { group_name: name } };
}

function remove(call: Call, world: World): void {
  const group = existing(world, call.input.group_name);
  if (group.displayName === ADMINS || group.displayName === USERS)
    throw permissionDenied(`The built-in group ${group.displayName} cannot be deleted.`);
  removeGroup(world, group);
}

/** Not recursive: child groups are named, their members are not. */
function listMembers(call: Call, world: World): Reply {
  const group = existing(world, call.input.group_name);
  const members = group.members.flatMap((id): JsonObject[] => {
    const user = userById(world, id);
    if (user !== undefined) return [{ user_name: user.userName }];
    const child = groupById(world, id);
    return child === undefined ? [] : [{ group_name: child.displayName }];
  });
  return { json: members.length === 0 ? {} : { members } };
}

/** Adding a member again has no effect. */
function addMember(call: Call, world: World): void {
  const parent = existing(world, call.input.parent_name);
  const id = principalId(world, call.input);
  if (createsCycle(world, parent.id, id))
    throw invalidValue(
      `Group ${String(call.input.group_name)} contains ${parent.displayName}, so it cannot become its member.`,
    );
  if (!parent.members.includes(id)) setMembers(world, parent, [...parent.members, id]);
}

/** Removing a user or group that is not a member has no effect. */
function leaveGroup(call: Call, world: World): void {
  const parent = existing(world, call.input.parent_name);
  removeMember(world, parent, principalId(world, call.input));
}

function existing(world: World, name: unknown): Group {
  const group = groupByName(world, String(name));
  if (group === undefined) throw notFound(`Group ${String(name)} does not exist.`);
  return group;
}

/** A PrincipalName holds exactly one of `user_name` and `group_name` (contract A 2.7). */
function principalId(world: World, input: JsonObject): string {
  const { user_name: userName, group_name: groupName } = input;
  if ((userName === undefined) === (groupName === undefined))
    throw invalidValue("Give exactly one of user_name and group_name.");
  if (groupName !== undefined) return existing(world, groupName).id;
  const user = userByName(world, String(userName));
  if (user === undefined) throw notFound(`User ${String(userName)} does not exist.`);
  return user.id;
}

function names(groups: readonly Group[]): JsonObject {
  return groups.length === 0 ? {} : { group_names: groups.map((group) => group.displayName) };
}
