// SCIM requests that users and groups share (contract A 4.1), and administrators before and after a change, for the guard
// against plans that remove the caller's own rights.

import { memberOf, parentOf } from "../../core/address.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldCase } from "../../resource/names.ts";
import type { OperationWriter } from "../../resource/operations.ts";
import type { Objection, PlannedWorkspace } from "../../resource/planning.ts";

const ADMINS = "admins";

interface Members {
  readonly users: readonly string[];
  readonly groups: readonly string[];
}

/** Groups by the name that they have after the plan; user names in lower case, because they compare so. */
type Membership = ReadonlyMap<string, Members>;

export function membershipOf(workspace: PlannedWorkspace): Membership {
  return new Map(
    workspace.live("groups").map((live) => [nameAfter(workspace, live), membersOf(live.values)]),
  );
}

export function nameAfter(workspace: PlannedWorkspace, group: LiveObject): string {
  const { displayName } = workspace.valuesAfter("groups", group) ?? {};
  return typeof displayName === "string" ? displayName : group.name;
}

export function membersOf(values: JsonObject): Members {
  const members: JsonObject = isObject(values.members) ? values.members : {};
  return { users: folded(members.users), groups: scimValues(members.groups) };
}

const folded = (value: Json | undefined): readonly string[] => scimValues(value).map(foldCase);

/** All members of `admins`, directly or through groups. */
function administrators(membership: Membership): ReadonlySet<string> {
  const administrators = new Set<string>();
  const visited = new Set<string>();
  const open = [ADMINS];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (visited.has(name)) continue;
    visited.add(name);
    for (const user of membership.get(name)?.users ?? []) administrators.add(user);
    open.push(...(membership.get(name)?.groups ?? []));
  }
  return administrators;
}

/** Whether a change removes a user's administrator role. */
export function losesAdministrators(before: Membership, after: Membership): boolean {
  const left = administrators(after);
  return [...administrators(before)].some((name) => !left.has(name));
}

/** Objections where the caller, or the last administrator, would lose that right. */
export function lockouts(
  workspace: PlannedWorkspace,
  before: Membership,
  after: Membership,
): readonly Objection[] {
  if (!losesAdministrators(before, after)) return [];
  const left = administrators(after);
  const caller = workspace.caller === undefined ? undefined : foldCase(workspace.caller);
  if (left.size === 0)
    return [lockout("the group admins would have no members", "keep an administrator in the spec")];
  if (caller !== undefined && administrators(before).has(caller) && !left.has(caller))
    return [
      lockout(
        `the caller, ${workspace.caller}, would no longer be an administrator`,
        "keep your own user in the group admins, or ask another administrator to apply this",
      ),
    ];
  return [];
}

export const lockout = (message: string, hint: string): Objection => ({
  code: "GUARD_LOCKOUT",
  message,
  hint,
});

/** The membership once a user is in exactly these groups. */
export function withUserIn(before: Membership, user: string, groups: readonly string[]): Membership {
  const name = foldCase(user);
  const wanted = new Set(groups);
  const after = new Map(before);
  for (const [group, members] of before) {
    const users = members.users.filter((user) => user !== name);
    after.set(group, { ...members, users: wanted.has(group) ? [...users, name] : users });
  }
  return after;
}

/** Names of access that names a principal and stays when it goes: the plan takes neither the access nor its scope away. `fold`: how names of its kind compare. */
export function aclsNaming(
  workspace: PlannedWorkspace,
  fold: (name: string) => string,
  principal: string,
): readonly string[] {
  const name = fold(principal);
  return workspace
    .live("acls")
    .map((acl) => acl.name)
    .filter(
      (acl) =>
        fold(memberOf(acl)) === name &&
        !workspace.isRemoved("acls", acl) &&
        !workspace.isRemoved("scopes", parentOf(acl)),
    );
}

/** Members of a group that stay when it goes: its own, and those that it has through groups which go as well. */
export function stayingMembers(workspace: PlannedWorkspace, group: LiveObject): number {
  const membership = membershipOf(workspace);
  const staying = new Set<string>();
  const visited = new Set<string>([group.name]);
  const open: Members[] = [membersOf(group.values)];
  for (let members = open.pop(); members !== undefined; members = open.pop()) {
    for (const user of members.users) if (!workspace.isRemoved("users", user)) staying.add(`users.${user}`);
    for (const inner of members.groups) {
      if (!workspace.isRemoved("groups", inner)) staying.add(`groups.${inner}`);
      else if (!visited.has(inner)) open.push(membership.get(inner) ?? { users: [], groups: [] });
      visited.add(inner);
    }
  }
  return staying.size;
}

export const CORE_USER = "urn:ietf:params:scim:schemas:core:2.0:User";
export const CORE_GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const SCIM_PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

/** Members and entitlements in requests: `[{value}]`. */
export const asValues = (texts: readonly string[]): Json => texts.map((value) => ({ value }));

export const scimValues = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

export interface Delta {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

const NONE: Delta = { added: [], removed: [] };

export function deltaOf(before: Json | undefined, after: Json | undefined): Delta {
  if (after === undefined) return NONE;
  const had = new Set(scimValues(before));
  const wanted = new Set(scimValues(after));
  return {
    added: [...wanted].filter((name) => !had.has(name)),
    removed: [...had].filter((name) => !wanted.has(name)),
  };
}

export function joined(...deltas: readonly Delta[]): Delta {
  return {
    added: deltas.flatMap((delta) => delta.added),
    removed: deltas.flatMap((delta) => delta.removed),
  };
}

/** Operations that add to and remove from an attribute; a concurrent change of others stays (facts 4.3). */
export function operationsFor(attribute: string, delta: Delta): readonly Json[] {
  const removed: readonly Json[] = delta.removed.map((value) => ({
    op: "remove",
    path: `${attribute}[value eq ${JSON.stringify(value)}]`,
  }));
  if (delta.added.length === 0) return removed;
  const add: JsonObject =
    attribute === "members"
      ? { op: "add", value: { members: asValues(delta.added) } }
      : { op: "add", path: attribute, value: asValues(delta.added) };
  return [...removed, add];
}

/** The operation that renames a group; none if the name does not change. */
export const nameOperations = (value: string | undefined): readonly Json[] =>
  value === undefined ? [] : [{ op: "replace", path: "displayName", value }];

export async function patch(
  api: OperationWriter,
  kind: "users" | "groups",
  id: string,
  operations: readonly Json[],
): Promise<void> {
  if (operations.length === 0) return;
  await api.write(`scim/${kind}/patch`, { id, schemas: [SCIM_PATCH], Operations: operations });
}

/** The type of a group member, from its reference, or from the IDs of all groups; undefined if neither is known. */
export function memberKind(
  member: JsonObject,
  groupIds: ReadonlySet<string>,
): "users" | "groups" | undefined {
  const reference = typeof member.$ref === "string" ? member.$ref : "";
  if (reference.includes("Groups/")) return "groups";
  if (reference.includes("Users/")) return "users";
  if (typeof member.value === "string" && groupIds.has(member.value)) return "groups";
  return undefined;
}
