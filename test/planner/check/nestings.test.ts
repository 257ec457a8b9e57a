// Declared memberships that close a cycle with memberships in the workspace.

import { expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { membershipCycles, withEndedMembershipsFirst } from "../../../src/planner/check/memberships.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import { context, live, object, resource, spec } from "../build.ts";
import { adopt, create, forget, noop, remove, replace, report, update } from "../changes.ts";
import { registry as plain } from "../kinds.ts";

/** The workspace: each box with the boxes that it contains. Its ID is its name in lower case. */
const boxes = (contents: Readonly<Record<string, readonly string[]>>) =>
  live({
    boxes: Object.entries(contents).map(([name, near]) =>
      object(name.toLowerCase(), name, { near: [...near] }),
    ),
  });

/** An update of the boxes that a box contains. */
const updateOf = (name: string, before: string[], after: string[]): Change =>
  update(`boxes.${name}`, {
    id: object(name, name).id,
    before: { near: before },
    after: { near: after },
    diffs: [{ path: ["near"], before, after, cause: "spec", replaces: false }],
  });

/** Boxes that also name tasks. */
const registry = registryOf(
  plain.kinds.map((one) =>
    one.kind === "boxes"
      ? { ...one, fields: { ...one.fields, uses: { type: "array", items: { names: "tasks" } } as const } }
      : one,
  ),
);

const chains = (world: ReturnType<typeof live>, changes: readonly Change[]): string[] =>
  membershipCycles(context({ registry, live: world }), changes).map(
    ({ message }) => message.split("in the workspace: ")[1] ?? message,
  );

test("a membership that the workspace opposes is an error at the resource, with the whole chain", () => {
  const world = boxes({ a: ["middle"], middle: ["x", "inner"], x: [], inner: ["b"], b: [] });
  const declared = spec([resource("boxes.b")]);
  expect(membershipCycles(context({ live: world, spec: declared }), [updateOf("b", [], ["a"])])).toEqual([
    {
      severity: "error",
      code: "SPEC_CYCLE",
      message:
        'boxes.b cannot contain the box "a", which contains it in the workspace: a -> middle -> inner -> b',
      address: "boxes.b",
      at: { file: "workspace.yaml", line: 1, column: 1 },
      hint: "remove one of these memberships from the workspace or the spec",
    },
  ]);
  expect(membershipCycles(context({ live: world }), [updateOf("b", [], ["a"])])[0]?.at).toBeUndefined();
});

test("a membership is checked where a change adds it, not where the object has it or nothing is written", () => {
  const world = boxes({ a: ["b"], b: [] });
  const near = { after: { near: ["a"] } };
  for (const change of [create("boxes.b", near), replace("boxes.b", { ...near, id: object("b", "b").id })])
    expect(chains(world, [change])).toEqual(["a -> b"]);
  for (const change of [noop("boxes.b", near), adopt("boxes.b", near), remove("boxes.b"), report("boxes.b")])
    expect(chains(world, [change])).toEqual([]);
  expect(chains(world, [updateOf("b", ["a"], ["a", "c"])])).toEqual([]);
  expect(chains(world, [updateOf("b", ["a"], ["a"])])).toEqual([]);
});

test("each membership that closes a cycle has an error with its shortest chain", () => {
  const world = boxes({
    a: ["long", "short"],
    long: ["longer"],
    longer: ["b"],
    short: ["b"],
    c: ["b"],
    d: [],
    b: [],
  });
  expect(chains(world, [updateOf("b", [], ["a", "c", "d"])])).toEqual(["a -> short -> b", "c -> b"]);
});

test("a cycle that does not contain the changed object is none of its errors", () => {
  const world = boxes({ a: ["c"], c: ["a", "c", "unknown"], b: [] });
  expect(chains(world, [updateOf("b", [], ["a"])])).toEqual([]);
});

test("names are compared as the kind compares them", () => {
  const world = boxes({ a: ["MIDDLE"], Middle: ["B"], b: [] });
  expect(chains(world, [updateOf("b", [], ["A"])])).toEqual(["a -> middle -> b"]);
  expect(chains(world, [updateOf("b", ["A"], ["a"])])).toEqual([]);
});

test("what the plan does to the other object counts", () => {
  const world = boxes({ a: ["b"], b: [] });
  const added = updateOf("b", [], ["a"]);
  const a = { id: object("a", "a").id };
  expect(chains(world, [added, updateOf("a", ["b"], [])])).toEqual([]);
  expect(chains(world, [added, update("boxes.a", { ...a, before: { near: ["b"] } })])).toEqual(["a -> b"]);
  expect(chains(world, [added, noop("boxes.a", { ...a, before: { near: ["b"] } })])).toEqual(["a -> b"]);
  expect(chains(world, [added, remove("boxes.a", a)])).toEqual([]);
  expect(chains(world, [added, forget("boxes.a", a)])).toEqual(["a -> b"]);
  expect(chains(world, [added, replace("boxes.a", { ...a, before: { near: ["b"] } })])).toEqual([]);
  const kept = replace("boxes.a", { ...a, after: { near: ["b"] } });
  expect(chains(boxes({ a: [], b: [] }), [added, kept])).toContain("a -> b");
});

test("a membership that two changes declare in both directions is a cycle", () => {
  const world = boxes({ a: [], b: [] });
  const both = [updateOf("a", [], ["b"]), updateOf("b", [], ["a"])];
  expect(chains(world, both)).toEqual(["b -> a", "a -> b"]);
});

test("only objects of the kind that the field names are members", () => {
  const world = boxes({ a: ["b"], b: [] });
  expect(chains(world, [create("tasks.b", { after: { near: ["a"] } })])).toEqual([]);
  expect(chains(world, [create("boxes.b", { after: { note: "a" } })])).toEqual([]);
  expect(chains(world, [create("boxes.b", { after: { uses: ["a"] } })])).toEqual([]);
  const task = create("tasks.a", { after: { near: ["b"] } });
  expect(chains(boxes({ a: [], b: [] }), [updateOf("b", [], ["a"]), task])).toEqual([]);
});

/** The dependencies of each change that has some. */
const waits = (
  world: ReturnType<typeof live>,
  changes: readonly Change[],
): Record<string, readonly string[]> =>
  Object.fromEntries(
    withEndedMembershipsFirst(context({ registry, live: world }), changes)
      .filter(({ dependsOn }) => dependsOn.length > 0)
      .map(({ address, dependsOn }) => [address, dependsOn]),
  );

test("a new membership waits for each update or deletion that ends an opposite one", () => {
  const a = { id: object("a", "a").id };
  const added = updateOf("b", [], ["a"]);
  expect(waits(boxes({ a: ["b"], b: [] }), [added, updateOf("a", ["b"], [])])).toEqual({
    "boxes.b": ["boxes.a"],
  });
  expect(waits(boxes({ a: ["b"], b: [] }), [added, remove("boxes.a", a)])).toEqual({
    "boxes.b": ["boxes.a"],
  });
  const world = boxes({ a: ["y", "x"], x: ["b"], y: ["b"], z: [], b: [] });
  const ending = [updateOf("y", ["b"], []), updateOf("x", ["b"], []), updateOf("z", [], ["b"])];
  const both = ["boxes.other", "boxes.x", "boxes.y"];
  expect(waits(world, [{ ...added, dependsOn: ["boxes.other" as Address] }, ...ending])).toEqual({
    "boxes.b": both,
  });
});

test("a new membership waits for nothing else", () => {
  const a = { id: object("a", "a").id };
  const world = boxes({ a: ["b"], b: [] });
  const added = updateOf("b", [], ["a"]);
  const ends = updateOf("a", ["b"], []);
  for (const changes of [
    [added, updateOf("a", ["b"], ["b", "c"])],
    [added, noop("boxes.a", { ...a, before: { near: ["b"] } })],
    [added, replace("boxes.a", a)],
    [updateOf("b", ["a"], ["a"]), ends],
    [create("boxes.b", { after: { near: ["a"] } }), ends],
    [added, create("tasks.a")],
  ])
    expect(waits(world, changes)).toEqual({});
  expect(waits(boxes({ a: [], b: [] }), [added, updateOf("a", ["c"], [])])).toEqual({});
  const through = [added, replace("boxes.a", a), updateOf("x", ["b"], [])];
  expect(waits(boxes({ a: ["x"], x: ["b"], b: [] }), through)).toEqual({});
});

test("a new membership does not wait for a change that waits for it", () => {
  const ends = { ...updateOf("a", ["b"], []), dependsOn: ["boxes.b" as Address] };
  const world = boxes({ a: ["b"], b: [] });
  expect(waits(world, [updateOf("b", [], ["a"]), ends])).toEqual({ "boxes.a": ["boxes.b"] });
  const old = replace("boxes.old", { removeAfter: ["boxes.b"] });
  const after = { ...ends, dependsOn: ["boxes.old" as Address] };
  expect(waits(world, [updateOf("b", [], ["a"]), after, old])).toEqual({ "boxes.a": ["boxes.old"] });
});

test("a new membership does not close a cycle with what other new memberships wait for", () => {
  const b = updateOf("b", [], ["a"]);
  const q = { ...updateOf("q", ["a"], []), dependsOn: ["boxes.b" as Address] };
  const a = updateOf("a", ["b"], ["q"]);
  expect(waits(boxes({ a: ["b"], b: [], q: ["a"] }), [b, a, q])).toEqual({
    "boxes.b": ["boxes.a"],
    "boxes.q": ["boxes.b"],
  });
  const later = { ...b, dependsOn: ["boxes.m" as Address] };
  const n = { ...updateOf("n", ["m"], []), dependsOn: ["boxes.b" as Address] };
  const world = boxes({ a: ["b"], b: [], m: [], n: ["m"] });
  expect(waits(world, [later, updateOf("a", ["b"], []), updateOf("m", [], ["n"]), n])).toEqual({
    "boxes.b": ["boxes.a", "boxes.m"],
    "boxes.n": ["boxes.b"],
  });
});

test("a change of another kind with the same name ends no membership", () => {
  const changes = [updateOf("b", [], ["a"]), updateOf("a", ["b"], []), update("tasks.a"), noop("tasks.b")];
  expect(waits(boxes({ a: ["b"], b: [] }), changes)).toEqual({ "boxes.b": ["boxes.a"] });
});
