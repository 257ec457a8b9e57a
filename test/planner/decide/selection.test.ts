// What a plan of selected resources says about the others.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { excludedWarning, limitToSelected, planPart } from "../../../src/planner/decide/selection.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import { context, record, resource, spec, state } from "../build.ts";
import { create, noop, remove, report, update } from "../changes.ts";

const addresses = (...names: readonly string[]) => names.map((name) => `boxes.${name}` as Address);

test.each([
  [0, []],
  [1, ["1 more resource is excluded, because its change depends on an excluded one: boxes.a"]],
  [
    2,
    ["2 more resources are excluded, because their changes depend on an excluded one: boxes.a and boxes.b"],
  ],
])("a warning names %d resources that depend on an excluded one", (count, expected) => {
  const found = excludedWarning(addresses("a", "b").slice(0, count));
  expect(found.map(({ message }) => message)).toEqual(expected);
  expect(found.every(({ code, severity }) => code === "PLAN_EXCLUDED" && severity === "warning")).toBe(true);
});

describe("the part of a spec that a plan decides", () => {
  const given: PlanInput = {
    ...context().input,
    spec: spec([resource("boxes.a"), resource("boxes.b")]),
    state: state([record("boxes.b", "2"), record("boxes.old", "3")]),
  };
  const changes = [update("boxes.a"), remove("labels.a/x"), report("keys.a/k")];
  const [only, exclude] = [() => true, () => false];

  test.each<readonly [string, Partial<PlanInput>, object | undefined]>([
    ["all without options", {}, undefined],
    ["with --only, of all that is declared, recorded, or planned", { only }, { planned: 2, total: 4 }],
    [
      "with --exclude, with what it excludes as well",
      { exclude },
      { planned: 2, total: 4, options: ["--exclude"], excluded: ["boxes.b"] },
    ],
    [
      "with both",
      { only, exclude },
      { planned: 2, total: 4, options: ["--only", "--exclude"], excluded: ["boxes.b"] },
    ],
    ["with --only of a destroy, which declares nothing", { only, destroy: true }, { planned: 2, total: 4 }],
  ])("is %s", (_, options, expected) => {
    expect(planPart({ ...given, ...options }, changes, addresses("b"))).toEqual(expected);
  });

  test("has no declared resource of a destroy that no record has", () => {
    const declared = { ...given, spec: spec([resource("boxes.new")]), only, destroy: true };
    expect(planPart(declared, [], [])).toEqual({ planned: 0, total: 2 });
  });
});

describe("the changes of selected resources", () => {
  const ids = { a: "b1" as never };
  const renamed = update("boxes.a", {
    id: ids.a,
    diffs: [{ path: ["box_name"], before: "old", after: "new", cause: "spec", replaces: false }],
    after: { box_name: "new" },
  });
  const taking = create("boxes.b", {
    name: "old",
    after: { box_name: "old" },
    nameFrom: { address: "boxes.a" as Address, id: ids.a, freedWhen: "done" },
  });
  const selected = (input: Partial<PlanInput>) =>
    limitToSelected(context(input), [noop("boxes.c"), renamed, taking]);

  test("have no name from a change that is left out", () => {
    const without = selected({ exclude: (address) => address === "boxes.a" });
    expect(without?.changes.map(({ address }) => address)).toEqual(["boxes.c"]);
    expect([...(without?.excluded ?? [])].sort()).toEqual(["boxes.a", "boxes.b"]);
    expect(without?.excludedDependents).toEqual(["boxes.b"]);
  });

  test("are all without options", () => {
    expect(selected({})).toBeUndefined();
  });
});
