// Assignments of principals to the workspace: who is in it, and as what. The contract has none of these calls; a dialect has.

import { type JsonObject, listIn, objectIn } from "../../../core/json.ts";
import {
  ADMINS,
  allGroups,
  allUsers,
  type Group,
  groupById,
  groupByName,
  inactivateUser,
  parentsOf,
  putGroup,
  removeGroup,
  removeMember,
  removeServicePrincipal,
  type ServicePrincipal,
  servicePrincipals,
  setMembers,
  userById,
} from "../../world/directory.ts";
import { invalidValue, notFound } from "../../world/errors.ts";
import type { Call, Collection, Operations, Reply, World } from "../../world/world.ts";

/** As an answer names it. */
interface Assigned {
  readonly principal_id: number;
  readonly display_name: string;
  readonly user_name?: string;
  readonly group_name?: string;
  readonly service_principal_name?: string;
}

export const assignmentOperations: Operations = {
  "permissionassignments/list": (_call, world) => ({
    json: { permission_assignments: assigned(world).map((principal) => shown(world, principal)) },
  }),
  "permissionassignments/create": create,
  "permissionassignments/set": set,
  "permissionassignments/delete": remove,
};

/** Groups and service principals of the account that are not in the workspace, by ID. */
export const unassigned = (world: World): Collection<Group | ServicePrincipal> =>
  world.collection("account.principals");

/** Brings a principal of the account with this name or ID into the workspace, if it is not there. */
function bringIn(world: World, isWanted: (name: string) => boolean): void {
  for (const principal of [...unassigned(world).values()]) {
    const names = "applicationId" in principal ? principal.applicationId : principal.displayName;
    if (![principal.id, names].some(isWanted)) continue;
    unassigned(world).delete(principal.id);
    if ("applicationId" in principal) servicePrincipals(world).set(principal.id, principal);
    else putGroup(world, principal);
  }
}

/** Users, service principals, and groups of the account; groups of the workspace are part of it. */
function assigned(world: World): readonly Assigned[] {
  const users = [...allUsers(world)].map(({ id, userName, displayName = userName }) => ({
    principal_id: Number(id),
    display_name: displayName,
    user_name: userName.toLowerCase(),
  }));
  const programs = [...servicePrincipals(world).values()].map(({ id, applicationId, displayName }) => ({
    principal_id: Number(id),
    display_name: displayName,
    service_principal_name: applicationId,
  }));
  const groups = [...allGroups(world)]
    .filter(({ account }) => account === true)
    .map(({ id, displayName }) => ({
      principal_id: Number(id),
      display_name: displayName,
      group_name: displayName,
    }));
  return [...users, ...programs, ...groups];
}

function shown(world: World, principal: Assigned): JsonObject {
  const groups = parentsOf(world, String(principal.principal_id));
  const isAdmin = groups.some(({ displayName }) => displayName === ADMINS);
  return { principal: { ...principal }, permissions: [isAdmin ? "ADMIN" : "USER"] };
}

/** By name. An error of one principal is part of the answer. */
function create({ input }: Call, world: World): Reply {
  const assignments = listIn(input.permission_assignments).map((item) => {
    const { permissions, ...name } = objectIn(item);
    const wanted = Object.values(name).map((text) => String(text).toLowerCase());
    bringIn(world, (text) => wanted.includes(text.toLowerCase()));
    const principal = assigned(world).find((candidate) =>
      [candidate.user_name, candidate.service_principal_name, candidate.group_name].some(
        (text) => text !== undefined && wanted.includes(text.toLowerCase()),
      ),
    );
    return assign(world, principal, listIn(permissions).map(String)) ?? missing(name);
  });
  return { json: { permission_assignments: assignments } };
}

function set({ input, params: { id = "" } }: Call, world: World): Reply {
  bringIn(world, (text) => text === id);
  const principal = assigned(world).find(({ principal_id }) => String(principal_id) === id);
  const permissions = listIn(input.permissions).map(String);
  return { json: assign(world, principal, permissions) ?? missing({ principal_id: Number(id) || 0 }) };
}

const missing = (principal: JsonObject): JsonObject => ({
  principal,
  permissions: [],
  error: "Principal not found.",
});

/** Undefined for a principal that the account does not have. */
function assign(
  world: World,
  principal: Assigned | undefined,
  permissions: readonly string[],
): JsonObject | undefined {
  const [permission, ...others] = permissions;
  if (permission === undefined || others.length > 0)
    throw invalidValue("permissions must have exactly one of USER and ADMIN.");
  const admins = groupByName(world, ADMINS);
  if (principal === undefined || admins === undefined) return undefined;
  const id = String(principal.principal_id);
  if (permission === "USER") removeMember(world, admins, id);
  else if (!admins.members.includes(id)) setMembers(world, admins, [...admins.members, id]);
  return shown(world, principal);
}

/** The account keeps the principal. */
function remove({ params: { id = "" }, caller }: Call, world: World): void {
  if (id === caller.userId) throw invalidValue("You cannot remove your own assignment.");
  if (assigned(world).every(({ principal_id }) => String(principal_id) !== id))
    throw notFound(`Principal ${id.slice(0, 100)} is not assigned to the workspace.`);
  const user = userById(world, id);
  const group = groupById(world, id);
  if (user !== undefined) inactivateUser(world, user);
  else if (group !== undefined) {
    unassigned(world).set(id, { ...group, members: [] });
    removeGroup(world, group);
  } else {
    const program = servicePrincipals(world).get(id);
    if (program !== undefined) unassigned(world).set(id, program);
    removeServicePrincipal(world, id);
  }
}
