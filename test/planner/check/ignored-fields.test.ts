// Live values that ignore_changes keeps and that contradict the declared ones.

import { expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import { contradictionsWithKeptValues } from "../../../src/planner/check/confirm-names.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { Problem } from "../../../src/resource/planning.ts";
import { context, reference, resource, spec } from "../build.ts";
import { one, replace, update } from "../changes.ts";
import { registry as kinds } from "../kinds.ts";

const boxes = kinds.get("boxes");

/** A box of paper has no size, and a note only together with a size. */
const PROBLEMS: readonly Problem[] = [
  { path: ["size"], code: "SPEC_COMBINATION", message: "a box of paper has no size" },
  { path: ["note"], code: "SPEC_MISSING_FIELD", message: "a note needs a size" },
  { path: ["note"], code: "SPEC_COMBINATION", message: "short", severity: "warning" },
  { path: ["material"], code: "SPEC_VALUE", message: "no such material" },
];
const registry = registryOf(
  kinds.kinds
    .map(({ kind }) => kinds.get(kind))
    .map((kind) =>
      kind === boxes
        ? {
            ...boxes,
            planning: {
              ...boxes.planning,
              validate: ({ material, size }, name) =>
                material === "paper" && name === "a" && size !== "" ? PROBLEMS : [],
            },
          }
        : kind,
    ),
);

const found = (change: Change, ignored: readonly string[] = ["material", "size"]) => {
  const declared = resource(change.address, { lifecycle: { ignore_changes: ignored } });
  const locate = (path: readonly unknown[]) => ({ file: path.join("."), line: 7, column: 3 });
  return contradictionsWithKeptValues(context({ registry, spec: spec([{ ...declared, locate }]) }), [change]);
};
const paper = { after: { material: "paper", size: 1 } };

test("a kept value that the declared ones exclude or need is an error with the place and what to do", () => {
  const at = (file: string) => ({
    address: "boxes.a" as Address,
    at: { file, line: 7, column: 3 },
    hint: "remove the field from ignore_changes, or declare fields that are valid with its live value",
  });
  const expected = [
    error(
      "SPEC_COMBINATION",
      "boxes.a: a box of paper has no size, and ignore_changes keeps the live material and size",
      at("size"),
    ),
    error(
      "SPEC_MISSING_FIELD",
      "boxes.a: a note needs a size, and ignore_changes keeps the live material and size",
      at("note"),
    ),
  ];
  expect(found(update("boxes.a", paper))).toEqual(expected);
  expect(found(replace("boxes.a", paper))).toEqual(expected);
});

test("a value that is known only after the apply contradicts nothing", () => {
  const unresolved = [reference(["size"], "boxes.b", "size")];
  expect(found(update("boxes.a", { ...paper, unresolved }))).toEqual([]);
});

test("values are valid when the kind says so, or when it has no rules", () => {
  expect(found(update("boxes.a", { after: { material: "wood" } }))).toEqual([]);
  expect(found(update("tasks.a", paper))).toEqual([]);
});

test("a resource without ignored fields is not checked again, and an object outside the spec never", () => {
  expect(found(update("boxes.a", paper), [])).toEqual([]);
  expect(contradictionsWithKeptValues(context({ registry }), [update("boxes.a", paper)])).toEqual([]);
});

test.each(["create", "delete", "adopt", "import", "move", "forget", "noop", "report"] as const)(
  "%s sets no field, so it is not checked",
  (action) => {
    expect(found({ ...one("boxes.a")[action], ...paper } as Change)).toEqual([]);
  },
);
