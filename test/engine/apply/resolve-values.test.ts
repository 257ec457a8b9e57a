import { expect, test } from "vitest";
import { appliedValues } from "../../../src/engine/apply/record-values.ts";
import { kind, specOf } from "../toy.ts";

const things = kind("things");
const resourceWith = (values: Parameters<typeof specOf>[0][string]["values"]) =>
  [...specOf({ "things.a": values === undefined ? {} : { values } }).resources.values()][0];

test("the applied values in the record are those of the spec, with resolved references", () => {
  const resource = resourceWith({ size: 1, deep: { a: "${x.y.id}" }, list: [1] });
  const values = { size: 1, deep: { a: "7", carried: true }, list: [1, 2], color: "kept" };
  expect(appliedValues(things, resource, values)).toEqual({ size: 1, deep: { a: "7" }, list: [1, 2] });
});

test("a value that the kind leaves out is not recorded", () => {
  expect(appliedValues(things, resourceWith({ size: 1, color: "red" }), { size: 1 })).toEqual({ size: 1 });
});

test("the natural name is recorded although the spec leaves it to the key", () => {
  const named = kind("things", { nameField: "label" });
  expect(appliedValues(named, resourceWith({ size: 1 }), { label: "a", size: 1 })).toEqual({
    label: "a",
    size: 1,
  });
});

test("without a spec everything that was reached counts", () => {
  expect(appliedValues(things, undefined, { size: 1 })).toEqual({ size: 1 });
});
