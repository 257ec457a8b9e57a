// Which live object a resource means, and why it is refused.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import type { LiveObject } from "../../../src/resource/live.ts";
import { actions, live, object, plan, record, resource, spec, state } from "../build.ts";

const AT = { file: "workspace.yaml", line: 1, column: 1 };
const box = (id: string, name: string, more: Partial<LiveObject> = {}) => ({
  ...object(id, name, { box_name: name, size: 1 }),
  ...more,
});
const made = (key: string, name: string, boxes: readonly LiveObject[], more: Partial<PlanInput> = {}) =>
  plan({
    spec: spec([resource(`boxes.${key}`, { values: { box_name: name } })]),
    live: live({ boxes }),
    ...more,
  });

describe("an unmanaged object with the name of a resource", () => {
  test("is refused with both ways to adopt it", () => {
    expect(made("a", "a", [box("b1", "a")]).diagnostics).toEqual([
      {
        severity: "error",
        code: "PLAN_ALREADY_EXISTS",
        message: 'box "a" already exists and is not managed by boxes.a',
        address: "boxes.a",
        at: AT,
        hint: "to adopt it, pass --adopt or run `workspace import boxes.a b1`",
      },
    ]);
  });

  test("is refused with the recorded ID when it took the place of the recorded object", () => {
    const known = state([record("boxes.a", "b0", { box_name: "a" })]);
    expect(made("a", "a", [box("b1", "a")], { state: known }).diagnostics).toMatchObject([
      {
        hint: "the recorded object (ID b0) no longer exists; to adopt the one that has its name now, pass --adopt",
      },
    ]);
  });

  test("is refused with the recorded ID when it is the replaced object of the same resource", () => {
    const known = state([record("boxes.a", "b0", { box_name: "a" }, { deposed: [object("b1", "").id] })]);
    expect(made("a", "a", [box("b1", "a")], { state: known }).diagnostics).toMatchObject([
      { hint: expect.stringContaining("the recorded object (ID b0) no longer exists") },
    ]);
  });

  test("is adopted when an interrupted run may have created it, in kinds whose requests can be repeated", () => {
    const intent = { seq: 1, at: 0, action: "create", operation: "o", token: "t", existed: false } as const;
    const more = { name: "a/k", wanted: {}, depends_on: [] };
    const keys = (address: string) =>
      plan({
        spec: spec([
          resource("boxes.a"),
          resource("keys.a/k", { values: { value: "d" }, dependsOn: ["boxes.a"] }),
        ]),
        live: live({ boxes: [box("b1", "a")], keys: [object("a/k", "a/k")] }),
        state: {
          ...state([record("boxes.a", "b1")]),
          open: [{ ...intent, ...more, address: address as Address }],
        },
      });
    expect(actions(keys("keys.a/k"))).toEqual({ "keys.a/k": "update" });
    expect(keys("keys.a/other").diagnostics).toMatchObject([
      { code: "PLAN_ALREADY_EXISTS", address: "keys.a/k" },
    ]);
    const boxes = made("a", "a", [box("b1", "a")], {
      state: { ...state(), open: [{ ...intent, ...more, address: "boxes.a" as Address }] },
    });
    expect(boxes.diagnostics).toMatchObject([{ code: "PLAN_ALREADY_EXISTS" }]);
  });

  test("is adopted without a question when it is a member whose values can be read", () => {
    const label = (kind: string, values: object) =>
      plan({
        spec: spec([
          resource("boxes.a"),
          resource(`${kind}.a/x`, { values: { ...values }, dependsOn: ["boxes.a"] }),
        ]),
        live: live({ boxes: [box("b1", "a")], [kind]: [object("a/x", "a/x", { text: "hi" })] }),
        state: state([record("boxes.a", "b1")]),
      });
    expect(actions(label("labels", { text: "hi" }))).toEqual({ "labels.a/x": "adopt" });
    expect(label("keys", { value: "d" }).diagnostics).toMatchObject([{ code: "PLAN_ALREADY_EXISTS" }]);
  });
});

describe("an object that cannot be managed", () => {
  const unmanageable = "it belongs to the account";

  test("is refused with its reason, adopted or not", () => {
    for (const more of [{}, { adopt: true }])
      expect(made("a", "a", [box("b1", "a", { unmanageable })], more).diagnostics).toEqual([
        {
          severity: "error",
          code: "PLAN_UNMANAGEABLE",
          message: "boxes.a cannot manage the box b1: it belongs to the account",
          address: "boxes.a",
          at: AT,
          hint: "give the resource another name, or remove it from the spec and change the box with other tools; to remove it from the state, run `workspace state rm boxes.a`",
        },
      ]);
  });

  test("is refused when it is recorded", () => {
    const known = state([record("boxes.a", "b1", { box_name: "a" })]);
    expect(made("a", "a", [box("b1", "a", { unmanageable })], { state: known }).diagnostics).toMatchObject([
      { code: "PLAN_UNMANAGEABLE" },
    ]);
  });
});

describe("an object that another address manages", () => {
  const known = state([record("boxes.b", "b1", { box_name: "a" })]);
  const two = (
    other: Parameters<typeof resource>[1],
    more: Partial<PlanInput> = {},
    boxes = [box("b1", "a")],
  ) =>
    plan({
      spec: spec([resource("boxes.n", { values: { box_name: "a" } }), resource("boxes.b", other)]),
      live: live({ boxes }),
      state: known,
      ...more,
    });
  const refusal = { code: "PLAN_ALREADY_EXISTS", address: "boxes.n" };

  test("is refused with the command that moves the record", () => {
    expect(made("n", "a", [box("b1", "a")], { state: known }).diagnostics).toMatchObject([
      {
        message: 'box "a" already exists and is not managed by boxes.n',
        hint: "boxes.b manages it; if the resource was only renamed in the spec, run `workspace state mv boxes.b boxes.n`",
      },
    ]);
  });

  test("is not in the way when the spec gives it another name", () => {
    expect(actions(two({ values: { box_name: "b" } }))).toEqual({ "boxes.b": "update", "boxes.n": "create" });
  });

  test("is not in the way when it is a replaced object, which goes before the name is taken", () => {
    const deposed = state([record("boxes.b", "b2", { box_name: "b" }, { deposed: [object("b1", "").id] })]);
    const planned = two({ values: { box_name: "b" } }, { state: deposed }, [box("b1", "a"), box("b2", "b")]);
    expect(planned.diagnostics).toEqual([]);
    expect(planned.changes).toMatchObject([
      { action: "noop", address: "boxes.b" },
      { action: "delete", id: "b1", deposed: true },
      { action: "create", address: "boxes.n", nameFrom: { id: "b1", freedWhen: "done" } },
    ]);
  });

  test("is in the way when it keeps the name or ignores its name", () => {
    expect(two({ values: { box_name: "A" } }).diagnostics).toMatchObject([refusal]);
    const ignoring = { values: { box_name: "b" }, lifecycle: { ignore_changes: ["box_name"] } };
    expect(two(ignoring).diagnostics).toMatchObject([
      { ...refusal, hint: expect.stringContaining("`workspace state mv boxes.b boxes.n`") },
    ]);
  });
});

describe("a recorded object that has another name than declared", () => {
  const known = (deposed: readonly string[]) =>
    state([
      record("boxes.a", "b2", { box_name: "new" }, { deposed: deposed.map((id) => object(id, "").id) }),
    ]);
  const boxes = [box("b1", "old"), box("b2", "new")];

  test("restores the replaced object with that name", () => {
    const plans = made("a", "OLD", boxes, { state: known(["b0", "b1"]) });
    expect(plans.changes.map((change) => [change.action, "id" in change && change.id])).toEqual([
      ["adopt", "b1"],
      ["delete", "b2"],
      ["forget", "b0"],
    ]);
  });

  test("is renamed when no replaced object has that name", () => {
    const plans = made("a", "other", boxes, { state: known(["b1"]) });
    expect(plans.changes.map((change) => [change.action, "id" in change && change.id])).toEqual([
      ["update", "b2"],
      ["delete", "b1"],
    ]);
  });

  test("stays when it has the name and its replaced object has it, too", () => {
    const both = ["t1", "t2"].map((id) => object(id, "t", { name: "t" }));
    const plans = plan({
      spec: spec([resource("tasks.t")]),
      live: live({ tasks: both }),
      state: state([record("tasks.t", "t2", { name: "t" }, { deposed: [object("t1", "").id] })]),
    });
    expect(plans.changes.map((change) => [change.action, "id" in change && change.id])).toEqual([
      ["noop", "t2"],
      ["delete", "t1"],
    ]);
  });

  test("stays when it has the name, whatever replaced objects are called", () => {
    const plans = made("a", "new", [box("b1", "new (old)"), box("b2", "new")], { state: known(["b1"]) });
    expect(plans.changes.map((change) => [change.action, "id" in change && change.id])).toEqual([
      ["noop", "b2"],
      ["delete", "b1"],
    ]);
  });
});

describe("an import entry", () => {
  const entry = (id: string, to = "boxes.a") => ({ to: to as Address, id, at: AT });
  const imported = (id: string, more: Partial<PlanInput> = {}, to?: string) =>
    plan({
      spec: {
        ...spec([resource("boxes.a")]),
        stateEntries: { moved: [], removed: [], imports: [entry(id, to)] },
      },
      live: live({ boxes: [box("b1", "a"), box("b2", "other")] }),
      ...more,
    });

  test("imports the object with the ID, whatever its name", () => {
    expect(actions(imported("b1"))).toEqual({ "boxes.a": "import" });
    expect(imported("b2").changes).toMatchObject([{ action: "update", id: "b2" }]);
  });

  test("of an object that does not exist is refused", () => {
    expect(imported("b9").diagnostics).toEqual([
      {
        severity: "error",
        code: "PLAN_STATE_ENTRY",
        message: "the box b9 to import as boxes.a does not exist",
        address: "boxes.a",
        at: AT,
        hint: "correct the ID, or remove the entry to create the object",
      },
    ]);
  });

  test("of an object that is managed is refused with the entry that moves its record", () => {
    const known = state([record("boxes.x", "b2")]);
    const found = imported("b2", { state: known }).diagnostics;
    expect(found).toMatchObject([
      {
        code: "PLAN_STATE_ENTRY",
        message: "the box b2 to import as boxes.a is managed by boxes.x",
        hint: "to give the record the new address, add { from: boxes.x, to: boxes.a } under moved",
      },
    ]);
  });

  test("counts for its own resource, while that is not recorded, and with the whole workspace", () => {
    expect(imported("b2", {}, "boxes.other").diagnostics).toMatchObject([{ code: "PLAN_ALREADY_EXISTS" }]);
    const one = { live: live({ boxes: [box("b2", "other")] }) };
    expect(actions(imported("b2", { ...one, partial: true }))).toEqual({ "boxes.a": "create" });
    expect(actions(imported("b2", one))).toEqual({ "boxes.a": "update" });
    const gone = state([record("boxes.a", "b0", { box_name: "a" })]);
    expect(actions(imported("b2", { ...one, state: gone }))).toEqual({ "boxes.a": "create" });
    const known = state([record("boxes.a", "b1", { box_name: "a" })]);
    expect(imported("b2", { state: known }).changes).toMatchObject([{ action: "noop", id: "b1" }]);
  });
});

describe("a member of a parent", () => {
  const member = (parent: string, more: Partial<PlanInput> = {}) =>
    plan({
      spec: spec([
        resource("boxes.a", { values: { material: "steel" }, lifecycle: { on_immutable_change: "replace" } }),
        resource("labels.a/x", { values: { text: "hi" }, dependsOn: ["tasks.t", "boxes.gone", parent] }),
        resource("tasks.t"),
      ]),
      live: live({ labels: [object("a/x", "a/x", { text: "hi" })] }),
      state: state([record("labels.a/x", "a/x", { text: "hi" })]),
      ...more,
    }).changes.find(({ address }) => address === "labels.a/x");

  test("is created with a parent that is created, although it is recorded and live", () => {
    expect(member("boxes.a")).toMatchObject({
      action: "create",
      cause: "drift",
      reasons: ["it no longer exists in the workspace"],
    });
  });

  test("stays when only other kinds that it depends on are created", () => {
    expect(member("tasks.t")).toMatchObject({ action: "noop" });
  });
});
