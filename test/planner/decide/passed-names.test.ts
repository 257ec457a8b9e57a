// Unique names that pass from one object to another within a plan: the order, and what is refused.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { auditPlan } from "../../../src/planner/audit.ts";
import {
  freesName,
  isRenamable,
  nameReached,
  namesStillHeld,
  withPassedNames,
} from "../../../src/planner/decide/passed-names.ts";
import { makePlan } from "../../../src/planner/make-plan.ts";
import type { Change, Create } from "../../../src/planner/model/change.ts";
import type { Plan } from "../../../src/planner/model/plan.ts";
import { type ReplaceStrategy, registryOf } from "../../../src/resource/kind.ts";
import { context, live, object, record, resource, spec, state } from "../build.ts";
import { adopt, create, noop, remove, replace, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const named = (key: string, name: string) => resource(`boxes.${key}`, { values: { box_name: name } });
const box = (key: string, name: string) =>
  object(`id-${key}`, name, { box_name: name, size: 1, timeout: 60 });
const ours = (key: string, name = key) => record(`boxes.${key}`, `id-${key}`, { box_name: name });

/** Boxes a, b, and c are managed under their own names; others are unmanaged. */
function input(wanted: Readonly<Record<string, string>>, strangers: readonly string[] = []) {
  const known = ["a", "b", "c"];
  return {
    registry,
    host: "h",
    spec: spec(Object.entries(wanted).map(([key, name]) => named(key, name))),
    live: live({ boxes: [...known, ...strangers].map((key) => box(key, key)) }),
    state: state(known.map((key) => ours(key))),
  };
}

function told(plan: Plan): readonly string[] {
  return plan.changes
    .filter((one) => one.action !== "noop")
    .map((one) => {
      const from = "nameFrom" in one ? ` after ${one.nameFrom?.address} ${one.nameFrom?.freedWhen}` : "";
      return `${one.action} ${one.address} ${one.name}${from}`;
    });
}

function planned(wanted: Readonly<Record<string, string>>, strangers?: readonly string[]): Plan {
  const from = input(wanted, strangers);
  const plan = makePlan(from);
  expect(auditPlan(plan, from)).toEqual([]);
  return plan;
}

describe("the plan", () => {
  test("orders a chain of names, and the last name comes free by a delete", () => {
    expect(told(planned({ a: "b", b: "c" }))).toEqual([
      "delete boxes.c c",
      "update boxes.b c after boxes.c done",
      "update boxes.a b after boxes.b done",
    ]);
  });

  test("changes an object although an unmanaged one has its name", () => {
    const from = input({ a: "a" });
    const namesake = object("id-x", "a", { box_name: "a", size: 1, timeout: 60 });
    const plan = makePlan({
      ...from,
      spec: spec([resource("boxes.a", { values: { box_name: "a", size: 2 } })]),
      live: live({ boxes: [box("a", "a"), namesake] }),
      state: state([ours("a")]),
    });
    expect(plan.diagnostics).toEqual([]);
    expect(told(plan)).toEqual(["update boxes.a a"]);
  });

  test("refuses a cycle, and says how to change the names in two steps", () => {
    const plan = planned({ a: "b", b: "c", c: "a" });
    expect(
      plan.diagnostics.map(({ code, address, message, hint }) => [code, address, message, hint]),
    ).toEqual([
      [
        "PLAN_ALREADY_EXISTS",
        "boxes.c",
        'box "a" already exists: boxes.a frees the name only after boxes.c has taken it',
        "choose another name for boxes.c first, and apply in two steps",
      ],
    ]);
  });

  test("lets a new resource take a name that another one gives up", () => {
    expect(told(planned({ a: "x", b: "b", c: "c", n: "a" }))).toEqual([
      "update boxes.a x",
      "create boxes.n a after boxes.a done",
    ]);
  });

  test("compares names as the service compares them", () => {
    expect(planned({ a: "B", b: "A", c: "c" }).diagnostics).toMatchObject([
      { code: "PLAN_ALREADY_EXISTS", address: "boxes.b" },
    ]);
    expect(told(planned({ a: "B", b: "x", c: "c" }))).toEqual([
      "update boxes.b x",
      "update boxes.a B after boxes.b done",
    ]);
  });

  test("keeps the object that frees a name when --only names the one that takes it", () => {
    const from = { ...input({ a: "b", b: "x", c: "y" }), only: (address: Address) => address === "boxes.a" };
    expect(told(makePlan(from))).toEqual(["update boxes.b x", "update boxes.a b after boxes.b done"]);
  });

  test("refuses a cycle also when --only names one of it", () => {
    const from = { ...input({ a: "b", b: "a", c: "x" }), only: (address: Address) => address === "boxes.a" };
    expect(makePlan(from).diagnostics).toMatchObject([{ code: "PLAN_ALREADY_EXISTS", address: "boxes.b" }]);
  });
});

describe("a name of a deleted object that another resource lists", () => {
  const LISTED = ["b"];
  const passed = (
    wanted: Readonly<Record<string, string>>,
    field: string,
    declared = LISTED,
    listed = LISTED,
  ) => {
    const from = input({ ...wanted, c: "c" });
    const values = { box_name: "l", [field]: listed };
    return makePlan({
      ...from,
      spec: spec(
        [
          ...from.spec.resources.values(),
          resource("boxes.l", { values: { box_name: "l", [field]: declared } }),
        ],
        { max_deletes: { share: 1 } },
      ),
      live: live({
        boxes: [...["a", "b", "c"].map((key) => box(key, key)), object("id-l", "l", { ...values, size: 1 })],
      }),
      state: state([ours("a"), ours("b"), ours("c"), record("boxes.l", "id-l", values)]),
    });
  };

  test("does not pass while the list is unchanged, because the service would empty it", () => {
    expect(passed({ a: "b" }, "near").diagnostics).toMatchObject([
      {
        code: "PLAN_ALREADY_EXISTS",
        address: "boxes.a",
        message: 'box "b" already exists: boxes.l lists it, and would lose it with the box of boxes.b',
        hint: "choose another name for boxes.a first, and apply in two steps",
      },
    ]);
  });

  test("passes when the list is of other values, when it changes too, or when the object is only renamed", () => {
    expect(passed({ a: "b" }, "members").diagnostics).toEqual([]);
    expect(passed({ a: "b" }, "near", ["c"], ["c"]).diagnostics).toEqual([]);
    expect(passed({ a: "b" }, "near", ["b", "c"]).diagnostics).toEqual([]);
    expect(passed({ a: "b", b: "x" }, "near").diagnostics).toEqual([]);
    expect(passed({ a: "x" }, "near").diagnostics.map(({ code }) => code)).not.toContain(
      "PLAN_ALREADY_EXISTS",
    );
  });
});

describe("a name of a changed object that an unchanged resource lists", () => {
  const id = object("id-b", "").id;
  const here = context({ live: live({ boxes: [box("b", "b")] }), state: state([ours("b")]) });
  const taker = create("boxes.n", { name: "b", after: { box_name: "b" } });
  const renamed = { id, after: { box_name: "x" } };
  const lists = (address: string, after: JsonObject) => noop(address, { after });
  const near = lists("boxes.l", { near: ["a", "b"] });
  const LOST = 'box "b" already exists: boxes.l lists it, and would lose it with the box of boxes.b';

  test.each([
    ["is refused if the object is deleted", remove("boxes.b", { id }), [near], LOST],
    ["is refused if the object is replaced", replace("boxes.b", { ...renamed }), [near], LOST],
    [
      "is refused if the object is deleted before it is created again",
      replace("boxes.b", { ...renamed, replacing: "delete-first" }),
      [near],
      LOST,
    ],
    [
      "is refused if the list has it in another case",
      remove("boxes.b", { id }),
      [lists("boxes.l", { near: ["B"] })],
      LOST,
    ],
    [
      "is refused with the first of several lists",
      remove("boxes.b", { id }),
      [near, lists("boxes.m", { near: ["b"] })],
      LOST,
    ],
    ["passes if the object is renamed", update("boxes.b", renamed), [near], undefined],
    [
      "passes if the list changes too",
      remove("boxes.b", { id }),
      [update("boxes.l", { id: object("id-l", "").id, after: near.after })],
      undefined,
    ],
    [
      "passes if the list had it before",
      remove("boxes.b", { id }),
      [noop("boxes.l", { before: near.after, after: { near: ["a"] } })],
      undefined,
    ],
    [
      "passes if the list is of other values",
      remove("boxes.b", { id }),
      [lists("boxes.l", { colors: ["b"], note: "b" })],
      undefined,
    ],
    [
      "passes if the list is of another kind",
      remove("boxes.b", { id }),
      [lists("tasks.l", { name: "b", steps: ["b"] })],
      undefined,
    ],
  ] as const)("%s", (_about, holder, listers, message) => {
    const { nameErrors } = withPassedNames(here, [taker, holder, ...listers]);
    expect(nameErrors.map((one) => one.message)).toEqual(message === undefined ? [] : [message]);
  });

  test("is refused also if the plan leaves the list out", () => {
    const changes = [taker, remove("boxes.b", { id })];
    expect(withPassedNames(here, changes).nameErrors).toEqual([]);
    expect(withPassedNames(here, changes, [...changes, near]).nameErrors).toMatchObject([{ message: LOST }]);
  });
});

describe("a name that stays taken", () => {
  test("is an error at the field when an unmanaged object has it", () => {
    const plan = planned({ a: "s", b: "b", c: "c" }, ["s"]);
    expect(plan.diagnostics).toMatchObject([
      { code: "PLAN_ALREADY_EXISTS", address: "boxes.a", at: { file: "workspace.yaml" } },
    ]);
  });

  test("says who has it, and what to do", () => {
    const told = (...given: Parameters<typeof planned>) =>
      planned(...given).diagnostics.map(({ message, hint, at }) => ({ message, hint, at: at?.file }));
    expect(told({ a: "s", b: "b", c: "c" }, ["s"])).toEqual([
      {
        message: 'box "s" already exists and is not managed by boxes.a',
        hint: "choose another name, or rename or delete the box that has it",
        at: "workspace.yaml",
      },
    ]);
    expect(told({ a: "b", b: "b", c: "c" })).toEqual([
      {
        message: 'box "b" already exists: boxes.b keeps this name',
        hint: "choose another name for boxes.a first, and apply in two steps",
        at: "workspace.yaml",
      },
    ]);
  });

  test("is refused with state mv when the spec only renamed the key", () => {
    const [problem] = planned({ a: "a", b: "b", n: "c" }).diagnostics;
    expect(problem).toMatchObject({ code: "PLAN_ALREADY_EXISTS", address: "boxes.n" });
    expect(problem?.hint).toContain("state mv boxes.c boxes.n");
  });
});

describe("a name of a replaced object", () => {
  const replacing = (strategy: ReplaceStrategy, wanted: Readonly<Record<string, string>>) => {
    const resources = Object.entries(wanted).map(([key, name]) =>
      resource(`boxes.${key}`, { values: { box_name: name, ...(key === "b" ? { material: "steel" } : {}) } }),
    );
    return makePlan({
      ...input({}),
      registry: registryOf(
        registry.kinds.map((one) => (one.kind === "boxes" ? { ...one, replaceStrategy: strategy } : one)),
      ),
      spec: spec(resources, { on_immutable_change: "replace" }),
    });
  };

  test.each([
    ["rename-aside", "removed"],
    ["create-first", "removed"],
    ["delete-first", "done"],
  ] as const)("is free once the replacement (%s) has given it up: %s", (strategy, freedWhen) => {
    const plan = replacing(strategy, { a: "a", b: "x", c: "c", n: "b" });
    expect(plan.diagnostics).toEqual([]);
    expect(plan.changes.find(({ address }) => address === "boxes.n")).toMatchObject({
      action: "create",
      nameFrom: { address: "boxes.b", id: "id-b", freedWhen },
    });
    expect(plan.changes.find(({ action }) => action === "replace")).not.toHaveProperty("nameFrom");
  });

  test("can be taken by a replacement", () => {
    const plan = replacing("delete-first", { a: "x", b: "a", c: "c" });
    expect(plan.changes.find(({ action }) => action === "replace")).toMatchObject({
      nameFrom: { address: "boxes.a", id: "id-a", freedWhen: "done" },
    });
  });
});

describe("a plan that takes names", () => {
  test("leaves other changes unmodified, and assigns names by address in any order of the spec", () => {
    const wanted = { c: "x", b: "c", a: "b" };
    const reversed = { a: "b", b: "c", c: "x" };
    expect(told(planned(wanted))).toEqual([
      "update boxes.c x",
      "update boxes.b c after boxes.c done",
      "update boxes.a b after boxes.b done",
    ]);
    expect(told(planned(wanted))).toEqual(told(planned(reversed)));
    const noops = planned({ a: "x", b: "b", c: "c", n: "a" }).changes.filter(
      ({ action }) => action === "noop",
    );
    expect(noops.map(({ address }) => address)).toEqual(["boxes.b", "boxes.c"]);
    for (const change of noops) expect(change).not.toHaveProperty("nameFrom");
  });

  test("refuses a cycle of a name and a dependency", () => {
    const needs = (key: string, name: string, dependsOn: readonly string[] = []) =>
      resource(`boxes.${key}`, { values: { box_name: name }, dependsOn });
    const wanted = [
      needs("a", "b"),
      needs("b", "x", ["tasks.t"]),
      resource("tasks.t", { dependsOn: ["boxes.a"] }),
      needs("c", "c"),
    ];
    const plan = makePlan({ ...input({}), spec: spec(wanted) });
    expect(plan.diagnostics).toMatchObject([
      {
        code: "PLAN_ALREADY_EXISTS",
        address: "boxes.a",
        message: 'box "b" already exists: boxes.b frees the name only after boxes.a has taken it',
      },
    ]);
  });

  test("refuses the same change of a cycle, whatever the order of the changes", () => {
    const from = input({ a: "b", b: "c", c: "a" });
    const here = context({ spec: from.spec, live: from.live, state: from.state });
    const changes = [
      update("boxes.a", { id: object("id-a", "").id, name: "b", after: { box_name: "b" } }),
      update("boxes.b", { id: object("id-b", "").id, name: "c", after: { box_name: "c" } }),
      update("boxes.c", { id: object("id-c", "").id, name: "a", after: { box_name: "a" } }),
    ];
    const refused = (list: readonly Change[]) =>
      withPassedNames(here, list).nameErrors.map(({ address }) => address);
    expect(refused(changes)).toEqual(["boxes.c"]);
    expect(refused(changes.toReversed())).toEqual(["boxes.c"]);
  });

  test("leaves a resource of another kind with such a name alone", () => {
    const from = input({});
    const here = context({ live: from.live, state: from.state });
    const task = create("tasks.a");
    expect(withPassedNames(here, [task])).toEqual({ changes: [task], nameErrors: [] });
    const both = withPassedNames(here, [
      task,
      create("boxes.n", { name: "b", after: { box_name: "b" } }),
      remove("boxes.b", { id: object("id-b", "").id }),
    ]);
    expect(both.nameErrors).toEqual([]);
    expect(both.changes[0]).toEqual(task);
  });

  test("refuses a name at its field", () => {
    const from = input({});
    const wanted = {
      ...named("a", "c"),
      locate: (path: readonly unknown[]) => ({ file: path.join("/"), line: 1, column: 1 }),
    };
    const here = context({ live: from.live, state: from.state, spec: spec([wanted]) });
    const taker = update("boxes.a", { id: object("id-a", "").id, name: "c", after: { box_name: "c" } });
    const [problem] = withPassedNames(here, [taker]).nameErrors;
    expect(problem).toMatchObject({
      message: 'box "c" already exists: boxes.c keeps this name',
      at: { file: "box_name" },
    });
  });

  test("reports each of two cycles", () => {
    const from = input({ a: "b", b: "a", c: "d", d: "c" });
    const four = {
      ...from,
      live: live({ boxes: ["a", "b", "c", "d"].map((key) => box(key, key)) }),
      state: state(["a", "b", "c", "d"].map((key) => ours(key))),
    };
    expect(makePlan(four).diagnostics.map(({ address }) => address)).toEqual(["boxes.b", "boxes.d"]);
  });

  test("knows no name that only an apply can determine", () => {
    const boxes = registry.get("boxes");
    const later = { path: ["box_name"], parts: [{ address: "tasks.t" as Address, attribute: "task_id" }] };
    const reached = (after: JsonObject, unresolved: Create["unresolved"] = []) =>
      nameReached(boxes, create("boxes.k", { name: "own", after, unresolved }));
    expect(reached({ box_name: "new" })).toBe("new");
    expect(reached({ box_name: "${tasks.t.task_id}" }, [later])).toBe("own");
    expect(reached({ box_name: "new", size: 1 }, [{ ...later, path: ["size"] }])).toBe("new");
    expect(reached({ box_name: 5 })).toBe("own");
    expect(reached({})).toBe("own");
  });

  test("takes no names of kinds whose names are not unique or are their keys", () => {
    expect(registry.kinds.filter(isRenamable).map(({ kind }) => kind)).toEqual(["boxes"]);
    const boxes = registry.get("boxes");
    expect(isRenamable({ ...boxes, nested: { kind: "rooms", under: "boxes" } })).toBe(false);
    expect(isRenamable({ ...boxes, nameField: undefined })).toBe(false);
  });
});

describe("a name that a replaced object keeps because it is in use", () => {
  const id = object("id-b", "").id;
  const nameFrom = { address: "boxes.b" as Address, id, freedWhen: "removed" } as const;
  const taker = create("boxes.a", { name: "b", after: { box_name: "b" }, nameFrom });
  const held = (...changes: readonly Change[]) => namesStillHeld(context(), changes);
  const keeping = replace("boxes.b", { id, keepsOld: true });

  test("is an error with both ways on", () => {
    expect(held(taker, keeping)).toEqual([
      {
        severity: "error",
        code: "PLAN_ALREADY_EXISTS",
        message: 'a replaced box of boxes.b has the name "b" and is still in use',
        address: "boxes.a",
        hint: "choose another name for boxes.a, or first move the users of the replaced box",
      },
    ]);
  });

  test("is an error when no change of the plan has the object", () => {
    expect(held(taker)).toHaveLength(1);
    expect(held(taker, replace("boxes.c", { keepsOld: true }))).toHaveLength(1);
  });

  test("is free when the old object goes, or gives up the name before", () => {
    expect(held(taker, replace("boxes.b", { id }))).toEqual([]);
    expect(held(taker, remove("boxes.b", { id, deposed: true }))).toEqual([]);
    expect(held({ ...taker, nameFrom: { ...nameFrom, freedWhen: "done" } }, keeping)).toEqual([]);
    expect(held(create("boxes.a"), keeping)).toEqual([]);
  });
});

test("an object frees its name when it is deleted, or its update or replacement gives it another", () => {
  const boxes = registry.get("boxes");
  const after = (name: string) => ({ after: { box_name: name } });
  const frees = (change: Change) => freesName(boxes, change, "b");
  expect(
    [remove("boxes.b"), update("boxes.b", after("x")), replace("boxes.b", after("x"))].map(frees),
  ).toEqual([true, true, true]);
  expect(
    [
      update("boxes.b", after("B")),
      replace("boxes.b", after("b")),
      noop("boxes.b", after("x")),
      adopt("boxes.b", after("x")),
    ].map(frees),
  ).toEqual([false, false, false, false]);
});

describe("the audit", () => {
  test("refuses a plan whose names are taken before they are free", () => {
    const from = input({ a: "b", b: "c" });
    const plan = makePlan(from);
    expect(auditPlan(plan, from)).toEqual([]);
    const broken = plan.changes.map((one) => ({ ...one, nameFrom: undefined }));
    expect(
      auditPlan({ ...plan, changes: broken } as unknown as Plan, from).map((one) => one.message),
    ).toEqual([
      "boxes.b takes the name of id-c, which still has it",
      "boxes.a takes the name of id-b, which still has it",
    ]);
  });
});
