// The users and groups of the workspace (memberships, direct and inherited, and rights), and the stored access tokens by digest.

import { RETENTION } from "./limits.ts";
import type { Caller, Collection, World } from "./world.ts";

export interface User {
  readonly id: string;
  readonly userName: string;
  readonly displayName?: string;
  readonly name?: { readonly givenName?: string; readonly familyName?: string };
  readonly emails?: readonly { readonly value: string; readonly type?: string; readonly primary?: boolean }[];
  readonly externalId?: string;
  readonly active: boolean;
  readonly entitlements: readonly string[];
  readonly roles: readonly string[];
}

export interface Group {
  readonly id: string;
  readonly displayName: string;
  readonly externalId?: string;
  readonly entitlements: readonly string[];
  readonly roles: readonly string[];
  /** Ids of users, groups and service principals, in the order in which they were added. */
  readonly members: readonly string[];
  /** A group of the account above the workspace, which the workspace cannot change. A dialect has such. */
  readonly account?: true;
}

/** A program with an identity. The contract has none; a dialect shows them as members of groups. */
export interface ServicePrincipal {
  readonly id: string;
  readonly applicationId: string;
  readonly displayName: string;
  readonly externalId?: string;
  /** True if absent. */
  readonly active?: boolean;
  readonly entitlements?: readonly string[];
  readonly roles?: readonly string[];
}

export const ADMINS = "admins";
/** Every user is a member of it without being listed. */
export const USERS = "users";

const usersOf = (world: World): Collection<User> => world.collection("users");
const userNames = (world: World): Collection<string> => world.collection("users.byName");
/** Deleted users until they are purged, and their names. */
const inactiveOf = (world: World): Collection<User> => world.collection("users.inactive");
const groupsOfWorld = (world: World): Collection<Group> => world.collection("groups");
const groupNames = (world: World): Collection<string> => world.collection("groups.byName");
const parentIds = (world: World): Collection<readonly string[]> => world.collection("members.parents");

export const servicePrincipals = (world: World): Collection<ServicePrincipal> =>
  world.collection("servicePrincipals");

/** Users and groups share one sequence, so that an id says which it is. */
export const newPrincipalId = (world: World): string => String(world.next("principals", 100_000));

/** User names compare without regard to case (facts 4.3). */
const folded = (userName: string): string => userName.toLowerCase();

export const userById = (world: World, id: string): User | undefined => usersOf(world).get(id);
export const allUsers = (world: World): IterableIterator<User> => usersOf(world).values();

export function userByName(world: World, userName: string): User | undefined {
  const id = userNames(world).get(folded(userName));
  return id === undefined ? undefined : userById(world, id);
}

export const groupById = (world: World, id: string): Group | undefined => groupsOfWorld(world).get(id);
export const allGroups = (world: World): IterableIterator<Group> => groupsOfWorld(world).values();

export function groupByName(world: World, displayName: string): Group | undefined {
  const id = groupNames(world).get(displayName);
  return id === undefined ? undefined : groupById(world, id);
}

/** The user name or the application ID of who has an ID; undefined once it was deleted. */
export const principalNameById = (world: World, id: string): string | undefined =>
  userById(world, id)?.userName ?? servicePrincipals(world).get(id)?.applicationId;

export function servicePrincipalByApplication(world: World, id: string): ServicePrincipal | undefined {
  return [...servicePrincipals(world).values()].find(({ applicationId }) => applicationId === id);
}

/** The name of a user, group, or service principal in access lists; undefined if none has this name. */
export function principalName(world: World, name: string): string | undefined {
  return (
    groupByName(world, name)?.displayName ??
    userByName(world, name)?.userName ??
    servicePrincipalByApplication(world, name)?.applicationId
  );
}

export function putUser(world: World, user: User): void {
  usersOf(world).set(user.id, user);
  userNames(world).set(folded(user.userName), user.id);
}

export function putGroup(world: World, group: Group): void {
  const before = groupById(world, group.id)?.displayName;
  if (before !== undefined && before !== group.displayName) groupNames(world).delete(before);
  groupsOfWorld(world).set(group.id, group);
  groupNames(world).set(group.displayName, group.id);
}

/** Groups that name this user or group as a member, not recursive. */
export function parentsOf(world: World, id: string): Group[] {
  return (parentIds(world).get(id) ?? []).flatMap((parent) => groupById(world, parent) ?? []);
}

/** Ids of every group that a user or group is in, through others too. */
function ancestorsOf(world: World, id: string): Set<string> {
  const parents = parentIds(world);
  const ancestors = new Set<string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const parent of parents.get(next) ?? []) {
      if (ancestors.has(parent)) continue;
      ancestors.add(parent);
      open.push(parent);
    }
  }
  return ancestors;
}

/** Whether `member` as a member of `group` would close a cycle. */
export function createsCycle(world: World, group: string, member: string): boolean {
  return group === member || ancestorsOf(world, group).has(member);
}

/** Replaces the members of a group and keeps the way back from member to group. */
export function setMembers(world: World, group: Group, members: readonly string[]): Group {
  const parents = parentIds(world);
  const wanted = new Set(members);
  const had = new Set(group.members);
  for (const id of had) {
    if (wanted.has(id)) continue;
    const left = (parents.get(id) ?? []).filter((parent) => parent !== group.id);
    if (left.length === 0) parents.delete(id);
    else parents.set(id, left);
  }
  for (const id of wanted) if (!had.has(id)) parents.set(id, [...(parents.get(id) ?? []), group.id]);
  const changed = { ...group, members: [...wanted] };
  putGroup(world, changed);
  return changed;
}

export function removeGroup(world: World, group: Group): void {
  setMembers(world, group, []);
  leaveAll(world, group.id);
  groupsOfWorld(world).delete(group.id);
  groupNames(world).delete(group.displayName);
}

export function removeMember(world: World, group: Group, id: string): void {
  const left = group.members.filter((member) => member !== id);
  if (left.length < group.members.length) setMembers(world, group, left);
}

/** Its tokens are refused from now on. */
export function removeServicePrincipal(world: World, id: string): void {
  leaveAll(world, id);
  revokeTokens(world, id);
  servicePrincipals(world).delete(id);
}

function revokeTokens(world: World, id: string): void {
  for (const [token, row] of [...userTokens(world).entries()])
    if (row.user_id === id) userTokens(world).delete(token);
}

function leaveAll(world: World, id: string): void {
  for (const parent of parentsOf(world, id)) removeMember(world, parent, id);
}

export const PURGE = "users/purge";

/** No request shows a deleted user; the rest of its data is purged after 30 days (contract A 3, contract A 8). */
export function inactivateUser(world: World, user: User): void {
  leaveAll(world, user.id);
  revokeTokens(world, user.id);
  usersOf(world).delete(user.id);
  userNames(world).delete(folded(user.userName));
  inactiveOf(world).set(folded(user.userName), { ...user, active: false });
  world.timers.set(`${PURGE}/${user.id}`, world.now + RETENTION.inactive_user_ms, PURGE, {
    name: folded(user.userName),
  });
}

/** Takes an inactive user of that name back, so that it keeps its id. */
export function takeInactive(world: World, userName: string): User | undefined {
  const user = inactiveOf(world).get(folded(userName));
  if (user === undefined) return undefined;
  inactiveOf(world).delete(folded(userName));
  world.timers.cancel(`${PURGE}/${user.id}`);
  return user;
}

export function purgeUser(world: World, name: string): void {
  inactiveOf(world).delete(name);
}

export function isAdmin(world: World, userId: string): boolean {
  const admins = groupByName(world, ADMINS);
  return admins !== undefined && ancestorsOf(world, userId).has(admins.id);
}

/** The names that an access list may know this user by: its own, its groups', and `users`. */
export function principalsOf(world: World, caller: Caller): Set<string> {
  const groups = [...ancestorsOf(world, caller.userId)].map((id) => groupById(world, id)?.displayName ?? []);
  return new Set([caller.userName, USERS, ...groups.flat()]);
}

/** Whether the caller has an entitlement, directly, through a group, or because every user has it. Administrators have them all. */
export function hasEntitlement(world: World, caller: Caller, entitlement: string): boolean {
  if (caller.admin) return true;
  if (userById(world, caller.userId)?.entitlements.includes(entitlement)) return true;
  const groups = [...ancestorsOf(world, caller.userId)].map((id) => groupById(world, id));
  return [groupByName(world, USERS), ...groups].some((group) => group?.entitlements.includes(entitlement));
}

interface WorldFacts {
  readonly user_name: string;
}

/** The user name of the administrator whom the workspace was created for. */
export function administratorName(world: World): string {
  return world.collection<WorldFacts>("workspace").get("administrator")?.user_name ?? "admin@example.com";
}

export function nameAdministrator(world: World, userName: string): void {
  world.collection<WorldFacts>("workspace").set("administrator", { user_name: userName });
}

/** Makes a user who is an administrator: the workspace's first, or one given on the command line later. */
export function ensureAdministrator(world: World, userName: string): User {
  let user = userByName(world, userName);
  if (user === undefined) {
    const again = takeInactive(world, userName);
    user = {
      id: again?.id ?? newPrincipalId(world),
      userName,
      displayName: userName,
      active: true,
      entitlements: [],
      roles: [],
    };
    putUser(world, user);
  }
  const admins = groupByName(world, ADMINS);
  if (admins !== undefined && !isAdmin(world, user.id))
    setMembers(world, admins, [...admins.members, user.id]);
  return user;
}

/** Who keeps a token of this user is refused from now on. */
export interface TokenRow {
  readonly user_id: string;
  /** A token without it does not expire. */
  readonly expires_at?: number;
  /** The audience of the token, if its issuer serves others than the workspace too. */
  readonly audience?: string;
  /** Issued by a sign-in of OAuth; the others are personal access tokens. */
  readonly oauth?: true;
}

interface SignInSettings {
  /** Seconds that a new token lives. */
  readonly expires_in: number;
  /** The answer to an expired token of OAuth. */
  readonly expired_status: 401 | 403;
  /** Does the machine get tokens without credentials? */
  readonly managed_identity: boolean;
}

const SIGN_IN: SignInSettings = { expires_in: 3600, expired_status: 401, managed_identity: false };
const signInOf = (world: World): Collection<SignInSettings> => world.collection("sign-in");

export const signInSettings = (world: World): SignInSettings => signInOf(world).get("settings") ?? SIGN_IN;

export function putSignInSettings(world: World, settings: SignInSettings): void {
  signInOf(world).set("settings", settings);
}

export const userTokens = (world: World): Collection<TokenRow> => world.collection("tokens");
