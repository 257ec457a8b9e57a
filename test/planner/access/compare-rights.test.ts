// The access diff against a slow model, on random workspaces, and the sentences of single cases.

import { describe, expect, test } from "vitest";
import { AccessState } from "../../../src/planner/access/access-state.ts";
import { compareRights } from "../../../src/planner/access/compare-rights.ts";
import { registry as everyKind } from "../../../src/providers/index.ts";
import { accessView, openAccess } from "../../../src/report/view/access-view.ts";
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
    const { open, isShortened } = openAccess(view);
    expect(open.map(({ head, items }) => `${head}: ${items.join("; ")}`)).toEqual([
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
});
