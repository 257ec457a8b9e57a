// Names in the spelling of what they name.

import { expect, test } from "vitest";
import { withLiveSpelling } from "../../../src/planner/diff/references.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import { context, live, object, resource, spec } from "../build.ts";
import { registry } from "../kinds.ts";

const exact = { ...registry.get("tasks"), fields: { other: { type: "string", names: "tasks" } } };
const both = {
  ...registry.get("labels"),
  fields: {
    a: { type: "string", names: "boxes" },
    b: { type: "string", names: "tasks" },
    c: { type: "string", names: "rooms" },
  },
};
const kinds = registryOf([registry.get("boxes"), both, registry.get("keys"), exact]);
const world = live({ boxes: [object("1", "Live")], tasks: [object("2", "Task")] });
const here = context({
  registry: kinds,
  spec: spec([resource("boxes.k", { values: { box_name: "Declared" } }), resource("tasks.declared")]),
  live: world,
});

test("a name has the case of the live object, else that of the spec, else its own", () => {
  const values = { near: ["LIVE", "DECLARED", "Lost"], note: "LIVE" };
  expect(withLiveSpelling(here, kinds.get("boxes"), values)).toEqual({
    near: ["Live", "Declared", "Lost"],
    note: "LIVE",
  });
  // Asked again, the declared names are known.
  expect(withLiveSpelling(here, kinds.get("boxes"), { near: ["declared"] })).toEqual({
    near: ["Declared"],
  });
});

test("names of kinds that do not ignore case are unchanged", () => {
  const values = { other: "TASK" };
  expect(withLiveSpelling(here, kinds.get("tasks"), values)).toEqual(values);
  expect(withLiveSpelling(here, both, { a: "LIVE", b: "TASK", c: "ROOM" })).toEqual({
    a: "Live",
    b: "TASK",
    c: "ROOM",
  });
});
