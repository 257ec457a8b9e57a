// The access of a workspace at one time: principals, memberships, and grants by object, with the effective right of a principal on an object.

import {
  type AccessContribution,
  type AccessTarget,
  ADMINISTRATION,
  ADMINISTRATORS,
  EVERYONE,
  type Grant,
  type PrincipalKind,
  type PrincipalName,
} from "../../resource/access.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import { foldersAbove, isApplicationId, principalKey } from "../../resource/names.ts";
import { transitiveClosure } from "../order/graph.ts";

/** `user ada@example.com`: names of users and IDs of service principals compare without regard to case. */
export type PrincipalKey = string;

export interface PrincipalOfState {
  readonly key: PrincipalKey;
  readonly kind: PrincipalKind;
  readonly name: string;
}

/** A right on an object, by the grant that gives it. */
export interface HeldRight {
  readonly level: string;
  readonly rank: number;
  readonly grantee: PrincipalKey;
  readonly on: AccessTarget;
  readonly asCreator: boolean;
}

export interface LevelGrant {
  readonly level: string;
  readonly rank: number;
  readonly asCreator: boolean;
}

interface GroupState extends PrincipalOfState {
  readonly members: readonly PrincipalKey[];
  readonly lacksMembers: boolean;
}

/** Kinds of principals that were not read: a name of one counts as a principal that exists. */
export interface AccessInput {
  readonly registry: PlanningRegistry;
  readonly contributions: readonly AccessContribution[];
  /** Grants to the creator of new objects. */
  readonly creatorGrants?: readonly Grant[];
  readonly unread: ReadonlySet<PrincipalKind>;
  /** Memberships that a plan ends. A group and its member each list the other, and the plan changes one of the lists. */
  readonly ended?: readonly EndedMembership[];
}

export interface EndedMembership {
  readonly group: string;
  readonly member: PrincipalName;
}

export const targetKey = ({ kind, name }: AccessTarget): string => `${kind}\n${name}`;

const keyOf = (kind: PrincipalKind, name: string): PrincipalKey => principalKey({ kind, name });

export const ADMINS_KEY = keyOf("group", ADMINISTRATORS);
export const EVERYONE_KEY = keyOf("group", EVERYONE);

export class AccessState {
  readonly individuals = new Map<PrincipalKey, PrincipalOfState>();
  readonly groups = new Map<PrincipalKey, GroupState>();
  readonly objects = new Map<string, AccessTarget>();
  readonly #aliases = new Map<string, PrincipalKey>();
  readonly #inactive = new Set<PrincipalKey>();
  readonly #withHiddenActivity = new Set<PrincipalKey>();
  readonly #parents = new Map<PrincipalKey, PrincipalKey[]>();
  readonly #grants = new Map<string, Map<PrincipalKey, LevelGrant>>();
  readonly #closures = new Map<PrincipalKey, ReadonlySet<PrincipalKey>>();
  readonly #within = new Map<PrincipalKey, ReadonlySet<PrincipalKey>>();
  readonly #ordered = new Map<PrincipalKey, readonly PrincipalKey[]>();
  /** From each group, the group before each of its groups on the shortest way. */
  readonly #ways = new Map<PrincipalKey, Map<PrincipalKey, PrincipalKey>>();
  readonly #ended = new Map<PrincipalKey, Set<PrincipalKey>>();
  readonly #registry: PlanningRegistry;
  readonly #unread: AccessInput["unread"];

  constructor({ registry, contributions, creatorGrants = [], unread, ended = [] }: AccessInput) {
    this.#registry = registry;
    this.#unread = unread;
    for (const { principal } of contributions) if (principal !== undefined) this.#addPrincipal(principal);
    for (const name of [EVERYONE, ADMINISTRATORS]) this.#addGroup(name, unread.has("group"));
    for (const membership of ended) this.#addEnded(membership);
    for (const contribution of contributions) this.#addMembers(contribution);
    this.#addMemberships(contributions);
    for (const { key, members } of this.groups.values())
      for (const member of members) push(this.#parents, member, key);
    for (const { grants = [] } of contributions) for (const grant of grants) this.#addGrant(grant, false);
    for (const grant of creatorGrants) this.#addGrant(grant, true);
    const administrators = { kind: "group", name: ADMINISTRATORS } as const;
    this.#addGrant({ on: ADMINISTRATION, to: administrators, level: "administrator" }, false);
  }

  #addPrincipal(principal: NonNullable<AccessContribution["principal"]>): void {
    const { kind, name, aliases, isActive, isActivityHidden } = principal;
    const key = keyOf(kind, name);
    for (const alias of [name, ...aliases]) this.#aliases.set(keyOf(kind, alias), key);
    if (isActivityHidden === true) this.#withHiddenActivity.add(key);
    if (!isActive) this.#inactive.add(key);
    else if (kind === "group") this.groups.set(key, { key, kind, name, members: [], lacksMembers: false });
    else this.individuals.set(key, { key, kind, name });
  }

  #addGroup(name: string, lacksMembers: boolean): PrincipalKey {
    const key = keyOf("group", name);
    if (!this.groups.has(key)) this.groups.set(key, { key, kind: "group", name, members: [], lacksMembers });
    return key;
  }

  #addMembers({ principal, members = [], lacksMembers = false }: AccessContribution): void {
    const group = principal && this.groups.get(keyOf(principal.kind, principal.name));
    if (group === undefined || group.key === EVERYONE_KEY) return;
    const { key } = group;
    const keys = new Set(members.flatMap((member) => this.#resolve(member) ?? []));
    for (const left of this.#ended.get(key) ?? []) keys.delete(left);
    this.groups.set(key, { ...group, members: [...keys], lacksMembers });
  }

  #addEnded({ group, member }: EndedMembership): void {
    const [key, left] = [this.#resolve({ kind: "group", name: group }), this.#resolve(member)];
    if (key === undefined || left === undefined) return;
    this.#ended.set(key, (this.#ended.get(key) ?? new Set()).add(left));
  }

  #addMemberships(contributions: readonly AccessContribution[]): void {
    const joined = new Map<PrincipalKey, Set<PrincipalKey>>();
    for (const { principal, memberOf } of contributions) {
      if (principal === undefined || memberOf === undefined) continue;
      const own = keyOf(principal.kind, principal.name);
      for (const name of memberOf) {
        const group = this.groups.get(this.#resolve({ kind: "group", name }) ?? "");
        if (group === undefined || this.#ended.get(group.key)?.has(own) === true) continue;
        const members = joined.get(group.key) ?? new Set(group.members);
        joined.set(group.key, members.add(own));
      }
    }
    for (const [key, members] of joined) {
      const group = this.groups.get(key);
      if (group !== undefined) this.groups.set(key, { ...group, members: [...members] });
    }
  }

  #addGrant({ on, to, level }: Grant, asCreator: boolean): void {
    const grantee = this.#resolve(to);
    const object = targetKey(on);
    this.objects.set(object, on);
    if (grantee === undefined) return;
    const rank = this.#registry.find(on.kind)?.planning.access?.levels.indexOf(level) ?? -1;
    const grant = { level, rank, asCreator };
    const grants = this.#grants.get(object) ?? new Map<PrincipalKey, LevelGrant>();
    this.#grants.set(object, grants);
    const before = grants.get(grantee);
    if (before === undefined || isHigher(grant, before)) grants.set(grantee, grant);
  }

  /** Undefined for a name that no principal has: such an entry gives no right. */
  #resolve({ kind, name }: PrincipalName): PrincipalKey | undefined {
    if (kind !== undefined) return this.#principal(kind, name);
    for (const candidate of ["group", "user", "service_principal"] as const) {
      const key = this.#aliases.get(keyOf(candidate, name));
      if (key !== undefined) return this.has(key) ? key : undefined;
    }
    if (this.groups.has(keyOf("group", name))) return keyOf("group", name);
    if (isApplicationId(name)) return this.#principal("service_principal", name);
    return this.#principal(name.includes("@") ? "user" : "group", name);
  }

  #principal(kind: PrincipalKind, name: string): PrincipalKey | undefined {
    // A member that is not a user may be a service principal.
    const others = kind === "user" ? (["user", "service_principal"] as const) : ([kind] as const);
    for (const other of others) {
      const key = this.#aliases.get(keyOf(other, name));
      if (key !== undefined) return this.has(key) ? key : undefined;
    }
    const key = keyOf(kind, name);
    if (this.has(key)) return key;
    if (!this.#unread.has(kind)) return undefined;
    if (kind === "group") return this.#addGroup(name, true);
    this.individuals.set(key, { key, kind, name });
    return key;
  }

  has(key: PrincipalKey): boolean {
    return this.individuals.has(key) || this.groups.has(key);
  }

  /** Undefined if it is sensitive. */
  isActive(key: PrincipalKey): boolean | undefined {
    return this.#withHiddenActivity.has(key) ? undefined : this.has(key);
  }

  /** Principals by a name or an ID; inactive users, too. */
  named(name: string, kind?: PrincipalKind): readonly PrincipalOfState[] {
    const kinds = kind === undefined ? (["user", "group", "service_principal"] as const) : [kind];
    return kinds.flatMap((candidate) => {
      const key = this.#aliases.get(keyOf(candidate, name)) ?? keyOf(candidate, name);
      const inactive = this.#inactive.has(key) ? { key, kind: candidate, name } : [];
      return this.principal(key) ?? inactive;
    });
  }

  principal(key: PrincipalKey): PrincipalOfState | undefined {
    return this.individuals.get(key) ?? this.groups.get(key);
  }

  parents(key: PrincipalKey): readonly PrincipalKey[] {
    return this.#parents.get(key) ?? [];
  }

  grantsOn(target: string): ReadonlyMap<PrincipalKey, LevelGrant> {
    return this.#grants.get(target) ?? NO_GRANTS;
  }

  /** The groups of a principal, near or far, and the principal. Every individual is in the group of all. */
  closure(key: PrincipalKey): ReadonlySet<PrincipalKey> {
    const cached = this.#closures.get(key);
    if (cached !== undefined) return cached;
    const closure = transitiveClosure([key], (near) => this.#groupsOf(near));
    this.#closures.set(key, closure);
    return closure;
  }

  /** Users and service principals in a group, directly or through groups. */
  individualsIn(group: PrincipalKey): ReadonlySet<PrincipalKey> {
    const cached = this.#within.get(group);
    if (cached !== undefined) return cached;
    const within = new Set<PrincipalKey>();
    for (const inner of this.#groupsIn(group)) {
      if (inner === EVERYONE_KEY) for (const key of this.individuals.keys()) within.add(key);
      for (const member of this.#membersOf(inner)) if (this.individuals.has(member)) within.add(member);
    }
    this.#within.set(group, within);
    return within;
  }

  /** Whether a group, or a group in it, has members that were not read. */
  lacksMembers(group: PrincipalKey): boolean {
    for (const inner of this.#groupsIn(group))
      if (inner === EVERYONE_KEY ? this.#unread.has("user") : this.groups.get(inner)?.lacksMembers === true)
        return true;
    return false;
  }

  #membersOf(group: PrincipalKey): readonly PrincipalKey[] {
    return this.groups.get(group)?.members ?? [];
  }

  /** A group, and the groups in it, near or far. */
  #groupsIn(group: PrincipalKey): ReadonlySet<PrincipalKey> {
    return transitiveClosure([group], (outer) =>
      this.#membersOf(outer).filter((member) => this.groups.has(member)),
    );
  }

  isAdministrator(key: PrincipalKey): boolean {
    return this.#reaches(key, ADMINS_KEY);
  }

  /** Whether a principal is, or is in, another one. The sets of individuals would be many and large, so those of their groups are used. */
  #reaches(key: PrincipalKey, other: PrincipalKey): boolean {
    if (key === other) return true;
    if (!this.individuals.has(key)) return this.closure(key).has(other);
    return this.#nearest(key).some((group) => this.closure(group).has(other));
  }

  #groupsOf(key: PrincipalKey): PrincipalKey[] {
    return [...this.parents(key), ...(this.individuals.has(key) ? [EVERYONE_KEY] : [])];
  }

  /** The groups that a principal is directly in, in order. */
  #nearest(key: PrincipalKey): readonly PrincipalKey[] {
    const cached = this.#ordered.get(key);
    if (cached !== undefined) return cached;
    const nearest = this.#groupsOf(key).sort();
    this.#ordered.set(key, nearest);
    return nearest;
  }

  /** The highest level of a principal, without its path. */
  levelOn(key: PrincipalKey, target: AccessTarget): LevelGrant | undefined {
    let highest: LevelGrant | undefined;
    for (const on of this.around(target))
      for (const [grantee, grant] of this.grantsOn(targetKey(on)))
        if ((highest === undefined || isHigher(grant, highest)) && this.#reaches(key, grantee))
          highest = grant;
    return highest;
  }

  /** The highest right of a principal, from the list of the object or of a folder around it; undefined without one. */
  held(key: PrincipalKey, target: AccessTarget): HeldRight | undefined {
    let highest: HeldRight | undefined;
    for (const on of this.around(target))
      for (const [grantee, grant] of this.grantsOn(targetKey(on))) {
        if (highest !== undefined && isHigher(highest, grant)) continue;
        if (!this.#reaches(key, grantee)) continue;
        const held = { ...grant, grantee, on };
        if (highest === undefined || isHigher(grant, highest) || this.#isNearer(held, highest, key))
          highest = held;
      }
    return highest;
  }

  /** Of equal rights, the one with the shortest way is shown; names decide between equal ways. */
  #isNearer(a: HeldRight, b: HeldRight, key: PrincipalKey): boolean {
    if (targetKey(a.on) !== targetKey(b.on)) return false;
    const [own, other] = [this.way(key, a.grantee).length, this.way(key, b.grantee).length];
    return own < other || (own === other && a.grantee < b.grantee);
  }

  /** An object and the folders around it. */
  around(target: AccessTarget): readonly AccessTarget[] {
    return isInTree(this.#registry, target.kind)
      ? [target, ...foldersAbove(target.name).map((name) => ({ kind: FOLDERS, name }))]
      : [target];
  }

  /** The groups from a principal to one of its groups, the shortest way; empty for the principal itself. */
  way(from: PrincipalKey, to: PrincipalKey): readonly PrincipalKey[] {
    if (from === to) return [];
    if (!this.individuals.has(from)) return this.#wayOfGroup(from, to);
    let shortest: readonly PrincipalKey[] | undefined;
    for (const group of this.#nearest(from)) {
      if (!this.closure(group).has(to)) continue;
      const way = [group, ...this.way(group, to)];
      if (shortest === undefined || way.length < shortest.length) shortest = way;
    }
    return shortest ?? [];
  }

  #wayOfGroup(from: PrincipalKey, to: PrincipalKey): readonly PrincipalKey[] {
    const before = this.#ways.get(from) ?? new Map<PrincipalKey, PrincipalKey>([[from, from]]);
    if (!this.#ways.has(from))
      for (const key of before.keys())
        for (const parent of this.#nearest(key)) if (!before.has(parent)) before.set(parent, key);
    this.#ways.set(from, before);
    const way: PrincipalKey[] = [];
    for (let key: PrincipalKey | undefined = to; key !== undefined && key !== from; key = before.get(key))
      way.unshift(key);
    return way;
  }
}

export const FOLDERS = "directories";
const NO_GRANTS: ReadonlyMap<PrincipalKey, LevelGrant> = new Map();

export function isInTree(registry: Pick<PlanningRegistry, "find">, kind: string): boolean {
  return registry.find(kind)?.tree?.root === "workspace";
}

export function isHigher(a: { readonly rank: number; readonly level: string }, b: typeof a): boolean {
  return a.rank > b.rank || (a.rank === b.rank && a.level > b.level);
}

function push(map: Map<PrincipalKey, PrincipalKey[]>, key: PrincipalKey, value: PrincipalKey): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
