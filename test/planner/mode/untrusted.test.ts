// Plans of untrusted specs: no byte of the plan depends on unmanaged objects.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makePlan } from "../../../src/planner/make-plan.ts";
import { markUntrusted, redactForUntrusted } from "../../../src/planner/mode/untrusted.ts";
import type { Plan } from "../../../src/planner/model/plan.ts";
import type { LiveObject } from "../../../src/resource/live.ts";
import { live, object, record, resource, spec, state } from "../build.ts";
import { registry } from "../kinds.ts";

const recorded = state([
  record("boxes.ours", "b1", { box_name: "ours", size: 1 }),
  record("keys.ours/k", "ours/k", { value: "digest" }, { seen: { written: "1" } }),
]);

const theirs = spec(
  [
    resource("boxes.ours", { values: { size: 2, near: ["foreign"] }, owns: ["labels"] }),
    resource("boxes.foreign", { values: { material: "wood", note: "${boxes.foreign.note}" } }),
    resource("boxes.root", { values: { size: 5 } }),
    resource("labels.ours/x", { values: { text: "hi" }, dependsOn: ["boxes.ours"] }),
    resource("labels.foreign/x", { values: { text: "hi" }, dependsOn: ["boxes.foreign"] }),
    resource("keys.ours/k", { values: { value: "" }, dependsOn: ["boxes.ours"] }),
    resource("tasks.foreign"),
  ],
  { authoritative: ["boxes", "tasks"], on_immutable_change: "replace" },
);

const OURS = [object("b1", "ours", { box_name: "ours", size: 1 })];
const KEY = object("ours/k", "ours/k", {}, { written: "1" });

function planned(boxes: readonly LiveObject[], labels: readonly LiveObject[] = []): Plan {
  const world = live({ boxes: [...OURS, ...boxes], labels, keys: [KEY], tasks: [object("t1", "foreign")] });
  const shield = redactForUntrusted({ registry, spec: theirs, state: recorded }, world);
  const input = {
    registry,
    host: "h",
    spec: shield.spec,
    live: shield.live,
    state: recorded,
    contents: new Map(),
  };
  return markUntrusted(makePlan(input), shield.notes);
}

const values = fc.record({
  size: fc.integer(),
  material: fc.string(),
  note: fc.string(),
  tags: fc.dictionary(fc.string(), fc.string()),
});

describe("a plan of an untrusted spec", () => {
  test("is the same byte for byte whatever the values and IDs of unmanaged objects are", () => {
    const plain = JSON.stringify(
      planned(
        [object("f1", "foreign"), object("r1", "root"), object("s1", "stranger")],
        [object("l", "ours/x")],
      ),
    );
    fc.assert(
      fc.property(values, values, values, fc.uuid(), fc.uuid(), (foreign, root, stranger, one, two) => {
        const boxes = [
          object(one, "foreign", foreign),
          object("r1", "root", root),
          object(two, `s-${two}`, stranger),
        ];
        const labels = [object("l", "ours/x", { text: foreign.note })];
        expect(JSON.stringify(planned(boxes, labels))).toBe(plain);
      }),
      { numRuns: 300, seed: 7 },
    );
  });

  test("says how many a list that the spec calls its own would lose, and not which", () => {
    const { diagnostics, changes, unmanaged } = planned([
      object("x", "stranger-1"),
      object("y", "stranger-2"),
    ]);
    expect(diagnostics.map((one) => one.message).join("\n")).toContain("also delete 2 boxes");
    expect(JSON.stringify({ diagnostics, changes, unmanaged })).not.toContain("stranger");
  });

  test("compares no hidden value, so that an immutable one causes no error", () => {
    const root = resource("boxes.root", { values: { box_name: "root", material: "wood" } });
    const world = live({ boxes: [object("r1", "root", { box_name: "root", material: "stone" })] });
    const shield = redactForUntrusted({ registry, spec: spec([root]), state: state([]) }, world);
    const input = { registry, host: "h", spec: shield.spec, live: shield.live, state: state([]) };
    expect(makePlan(input).diagnostics).toEqual([]);
  });

  test("takes a secret whose value was not read for what was recorded, and says so", () => {
    const { changes, diagnostics } = planned([]);
    expect(changes.find((change) => change.address === "keys.ours/k")?.action).toBe("noop");
    expect(diagnostics.some((one) => one.message.includes("keys.ours/k"))).toBe(true);
  });

  test("shows live values of what the state manages", () => {
    const update = planned([]).changes.find((change) => change.address === "boxes.ours");
    expect(update).toMatchObject({ action: "update", before: { size: 1 }, after: { size: 2 } });
  });
});
