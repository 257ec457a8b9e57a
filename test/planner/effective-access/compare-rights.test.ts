// The access diff against a slow model, on random workspaces, and the sentences of single cases.

import { describe, expect, test } from "vitest";
import { AccessState } from "../../../src/planner/effective-access/access-state.ts";
import { compareRights } from "../../../src/planner/effective-access/compare-rights.ts";
import { registry as everyKind } from "../../../src/providers/index.ts";
import { accessView, shownAccess } from "../../../src/report/view/access-view.ts";
import { planningRegistryIn } from "../../../src/resource/dialect-view.ts";
import {
  changedWorld,
  contributionsOf,
  randomFrom,
  randomWorld,
  type SlowWorld,
  slowRights,
} from "./slow-access.ts";

const registry = planningRegistryIn(everyKind, { dialect: "databricks" });

const stateOf = (world: SlowWorld) =>
  new AccessState({ registry, contributions: contributionsOf(world), unread: new Set() });

const compare = (before: SlowWorld, after: SlowWorld) =>
  compareRights({ before: stateOf(before), after: stateOf(after) });

const CASES = 600;

test(`the access diff is empty exactly if a slow model finds equal rights, in ${CASES} random workspaces`, () => {
  let equal = 0;
  for (let seed = 1; seed <= CASES; seed += 1) {
    const next = randomFrom(seed);
    const before = randomWorld(next);
    const after = changedWorld(before, next);
    const { gained, lost } = compare(before, after);
    const [old, now] = [slowRights(before, after), slowRights(after, before)];
    const isEqual = JSON.stringify(old) === JSON.stringify(now);
    if (isEqual) equal += 1;
    expect({ seed, isEmpty: gained.length + lost.length === 0 }).toEqual({ seed, isEmpty: isEqual });
  }
  expect(equal).toBeGreaterThan(CASES / 10);
  expect(equal).toBeLessThan(CASES - CASES / 10);
});

const user = (name: string, more: Partial<SlowWorld["users"][number]> = {}) => ({
  name,
  active: true,
  entitlements: [],
  ...more,
});
const group = (name: string, users: readonly string[], groups: readonly string[] = []) => ({
  name,
  users,
  groups,
  entitlements: [],
});
const world = (more: Partial<SlowWorld>): SlowWorld => ({
  users: [user("ada@x"), user("bob@x"), user("eve@x")],
  programs: [],
  groups: [],
  grants: [],
  ...more,
});
const read = (to: string, level = "READ") => ({ kind: "scopes", object: "etl", to, level }) as const;

const sentences = (before: SlowWorld, after: SlowWorld): readonly string[] => {
  const { lines } = accessView({ ...compare(before, after), notCompared: [] }, registry, "principal");
  return lines.flatMap(({ sign, head, items }) => items.map((item) => `${sign} ${head}: ${item}`));
};

describe("the access diff", () => {
  test("names the way through the groups of a user who joins one", () => {
    const before = world({
      groups: [group("inner", []), group("outer", ["bob@x"], ["inner"])],
      grants: [read("outer")],
    });
    const after = { ...before, groups: [group("inner", ["ada@x"]), group("outer", ["bob@x"], ["inner"])] };
    expect(sentences(before, after)).toEqual(["+ ada@x: READ on scope etl (through inner, outer)"]);
  });

  test("names a group for everyone in it who gains a right, and counts its members", () => {
    const before = world({ groups: [group("data", ["ada@x", "bob@x"])] });
    expect(sentences(before, { ...before, grants: [read("data"), read("eve@x")] })).toEqual([
      "+ everyone in data (2 people): READ on scope etl",
      "+ eve@x: READ on scope etl",
    ]);
  });

  test("names the users group for a right of all users, also where administrators alone are in it", () => {
    const before = world({ users: [user("ada@x")], groups: [group("admins", ["ada@x"])] });
    expect(sentences(before, { ...before, grants: [read("users", "MANAGE")] })).toEqual([
      "+ everyone in users (1 person): MANAGE on scope etl",
    ]);
  });

  test("says how many of a group lose a right that the others keep in another way", () => {
    const before = world({
      groups: [group("data", ["ada@x", "bob@x"])],
      grants: [read("data"), read("ada@x")],
    });
    expect(sentences(before, { ...before, grants: [read("ada@x")] })).toEqual([
      "- everyone in data (1 of 2 people): READ on scope etl",
    ]);
  });

  test("is empty when a right only moves from one path to another", () => {
    const before = world({ groups: [group("data", ["ada@x", "bob@x"])], grants: [read("data")] });
    expect(sentences(before, { ...before, grants: [read("ada@x"), read("bob@x")] })).toEqual([]);
  });

  test("says the level before where a right grows, and the level that stays where it shrinks", () => {
    const [low, high] = [world({ grants: [read("ada@x")] }), world({ grants: [read("ada@x", "MANAGE")] })];
    expect(sentences(low, high)).toEqual(["+ ada@x: MANAGE on scope etl (was READ)"]);
    expect(sentences(high, low)).toEqual(["- ada@x: MANAGE on scope etl (keeps READ)"]);
  });

  test("shows the role of an administrator in place of every right that it includes", () => {
    const before = world({ groups: [group("admins", [])], grants: [read("ada@x")] });
    expect(sentences(before, { ...before, groups: [group("admins", ["ada@x"])] })).toEqual([
      "+ ada@x: administrator of the workspace (through admins)",
    ]);
  });

  test("shows a right on a folder once for everything in it", () => {
    const on = (kind: "directories" | "notebooks", object: string, to: string) =>
      ({ kind, object, to, level: "CAN_RUN" }) as const;
    const before = world({ grants: [on("notebooks", "/Shared/etl/load", "bob@x")] });
    const after = { ...before, grants: [...before.grants, on("directories", "/Shared", "ada@x")] };
    expect(sentences(before, after)).toEqual(["+ ada@x: CAN_RUN on directory /Shared"]);
  });

  test("shows a right of one level on more than three objects of a kind as one item, for a form that shows all as several", () => {
    const on = (object: string) => ({ ...read("data", "MANAGE"), object });
    const before = world({ groups: [group("data", ["ada@x", "bob@x"])], grants: [] });
    const after = { ...before, grants: ["a", "b", "c", "d", "e"].map(on) };
    expect(sentences(before, after)).toEqual([
      "+ everyone in data (2 people): MANAGE on 5 scopes: a, b, c, and 2 more",
    ]);
    const diff = { ...compare(before, after), notCompared: [] };
    expect(accessView(diff, registry, "principal").allLines[0]?.items).toHaveLength(5);
    expect(accessView(diff, registry, "object").lines).toMatchObject([
      { sign: "+", head: "5 scopes (a, b, c, and 2 more)", items: ["MANAGE: everyone in data (2 people)"] },
    ]);
  });

  test("has administrators, rights to manage, and what most people gain among its five open lines", () => {
    const people = ["a", "b", "c", "d", "e", "f", "zoe"].map((name) => `${name}@x`);
    const all = { ...group("data", ["e@x", "f@x"]) };
    const before = world({ users: people.map((name) => user(name)), groups: [group("admins", []), all] });
    const after = {
      ...before,
      groups: [group("admins", ["zoe@x"]), all],
      grants: [
        ...["a", "b", "c", "d"].map((name, at) => ({ ...read(`${name}@x`), object: `scope-${at}` })),
        ...["ml", "etl", "bi"].map((object) => ({ ...read("e@x"), object })),
        { ...read("e@x", "MANAGE"), object: "zoo" },
        { ...read("data", "WRITE"), object: "ml" },
      ],
    };
    const view = accessView({ ...compare(before, after), notCompared: [] }, registry, "principal");
    const { shown, isShortened } = shownAccess(view);
    expect(shown.map(({ head, items }) => `${head}: ${items.join("; ")}`)).toEqual([
      "everyone in data (2 people): WRITE on scope ml",
      "a@x: READ on scope scope-0",
      "b@x: READ on scope scope-1",
      "e@x: MANAGE on scope zoo; READ on scope bi; and 1 more",
      "zoe@x: administrator of the workspace (through admins)",
    ]);
    expect(isShortened).toBe(true);
  });

  test("shows that an inactive user loses every right", () => {
    const before = world({ users: [user("ada@x", { entitlements: ["create"] })], grants: [read("ada@x")] });
    const after = { ...before, users: [user("ada@x", { active: false, entitlements: ["create"] })] };
    expect(sentences(before, after)).toEqual(["- ada@x: entitlement create", "- ada@x: READ on scope etl"]);
  });

  test("gives the rights of a service principal through its groups", () => {
    const before = world({
      programs: [user("program-a")],
      groups: [group("data", [])],
      grants: [read("data")],
    });
    expect(sentences(before, { ...before, groups: [group("data", ["program-a"])] })).toEqual([
      "+ service principal program-a: READ on scope etl (through data)",
    ]);
  });

  const on = (kind: "directories" | "notebooks", to: string, level: string) =>
    ({ kind, object: kind === "directories" ? "/Shared" : "/Shared/etl/load", to, level }) as const;
  const nested = [group("outer", [], ["inner"]), group("inner", ["ada@x", "bob@x"])];
  const admins = group("admins", ["eve@x"]);

  test.each<readonly [string, Partial<SlowWorld>, Partial<SlowWorld>, readonly string[]]>([
    [
      "the outer of two groups with the same members",
      { groups: nested },
      { groups: nested, grants: [read("outer")] },
      ["+ everyone in outer (2 people): READ on scope etl"],
    ],
    [
      "the first by name of two equal groups",
      { groups: [group("b", ["ada@x"]), group("a", ["ada@x"])] },
      { groups: [group("b", ["ada@x"]), group("a", ["ada@x"])], grants: [read("b"), read("a")] },
      ["+ everyone in a (1 person): READ on scope etl"],
    ],
    [
      "the larger of two groups, and the smaller one for whoever is not in it",
      { groups: [group("a", ["ada@x", "eve@x"]), group("b", ["ada@x", "bob@x", "kim@x"])] },
      {
        groups: [group("a", ["ada@x", "eve@x"]), group("b", ["ada@x", "bob@x", "kim@x"])],
        grants: [read("a"), read("b")],
      },
      ["+ everyone in a (2 people): READ on scope etl", "+ everyone in b (3 people): READ on scope etl"],
    ],
    [
      "administrators among the members of a group, who have the right in any case",
      { groups: [admins, group("data", ["ada@x", "eve@x"])] },
      { groups: [admins, group("data", ["ada@x", "eve@x"])], grants: [read("data")] },
      ["+ everyone in data (2 people): READ on scope etl"],
    ],
    [
      "no right for an administrator",
      { groups: [admins] },
      { groups: [admins], grants: [read("eve@x")] },
      [],
    ],
    [
      "a group without members",
      { groups: [group("empty", [])] },
      { groups: [group("empty", [])], grants: [read("empty")] },
      ["+ everyone in empty (no members): READ on scope etl"],
    ],
    [
      "an inner group without members as part of the outer one",
      { groups: [group("outer", ["ada@x"], ["empty"]), group("empty", [])] },
      { groups: [group("outer", ["ada@x"], ["empty"]), group("empty", [])], grants: [read("outer")] },
      ["+ everyone in outer (1 person): READ on scope etl"],
    ],
    [
      "a group without members that joins another one",
      { groups: [group("data", ["ada@x"]), group("empty", [])], grants: [read("data")] },
      { groups: [group("data", ["ada@x"], ["empty"]), group("empty", [])], grants: [read("data")] },
      ["+ everyone in empty (no members): READ on scope etl (through data)"],
    ],
    [
      "a group that is deleted with its right",
      { groups: [group("data", [])], grants: [read("data")] },
      {},
      ["- everyone in data (no members): READ on scope etl"],
    ],
    [
      "a user that is created, and one that is deleted",
      { users: [user("ada@x")], grants: [read("ada@x"), read("bob@x")] },
      { users: [user("bob@x")], grants: [read("ada@x"), read("bob@x")] },
      ["+ bob@x: READ on scope etl", "- ada@x: READ on scope etl"],
    ],
    [
      "an administrator that becomes a user with a right",
      { groups: [group("admins", ["ada@x"])], grants: [read("ada@x")] },
      { groups: [group("admins", [])], grants: [read("ada@x")] },
      ["- ada@x: administrator of the workspace (through admins)"],
    ],
    [
      "each level of a group and its members on its own line",
      { groups: [group("data", ["ada@x", "bob@x"])], grants: [read("bob@x", "WRITE")] },
      {
        groups: [group("data", ["ada@x", "bob@x"])],
        grants: [read("bob@x", "MANAGE"), read("data")],
      },
      ["+ everyone in data (1 of 2 people): READ on scope etl", "+ bob@x: MANAGE on scope etl (was WRITE)"],
    ],
    [
      "a level on a folder once, if an object in it has the same afterwards",
      { grants: [on("notebooks", "ada@x", "CAN_READ")] },
      { grants: [on("notebooks", "ada@x", "CAN_READ"), on("directories", "ada@x", "CAN_RUN")] },
      ["+ ada@x: CAN_RUN on directory /Shared"],
    ],
    [
      "a user who joins a group that is in the list of an object in a folder",
      {
        groups: [group("data", [])],
        grants: [on("notebooks", "data", "CAN_RUN"), on("notebooks", "kim@x", "CAN_RUN")],
      },
      {
        groups: [group("data", ["ada@x"])],
        grants: [on("notebooks", "data", "CAN_RUN"), on("notebooks", "kim@x", "CAN_RUN")],
      },
      ["+ ada@x: CAN_RUN on notebook /Shared/etl/load (through data)"],
    ],
    [
      "a right of the users group that everyone had already, because more people can come",
      { grants: ["ada@x", "bob@x", "eve@x", "kim@x"].map((to) => read(to)) },
      { grants: ["ada@x", "bob@x", "eve@x", "kim@x", "users"].map((to) => read(to)) },
      ["+ everyone in users (0 of 4 people): READ on scope etl"],
    ],
    [
      "no right of a group whose members had it already",
      { groups: [group("data", [])], grants: [read("ada@x")] },
      { groups: [group("data", ["ada@x"])], grants: [read("ada@x"), read("data")] },
      [],
    ],
    [
      "a group that joins the administrators, also without members",
      { groups: [group("admins", []), group("ops", ["ada@x"]), group("empty", [])] },
      { groups: [group("admins", [], ["ops", "empty"]), group("ops", ["ada@x"]), group("empty", [])] },
      [
        "+ everyone in empty (no members): administrator of the workspace (through admins)",
        "+ everyone in ops (1 person): administrator of the workspace (through admins)",
      ],
    ],
    [
      "no other right of a group that leaves the administrators",
      { groups: [group("admins", [], ["empty"]), group("empty", [])] },
      { groups: [group("admins", []), group("empty", [])], grants: [read("empty")] },
      ["- everyone in empty (no members): administrator of the workspace (through admins)"],
    ],
    [
      "who joins a group while its right shrinks",
      { groups: [group("data", ["bob@x"])], grants: [read("data", "MANAGE")] },
      { groups: [group("data", ["ada@x", "bob@x"])], grants: [read("data")] },
      [
        "+ ada@x: READ on scope etl (through data)",
        "- everyone in data (1 person): MANAGE on scope etl (keeps READ)",
      ],
    ],
    [
      "one of two groups with the same members, and a user who is in none",
      { groups: [group("a", ["ada@x"]), group("b", ["ada@x"])] },
      {
        groups: [group("a", ["ada@x"]), group("b", ["ada@x"])],
        grants: [read("b"), read("a"), read("kim@x")],
      },
      ["+ everyone in a (1 person): READ on scope etl", "+ kim@x: READ on scope etl"],
    ],
    [
      "a lost level on a folder, and a higher one on an object in it",
      { grants: [on("notebooks", "ada@x", "CAN_MANAGE"), on("directories", "ada@x", "CAN_RUN")] },
      {},
      ["- ada@x: CAN_RUN on directory /Shared", "- ada@x: CAN_MANAGE on notebook /Shared/etl/load"],
    ],
    [
      "a level that is lost on a folder once for what is in it, of which another one stays",
      {
        grants: [on("notebooks", "ada@x", "CAN_READ"), on("directories", "ada@x", "CAN_RUN")],
      },
      { grants: [on("notebooks", "ada@x", "CAN_READ")] },
      ["- ada@x: CAN_RUN on directory /Shared"],
    ],
    [
      "a level that is gained on a folder and shrinks on an object in it",
      { grants: [on("notebooks", "ada@x", "CAN_MANAGE")] },
      { grants: [on("directories", "ada@x", "CAN_READ")] },
      [
        "+ ada@x: CAN_READ on directory /Shared",
        "- ada@x: CAN_MANAGE on notebook /Shared/etl/load (keeps CAN_READ)",
      ],
    ],
    [
      "a level that shrinks on a folder, and one that an object in it loses",
      { grants: [on("directories", "ada@x", "CAN_MANAGE")] },
      { grants: [on("directories", "ada@x", "CAN_READ"), on("notebooks", "ada@x", "CAN_RUN")] },
      ["- ada@x: CAN_MANAGE on directory /Shared (keeps CAN_READ)"],
    ],
    [
      "an entitlement of a group, and of a user who joins it",
      { groups: [{ ...group("data", ["ada@x"]), entitlements: ["sql"] }] },
      { groups: [{ ...group("data", ["ada@x", "bob@x"]), entitlements: ["sql", "create"] }] },
      ["+ everyone in data (2 people): entitlement create", "+ bob@x: entitlement sql (through data)"],
    ],
  ])("has %s", (_, before, after, expected) => {
    const [old, now] = [before, after].map((more) =>
      world({ users: ["ada", "bob", "eve", "kim"].map((name) => user(`${name}@x`)), ...more }),
    ) as [SlowWorld, SlowWorld];
    expect(sentences(old, now)).toEqual(expected);
  });

  test("has groups before users, each by name, and the rights of one by kind and object", () => {
    const before = world({ groups: [group("ops", []), group("data", [])] });
    const grants = ["eve@x", "ada@x", "ops", "data"].flatMap((to) => [
      { ...read(to), object: "ml" },
      read(to),
      { kind: "jobs", object: "nightly", to, level: "CAN_VIEW" } as const,
    ]);
    const texts = (rights: ReturnType<typeof compare>["gained"]) =>
      rights.map(({ principal, kind, object }) => `${principal} ${kind} ${object}`);
    const expected = ["data", "ops", "ada@x", "eve@x"].flatMap((to) => [
      `${to} jobs nightly`,
      `${to} scopes etl`,
      `${to} scopes ml`,
    ]);
    expect(texts(compare(before, { ...before, grants }).gained)).toEqual(expected);
    expect(texts(compare({ ...before, grants }, before).lost)).toEqual(expected);
  });

  test("counts the people of a group who are affected, unless its members are not all known", () => {
    const states = (lacksMembers: boolean, grants: SlowWorld["grants"]) => {
      const contributions = contributionsOf(world({ groups: [group("data", ["ada@x", "bob@x"])], grants }));
      const marked = contributions.map((one) => (one.members === undefined ? one : { ...one, lacksMembers }));
      return new AccessState({ registry, contributions: marked, unread: new Set() });
    };
    const own = [read("ada@x")];
    const gainedOf = (old: boolean, now: boolean) =>
      compareRights({ before: states(old, own), after: states(now, [...own, read("data")]) }).gained;
    expect(gainedOf(false, false)).toMatchObject([{ principal: "data", people: 2, affected: 1 }]);
    expect(gainedOf(true, true)).toMatchObject([
      { principal: "data", people: undefined, affected: undefined },
    ]);
    expect(gainedOf(true, false)).toMatchObject([{ principal: "data", people: 2, affected: 1 }]);
    const both = [...own, read("bob@x")];
    const openOf = (old: boolean, now: boolean) =>
      compareRights({ before: states(old, both), after: states(now, [...both, read("data")]) }).gained;
    expect([
      openOf(false, false),
      openOf(true, true),
      openOf(true, false),
      openOf(false, true),
    ]).toMatchObject([
      [],
      [{ principal: "data", people: undefined, affected: undefined }],
      [{ principal: "data", people: 2, affected: 0 }],
      [{ principal: "data", people: undefined }],
    ]);
    const empty = world({ groups: [group("empty", [])] });
    expect(compare(empty, { ...empty, grants: [read("empty")] }).gained).toMatchObject([
      { principal: "empty", people: 0, affected: 0 },
    ]);
  });

  test.each<readonly [boolean, string, Partial<SlowWorld>, Partial<SlowWorld>]>([
    [true, "a user joins a group without rights", { groups: [group("data", [])] }, { groups: nested }],
    [true, "a user is deleted", {}, { users: [user("bob@x")] }],
    [false, "a right is granted", {}, { grants: [read("ada@x")] }],
    [
      false,
      "an administrator joins another group",
      { groups: [admins, group("data", [])] },
      { groups: [admins, group("data", ["eve@x"])] },
    ],
    [true, "a user becomes an administrator", { groups: [group("admins", [])] }, { groups: [admins] }],
  ])("says %s whether anyone but administrators moves when %s", (hasMoves, _, before, after) => {
    expect(compare(world(before), world(after)).hasMoves).toBe(hasMoves);
  });
});
