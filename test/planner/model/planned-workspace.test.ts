// The workspace after a plan, as the rules of a kind see it.

import { describe, expect, test } from "vitest";
import type { Change } from "../../../src/planner/model/change.ts";
import { addressByObject, indexLive } from "../../../src/planner/model/context.ts";
import type { PlanFacts, PlanInput } from "../../../src/planner/model/input.ts";
import {
  createPlannedWorkspace,
  plannedChange,
  withConsequences,
} from "../../../src/planner/model/planned-workspace.ts";
import { type Provider, registryOf } from "../../../src/resource/kind.ts";
import { context, live, object, record, resource, spec, state } from "../build.ts";
import { adopt, create, forget, noop, one, remove, replace, report, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const b1 = object("b1", "a", { size: 1 });
const b2 = object("b2", "b", { size: 2 });
const world = live({ boxes: [b1, b2], tasks: [object("b1", "t", { steps: [] })] });
const index = indexLive(world, registry);

function workspace(changes: readonly Change[], more: Partial<PlanInput> = {}, facts: PlanFacts = {}) {
  const input: PlanInput = {
    registry,
    host: "h",
    spec: spec([resource("boxes.A")]),
    live: world,
    state: state(),
    ...more,
  };
  const owners = addressByObject(input.state.records);
  return createPlannedWorkspace({ input, liveIndex: index, owners }, facts, changes);
}

describe("the workspace after a plan", () => {
  test("has the values that an update reaches, and none of what is deleted or replaced", () => {
    const id = b1.id;
    const valuesAfter = (change: Change) => workspace([change]).valuesAfter("boxes", b1);
    expect(valuesAfter(update("boxes.a", { id, after: { size: 5 } }))).toEqual({ size: 5 });
    const diff = { before: 1, after: undefined, cause: "spec", replaces: false } as const;
    const [note, size] = [
      { ...diff, path: ["note"] },
      { ...diff, path: ["size"] },
    ];
    const after = { note: "x" };
    expect(valuesAfter(update("boxes.a", { id, after, diffs: [note] }))).toEqual({ note: "x", size: 1 });
    expect(valuesAfter(update("boxes.a", { id, after, diffs: [note, size] }))).toEqual({ note: "x" });
    expect(valuesAfter(remove("boxes.a", { id }))).toBeUndefined();
    expect(valuesAfter(replace("boxes.a", { id }))).toBeUndefined();
    for (const change of [
      adopt("boxes.a", { id }),
      noop("boxes.a", { id }),
      report("boxes.a", { id }),
      forget("boxes.a", { id }),
    ])
      expect(valuesAfter(change)).toEqual({ size: 1 });
  });

  test("keeps the values of other objects, also with the same ID in another kind", () => {
    const made = workspace([remove("boxes.a", { id: b1.id })]);
    expect(made.valuesAfter("boxes", b2)).toEqual({ size: 2 });
    expect(made.valuesAfter("tasks", object("b1", "t", { steps: [] }))).toEqual({ steps: [] });
  });

  test("lacks the names of what is deleted, replaced, or deleted with its parent", () => {
    const removed = (change: Change) => workspace([change]).isRemoved(change.kind, change.name);
    expect(removed(remove("boxes.a"))).toBe(true);
    expect(removed(replace("boxes.a"))).toBe(true);
    expect(removed(forget("labels.a/x", { dependsOn: ["boxes.a"] }))).toBe(true);
    expect(removed(forget("labels.a/x"))).toBe(false);
    for (const change of [
      create("boxes.a", { dependsOn: ["boxes.b"] }),
      update("boxes.a", { dependsOn: ["boxes.b"] }),
      noop("boxes.a", { dependsOn: ["boxes.b"] }),
    ])
      expect(removed(change)).toBe(false);
  });

  test("has forgotten only what leaves the state without its parent", () => {
    const forgotten = (change: Change) => workspace([change]).isForgotten(change.kind, change.name);
    expect(forgotten(forget("boxes.a"))).toBe(true);
    expect(forgotten(forget("labels.a/x", { dependsOn: ["boxes.a"] }))).toBe(false);
    expect(forgotten(remove("boxes.a"))).toBe(false);
    expect(forgotten(update("boxes.a"))).toBe(false);
    expect(forgotten(forget("boxes.a", { deposed: true }))).toBe(false);
    expect(workspace([forget("boxes.a")]).isForgotten("boxes", "b")).toBe(false);
  });

  test("has what is created, also in place of another object, by kind", () => {
    const made = workspace([
      create("boxes.c", { after: { size: 1 } }),
      replace("boxes.a", { after: { size: 2 } }),
      update("boxes.b", { after: { size: 3 } }),
      remove("boxes.d"),
      create("tasks.t"),
    ]);
    expect(made.created("boxes")).toEqual([
      { address: "boxes.c", values: { size: 1 } },
      { address: "boxes.a", values: { size: 2 } },
    ]);
  });

  test("compares names as their kind does, and names of an unknown kind to the letter", () => {
    const made = workspace([remove("boxes.a"), remove("tasks.t")]);
    expect([
      made.isRemoved("boxes", "A"),
      made.isRemoved("tasks", "T"),
      made.isRemoved("tasks", "t"),
    ]).toEqual([true, false, true]);
    expect(made.isRemoved("rooms", "a")).toBe(false);
    expect(made.declared("boxes", "a")).toBe(true);
    expect(made.declared("boxes", "b")).toBe(false);
    expect(made.declared("tasks", "A")).toBe(false);
  });

  test("declares nothing when everything is destroyed", () => {
    expect(workspace([], { destroy: true }).declared("boxes", "a")).toBe(false);
  });

  test("has the users of deleted objects that were read in place of the listed ones, unless they could not be read", () => {
    const task = object("t9", "t9");
    const readable = { readable: true, objects: [task], unreadableParents: new Map() } as const;
    const diagnostic = { severity: "error", code: "API_FORBIDDEN", message: "no" } as const;
    const seen = (facts: PlanFacts) =>
      workspace([], {}, facts)
        .live("tasks")
        .map(({ id }) => id);
    expect(seen({ dependentsOfDeleted: new Map([["tasks", readable]]) })).toEqual(["t9"]);
    expect(seen({ dependentsOfDeleted: new Map([["tasks", { readable: false, diagnostic }]]) })).toEqual([
      "b1",
    ]);
    expect(seen({ dependentsOfDeleted: new Map() })).toEqual(["b1"]);
    expect(seen({})).toEqual(["b1"]);
  });

  test("knows the caller and the active runs where they were read", () => {
    const known = workspace([], {}, { caller: "ada", activeRuns: [{ run_id: 1 }] });
    expect([known.caller, known.activeRuns]).toEqual(["ada", [{ run_id: 1 }]]);
    expect([workspace([]).caller, workspace([]).activeRuns]).toEqual([undefined, undefined]);
  });

  test("has a sensitive value where the object of an address has one", () => {
    const isSensitive: PlanInput["isSensitive"] = (address, path) =>
      address === "boxes.A" && path.join("/") === "size";
    const records = state([record("boxes.A", "b1")]);
    const { isSensitive: is } = workspace([], { state: records, isSensitive });
    expect([is("boxes", b1, ["size"]), is("boxes", b1, ["name"]), is("boxes", b2, ["size"])]).toEqual([
      true,
      false,
      false,
    ]);
    expect(is("boxes", { address: resource("boxes.A").address }, ["size"])).toBe(true);
    expect(workspace([]).isSensitive("boxes", b1, ["size"])).toBe(false);
  });
});

describe("a change as the rules of a kind see it", () => {
  const head = { address: "boxes.a", name: "a" };

  test.each([
    [
      "create",
      create("boxes.a", { after: { size: 1 } }),
      { live: undefined, after: { size: 1 }, diffs: [], steps: [] },
    ],
    [
      "update",
      update("boxes.a", { id: b1.id, after: { size: 3 } }),
      { live: b1, after: { size: 3 }, diffs: update("boxes.a").diffs, steps: [{ operation: "update" }] },
    ],
    [
      "replace",
      replace("boxes.a", { id: b1.id, after: { size: 4 } }),
      { live: b1, after: { size: 4 }, diffs: replace("boxes.a").diffs, steps: [] },
    ],
    ["delete", remove("boxes.a", { id: b1.id }), { live: b1, after: undefined, diffs: [], steps: [] }],
  ])("%s has its live object and the values to reach", (action, change, gives) => {
    expect(plannedChange(change, index)).toEqual({ action, ...head, ...gives });
  });

  test.each(["adopt", "import", "move", "forget", "noop", "report"] as const)(
    "%s sends no requests",
    (action) => {
      expect(plannedChange(one("boxes.a")[action], index)).toBeUndefined();
    },
  );
});

describe("the side effects of a change", () => {
  const effects = (change: Change, consequences: readonly string[], harms: readonly string[]) => {
    const boxes: Provider = {
      ...(registry.get("boxes") as Provider),
      planning: { consequences: () => consequences, harms: () => harms },
    };
    const kinds = registryOf([boxes, registry.get("tasks")]);
    const around = context({ registry: kinds, live: world });
    const [made] = withConsequences(around, [change], workspace([change]));
    return made;
  };
  const change = update("boxes.a");

  test("are those that the rules of its kind find, with whom they harm", () => {
    expect(effects(change, ["restarts"], [])).toEqual({ ...change, consequences: ["restarts"] });
    expect(effects(change, [], ["bob"])).toEqual({ ...change, harms: ["bob"] });
    expect(effects(change, ["restarts"], ["bob"])).toEqual({
      ...change,
      consequences: ["restarts"],
      harms: ["bob"],
    });
  });

  test("are none without a rule, without an effect, or without a request", () => {
    expect(effects(change, [], [])).toBe(change);
    const [task, same] = [update("tasks.t"), noop("boxes.a")];
    expect(effects(task, ["restarts"], ["bob"])).toBe(task);
    expect(effects(same, ["restarts"], ["bob"])).toBe(same);
  });
});
