// The guard against plans that remove the caller's own rights: administrators and members of groups before and after a change.

import { memberOf, parentOf } from "../../core/address.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { hasDigest } from "../../core/sensitive/digests.ts";
import { ADMINISTRATORS } from "../../resource/access.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldCase } from "../../resource/names.ts";
import type { Objection, PlannedChange, PlannedWorkspace } from "../../resource/planning.ts";
import { notCompared } from "./problems.ts";
import { scimValues } from "./scim.ts";

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
  const open = [ADMINISTRATORS];
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

/** Guards of an untrusted plan cannot count the members of `admins` whose role is hidden. `leaves`: whether a user would no longer be one. */
export function uncheckedAdministrators(
  { address }: PlannedChange,
  workspace: PlannedWorkspace,
  leaves: (user: string) => boolean,
): readonly Objection[] {
  const hidden = workspace
    .live("workspace_assignments")
    .filter(({ values }) => hasDigest(values.permissions))
    .map(({ name }) => foldCase(name.replace(/^user:/, "")));
  return hidden.some(leaves) ? [notCompared(address, ["the change"], "with the members of admins")] : [];
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
export function stayingMembers(workspace: PlannedWorkspace, group: LiveObject): readonly string[] {
  const membership = membershipOf(workspace);
  const staying = new Set<string>();
  const visited = new Set<string>([group.name]);
  const open: Members[] = [membersOf(group.values)];
  for (let members = open.pop(); members !== undefined; members = open.pop()) {
    for (const user of members.users) if (!workspace.isRemoved("users", user)) staying.add(`user ${user}`);
    for (const inner of members.groups) {
      if (!workspace.isRemoved("groups", inner)) staying.add(`group ${inner}`);
      else if (!visited.has(inner)) open.push(membership.get(inner) ?? { users: [], groups: [] });
      visited.add(inner);
    }
  }
  return [...staying];
}
