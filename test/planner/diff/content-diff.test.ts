// The changed lines of contents.

import { describe, expect, test } from "vitest";
import {
  changesContent,
  contentDiff,
  driftedContent,
  withContent,
} from "../../../src/planner/diff/content-diff.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { FieldDiff } from "../../../src/resource/planning.ts";
import { live, object, plan, record, resource, spec, state } from "../build.ts";
import { create, update } from "../changes.ts";
import { registry } from "../kinds.ts";

test("changed lines stand among their neighbours, and are counted", () => {
  expect(contentDiff("a\nb\nc\n", "a\nB\nc\nd\n")).toEqual({
    lines: ["@@ -1,3 +1,4 @@", " a", "-b", "+B", " c", "+d"],
    added: 2,
    removed: 1,
  });
});

test("equal contents have no difference", () => {
  expect(contentDiff("a\n", "a\n")).toBeUndefined();
});

test("contents that differ in thousands of lines are not compared line by line", () => {
  const lines = (mark: string) => Array.from({ length: 5000 }, (_, at) => `${mark}${at}\n`).join("");
  expect(contentDiff(lines("a"), lines("b"))).toBeUndefined();
});

const diff = (field: string, cause: FieldDiff["cause"] = "spec"): FieldDiff => ({
  path: [field],
  before: "1",
  after: "2",
  cause,
  replaces: false,
});

describe("the lines of a content", () => {
  const contents = new Map([[update("tasks.t").address, { before: "a\n", after: "b\n" }]]);
  const lines = { lines: ["@@ -1,1 +1,1 @@", "-a", "+b"], added: 1, removed: 1 };
  const back = { lines: ["@@ -1,1 +1,1 @@", "-b", "+a"], added: 1, removed: 1 };
  const of = (...diffs: readonly [FieldDiff, ...FieldDiff[]]) => update("tasks.t", { diffs });

  test("belong to updates of a content or of its imported form", () => {
    expect(changesContent(of(diff("content")))).toBe(true);
    expect(changesContent(of(diff("size"), diff("imported")))).toBe(true);
    expect(changesContent(of(diff("size")))).toBe(false);
    expect(changesContent(create("tasks.t"))).toBe(false);
  });

  test("are added to an update if both contents are known and differ", () => {
    const change = of(diff("content"));
    expect(withContent(change, contents)).toEqual({ ...change, content: lines });
    expect(withContent(of(diff("size")), contents)).toEqual(of(diff("size")));
    expect(withContent(change, undefined)).toBe(change);
    expect(withContent(change, new Map())).toBe(change);
    expect(withContent(change, new Map([[change.address, { before: "a", after: "a" }]]))).toBe(change);
  });

  test("are drift in the other direction when the spec still has the recorded text", () => {
    expect(driftedContent(of(diff("content", "drift"), diff("size", "spec")), contents)).toEqual(back);
    expect(driftedContent(of(diff("content", "spec")), contents)).toBeUndefined();
    expect(driftedContent(of(diff("content", "drift"), diff("imported", "both")), contents)).toBeUndefined();
    expect(driftedContent(of(diff("size", "drift")), contents)).toBeUndefined();
    expect(driftedContent(of(diff("content", "drift")), undefined)).toBeUndefined();
    expect(driftedContent(undefined, contents)).toBeUndefined();
  });

  test("are in the drift of a plan that read both contents", () => {
    const content = { type: "string" } as const;
    const kinds = registryOf(
      registry.kinds.map((one) =>
        one.kind === "tasks" ? { ...one, fields: { ...one.fields, content } } : one,
      ),
    );
    const made = (text: typeof contents | undefined) =>
      plan({
        registry: kinds,
        spec: spec([resource("tasks.t", { values: { content: "d1" } })]),
        live: live({ tasks: [object("t1", "t", { name: "t", content: "d2" })] }),
        state: state([record("tasks.t", "t1", { name: "t", content: "d1" })]),
        ...(text === undefined ? {} : { contents: text }),
      });
    expect(made(contents).drift).toMatchObject([{ content: back }]);
    expect(made(contents).changes).toMatchObject([{ content: lines }]);
    expect(made(undefined).drift[0]).toMatchObject({ content: undefined });
  });
});
