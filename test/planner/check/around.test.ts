// The effects of a plan on objects that use deleted ones; a replaced object that is still used is kept.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { draftPlan, makePlan, missingFacts } from "../../../src/planner/make-plan.ts";
import { type Provider, registryOf } from "../../../src/resource/kind.ts";
import type { Live, LiveKind } from "../../../src/resource/live.ts";
import { live, object, record, resource, spec, state } from "../build.ts";
import { registry } from "../kinds.ts";

const boxes: Provider = {
  ...registry.get("boxes"),
  usedBy: ["tasks"],
  planning: {
    keptWhileUsedBy: (box, workspace) =>
      workspace
        .live("tasks")
        .flatMap((task) => (workspace.valuesAfter("tasks", task)?.box === box.id ? [task.name] : [])),
  },
};
const used = registryOf(registry.kinds.map((one) => (one.kind === "boxes" ? boxes : one)));
const kind = (...objects: readonly ReturnType<typeof object>[]): LiveKind => ({
  readable: true,
  objects,
  unreadableParents: new Map(),
});
const unreadable: LiveKind = {
  readable: false,
  diagnostic: { severity: "error", code: "API_FORBIDDEN", message: "not allowed" },
};
const world: Live = new Map(
  [...live({ boxes: [object("b1", "a", { box_name: "a", material: "wood" })] })].filter(
    ([name]) => name !== "tasks",
  ),
);
const known = state([record("boxes.a", "b1", { box_name: "a", material: "wood" })]);
const theirs = object("t1", "theirs", { name: "theirs", box: "b1" });
const steel = spec([resource("boxes.a", { values: { material: "steel" } })], {
  on_immutable_change: "replace",
});
const given = (wanted: typeof steel, around?: LiveKind, from = known) => ({
  registry: used,
  host: "h",
  spec: wanted,
  live: world,
  state: from,
  ...(around === undefined ? {} : { dependentsOfDeleted: new Map([["tasks", around]]) }),
});
const made = (...of: Parameters<typeof given>) => makePlan(given(...of));
const listedKinds = (...of: Parameters<typeof given>) => [
  ...missingFacts(draftPlan(given(...of)), given(...of)).dependentsOfDeleted,
];

describe("a plan with a deletion", () => {
  test("requests the kinds that may use the object, and a plan without one does not", () => {
    expect(listedKinds(steel)).toEqual(["tasks"]);
    expect(listedKinds(spec([]))).toEqual(["tasks"]);
    expect(listedKinds(spec([resource("boxes.a", { values: { material: "wood" } })]))).toEqual([]);
    expect(listedKinds(steel, kind(theirs))).toEqual([]);
  });

  test("says where it could not look", () => {
    expect(made(spec([]), unreadable).diagnostics).toMatchObject([
      { severity: "warning", code: "PLAN_UNSEEN" },
    ]);
  });
});

describe("an object that gives way to its successor", () => {
  const replacing = (around: LiveKind) =>
    made(steel, around).changes.find(({ action }) => action === "replace");

  test("is kept while others use it or that is unknown, and deleted otherwise", () => {
    expect(replacing(kind(theirs))).toMatchObject({ keepsOld: true });
    expect(replacing(unreadable)).toMatchObject({ keepsOld: true });
    expect(replacing(kind())).not.toHaveProperty("keepsOld");
  });

  test("is checked by later plans, which delete it once it is unused", () => {
    const address = "boxes.a" as Address;
    const before = world.get("boxes");
    const both = kind(
      object("b2", "a", { box_name: "a", material: "steel" }),
      ...(before?.readable === true ? before.objects.map((one) => ({ ...one, name: "aside" })) : []),
    );
    const later = (around: LiveKind, wanted = steel) =>
      makePlan({
        registry: used,
        host: "h",
        spec: wanted,
        live: new Map([...world, ["boxes", both]]),
        state: state([
          record(
            address,
            "b2",
            { box_name: "a", material: "steel" },
            { deposed: [theirs.values.box as never] },
          ),
        ]),
        dependentsOfDeleted: new Map([["tasks", around]]),
      });
    expect(later(kind(theirs)).changes).toMatchObject([{ action: "noop" }]);
    expect(later(kind(theirs)).diagnostics).toMatchObject([{ severity: "warning", code: "PLAN_KEPT" }]);
    expect(later(kind()).changes).toMatchObject([{ action: "noop" }, { action: "delete", deposed: true }]);
    // Without a successor there is nothing to move to: it is deleted with its resource, in one plan.
    const gone = later(kind(theirs), spec([]));
    expect(gone.changes.map(({ action }) => action)).toEqual(["delete", "delete"]);
    expect(gone.diagnostics).toEqual([]);
  });
});
