// The error for fields that cannot be changed in place: every field with its values, and no secret.

import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import type { Path } from "../../../src/core/pointer.ts";
import { immutableError } from "../../../src/planner/decide/immutable.ts";
import type { FieldDiff } from "../../../src/resource/planning.ts";
import { resource } from "../build.ts";
import { registry } from "../kinds.ts";

const boxes = registry.get("boxes");
const secret = { ...boxes, fields: { ...boxes.fields, code: { type: "string", sensitive: true } } } as const;
const wanted = {
  ...resource("boxes.a"),
  locate: (path: readonly unknown[]) => ({ file: path.join("."), line: 1, column: 1 }),
};
const diff = (field: string, before: FieldDiff["before"], after: FieldDiff["after"]): FieldDiff => ({
  path: [field],
  before,
  after,
  cause: "spec",
  replaces: true,
});
const told = (
  before: FieldDiff["before"],
  after: FieldDiff["after"],
  isSensitive?: Parameters<typeof immutableError>[3],
  field = "material",
) => immutableError(wanted, secret, [diff(field, before, after)], isSensitive).cause;

test("an error names every field with its values, at the first", () => {
  const because = [diff("material", "wood", "steel"), diff("size", 1, undefined)] as const;
  expect(immutableError(wanted, boxes, because, undefined)).toEqual({
    severity: "error",
    code: "PLAN_IMMUTABLE",
    message: "boxes.a: material, size cannot be changed in place",
    address: "boxes.a",
    at: { file: "material", line: 1, column: 1 },
    cause: 'material: "wood" → "steel"; size: 1 → nothing',
    hint: "revert the change, or set `on_immutable_change: replace` in `lifecycle` of the resource or in `policy`",
  });
});

test("a changed name has a hint with the value that keeps it", () => {
  const { hint } = immutableError(wanted, boxes, [diff("box_name", "a ${b}", "c")], undefined);
  expect(hint).toBe(
    'to keep the name, write `box_name: "a $${b}"` under boxes.a; otherwise, set `on_immutable_change: replace` in `lifecycle` of the resource or in `policy`',
  );
  const hidden = immutableError(wanted, boxes, [diff("box_name", "a", "c")], () => true);
  expect(hidden.hint).toMatch(/^revert the change/);
});

test.each<readonly [string, Parameters<typeof immutableError>[2]]>([
  ["another field", [diff("material", "a", "c")]],
  ["the name and another field", [diff("box_name", "a", "c"), diff("material", "x", "y")]],
  ["a part of the name", [{ ...diff("box_name", "a", "c"), path: ["box_name", "first"] }]],
  ["a name that was not set", [diff("box_name", undefined, "c")]],
])("a change of %s has no hint with a name", (_, because) => {
  expect(immutableError(wanted, boxes, because).hint).toMatch(/^revert the change/);
  expect(immutableError(wanted, { ...boxes, nameField: undefined }, because).hint).toMatch(/^revert/);
});

test("long values are shortened", () => {
  expect(told("x".repeat(118), "y")).toBe(`material: "${"x".repeat(118)}" → "y"`);
  expect(told("x".repeat(119), "y")).toBe(`material: "${"x".repeat(119)}… → "y"`);
});

test("values of sensitive fields are masked, and values of a field that has, or contains, a sensitive value", () => {
  const hides = (path: Path, ...values: readonly (Json | undefined)[]): boolean =>
    path[0] === "size" || JSON.stringify(values).includes("hidden");
  const isSensitive = (_: string, ...rest: Parameters<typeof hides>): boolean => hides(...rest);
  expect(told("old", "new", isSensitive, "code")).toBe("code: (sensitive) → (sensitive)");
  expect(told("old", "in hidden", isSensitive)).toBe("material: (sensitive) → (sensitive)");
  expect(told("hidden", "new", isSensitive)).toBe("material: (sensitive) → (sensitive)");
  expect(told(1, 7, isSensitive, "size")).toBe("size: (sensitive) → (sensitive)");
  expect(told("old", "new", isSensitive)).toBe('material: "old" → "new"');
});
