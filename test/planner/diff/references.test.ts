// References inside strings: resolved if every part is known, kept otherwise.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { Json } from "../../../src/core/json.ts";
import { referenceValue, resolveReferences } from "../../../src/planner/diff/references.ts";
import type { LiveObject } from "../../../src/resource/live.ts";
import { live, object, plan, record, resource, spec, state } from "../build.ts";

const at = (address: string, attribute: string) => ({ address: address as Address, attribute });
const known = new Map<string, string | number>([
  ["boxes.a.box_id", "b1"],
  ["boxes.a.size", 3],
]);
const lookup = (address: Address, attribute: string) => known.get(`${address}.${attribute}`);

test("a value that is one reference keeps its type; inside a string it becomes a string", () => {
  expect(referenceValue({ path: ["x"], parts: [at("boxes.a", "size")] }, lookup)).toBe(3);
  expect(
    referenceValue(
      { path: ["x"], parts: ["in ", at("boxes.a", "box_id"), "/", at("boxes.a", "size")] },
      lookup,
    ),
  ).toBe("in b1/3");
});

test("a string with one part that is known after apply stays unresolved, with its location", () => {
  const reference = { path: ["args", 1], parts: [at("boxes.a", "box_id"), "-", at("boxes.new", "box_id")] };
  const values = { args: ["a", "${boxes.a.box_id}-${boxes.new.box_id}"] };
  const resolved = resolveReferences({ values, references: [reference] }, lookup);
  expect(resolved).toEqual({ values, unresolved: [reference], unknown: new Set(["/args/1"]) });
});

test("a resource without references has its values, and nothing unresolved", () => {
  const values = { a: 1 };
  expect(resolveReferences({ values, references: [] }, lookup)).toEqual({
    values,
    unresolved: [],
    unknown: new Set(),
  });
});

test("a reference that is known takes its place among the values", () => {
  const references = [{ path: ["deep", "id"], parts: [at("boxes.a", "box_id")] }];
  expect(resolveReferences({ values: { deep: { id: "${…}", x: 1 } }, references }, lookup)).toEqual({
    values: { deep: { id: "b1", x: 1 } },
    unresolved: [],
    unknown: new Set(),
  });
});

test("an object inside a string is JSON, and an empty reference an empty string", () => {
  const given = (): Json => ({ a: [1] });
  expect(referenceValue({ path: ["x"], parts: ["=", at("boxes.a", "tags")] }, given)).toBe('={"a":[1]}');
  expect(referenceValue({ path: ["x"], parts: [] }, given)).toBe("");
  expect(referenceValue({ path: ["x"], parts: ["text"] }, given)).toBe("text");
});

describe("the cause of a difference in a reference", () => {
  const box = (values = {}) => resource("boxes.a", { values: { note: "n", ...values } });
  const recordedBox = record("boxes.a", "b1", { box_name: "a", note: "old", size: 1 });
  const task = (path: string[], attribute: string, more = "") =>
    resource("tasks.t", {
      values: {},
      references: [
        { path, parts: [...(more === "" ? [] : [more]), at("boxes.a", attribute)] },
        { path: ["other"], parts: ["x"] },
      ],
      dependsOn: ["boxes.a"],
    });
  const made = (
    boxes: readonly LiveObject[],
    name: string,
    applied: string,
    before: string,
    more = "",
    wanted = box(),
  ) =>
    plan({
      spec: spec([wanted, task(["name"], name, more)]),
      live: live({ boxes, tasks: [object("t1", before, { name: before })] }),
      state: state([recordedBox, record("tasks.t", "t1", { name: applied }, { name: before })]),
    }).changes.find(({ kind }) => kind === "tasks");
  const there = object("b1", "a", { box_name: "a", note: "old", size: 1 });

  test("is that of the change that it follows", () => {
    expect(made([there], "note", "old", "old")).toMatchObject({
      action: "update",
      cause: "spec",
      diffs: [{ after: "n" }],
    });
    const drifted = object("b1", "a", { box_name: "a", note: "moved", size: 1 });
    expect(made([drifted], "note", "old", "old", "", box({ note: "old" }))).toMatchObject({ action: "noop" });
    expect(made([], "box_id", "b1", "b1")).toMatchObject({ cause: "drift" });
  });

  test("is that of a change that was caused by drift, only if the reference is the recorded one", () => {
    expect(made([], "box_id", "in b1", "in b1", "in ")).toMatchObject({ cause: "drift" });
    expect(made([], "box_id", "b1", "b1", "in ")).toMatchObject({ cause: "spec" });
    expect(made([], "note", "old", "old", "", resource("boxes.a"))).toMatchObject({ cause: "drift" });
  });

  test("is that of the reference at its own place", () => {
    const { changes } = plan({
      spec: spec([
        box(),
        resource("tasks.t", {
          references: [
            { path: ["box"], parts: ["in ", at("boxes.a", "note")] },
            { path: ["name"], parts: [at("boxes.a", "box_id")] },
          ],
          dependsOn: ["boxes.a"],
        }),
      ]),
      live: live({ tasks: [object("t1", "b1", { name: "b1", box: "in n" })] }),
      state: state([recordedBox, record("tasks.t", "t1", { name: "b1", box: "in n" })]),
    });
    expect(changes.at(-1)).toMatchObject({ diffs: [{ path: ["name"], cause: "drift" }] });
  });

  test.each([
    ["the ID of what it follows is not recorded", "box_id", [], { box: "b9" }],
    ["what it follows is not recorded", "note", [], { box: "b9" }],
    ["neither its field nor what it follows is recorded", "note", [record("boxes.a", "b1", {})], {}],
  ])("is the usual one when %s", (_why, attribute, records, more) => {
    const { changes } = plan({
      spec: spec([resource("boxes.a"), { ...task(["box"], attribute), values: { box: "${…}" } }]),
      live: live({ tasks: [object("t1", "t", { name: "t", ...more })] }),
      state: state([...records, record("tasks.t", "t1", { name: "t", ...more })]),
    });
    expect(changes.at(-1)).toMatchObject({ diffs: [{ path: ["box"], cause: "spec" }] });
  });

  test("is also drift when the live value differs from the written one", () => {
    expect(made([there], "note", "old", "moved")).toMatchObject({ cause: "both" });
  });

  test("is the usual one when what the reference leads to cannot be planned", () => {
    const other = object("b2", "a", { box_name: "a", note: "old", size: 1 });
    expect(made([other], "note", "old", "moved")).toMatchObject({
      action: "update",
      diffs: [{ path: ["name"], unknown: true, cause: "both" }],
    });
  });

  test("is the spec's for an object that is adopted, and for other fields of the resource", () => {
    const adopting = plan({
      spec: spec([box(), task(["name"], "note")]),
      live: live({ boxes: [there], tasks: [object("t1", "t", { name: "t" })] }),
      state: state([recordedBox]),
      adopt: true,
    });
    expect(adopting.changes.at(-1)).toMatchObject({
      action: "update",
      id: "t1",
      diffs: [{ path: ["name"], after: "n", cause: "spec" }],
    });
    const wanted = resource("tasks.t", { ...task(["name"], "note"), values: { steps: ["y"] } });
    const other = plan({
      spec: spec([box(), wanted]),
      live: live({ boxes: [there], tasks: [object("t1", "n", { name: "n", steps: ["x"] })] }),
      state: state([recordedBox, record("tasks.t", "t1", { name: "n", steps: ["y"] })]),
    });
    expect(other.changes.at(-1)).toMatchObject({
      cause: "drift",
      diffs: [{ path: ["steps"], cause: "drift" }],
    });
  });

  test("is the usual one when the reference was another, or what it follows does not change", () => {
    expect(made([there], "note", "old", "old", "in ")).toMatchObject({
      cause: "spec",
      diffs: [{ after: "in n" }],
    });
    expect(made([there], "size", "1", "2", "", box({ note: "old", size: 1 }))).toMatchObject({
      cause: "both",
    });
    expect(made([there], "note", "old", "moved", "", box({ note: "old" }))).toMatchObject({ cause: "drift" });
  });
});
