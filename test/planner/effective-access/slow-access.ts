// A slow model of access, written apart from src/planner/effective-access: it asks for each principal and each object by searching all memberships.

import type { AccessContribution } from "../../../src/resource/access.ts";

export interface SlowUser {
  readonly name: string;
  readonly active: boolean;
  readonly entitlements: readonly string[];
}

export interface SlowGroup {
  readonly name: string;
  readonly users: readonly string[];
  readonly groups: readonly string[];
  readonly entitlements: readonly string[];
}

export interface SlowGrant {
  readonly kind: "scopes" | "jobs" | "directories" | "notebooks";
  readonly object: string;
  readonly to: string;
  readonly level: string;
}

export interface SlowWorld {
  readonly users: readonly SlowUser[];
  readonly programs: readonly SlowUser[];
  readonly groups: readonly SlowGroup[];
  readonly grants: readonly SlowGrant[];
}

const LEVELS: Readonly<Record<string, readonly string[]>> = {
  scopes: ["READ", "WRITE", "MANAGE"],
  jobs: ["CAN_VIEW", "CAN_MANAGE_RUN", "CAN_MANAGE", "IS_OWNER"],
  directories: ["CAN_READ", "CAN_RUN", "CAN_EDIT", "CAN_MANAGE"],
  notebooks: ["CAN_READ", "CAN_RUN", "CAN_EDIT", "CAN_MANAGE"],
};

function isIn(world: SlowWorld, member: string, group: string, seen: readonly string[] = []): boolean {
  if (seen.includes(group)) return false;
  const people = [...world.users, ...world.programs];
  if (group === "users" && people.some(({ name, active }) => name === member && active)) return true;
  const found = world.groups.find(({ name }) => name === group);
  if (found === undefined) return false;
  if (found.users.includes(member) || found.groups.includes(member)) return true;
  return found.groups.some((inner) => isIn(world, member, inner, [...seen, group]));
}

const concerns = (world: SlowWorld, name: string, to: string): boolean =>
  name === to || isIn(world, name, to);

/** Every right of a principal as text; an administrator has one. */
export function rightsOf(
  world: SlowWorld,
  name: string,
  objects: readonly Pick<SlowGrant, "kind" | "object">[],
): string[] {
  if (concerns(world, name, "admins")) return ["everything"];
  const rights = new Set<string>();
  for (const { kind, object } of objects) {
    const levels = world.grants
      .filter((grant) => {
        const isSame = grant.kind === kind && grant.object === object;
        const isTree = kind === "directories" || kind === "notebooks";
        return isSame || (isTree && grant.kind === "directories" && object.startsWith(`${grant.object}/`));
      })
      .filter(({ to }) => concerns(world, name, to))
      .map(({ level }) => LEVELS[kind]?.indexOf(level) ?? -1);
    if (levels.length > 0) rights.add(`${kind} ${object} ${Math.max(...levels)}`);
  }
  for (const holder of [...world.users, ...world.programs, ...world.groups])
    if (concerns(world, name, holder.name))
      for (const entitlement of holder.entitlements) rights.add(`entitlement ${entitlement}`);
  return [...rights].sort();
}

/** The rights of every principal, by name. A group counts if it has only administrators, before and after. */
export function slowRights(world: SlowWorld, other: SlowWorld): Readonly<Record<string, readonly string[]>> {
  const objects = [...world.grants, ...other.grants];
  const active = (of: SlowWorld) => [...of.users, ...of.programs].filter((user) => user.active);
  const isEmpty = (of: SlowWorld, group: string): boolean =>
    !active(of).some(({ name }) => isIn(of, name, group) && !isIn(of, name, "admins"));
  const open = world.groups.filter(
    ({ name }) => name === "users" || (isEmpty(world, name) && isEmpty(other, name)),
  );
  const principals = [...active(world), ...open].map(({ name }) => name);
  const all = principals.map((name) => [name, rightsOf(world, name, objects)] as const);
  return Object.fromEntries(all.filter(([, rights]) => rights.length > 0).sort());
}

/** The world as kinds describe it. */
export function contributionsOf(world: SlowWorld): readonly AccessContribution[] {
  const kindOf = (name: string) =>
    name.includes("@") ? "user" : name.startsWith("program") ? "service_principal" : "group";
  const to = (name: string) => ({ kind: kindOf(name), name }) as const;
  const entitled = (name: string, entitlements: readonly string[]) =>
    entitlements.map((entitlement) => ({
      on: { kind: "entitlements", name: entitlement },
      to: to(name),
      level: "granted",
    }));
  return [
    ...[...world.users, ...world.programs].map(({ name, active, entitlements }) => ({
      principal: { ...to(name), aliases: [], isActive: active },
      grants: entitled(name, entitlements),
    })),
    ...world.groups.map(({ name, users, groups, entitlements }) => ({
      principal: { ...to(name), aliases: [], isActive: true },
      members: [...users.map(to), ...groups.map(to)],
      grants: entitled(name, entitlements),
    })),
    ...world.grants.map(({ kind, object, to: name, level }) => ({
      grants: [{ on: { kind, name: object }, to: to(name), level }],
    })),
  ];
}

/** A generator of numbers below a bound, from a seed. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

export function randomWorld(next: (below: number) => number): SlowWorld {
  const pick = <T>(list: readonly T[]): T => list[next(list.length)] as T;
  const some = <T>(list: readonly T[], one: number): T[] => list.filter(() => next(one) === 0);
  const users = ["ada@x", "bob@x", "eve@x", "kim@x"];
  const programs = ["program-a", "program-b"];
  const groups = ["admins", "users", "data", "ops", "inner", "empty"];
  const rights = ["create", "sql"];
  const objects = [
    ["scopes", "etl"],
    ["scopes", "ml"],
    ["jobs", "nightly"],
    ["directories", "/Shared"],
    ["directories", "/Shared/etl"],
    ["notebooks", "/Shared/etl/load"],
  ] as const;
  const person = (name: string) => ({ name, active: next(8) !== 0, entitlements: some(rights, 6) });
  return {
    users: some(users, 1).flatMap((name) => (next(6) === 0 ? [] : [person(name)])),
    programs: programs.flatMap((name) => (next(4) === 0 ? [] : [person(name)])),
    groups: groups.flatMap((name, at) =>
      at > 1 && next(6) === 0
        ? []
        : [
            {
              name,
              users: name === "users" ? [] : some([...users, ...programs], name === "admins" ? 6 : 3),
              groups:
                name === "users"
                  ? []
                  : some(
                      groups.slice(2).filter((other) => other !== name),
                      5,
                    ),
              entitlements: some(rights, 6),
            },
          ],
    ),
    grants: Array.from({ length: next(8) }, () => {
      const [kind, object] = pick(objects);
      return { kind, object, to: pick([...users, ...programs, ...groups]), level: pick(LEVELS[kind] ?? []) };
    }),
  };
}

/** The same world after a few changes; sometimes with the same rights on another path. */
export function changedWorld(world: SlowWorld, next: (below: number) => number): SlowWorld {
  const other = randomWorld(next);
  switch (next(6)) {
    case 0:
      return { ...world, groups: other.groups };
    case 1:
      return { ...world, grants: other.grants };
    case 2:
      return { ...world, users: other.users, programs: other.programs };
    case 3: {
      // Each direct right of a group becomes one of its members as well.
      const copies = world.grants.flatMap((grant) =>
        (world.groups.find(({ name }) => name === grant.to)?.users ?? []).map((to) => ({ ...grant, to })),
      );
      return { ...world, grants: [...world.grants, ...copies] };
    }
    case 4:
      return { ...world, grants: world.grants.slice(next(3)) };
    default:
      return { ...world, grants: [...world.grants].reverse(), groups: [...world.groups].reverse() };
  }
}
