// Members of stored data by type: each wrong one is named with its place.

import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { decodeEntry, decodeRecord, InvalidShape, Shape, shapeOf } from "../../../src/state/format/decode.ts";
import { intent, ready } from "../build.ts";

const shape = (member: Json) => new Shape({ a: member }, "here");

test("members are read as what they are", () => {
  expect(shape("x").text("a")).toBe("x");
  expect(shape(3).number("a")).toBe(3);
  expect(shape(true).flag("a")).toBe(true);
  expect(shape("y").oneOf("a", ["x", "y"])).toBe("y");
  expect(shape({ b: 1 }).values("a")).toEqual({ b: 1 });
  expect(shape(["x", "y"]).texts("a")).toEqual(["x", "y"]);
  expect(
    shape([{ b: 1 }])
      .objects("a")
      .map(({ value }) => value),
  ).toEqual([{ b: 1 }]);
  expect(shape("pools.x").address("a")).toBe("pools.x");
  expect(shape(["pools.x"]).addresses("a")).toEqual(["pools.x"]);
  expect(shape("7").id("a")).toBe("7");
  expect(shape(["7"]).ids("a")).toEqual(["7"]);
  expect([shape(null).has("a"), shape(1).has("b"), shape(1).has("constructor")]).toEqual([
    true,
    false,
    false,
  ]);
});

test.each<[string, () => unknown]>([
  ["here.a is not a string", () => shape(1).text("a")],
  ["here.b is not a string", () => shape("x").text("b")],
  ["here.constructor is not a string", () => shape("x").text("constructor")],
  ["here.a is not an integer", () => shape(1.5).number("a")],
  ["here.a is not an integer", () => shape(2 ** 53).number("a")],
  ["here.a is not an integer", () => shape("1").number("a")],
  ["here.a is not true or false", () => shape("true").flag("a")],
  ["here.a is not one of x, y", () => shape("z").oneOf("a", ["x", "y"])],
  ["here.a is not an object", () => shape([]).object("a")],
  ["here.a is not an object", () => shape(null).values("a")],
  ["here.a is not an object", () => shape("x").object("a")],
  ["here.a.b is not a string", () => shape({ b: 1 }).object("a").text("b")],
  ["here.a is not a list", () => shape({}).texts("a")],
  ["here.a is not a list", () => shape("x").objects("a")],
  ["here.a is not a list of strings", () => shape(["x", 1]).texts("a")],
  ["here.a[1] is not an object", () => shape([{}, 1]).objects("a")],
  ["here.a is not an address", () => shape("x").address("a")],
  ["here.a is not an address", () => shape(["pools.x", "x"]).addresses("a")],
  ["there is not an object", () => shapeOf(undefined, "there")],
])("%s", (message, read) => {
  expect(read).toThrow(new InvalidShape(message));
});

const record = (change: object) => decodeRecord(shapeOf({ ...ready("a.b"), ...change } as never, "record"));

test("a record of an unknown status is refused", () => {
  expect(() => record({ status: "lost" })).toThrow(
    new InvalidShape('a record has the unknown status "lost"'),
  );
});

test("a record that may be deleted does not say so", () => {
  expect(record({ prevent_destroy: false })).toStrictEqual(ready("a.b"));
});

test("an intent of an unknown action is refused", () => {
  const entry = { type: "intent", intent: { ...intent("a.b"), action: "replace" } };
  expect(() => decodeEntry(shapeOf(entry as never, "entry"))).toThrow(
    new InvalidShape('an intent has the unknown action "replace"'),
  );
});
