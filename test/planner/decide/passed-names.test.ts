// Unique names that pass from one object to another within a plan: the order, the temporary names, and what is refused.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { auditPlan } from "../../../src/planner/audit.ts";
import {
  freesName,
  isRenamed,
  nameReached,
  namesOfKeptObjects,
  withPassedNames,
} from "../../../src/planner/decide/names.ts";
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
      const from = "nameFrom" in one ? ` after ${one.nameFrom?.address} ${one.nameFrom?.once}` : "";
      const aside = "temporaryName" in one && one.temporaryName !== undefined ? " temporary" : "";
      return `${one.action} ${one.address} ${one.name}${from}${aside}`;
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

  test("breaks a cycle with one temporary name", () => {
    const plan = planned({ a: "b", b: "c", c: "a" });
    expect(told(plan)).toEqual([
      "update boxes.c a after boxes.a aside",
      "update boxes.b c after boxes.c done",
      "update boxes.a b after boxes.b done temporary",
    ]);
  });

  test("lets a new resource take a name that another one gives up", () => {
    expect(told(planned({ a: "x", b: "b", c: "c", n: "a" }))).toEqual([
      "update boxes.a x",
      "create boxes.n a after boxes.a done",
    ]);
  });

  test("compares names as the service compares them", () => {
    expect(told(planned({ a: "B", b: "A", c: "c" }))).toEqual([
      "update boxes.b A after boxes.a aside",
      "update boxes.a B after boxes.b done temporary",
    ]);
  });

  test("chooses a temporary name that no live object and no resource has", () => {
    const [first] = planned({ a: "b", b: "a", c: "c" }).changes.flatMap((one) =>
      "temporaryName" in one && one.temporaryName !== undefined ? [one.temporaryName] : [],
    );
    const [second] = planned({ a: "b", b: "a", c: "c" }, [first ?? ""]).changes.flatMap((one) =>
      "temporaryName" in one && one.temporaryName !== undefined ? [one.temporaryName] : [],
    );
    expect(first).toMatch(/^a \(temporary [0-9a-f]{6}\)$/);
    expect(second).toMatch(/^a \(temporary [0-9a-f]{6}\)$/);
    expect(second).not.toBe(first);
  });

  test("keeps the whole cycle when --only names one of it", () => {
    const from = { ...input({ a: "b", b: "a", c: "x" }), only: (address: Address) => address === "boxes.a" };
    const plan = makePlan(from);
    expect(told(plan)).toEqual([
      "update boxes.b a after boxes.a aside",
      "update boxes.a b after boxes.b done temporary",
    ]);
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
    const { diagnostics } = withPassedNames(here, [taker, holder, ...listers]);
    expect(diagnostics.map((one) => one.message)).toEqual(message === undefined ? [] : [message]);
  });

  test("is refused also if the plan leaves the list out", () => {
    const changes = [taker, remove("boxes.b", { id })];
    expect(withPassedNames(here, changes).diagnostics).toEqual([]);
    expect(withPassedNames(here, changes, [...changes, near]).diagnostics).toMatchObject([{ message: LOST }]);
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

  test("is refused where no object can be renamed aside, and only a cycle would free it", () => {
    const { rename: _rename, ...operations } = registry.get("boxes").operations;
    const fixed = registryOf(
      registry.kinds.map((one) => (one.kind === "boxes" ? { ...one, operations } : one)),
    );
    const from = { ...input({ a: "b", b: "a", c: "c" }), registry: fixed };
    expect(makePlan(from).diagnostics.map(({ address, message, hint }) => [address, message, hint])).toEqual([
      [
        "boxes.b",
        'box "a" already exists: boxes.a frees the name only after boxes.b has taken it',
        "choose another name for boxes.b first, and apply in two steps",
      ],
    ]);
  });

  test("is refused with state mv when the spec only renamed the key", () => {
    const [problem] = planned({ a: "a", b: "b", n: "c" }).diagnostics;
    expect(problem).toMatchObject({ code: "PLAN_ALREADY_EXISTS", address: "boxes.n" });
    expect(problem?.hint).toContain("state mv boxes.c boxes.n");
  });
});

describe("a name of a replaced object", () => {
  const replacing = (
    strategy: ReplaceStrategy,
    renames: boolean,
    wanted: Readonly<Record<string, string>>,
  ) => {
    const boxes = registry.get("boxes");
    const { rename: _rename, ...operations } = boxes.operations;
    const changed = {
      ...boxes,
      replaceStrategy: strategy,
      operations: renames ? boxes.operations : operations,
    };
    const resources = Object.entries(wanted).map(([key, name]) =>
      resource(`boxes.${key}`, { values: { box_name: name, ...(key === "b" ? { material: "steel" } : {}) } }),
    );
    return makePlan({
      ...input({}),
      registry: registryOf(registry.kinds.map((one) => (one.kind === "boxes" ? changed : one))),
      spec: spec(resources, { on_immutable_change: "replace" }),
    });
  };

  test.each([
    ["rename-aside", true, "aside"],
    ["create-first", false, "removed"],
    ["delete-first", false, "done"],
  ] as const)(
    "is free once the replacement (%s, renames: %s) has given it up: %s",
    (strategy, renames, once) => {
      const plan = replacing(strategy, renames, { a: "a", b: "x", c: "c", n: "b" });
      expect(plan.changes.find(({ address }) => address === "boxes.n")).toMatchObject({
        action: "create",
        nameFrom: { address: "boxes.b", id: "id-b", once },
      });
      const holder = plan.changes.find(({ action }) => action === "replace");
      if (once === "aside")
        expect(holder).toHaveProperty("temporaryName", expect.stringMatching(/^b \(temporary/));
      else expect(holder).not.toHaveProperty("temporaryName");
      expect(holder).not.toHaveProperty("nameFrom");
    },
  );

  test("can be taken by a replacement", () => {
    const plan = replacing("delete-first", true, { a: "x", b: "a", c: "c" });
    expect(plan.changes.find(({ action }) => action === "replace")).toMatchObject({
      nameFrom: { address: "boxes.a", id: "id-a", once: "done" },
    });
  });
});

describe("a plan that takes names", () => {
  test("leaves other changes unmodified, and assigns names by address in any order of the spec", () => {
    const wanted = { c: "a", b: "c", a: "b" };
    const reversed = { a: "b", b: "c", c: "a" };
    expect(told(planned(wanted))).toEqual(told(planned(reversed)));
    const noops = planned({ a: "x", b: "b", c: "c", n: "a" }).changes.filter(
      ({ action }) => action === "noop",
    );
    for (const one of noops) {
      expect(one).not.toHaveProperty("nameFrom");
      expect(one).not.toHaveProperty("temporaryName");
    }
    expect(planned({ a: "b", b: "b2", c: "c" }).changes.filter((one) => "temporaryName" in one)).toEqual([]);
  });

  test("breaks a cycle of a name and a dependency with a temporary name", () => {
    const needs = (key: string, name: string, dependsOn: readonly string[] = []) =>
      resource(`boxes.${key}`, { values: { box_name: name }, dependsOn });
    const wanted = [
      needs("a", "b"),
      needs("b", "x", ["tasks.t"]),
      resource("tasks.t", { dependsOn: ["boxes.a"] }),
      needs("c", "c"),
    ];
    const plan = makePlan({ ...input({}), spec: spec(wanted) });
    expect(plan.diagnostics).toEqual([]);
    expect(told(plan)).toEqual([
      "update boxes.a b after boxes.b aside",
      "create tasks.t t",
      "update boxes.b x temporary",
    ]);
  });

  test("takes names by address, whatever the order of the changes", () => {
    const from = input({ a: "b", b: "c", c: "a" });
    const here = context({ spec: from.spec, live: from.live, state: from.state });
    const changes = [
      update("boxes.a", { id: object("id-a", "").id, name: "b", after: { box_name: "b" } }),
      update("boxes.b", { id: object("id-b", "").id, name: "c", after: { box_name: "c" } }),
      update("boxes.c", { id: object("id-c", "").id, name: "a", after: { box_name: "a" } }),
    ];
    const aside = (list: readonly Change[]) =>
      withPassedNames(here, list)
        .changes.filter((one) => "temporaryName" in one)
        .map(({ address }) => address);
    expect(aside(changes)).toEqual(["boxes.a"]);
    expect(aside(changes.toReversed())).toEqual(["boxes.a"]);
  });

  test("leaves a resource of another kind with such a name alone", () => {
    const from = input({});
    const here = context({ live: from.live, state: from.state });
    const task = create("tasks.a");
    expect(withPassedNames(here, [task])).toEqual({ changes: [task], diagnostics: [] });
    const both = withPassedNames(here, [
      task,
      create("boxes.n", { name: "b", after: { box_name: "b" } }),
      remove("boxes.b", { id: object("id-b", "").id }),
    ]);
    expect(both.diagnostics).toEqual([]);
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
    const [problem] = withPassedNames(here, [taker]).diagnostics;
    expect(problem).toMatchObject({
      message: 'box "c" already exists: boxes.c keeps this name',
      at: { file: "box_name" },
    });
  });

  test("breaks two cycles with two temporary names", () => {
    const from = input({ a: "b", b: "a", c: "d", d: "c" });
    const four = {
      ...from,
      live: live({ boxes: ["a", "b", "c", "d"].map((key) => box(key, key)) }),
      state: state(["a", "b", "c", "d"].map((key) => ours(key))),
    };
    const plan = makePlan(four);
    expect(plan.diagnostics).toEqual([]);
    const names = plan.changes.flatMap((one) => ("temporaryName" in one ? [one.temporaryName] : []));
    expect(names).toHaveLength(2);
    expect(new Set(names).size).toBe(2);
  });

  test("cuts a temporary name to the longest name of the kind, and avoids every name of the plan", () => {
    const boxes = registry.get("boxes");
    const short = {
      ...boxes,
      fields: { ...boxes.fields, box_name: { type: "string", ignoreCase: true, maxLength: 30 } },
    } as const;
    const kinds = registryOf(registry.kinds.map((one) => (one.kind === "boxes" ? short : one)));
    const long = "x".repeat(30);
    const swap = (...others: readonly string[]) => {
      const wanted = { a: "b", b: long, ...Object.fromEntries(others.map((name, at) => [`o${at}`, name])) };
      const plan = makePlan({
        ...input(wanted),
        registry: kinds,
        live: live({ boxes: [box("a", long), box("b", "b")] }),
        state: state([ours("a", long), ours("b")]),
      });
      return plan.changes.flatMap((one) => ("temporaryName" in one ? [one.temporaryName] : []))[0] ?? "";
    };
    const first = swap();
    expect(first).toMatch(/^x{11} \(temporary [0-9a-f]{6}\)$/);
    const second = swap(first.toUpperCase());
    expect(second).toMatch(/^x{11} \(temporary [0-9a-f]{6}\)$/);
    expect(second).not.toBe(first);
    expect(swap(first, second)).not.toBe(second);
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
    expect(registry.kinds.filter(isRenamed).map(({ kind }) => kind)).toEqual(["boxes"]);
    const boxes = registry.get("boxes");
    expect(isRenamed({ ...boxes, nested: { kind: "rooms", under: "boxes" } })).toBe(false);
    expect(isRenamed({ ...boxes, nameField: undefined })).toBe(false);
  });
});

describe("a name that a replaced object keeps because it is in use", () => {
  const id = object("id-b", "").id;
  const nameFrom = { address: "boxes.b" as Address, id, once: "removed" } as const;
  const taker = create("boxes.a", { name: "b", after: { box_name: "b" }, nameFrom });
  const held = (...changes: readonly Change[]) => namesOfKeptObjects(context(), changes);
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
    expect(held({ ...taker, nameFrom: { ...nameFrom, once: "aside" } }, keeping)).toEqual([]);
    expect(held({ ...taker, nameFrom: { ...nameFrom, once: "done" } }, keeping)).toEqual([]);
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
  const from = input({ a: "b", b: "a", c: "c" });
  const plan = makePlan(from);

  test("refuses a plan whose names are taken before they are free", () => {
    const broken = plan.changes.map((one) => ({ ...one, nameFrom: undefined }));
    expect(
      auditPlan({ ...plan, changes: broken } as unknown as Plan, from).map((one) => one.message),
    ).toEqual([
      "boxes.b takes the name of id-a, which still has it",
      "boxes.a takes the name of id-b, which still has it",
    ]);
  });

  test("refuses a temporary name that another object has", () => {
    const broken = plan.changes.map((one) =>
      "temporaryName" in one && one.temporaryName !== undefined ? { ...one, temporaryName: "c" } : one,
    );
    expect(auditPlan({ ...plan, changes: broken }, from).map((one) => one.message)).toContain(
      "boxes.a takes the name of id-c, which still has it",
    );
  });
});
