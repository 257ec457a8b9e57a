// What one principal can do, and who can do what on one object, against the slow model, on random workspaces.

import { describe, expect, test } from "vitest";
import { AccessState } from "../../../src/planner/effective-access/access-state.ts";
import {
  accessOfObject,
  accessOfPrincipal,
  namesOfState,
  principalsNamed,
  targetNamed,
} from "../../../src/planner/effective-access/held-rights.ts";
import type { AccessRight } from "../../../src/planner/model/plan.ts";
import { registry as everyKind } from "../../../src/providers/index.ts";
import { planningRegistryIn } from "../../../src/resource/dialect-view.ts";
import { contributionsOf, randomFrom, randomWorld, rightsOf, type SlowWorld } from "./slow-access.ts";

const registry = planningRegistryIn(everyKind, { dialect: "databricks" });
const CASES = 300;

const stateOf = (world: SlowWorld) =>
  new AccessState({ registry, contributions: contributionsOf(world), unread: new Set() });

const text = ({ kind, object, level }: AccessRight): string => {
  const rank = registry.find(kind)?.planning.access?.levels.indexOf(level);
  return kind === "entitlements" ? `entitlement ${object}` : `${kind} ${object} ${rank}`;
};

test(`rights by principal and by object are those of a slow model, in ${CASES} random workspaces`, () => {
  for (let seed = 1; seed <= CASES; seed += 1) {
    const world = randomWorld(randomFrom(seed));
    const state = stateOf(world);
    const byObject = new Map<string, string[]>();
    for (const target of state.objects.values())
      for (const right of accessOfObject(state, target).rights)
        byObject.set(right.principal, [...(byObject.get(right.principal) ?? []), text(right)]);
    for (const principal of state.individuals.values()) {
      const { isAdministrator, rights } = accessOfPrincipal(state, principal);
      const slow = rightsOf(world, principal.name, world.grants);
      expect({ seed, isAdministrator }).toEqual({ seed, isAdministrator: slow[0] === "everything" });
      if (isAdministrator) continue;
      expect({ seed, rights: (byObject.get(principal.name) ?? []).sort() }).toEqual({ seed, rights: slow });
      // Of what a folder covers, only the folder is listed.
      const own = rights.map(text);
      expect(slow.filter((right) => own.includes(right))).toEqual([...own].sort());
      const covered = slow.filter((right) => !own.includes(right));
      expect(covered.every((right) => /^(?:directories|notebooks) /.test(right))).toBe(true);
    }
  }
});

const world: SlowWorld = {
  users: [
    { name: "ada@x", active: true, entitlements: [] },
    { name: "eve@x", active: false, entitlements: [] },
  ],
  programs: [{ name: "program-a", active: true, entitlements: [] }],
  groups: [
    { name: "outer", users: [], groups: ["inner"], entitlements: [] },
    { name: "inner", users: ["ada@x"], groups: [], entitlements: ["create"] },
  ],
  grants: [
    { kind: "scopes", object: "etl", to: "outer", level: "READ" },
    { kind: "scopes", object: "etl", to: "ada@x", level: "MANAGE" },
    { kind: "jobs", object: "nightly", to: "outer", level: "CAN_VIEW" },
  ],
};

describe("a question about access", () => {
  const state = stateOf(world);
  const of = (name: string) =>
    principalsNamed(state, name).map((principal) => accessOfPrincipal(state, principal));

  test("shows the groups of a principal, and each right with its path", () => {
    const [ada] = of("ada@x");
    expect(ada?.memberOf).toEqual([
      { group: "inner", through: [] },
      { group: "users", through: [] },
      { group: "outer", through: ["inner"] },
    ]);
    expect(ada?.rights.map(({ kind, object, level, through }) => [kind, object, level, through])).toEqual([
      ["entitlements", "create", "granted", ["inner"]],
      ["jobs", "nightly", "CAN_VIEW", ["inner", "outer"]],
      ["scopes", "etl", "MANAGE", []],
    ]);
  });

  test("shows that an inactive user has no rights", () => {
    expect(of("eve@x")).toMatchObject([{ isActive: false, rights: [], memberOf: [] }]);
  });

  test("takes prefixes and addresses of principals", () => {
    const names = ["user:ada@x", "users.ada@x", "group:inner", "groups.inner", "sp:program-a"];
    expect(names.flatMap(of).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "user ada@x",
      "user ada@x",
      "group inner",
      "group inner",
      "service_principal program-a",
    ]);
    expect(of("group:ada@x")).toEqual([]);
  });

  test("lists the groups that a list names, and every person, the highest level first", () => {
    const targets = [...state.objects.values()];
    const target = targetNamed(targets, registry, "scopes.etl");
    expect(target && accessOfObject(state, target).rights).toMatchObject([
      { principal: "ada@x", level: "MANAGE", through: [] },
      { principal: "outer", principalKind: "group", people: 1, level: "READ", through: [] },
    ]);
    expect(targetNamed(targets, registry, "jobs.nightly")).toEqual({ kind: "jobs", name: "nightly" });
    expect(targetNamed(targets, registry, "jobs.weekly")).toBeUndefined();
  });

  test("can be about every principal and object by name, and about the workspace", () => {
    expect(namesOfState(state).toSorted()).toEqual([
      ...["ada@x", "admins", "entitlements.create", "inner", "jobs.nightly", "outer"],
      ...["program-a", "scopes.etl", "users", "workspace"],
    ]);
    expect(targetNamed([], registry, "workspace")).toEqual({ kind: "workspace", name: "" });
    expect(targetNamed([...state.objects.values()], registry, "etl")).toBeUndefined();
    expect(targetNamed([...state.objects.values()], registry, "unknown.etl")).toBeUndefined();
  });

  test("prefers an object of exactly the name to one with another case", () => {
    const pools = ["Shared", "shared", "Other"].map((name) => ({ kind: "users", name }));
    expect(targetNamed(pools, registry, "users.shared")?.name).toBe("shared");
    expect(targetNamed(pools, registry, "users.other")?.name).toBe("Other");
    expect(targetNamed([{ kind: "jobs", name: "Other" }], registry, "jobs.other")).toBeUndefined();
  });

  test("prefers a name to a prefix, and takes a prefix only at the start", () => {
    const principals = [...world.users, { name: "user:ada@x", active: true, entitlements: [] }];
    const named = (text: string) => principalsNamed(stateOf({ ...world, users: principals }), text);
    expect(named("user:ada@x").map(({ name }) => name)).toEqual(["user:ada@x"]);
    expect(named("users.ada@x").map(({ name }) => name)).toEqual(["ada@x"]);
    expect(["my user:ada@x", "robot:ada@x", "user:", "ada"].flatMap(named)).toEqual([]);
  });

  test("shows the people in a group, unless they are not known, and its rights without those of administration", () => {
    const [outer] = of("outer");
    expect(outer).toMatchObject({ kind: "group", people: 1, isAdministrator: false, memberOf: [] });
    expect(outer?.rights.map(({ kind, object }) => `${kind}.${object}`)).toEqual([
      "jobs.nightly",
      "scopes.etl",
    ]);
    const [admins] = of("admins");
    expect(admins).toMatchObject({ isAdministrator: true, people: 0, rights: [] });
    expect(of("ada@x")[0]?.people).toBeUndefined();
    const open = contributionsOf(world).map((one) => ({ ...one, lacksMembers: true }));
    const lacking = new AccessState({ registry, contributions: open, unread: new Set() });
    expect(
      principalsNamed(lacking, "outer").map((group) => accessOfPrincipal(lacking, group).people),
    ).toEqual([undefined]);
  });

  test("lists equal rights by groups and users, each in order of name", () => {
    const people = ["zoe@x", "bob@x"].map((name) => ({ name, active: true, entitlements: [] }));
    const teams = ["ops", "data"].map((name) => ({ name, users: [], groups: [], entitlements: [] }));
    const grants = ["zoe@x", "ops", "bob@x", "data"].map(
      (to) => ({ kind: "scopes", object: "etl", to, level: "READ" }) as const,
    );
    const other = stateOf({ users: people, programs: [], groups: teams, grants });
    const { rights } = accessOfObject(other, { kind: "scopes", name: "etl" });
    expect(rights.map(({ principal }) => principal)).toEqual(["data", "ops", "bob@x", "zoe@x"]);
  });

  test("shows the folder from which a right comes, and groups in order of distance and name", () => {
    const folder = { kind: "directories", object: "/Shared", to: "ada@x", level: "CAN_RUN" } as const;
    const groups = ["z", "a", "top"].map((name) => ({
      ...{ name, users: name === "top" ? [] : ["ada@x"], entitlements: [] },
      groups: name === "top" ? ["a"] : [],
    }));
    const other = stateOf({ ...world, groups, grants: [folder] });
    const notebook = { kind: "notebooks", name: "/Shared/load" };
    expect(accessOfObject(other, notebook).rights).toMatchObject([{ inheritedFrom: "/Shared" }]);
    const own = accessOfObject(other, { kind: "directories", name: "/Shared" }).rights;
    expect(own.map(({ inheritedFrom }) => inheritedFrom)).toEqual([undefined]);
    const [ada] = principalsNamed(other, "ada@x").map((principal) => accessOfPrincipal(other, principal));
    expect(ada?.memberOf.map(({ group }) => group)).toEqual(["a", "users", "z", "top"]);
  });
});
