// The audit of a plan: each contradiction is found when it is planted.

import { expect, test } from "vitest";
import { auditPlan } from "../../src/planner/audit.ts";
import { makePlan } from "../../src/planner/make-plan.ts";
import type { Change } from "../../src/planner/model/change.ts";
import type { PlanInput } from "../../src/planner/model/input.ts";
import { live, object, record, resource, spec, state } from "./build.ts";
import { registry } from "./kinds.ts";

const input: PlanInput = {
  registry,
  host: "h",
  spec: spec([
    resource("boxes.a", { values: { size: 3 } }),
    resource("labels.a/x", { values: { text: "t" }, dependsOn: ["boxes.a"] }),
    resource("boxes.n"),
  ]),
  live: live({
    boxes: [
      object("b1", "a", { box_name: "a", size: 1 }),
      object("b2", "old", { box_name: "old" }),
      object("b0", "root"),
      object("b9", "stranger"),
    ],
  }),
  state: state([
    record("boxes.a", "b1", { box_name: "a", size: 1 }),
    record("boxes.old", "b2", { box_name: "old" }),
  ]),
};
const sound = makePlan(input);

function planted(change: (changes: Change[]) => void): string[] {
  const changes = sound.changes.map((one) => ({ ...one }) as Change);
  change(changes);
  return auditPlan({ ...sound, changes }, input).map((one) => one.message);
}

function edit(action: Change["action"], to: object): (changes: Change[]) => void {
  return (changes) => {
    const at = changes.findIndex((one) => one.action === action);
    changes[at] = { ...changes[at], ...to } as Change;
  };
}

test("a sound plan has no findings", () => {
  expect(sound.changes.map((one) => one.action)).toEqual(["update", "create", "create", "delete"]);
  expect(auditPlan(sound, input)).toEqual([]);
});

test.each([
  [
    "the same resource twice",
    (changes: Change[]) => changes.push({ ...changes[0] } as Change),
    "planned twice",
  ],
  ["one object under two addresses", edit("delete", { id: "b1" }), "changed by both"],
  ["a need that comes later", edit("update", { dependsOn: ["boxes.old"] }), "comes later"],
  ["a change of something that is not live", edit("delete", { id: "nowhere" }), "not live"],
  ["a fingerprint of another object", edit("update", { fingerprint: "0" }), "fingerprint"],
  [
    "an immutable field changed in place",
    edit("update", {
      diffs: [{ path: ["material"], before: "a", after: "b", cause: "spec", replaces: true }],
    }),
    "immutable",
  ],
  ["an update without a step", edit("update", { steps: [] }), "without a step"],
  ["a delete of what the spec declares", edit("delete", { address: "boxes.n" }), "in the spec"],
  ["a delete of a built-in", edit("delete", { name: "root" }), "built in"],
  ["a delete of a stranger", edit("delete", { address: "boxes.stranger", id: "b9" }), "never managed"],
  ["a creation that nobody asked for", edit("create", { address: "boxes.x" }), "not in the spec"],
])("%s is found", (_name, plant, message) => {
  expect(planted(plant).join("\n")).toContain(message);
});
