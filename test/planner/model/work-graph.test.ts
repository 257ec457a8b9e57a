import { expect, test } from "vitest";
import { type Address, kindOf, nameOf, remoteId } from "../../../src/core/address.ts";
import type { Change, Delete, Replace } from "../../../src/planner/model/change.ts";
import { workGraph } from "../../../src/planner/model/work-graph.ts";
import type { ReplaceStrategy } from "../../../src/resource/kind.ts";

const common = (text: string, dependsOn: readonly string[] = []) => ({
  address: text as Address,
  kind: kindOf(text as Address),
  name: nameOf(text as Address),
  cause: "spec" as const,
  reasons: [],
  consequences: [],
  dependsOn: dependsOn as readonly Address[],
});
const existing = { id: remoteId("1"), before: {}, fingerprint: "f" };
const diff = { path: ["size"], before: 1, after: 2, cause: "spec", replaces: true } as const;

const create = (text: string, dependsOn?: readonly string[]): Change => ({
  ...common(text, dependsOn),
  action: "create",
  after: {},
  unresolved: [],
});
const remove = (text: string, dependsOn?: readonly string[], more: Partial<Delete> = {}): Delete => ({
  ...common(text, dependsOn),
  ...existing,
  action: "delete",
  ...more,
});
const noop = (text: string): Change => ({
  ...common(text),
  ...existing,
  action: "noop",
  after: {},
  unresolved: [],
});
const replace = (text: string, replacing: ReplaceStrategy, removeAfter: readonly string[] = []): Replace => ({
  ...common(text),
  ...existing,
  action: "replace",
  after: {},
  unresolved: [],
  diffs: [diff],
  because: [diff],
  replacing,
  removeAfter: removeAfter as readonly Address[],
});

const shape = (...changes: readonly Change[]) =>
  workGraph(changes).map(({ key, half, after }) => `${key} ${half} after ${after.join(" ")}`.trim());

test("a change without effect is not in the graph, and nothing waits for it", () => {
  expect(shape(noop("things.a"), create("things.b", ["things.a"]))).toEqual([
    "things.b whole after things.a",
  ]);
});

test("a replacement is made first, and its old object goes after those that held it", () => {
  expect(shape(replace("boxes.b", "rename-aside", ["things.a"]), create("things.a", ["boxes.b"]))).toEqual([
    "boxes.b make after",
    "boxes.b#old remove after boxes.b things.a",
    "things.a whole after boxes.b",
  ]);
});

test("an old object that holds another old one goes before it", () => {
  const parts = shape(replace("boxes.b", "create-first", ["things.a"]), replace("things.a", "create-first"));
  expect(parts).toContain("boxes.b#old remove after boxes.b things.a things.a#old");
});

test("a deletion waits until the old object of a replaced user is deleted", () => {
  expect(shape(replace("things.a", "create-first"), remove("boxes.b", ["things.a"]))).toContain(
    "boxes.b whole after things.a things.a#old",
  );
});

test("delete-first is one part: only what is deleted itself comes before it", () => {
  expect(
    shape(
      replace("rooms.r", "delete-first", ["items.r/new", "items.r/old"]),
      create("items.r/new", ["rooms.r"]),
      remove("items.r/old"),
    ),
  ).toEqual([
    "rooms.r whole after items.r/old",
    "items.r/new whole after rooms.r",
    "items.r/old whole after",
  ]);
});

test("a deposed object has its own node, separate from its successor's change", () => {
  expect(
    shape(create("boxes.b"), remove("boxes.b", ["boxes.b"], { deposed: true, id: remoteId("9") })),
  ).toEqual(["boxes.b whole after", "boxes.b#9 whole after boxes.b"]);
});
