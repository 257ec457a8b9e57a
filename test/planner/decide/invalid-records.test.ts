// Records of one object under the address of another, for kinds whose key is the name.

import { expect, test } from "vitest";
import { actions, live, object, plan, record, resource, spec, state } from "../build.ts";

const world = live({
  boxes: [object("b1", "a", { box_name: "a" })],
  labels: [object("a/x", "a/x", { text: "hello" })],
});
const box = resource("boxes.a", { owns: [] });
const boxRecord = record("boxes.a", "b1", { box_name: "a" });

test("a record of another name is not believed: what the spec asks for is made, and what was recorded stays", () => {
  const moved = record("labels.a/y", "a/x", { text: "hello" }, { name: "a/x", depends_on: [] });
  const wanted = resource("labels.a/y", { values: { text: "hello" }, dependsOn: ["boxes.a"] });
  const made = plan({ spec: spec([box, wanted]), live: world, state: state([boxRecord, moved]) });
  expect(actions(made)).toEqual({ "labels.a/y": "create" });
  expect(made.changes.find(({ action }) => action === "create")).toMatchObject({
    cause: "spec",
    reasons: ["the state records a/x under this address"],
  });
  expect(made.drift).toEqual([]);
});

test("a record of another name that the spec does not have is forgotten, never deleted", () => {
  const moved = record("labels.a/y", "a/x", { text: "hello" }, { name: "a/x" });
  const made = plan({ spec: spec([box]), live: world, state: state([boxRecord, moved]) });
  expect(actions(made)).toEqual({ "labels.a/y": "forget" });
});
