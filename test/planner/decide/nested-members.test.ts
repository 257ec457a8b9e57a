// Why a member that the spec does not name goes: it came from outside, or the spec takes the list over now.

import { expect, test } from "vitest";
import { live, object, plan, record, resource, spec, state } from "../build.ts";

const world = live({
  boxes: [object("b1", "a", { box_name: "a" })],
  labels: [object("a/x", "a/x", { text: "hello" })],
});
const wanted = spec([resource("boxes.a", { owns: ["labels"] })]);
const recorded = (owns: readonly string[] | undefined) =>
  state([record("boxes.a", "b1", { box_name: "a" }, owns === undefined ? {} : { owns })]);
const made = (owns: readonly string[] | undefined) =>
  plan({ spec: wanted, live: world, state: recorded(owns) });

test("a member of a list that was the spec's own at the last apply came from outside", () => {
  expect(made(["labels"]).changes.at(-1)).toMatchObject({ action: "delete", cause: "drift" });
  expect(made(["labels"]).drift).toMatchObject([{ what: "appeared", address: "labels.a/x" }]);
  // Records of before do not tell, and were made by specs that own their lists.
  expect(made(undefined).drift).toHaveLength(1);
});

test("a member of a list that the spec begins to manage is removed because of the spec, and is not drift", () => {
  expect(made([]).changes.at(-1)).toMatchObject({ action: "delete", cause: "spec" });
  expect(made([]).drift).toEqual([]);
  const adopting = plan({ spec: wanted, live: world, state: state(), adopt: true });
  expect(adopting.changes.at(-1)).toMatchObject({ action: "delete", cause: "spec" });
});
