// Whose name an access list means, who is in which group, and which of several rights a principal has.

import { describe, expect, test } from "vitest";
import {
  type AccessInput,
  AccessState,
  ADMINS_KEY,
  EVERYONE_KEY,
  targetKey,
} from "../../../src/planner/effective-access/access-state.ts";
import { registry as everyKind } from "../../../src/providers/index.ts";
import type { AccessContribution, AccessTarget, PrincipalName } from "../../../src/resource/access.ts";
import { planningRegistryIn } from "../../../src/resource/dialect-view.ts";

const registry = planningRegistryIn(everyKind, { dialect: "databricks" });
const APP = "00000000-aaaa-bbbb-cccc-000000000000";
const NEW_APP = "11111111-aaaa-bbbb-cccc-000000000000";
const ETL = { kind: "scopes", name: "etl" };

type Principal = NonNullable<AccessContribution["principal"]>;

const user = (name: string, more: Partial<Principal> = {}, memberOf?: string[]): AccessContribution => ({
  principal: { kind: "user", name, aliases: [], isActive: true, ...more },
  ...(memberOf === undefined ? {} : { memberOf }),
});
const group = (name: string, members: readonly string[], lacksMembers = false): AccessContribution => ({
  principal: { kind: "group", name, aliases: [`id-${name}`], isActive: true },
  members: members.map((member) => ({ name: member })),
  lacksMembers,
});
const grant = (to: string | PrincipalName, level = "READ", on: AccessTarget = ETL): AccessContribution => ({
  grants: [{ on, to: typeof to === "string" ? { name: to } : to, level }],
});

const PEOPLE = [
  user("ada@x", { aliases: ["101"] }),
  user("eve@x", { aliases: ["102"], isActive: false }),
  user("deployer", { kind: "service_principal", aliases: [APP] }),
];

const stateOf = (contributions: readonly AccessContribution[], more: Partial<AccessInput> = {}) =>
  new AccessState({ registry, unread: new Set(), contributions: [...PEOPLE, ...contributions], ...more });

describe("a name in an access list", () => {
  const holders = (to: PrincipalName, unread: readonly string[] = []) => [
    ...stateOf([group("data", []), grant(to)], { unread: new Set(unread) as never })
      .grantsOn(targetKey(ETL))
      .keys(),
  ];

  test.each<readonly [PrincipalName, string | undefined]>([
    [{ kind: "user", name: "ADA@X" }, "user ada@x"],
    [{ kind: "user", name: "101" }, "user ada@x"],
    [{ kind: "user", name: "eve@x" }, undefined],
    [{ kind: "user", name: APP }, "service_principal deployer"],
    [{ kind: "user", name: "data" }, undefined],
    [{ kind: "service_principal", name: "ada@x" }, undefined],
    [{ kind: "group", name: "id-data" }, "group data"],
    [{ kind: "group", name: "DATA" }, undefined],
    [{ kind: "group", name: "ada@x" }, undefined],
    [{ name: "data" }, "group data"],
    [{ name: "101" }, "user ada@x"],
    [{ name: "102" }, undefined],
    [{ name: APP.toUpperCase() }, "service_principal deployer"],
    [{ name: "users" }, "group users"],
    [{ name: "admins" }, "group admins"],
    [{ name: "new@x" }, undefined],
    [{ name: "new" }, undefined],
    [{ name: NEW_APP }, undefined],
  ])("%o means an active principal by its name, ID, or alias, or no principal", (to, expected) => {
    expect(holders(to)).toEqual(expected === undefined ? [] : [expected]);
  });

  test.each<readonly [PrincipalName, string, string]>([
    [{ name: "new@x" }, "user", "user new@x"],
    [{ name: "new" }, "group", "group new"],
    [{ name: NEW_APP }, "service_principal", `service_principal ${NEW_APP}`],
    [{ kind: "user", name: "new" }, "user", "user new"],
    [{ kind: "group", name: "new@x" }, "group", "group new@x"],
  ])("%o exists if its kind was not read, and not if another kind was not read", (to, kind, expected) => {
    expect(holders(to, [kind])).toEqual([expected]);
    const state = stateOf([grant(to)], { unread: new Set([kind]) as never });
    expect(state.principal(expected)).toMatchObject({ key: expected, kind, name: to.name });
    const others = ["user", "group", "service_principal"].filter((other) => other !== kind);
    expect(holders(to, others)).toEqual([]);
  });

  test("of a kind that was not read is not that of an inactive user", () => {
    expect(holders({ kind: "user", name: "102" }, ["user"])).toEqual([]);
    expect(holders({ name: "102" }, ["user", "group"])).toEqual([]);
  });
});

describe("the members of a group", () => {
  const members = (state: AccessState, name: string) => [...state.individualsIn(`group ${name}`)].sort();

  test("are those of its list, of the lists of users, and of the groups in it", () => {
    const state = stateOf([
      user("bob@x", {}, ["data", "id-inner", "unknown"]),
      user("kim@x"),
      group("data", ["101", "inner", "unknown", "eve@x"]),
      group("inner", ["kim@x"]),
      group("apart", []),
    ]);
    expect(members(state, "data")).toEqual(["user ada@x", "user bob@x", "user kim@x"]);
    expect(members(state, "inner")).toEqual(["user bob@x", "user kim@x"]);
    expect(members(state, "apart")).toEqual([]);
    expect(members(state, "unknown")).toEqual([]);
    expect(state.has("group unknown")).toBe(false);
  });

  test("of the group of all users are all active ones, whatever its list has", () => {
    const state = stateOf([group("users", ["ada@x", "apart"]), group("all", ["users"]), group("apart", [])]);
    expect(members(state, "users")).toEqual(["service_principal deployer", "user ada@x"]);
    expect(members(state, "all")).toEqual(["service_principal deployer", "user ada@x"]);
    expect([...state.closure("group apart")]).toEqual(["group apart"]);
  });

  test("stay if a principal without a list of groups is in the list of a group", () => {
    const state = stateOf([group("data", ["ada@x"]), { memberOf: ["data"] }, user("bob@x", {}, ["data"])]);
    expect(members(state, "data")).toEqual(["user ada@x", "user bob@x"]);
  });

  test("of groups that contain each other are the same", () => {
    const state = stateOf([group("a", ["b"]), group("b", ["a", "ada@x"])]);
    expect(members(state, "a")).toEqual(members(state, "b"));
    expect([...state.closure("group a")].sort()).toEqual(["group a", "group b"]);
  });

  test("lack a membership that the plan ends, in the list of the group and in that of the user", () => {
    const lists = [user("bob@x", {}, ["data"]), group("data", ["101", "bob@x", "deployer"])];
    const ended = ["ada@x", "bob@x", "unknown"].map((name) => ({ group: "data", member: { name } }));
    const state = stateOf(lists, { ended: [...ended, { group: "unknown", member: { name: "deployer" } }] });
    expect(members(state, "data")).toEqual(["service_principal deployer"]);
    expect(members(stateOf(lists), "data")).toHaveLength(3);
  });

  test("are not all known if the kind, the list, or a group in it was not read", () => {
    const lists = [group("open", [], true), group("outer", ["open"]), group("apart", ["ada@x"])];
    const lacking = (unread: readonly string[]) => {
      const state = stateOf([...lists, grant("new")], { unread: new Set(unread) as never });
      return [...state.groups.keys()].filter((key) => state.lacksMembers(key)).sort();
    };
    expect(lacking([])).toEqual(["group open", "group outer"]);
    expect(lacking(["user"])).toEqual(["group open", "group outer", "group users"]);
    expect(lacking(["group"])).toEqual(["group admins", "group new", "group open", "group outer"]);
  });

  test("of administrators are known with the list of their group", () => {
    const state = stateOf([group("admins", ["ada@x"])], { unread: new Set(["group"]) });
    expect(state.lacksMembers(ADMINS_KEY)).toBe(false);
  });
});

describe("a principal", () => {
  test("is found by its name and its ID, also if it is inactive", () => {
    const state = stateOf([group("data", [])]);
    const found = (name: string, kind?: Principal["kind"]) =>
      state.named(name, kind).map((principal) => `${principal.kind} ${principal.name}`);
    expect(found("101")).toEqual(["user ada@x"]);
    expect(found("eve@x")).toEqual(["user eve@x"]);
    expect(found("id-data")).toEqual(["group data"]);
    expect(found("data", "user")).toEqual([]);
    expect(found("data", "group")).toEqual(["group data"]);
    expect(found("users")).toEqual(["group users"]);
    expect(found("unknown")).toEqual([]);
    expect(state.named("eve@x")[0]).toEqual({ key: "user eve@x", kind: "user", name: "eve@x" });
  });

  test("is active, inactive, or of unknown activity if that is sensitive", () => {
    const state = stateOf([user("kim@x", { isActivityHidden: true })]);
    expect(["ada", "eve", "kim"].map((name) => state.isActive(`user ${name}@x`))).toEqual([
      true,
      false,
      undefined,
    ]);
  });

  test("is in the group of all users, unless it is a group", () => {
    const state = stateOf([group("data", ["ada@x"])]);
    expect([...state.closure("user ada@x")].sort()).toEqual(["group data", "group users", "user ada@x"]);
    expect([...state.closure("group data")]).toEqual(["group data"]);
    expect(state.levelOn("group data", ETL)).toBeUndefined();
  });

  test("is an administrator in the group of administrators, or in a group in it", () => {
    const state = stateOf([group("admins", ["ops", "deployer"]), group("ops", ["ada@x"]), user("bob@x")]);
    const administrators = [...state.individuals.keys(), ...state.groups.keys(), "user unknown@x"].filter(
      (key) => state.isAdministrator(key),
    );
    expect(administrators.sort()).toEqual([
      "group admins",
      "group ops",
      "service_principal deployer",
      "user ada@x",
    ]);
    expect(state.isAdministrator("user admins")).toBe(false);
  });
});

describe("of several rights on an object", () => {
  const FOLDER = { kind: "directories", name: "/Shared" };
  const NOTEBOOK = { kind: "notebooks", name: "/Shared/etl/load" };
  const held = (
    contributions: readonly AccessContribution[],
    target: AccessTarget = ETL,
    key = "user ada@x",
  ) => {
    const state = stateOf(contributions);
    const right = state.held(key, target);
    expect(state.levelOn(key, target)?.level).toBe(right?.level);
    return right && `${right.level} by ${right.grantee} on ${right.on.name}`;
  };
  const reversed = (list: readonly AccessContribution[]) => [...list].reverse();

  test.each([
    ["the highest of one list", [grant("ada@x", "WRITE"), grant("ada@x"), grant("101", "MANAGE")], "MANAGE"],
    ["a known level before an unknown one", [grant("ada@x", "READ"), grant("ada@x", "ZZZ")], "READ"],
    ["the later name of two unknown levels", [grant("ada@x", "YYY"), grant("ada@x", "ZZZ")], "ZZZ"],
  ])("a principal has %s, in any order", (_, grants, level) => {
    expect(held(grants)).toBe(`${level} by user ada@x on etl`);
    expect(held(reversed(grants))).toBe(`${level} by user ada@x on etl`);
  });

  test.each([
    ["the higher one", [grant("a", "MANAGE"), grant("ada@x", "READ")], "MANAGE by group a"],
    ["its own", [grant("a"), grant("ada@x")], "READ by user ada@x"],
    ["that of a nearer group", [grant("a"), grant("top"), grant("z")], "READ by group a"],
    ["that of the first of equally near groups", [grant("z"), grant("b"), grant("a")], "READ by group a"],
    ["that of a group before all groups around it", [grant("top"), grant("z")], "READ by group z"],
    ["that of all users", [grant("users"), grant("bob@x", "MANAGE")], "READ by group users"],
  ])("a principal has by way of its groups %s, in any order", (_, grants, expected) => {
    const groups = [
      user("bob@x"),
      group("a", ["ada@x"]),
      group("b", ["ada@x"]),
      group("z", ["ada@x"]),
      group("top", ["a", "z"]),
    ];
    expect(held([...groups, ...grants])).toBe(`${expected} on etl`);
    expect(held([...groups, ...reversed(grants)])).toBe(`${expected} on etl`);
  });

  test.each([
    ["the object, if both are equal", "CAN_RUN", "CAN_RUN by user ada@x on /Shared/etl/load"],
    ["the folder, if it is higher there", "CAN_MANAGE", "CAN_MANAGE by user ada@x on /Shared"],
    ["the object, if it is lower on the folder", "CAN_READ", "CAN_RUN by user ada@x on /Shared/etl/load"],
  ])("in a folder a principal has that on %s", (_, onFolder, expected) => {
    const grants = [grant("ada@x", "CAN_RUN", NOTEBOOK), grant("ada@x", onFolder, FOLDER)];
    expect(held(grants, NOTEBOOK)).toBe(expected);
    expect(held(reversed(grants), NOTEBOOK)).toBe(expected);
    expect(held([grant("ada@x", "CAN_RUN", NOTEBOOK)], FOLDER)).toBeUndefined();
  });

  test("a right on the object is not replaced by that of a nearer group on a folder", () => {
    const lists = [group("a", ["ada@x"]), grant("a", "CAN_RUN", NOTEBOOK), grant("ada@x", "CAN_RUN", FOLDER)];
    expect(held(lists, NOTEBOOK)).toBe("CAN_RUN by group a on /Shared/etl/load");
  });

  test("a principal that does not exist has none, also on its own name", () => {
    expect(held([grant("users"), grant("unknown@x")], ETL, "user unknown@x")).toBeUndefined();
  });

  test("objects outside the workspace tree have no folders", () => {
    const state = stateOf([]);
    expect(state.around({ kind: "scopes", name: "/a/b" })).toEqual([{ kind: "scopes", name: "/a/b" }]);
    expect(state.around(NOTEBOOK).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "notebooks /Shared/etl/load",
      "directories /Shared/etl",
      "directories /Shared",
    ]);
  });

  test("the right of a creator is marked, and a list that gives the same right is not", () => {
    const creatorGrants = [{ on: ETL, to: { name: "ada@x" }, level: "MANAGE" }];
    const level = (contributions: readonly AccessContribution[]) =>
      stateOf(contributions, { creatorGrants }).levelOn("user ada@x", ETL);
    expect(level([grant("ada@x")])).toMatchObject({ level: "MANAGE", asCreator: true });
    expect(level([grant("ada@x", "MANAGE")])).toMatchObject({ level: "MANAGE", asCreator: false });
  });
});

describe("the way to a group", () => {
  const state = stateOf([
    group("a", ["ada@x"]),
    group("b", ["ada@x"]),
    group("c", ["a"]),
    group("far", ["c"]),
    group("top", ["b", "far"]),
    group("apart", ["deployer"]),
  ]);

  test.each<readonly [string, string, readonly string[]]>([
    ["user ada@x", "group a", ["group a"]],
    ["user ada@x", "group c", ["group a", "group c"]],
    ["user ada@x", "group top", ["group b", "group top"]],
    ["user ada@x", EVERYONE_KEY, [EVERYONE_KEY]],
    ["user ada@x", "user ada@x", []],
    ["user ada@x", "group apart", []],
    ["group a", "group top", ["group c", "group far", "group top"]],
    ["group a", "group far", ["group c", "group far"]],
    ["group a", "group a", []],
  ])("from %s to %s is the shortest", (from, to, way) => {
    expect(state.way(from, to)).toEqual(way);
  });

  test("is that of the first name if two are equally short", () => {
    const two = [group("b", ["ada@x"]), group("a", ["ada@x"]), group("top", ["b", "a"])];
    expect(stateOf(two).way("user ada@x", "group top")).toEqual(["group a", "group top"]);
    const groups = [group("in", []), group("b", ["in"]), group("a", ["in"]), group("top", ["b", "a"])];
    expect(stateOf(groups).way("group in", "group top")).toEqual(["group a", "group top"]);
  });
});
