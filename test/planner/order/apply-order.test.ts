import { describe, expect, test } from "vitest";
import { type Address, remoteId } from "../../../src/core/address.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { freeingKey, workGraph } from "../../../src/planner/order/apply-order.ts";
import { adopt, create, forget, noop, remove, replace, report, update } from "../changes.ts";

const shape = (...changes: readonly Change[]) =>
  workGraph(changes).map(({ key, phase, after }) => `${key} ${phase} after ${after.join(" ")}`.trim());

test("a change without effect is not in the graph, and nothing waits for it", () => {
  expect(shape(noop("things.a"), create("things.b", { dependsOn: ["things.a"] }))).toEqual([
    "things.b whole after things.a",
  ]);
});

test("a replacement is made first, and its old object goes after those that held it", () => {
  expect(
    shape(replace("boxes.b", { removeAfter: ["things.a"] }), create("things.a", { dependsOn: ["boxes.b"] })),
  ).toEqual([
    "boxes.b make after",
    "boxes.b#old remove after boxes.b things.a",
    "things.a whole after boxes.b",
  ]);
});

test("an old object that holds another old one goes before it", () => {
  const parts = shape(replace("boxes.b", { removeAfter: ["things.a"] }), replace("things.a"));
  expect(parts).toContain("boxes.b#old remove after boxes.b things.a things.a#old");
});

test("a deletion waits until the old object of a replaced user is deleted", () => {
  expect(shape(replace("things.a"), remove("boxes.b", { dependsOn: ["things.a"] }))).toContain(
    "boxes.b whole after things.a things.a#old",
  );
});

test("delete-first is one part: only what is deleted itself comes before it", () => {
  expect(
    shape(
      replace("rooms.r", {
        replacing: "delete-first",
        removeAfter: ["items.r/new", "items.r/old", "items.r/other"],
      }),
      create("items.r/new", { dependsOn: ["rooms.r"] }),
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
    shape(create("boxes.b"), remove("boxes.b", { dependsOn: ["boxes.b"], deposed: true, id: remoteId("9") })),
  ).toEqual(["boxes.b whole after", "boxes.b#9 whole after boxes.b"]);
});

test("a deposed object holds back nothing that depends on its address", () => {
  expect(
    shape(
      remove("boxes.b", { deposed: true, id: remoteId("9") }),
      create("things.a", { dependsOn: ["boxes.b"] }),
    ),
  ).toEqual(["boxes.b#9 whole after", "things.a whole after"]);
});

test("every change but no change and a report is one part, after what it depends on", () => {
  const dependsOn = ["boxes.b", "boxes.other"];
  const before = update("boxes.b");
  for (const change of [create, update, adopt, remove, forget].map((make) => make("things.a", { dependsOn })))
    expect(shape(before, change)).toEqual(["boxes.b whole after", "things.a whole after boxes.b"]);
  expect(shape(noop("things.a"), report("things.b"))).toEqual([]);
});

test("a secret that was compared and does not differ is one part, because its result is reported", () => {
  expect(shape(noop("things.a", { compared: true }))).toEqual(["things.a whole after"]);
});

test("a deletion waits for a replaced user that is deleted first once, and for no old object", () => {
  expect(
    shape(replace("things.a", { replacing: "delete-first" }), remove("boxes.b", { dependsOn: ["things.a"] })),
  ).toContain("boxes.b whole after things.a");
});

test("a replacement that keeps its old object is one part", () => {
  expect(
    shape(replace("boxes.b", { keepsOld: true, removeAfter: ["things.a"] }), update("things.a")),
  ).toEqual(["boxes.b whole after", "things.a whole after"]);
});

describe("a change that takes the name of another object", () => {
  const source = (freedWhen: "done" | "removed") => ({
    nameFrom: { address: "boxes.b" as Address, id: remoteId("9"), freedWhen },
  });

  test.each([
    ["done", update("boxes.b", { id: remoteId("9") }), "boxes.b"],
    ["removed", replace("boxes.b", { id: remoteId("9") }), "boxes.b#old"],
  ] as const)("waits until it is free (%s)", (freedWhen, holder, key) => {
    expect(freeingKey(holder, freedWhen)).toBe(key);
    expect(shape(update("boxes.a", source(freedWhen)), holder)).toContain(`boxes.a whole after ${key}`);
  });

  test("waits for nothing when no change has the object", () => {
    expect(shape(update("boxes.a", source("done")), update("boxes.b"))).toContain("boxes.a whole after");
    expect(shape(update("boxes.a"), update("boxes.b"))).toContain("boxes.a whole after");
  });
});
