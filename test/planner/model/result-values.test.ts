// The values that a change leaves, with a mark where only an apply can tell.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import {
  isMarkedLater,
  mapMembers,
  markedResult,
  withReferenceTexts,
} from "../../../src/planner/model/planned-workspace.ts";
import type { FieldTable } from "../../../src/resource/field-schema.ts";
import type { FieldDiff } from "../../../src/resource/planning.ts";
import { reference } from "../build.ts";
import { adopt, create, forget, noop, remove, replace, report, update } from "../changes.ts";

const fields: FieldTable = {
  size: { type: "integer", default: 1 },
  timeout: { type: "integer", serverDefault: true },
  members: { type: "array", whenAbsent: "unmanaged", items: { type: "string" } },
  owner: { type: "string", readOnly: true, serverDefault: true },
  folder: { type: "string", source: true, default: "here" },
  cloud: { type: "string", serverDefault: true, dialect: "databricks" },
  box: { type: "string", refersTo: "boxes" },
  note: { type: "string" },
};
const diff = (path: FieldDiff["path"], after: FieldDiff["after"], more = {}): FieldDiff => ({
  path,
  before: "old",
  after,
  cause: "spec",
  replaces: false,
  ...more,
});
const toBox = reference(["box"], "boxes.a", "box_id");

/** Marks as text: what an apply decides is `LATER`, a reference is its own text after `LATER`. */
function shown(values: JsonObject | undefined): unknown {
  return values === undefined
    ? undefined
    : JSON.parse(JSON.stringify(values).replaceAll("\\u0000later:", "LATER "));
}

describe("the values of a new object", () => {
  test("are those of the spec, defaults, and marks for what the service decides and for references", () => {
    const made = create("tasks.t", { after: { note: "n", box: "${boxes.a.box_id}" }, unresolved: [toBox] });
    expect(shown(markedResult(made, fields))).toEqual({
      note: "n",
      box: "LATER ${boxes.a.box_id}",
      size: 1,
      timeout: "LATER ",
      members: "LATER ",
    });
  });

  test("keep what the spec sets in fields with a default or a value of the service", () => {
    const made = create("tasks.t", { after: { size: 4, timeout: 5, members: [] } });
    expect(shown(markedResult(made, fields))).toEqual({ size: 4, timeout: 5, members: [] });
  });

  test("mark a reference at a path without a string", () => {
    const made = create("tasks.t", { after: {}, unresolved: [toBox] });
    expect(markedResult(made, { box: {} })).toEqual({ box: "\u0000later:" });
  });
});

describe("the values of an updated object", () => {
  test("are the live ones with each difference applied", () => {
    const change = update("tasks.t", {
      before: { note: "old", size: 1, timeout: 5, members: ["a"], box: "b1" },
      diffs: [
        diff(["note"], undefined),
        diff(["timeout"], undefined),
        diff(["members"], undefined),
        diff(["size"], 2),
      ],
    });
    expect(shown(markedResult(change, fields))).toEqual({
      size: 2,
      timeout: "LATER ",
      members: "LATER ",
      box: "b1",
    });
  });

  test("mark a reference only where its value is a difference that is known after the apply", () => {
    const list = reference(["list", "0"], "boxes.b", "box_id");
    const change = update("tasks.t", {
      before: { box: "b1", list: ["b2"], size: 1 },
      diffs: [
        diff(["size"], 2),
        diff(["list", 0], "${boxes.b.box_id}", { unknown: true }),
        diff(["box"], "b3"),
      ],
      unresolved: [toBox, list],
    });
    expect(shown(markedResult(change, fields))).toEqual({
      box: "b3",
      list: ["LATER ${boxes.b.box_id}"],
      size: 2,
    });
  });

  test("mark references inside a difference only", () => {
    const inside = reference(["deep", "a"], "boxes.a", "box_id");
    const beside = reference(["other", "a"], "boxes.a", "box_id");
    const change = update("tasks.t", {
      before: {},
      diffs: [diff(["deep"], { a: "x" }, { unknown: true })],
      unresolved: [inside, beside],
    });
    expect(shown(markedResult(change, fields))).toEqual({ deep: { a: "LATER x" } });
    const neighbor = update("tasks.t", {
      before: { deep: { b: "y" } },
      diffs: [diff(["deep", "a"], "x", { unknown: true })],
      unresolved: [inside, reference(["deep", "b"], "boxes.a", "box_id")],
    });
    expect(shown(markedResult(neighbor, fields))).toEqual({ deep: { a: "LATER x", b: "y" } });
  });
});

test("a replacement is a new object with the values of the old one and the differences", () => {
  const change = replace("tasks.t", {
    before: { note: "old", timeout: 5, size: 3 },
    after: { note: "new", size: 3 },
    diffs: [diff(["note"], "new")],
  });
  expect(shown(markedResult(change, fields))).toEqual({
    note: "new",
    size: 3,
    timeout: "LATER ",
    members: "LATER ",
  });
});

test.each([
  ["an adoption", adopt("tasks.t", { before: { size: 1 }, after: { size: 9 } })],
  ["no change", noop("tasks.t", { before: { size: 1 } })],
  ["a report", report("tasks.t", { before: { size: 1 } })],
])("%s leaves the live values", (_, change) => {
  expect(markedResult(change, fields)).toEqual({ size: 1 });
});

test.each([
  ["a delete", remove("tasks.t", { before: { size: 1 } })],
  ["a removal from the state", forget("tasks.t")],
])("%s leaves no values", (_, change) => {
  expect(markedResult(change, fields)).toBeUndefined();
});

test("only a string that begins with the mark is known later", () => {
  expect(["\u0000later:", "\u0000later:x", "later:", "x\u0000later:", 1, null].map(isMarkedLater)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test("references replace marks, and values that the service decides are omitted", () => {
  const values = {
    a: "\u0000later:${x.y}",
    b: "\u0000later:",
    c: ["\u0000later:", "d"],
    e: { f: "\u0000later:" },
    g: 1,
  };
  expect(withReferenceTexts(values)).toEqual({ a: "${x.y}", c: [null, "d"], e: {}, g: 1 });
});

test("members without a value are omitted, and every name is a separate member", () => {
  const values = JSON.parse('{"__proto__": 1, "b": 2, "c": 3}') as JsonObject;
  const found = mapMembers(values, (member, key) => (key === "b" ? undefined : Number(member) * 2));
  expect(JSON.stringify(found)).toBe('{"__proto__":2,"c":6}');
});
