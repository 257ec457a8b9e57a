// References inside strings: resolved if every part is known, kept otherwise.

import { expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { referenceValue, resolveReferences } from "../../../src/planner/diff/references.ts";

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
