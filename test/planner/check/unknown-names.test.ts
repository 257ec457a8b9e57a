// Names that would belong to nothing: told by the plan, wherever the kind that they name could be read.

import { expect, test } from "vitest";
import type { Live } from "../../../src/resource/live.ts";
import { live, object, plan, record, resource, spec, state } from "../build.ts";

const near = (...names: string[]) =>
  resource("boxes.a", { values: { material: "wood", near: names }, dependsOn: [] });
const box = (id: string, name: string, more = {}) =>
  object(id, name, { box_name: name, material: "wood", size: 1, ...more });
const told = (made: ReturnType<typeof plan>) => made.diagnostics.map((one) => [one.code, one.message]);

test("a name that nothing has, or will have, is an error of the plan", () => {
  const made = plan({ spec: spec([near("shelf")]), live: live({ boxes: [box("s", "shelve")] }) });
  expect(told(made)).toEqual([
    ["PLAN_UNKNOWN_NAME", 'boxes.a refers to "shelf", which does not exist in boxes'],
  ]);
  expect(made.diagnostics[0]?.hint).toBe('did you mean "shelve"? otherwise, declare it under boxes');
});

test("an unknown name without a similar one has a hint about declaring it", () => {
  const made = plan({ spec: spec([near("shelf")]), live: live({ boxes: [box("s", "drawer")] }) });
  expect(made.diagnostics[0]?.hint).toBe("declare it under boxes, or correct the name");
});

test("an unknown name that is similar to a declared one names it", () => {
  const declared = resource("boxes.drawer", { values: { material: "wood" } });
  const made = plan({ spec: spec([near("drawr"), declared]) });
  expect(made.diagnostics[0]?.hint).toBe('did you mean "drawer"? otherwise, declare it under boxes');
});

test("names of live, declared, and built-in objects are known, in any case", () => {
  const declared = resource("boxes.b", { values: { material: "wood" } });
  const made = plan({
    spec: spec([near("LIVE", "b", "root"), declared]),
    live: live({ boxes: [box("l", "live")] }),
  });
  expect(told(made)).toEqual([]);
});

test("a name whose object this plan renames by replacement or deletes is reported, also if nothing else changes", () => {
  const renamed = resource("boxes.b", {
    values: { material: "steel", box_name: "bee" },
    lifecycle: { on_immutable_change: "replace" },
  });
  const made = plan({
    spec: spec([near("b", "c"), renamed]),
    live: live({ boxes: [box("a", "a", { near: ["b", "c"] }), box("b", "b"), box("c", "c")] }),
    state: state([
      record("boxes.a", "a", { box_name: "a", material: "wood", near: ["b", "c"] }),
      record("boxes.b", "b", { box_name: "b", material: "wood" }),
      record("boxes.c", "c", { box_name: "c", material: "wood" }),
    ]),
  });
  expect(told(made).map(([, message]) => message)).toEqual([
    'boxes.a refers to "b", which this plan deletes',
    'boxes.a refers to "c", which this plan deletes',
  ]);
});

test("what the live object holds already under an id without a name stays the service's affair", () => {
  const made = plan({
    spec: spec([near("4711")]),
    live: live({ boxes: [box("a", "a", { near: ["4711"], size: 2 })] }),
    state: state([record("boxes.a", "a", { box_name: "a", material: "wood", near: ["4711"] })]),
  });
  expect(told(made)).toEqual([]);
});

test("names of a kind that was not listed are not checked", () => {
  const made = plan({ spec: spec([near("shelf")]), live: new Map() as Live });
  expect(told(made)).toEqual([]);
});

test("--only leaves the names of other resources alone", () => {
  const other = resource("boxes.b", { values: { material: "wood" } });
  const made = plan({ spec: spec([near("shelf"), other]), only: (address) => address === "boxes.b" });
  expect(told(made)).toEqual([]);
});
