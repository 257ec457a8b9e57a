// Paths into values: reading, replacing, and how they are written.

import { expect, test } from "vitest";
import { toDottedPath, toPointer, valueAt, withValueAt } from "../../src/core/pointer.ts";

const value = { a: { "x/y": [1, { b: 2 }] } };

test("a path reads a nested value and undefined where nothing is", () => {
  expect(valueAt(value, ["a", "x/y", 1, "b"])).toBe(2);
  expect(valueAt(value, ["a", "none", "b"])).toBeUndefined();
  expect(valueAt({}, ["constructor"])).toBeUndefined();
});

test("replacing a value keeps the others and creates missing parents", () => {
  expect(withValueAt(value, ["a", "x/y", 0], 9)).toEqual({ a: { "x/y": [9, { b: 2 }] } });
  expect(withValueAt({}, ["p", "q"], 1)).toEqual({ p: { q: 1 } });
  expect(withValueAt(value, ["a", "x/y"], undefined)).toEqual({ a: {} });
  expect(value).toEqual({ a: { "x/y": [1, { b: 2 }] } });
});

test("__proto__ is a key, not a way to the prototype", () => {
  const out = withValueAt({}, ["__proto__", "polluted"], true);
  expect(Object.keys(out as object)).toEqual(["__proto__"]);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test("paths are written as JSON Pointers and as dotted text", () => {
  expect(toPointer(["a", "x/y", 0, "~"])).toBe("/a/x~1y/0/~0");
  expect(toDottedPath(["autoscale", "max_workers"])).toBe("autoscale.max_workers");
  expect(toDottedPath(["libraries", 0, "jar"])).toBe("libraries[0].jar");
  expect(toDottedPath(["spark_conf", "spark.a"])).toBe('spark_conf["spark.a"]');
});
