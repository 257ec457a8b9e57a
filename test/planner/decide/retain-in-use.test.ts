// Replaced objects that are still in use: which stay, and what the plan says of them.

import { describe, expect, test } from "vitest";
import { error } from "../../../src/core/diagnostic.ts";
import { retainReplacedInUse } from "../../../src/planner/decide/deletes.ts";
import { makePlan } from "../../../src/planner/make-plan.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { PlanFacts, PlanInput } from "../../../src/planner/model/input.ts";
import { createPlannedWorkspace } from "../../../src/planner/model/planned-workspace.ts";
import { type Provider, registryOf } from "../../../src/resource/kind.ts";
import type { PlannedWorkspace } from "../../../src/resource/planning.ts";
import { context, live, object, record, resource, spec, state } from "../build.ts";
import { create, remove, replace, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const { id } = object("b1", "");
const using = (usedBy?: readonly string[]): Provider => {
  const { usedBy: _usedBy, ...boxes } = registry.get("boxes") as Provider;
  return {
    ...boxes,
    ...(usedBy === undefined ? {} : { usedBy }),
    planning: { keptWhileUsedBy: (box) => (box.values.users as string[]) ?? [] },
  };
};
const kinds = (boxes: Provider) =>
  registryOf(registry.kinds.map((one) => (one.kind === "boxes" ? boxes : one)));
const world = (...users: string[]) => live({ boxes: [object("b1", "a", { users })] });
const unread = { readable: false, diagnostic: error("API_FORBIDDEN", "no") } as const;

function retained(changes: readonly Change[], given: Partial<PlanInput> = {}, facts: PlanFacts = {}) {
  const here = context({ registry: kinds(using(["tasks"])), live: world("task t", "task u"), ...given });
  const { changes: left, notes } = retainReplacedInUse(
    here,
    facts,
    changes,
    createPlannedWorkspace(here, facts, changes),
  );
  const shown = left.map(
    (change) => `${change.action} ${change.address}${"keepsOld" in change ? " keeps" : ""}`,
  );
  return { shown, notes };
}

describe("a replaced object in use", () => {
  test("stays in the replacement that makes its successor", () => {
    expect(retained([replace("boxes.a", { id }), create("boxes.b")])).toEqual({
      shown: ["replace boxes.a keeps", "create boxes.b"],
      notes: [],
    });
  });

  test("of an earlier run is not deleted, and the plan names its users", () => {
    expect(retained([remove("boxes.a", { id, deposed: true })])).toEqual({
      shown: [],
      notes: [
        {
          severity: "warning",
          code: "PLAN_KEPT",
          message: "boxes.a: the replaced object a is kept because it is in use: task t, task u",
          address: "boxes.a",
          hint: "move its users to the new object, and declare its ID in those that have it from a cluster policy; the next plan then deletes the old one",
        },
      ],
    });
  });

  test("stays while a kind that may use it could not be read", () => {
    const { notes } = retained(
      [remove("boxes.a", { id, deposed: true })],
      { live: world() },
      { dependentsOfDeleted: new Map([["tasks", unread]]) },
    );
    expect(notes[0]?.message).toContain("in use: possibly tasks, which could not be read");
    const inInput = new Map([...world(), ["tasks", unread] as const]);
    expect(retained([replace("boxes.a", { id })], { live: inInput }).shown).toEqual([
      "replace boxes.a keeps",
    ]);
  });

  test("is deleted with its resource, and in a destroy", () => {
    const both = [remove("boxes.a", { id: object("b2", "").id }), remove("boxes.a", { id, deposed: true })];
    expect(retained(both).shown).toEqual(["delete boxes.a", "delete boxes.a"]);
    expect(retained([remove("boxes.a", { id, deposed: true })], { destroy: true }).shown).toEqual([
      "delete boxes.a",
    ]);
  });
});

test.each<readonly [string, Change]>([
  ["a delete", remove("boxes.a", { id })],
  ["a replacement that deletes first", replace("boxes.a", { id, replacing: "delete-first" })],
  ["an update", update("boxes.a", { id })],
])("%s is planned although the object is in use", (_, change) => {
  const { shown, notes } = retained([change, replace("boxes.b", { id: object("b9", "").id })]);
  expect(shown).toEqual([`${change.action} boxes.a`, "replace boxes.b"]);
  expect(notes).toEqual([]);
});

test("an unused object goes, and so does one of a kind that nothing uses", () => {
  expect(retained([replace("boxes.a", { id })], { live: world() }).shown).toEqual(["replace boxes.a"]);
  expect(retained([replace("boxes.a", { id })], { live: world(), registry: kinds(using()) }).shown).toEqual([
    "replace boxes.a",
  ]);
  expect(retained([replace("boxes.a", { id })], { registry }).shown).toEqual(["replace boxes.a"]);
});

test("side effects of other changes see a replaced object in use as one that stays", () => {
  const tasks = registry.get("tasks") as Provider;
  const planning = {
    ...tasks.planning,
    consequences: (_: unknown, workspace: PlannedWorkspace) =>
      workspace
        .live("boxes")
        .map((box) => `box ${workspace.valuesAfter("boxes", box) === undefined ? "goes" : "stays"}`),
  };
  const boxes = using();
  const consequencesWith = (users: readonly string[]) => {
    const values = { box_name: "a", material: "wood" };
    const plan = makePlan({
      registry: registryOf(
        registry.kinds.map((kind) =>
          kind.kind === "boxes" ? boxes : kind.kind === "tasks" ? { ...tasks, planning } : kind,
        ),
      ),
      host: "h",
      spec: spec(
        [
          resource("boxes.a", { values: { material: "steel" } }),
          resource("tasks.t", { values: { name: "t" } }),
        ],
        { on_immutable_change: "replace" },
      ),
      live: live({
        boxes: [object("b1", "a", { ...values, ...(users.length > 0 && { users: [...users] }) })],
      }),
      state: state([record("boxes.a", "b1", values)]),
    });
    return plan.changes.find(({ address }) => address === "tasks.t")?.consequences;
  };
  expect(consequencesWith([])).toEqual(["box goes"]);
  expect(consequencesWith(["task u"])).toEqual(["box stays"]);
});
