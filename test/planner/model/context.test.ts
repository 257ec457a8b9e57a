// The context of an object in planning: its owner, its record, and the attributes that others refer to.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import {
  addressByObject,
  hasUnreadableValue,
  indexLive,
  plannedAttribute,
  recordedOf,
} from "../../../src/planner/model/context.ts";
import type { FieldSchema } from "../../../src/resource/field-schema.ts";
import type { LiveKind } from "../../../src/resource/live.ts";
import type { StateRecord } from "../../../src/state/model/record.ts";
import { context, live, object, record, reference, state } from "../build.ts";
import { adopt, create, forget, noop, remove, replace, report, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const boxes = registry.get("boxes");

describe("the owner of a live object", () => {
  const owners = addressByObject(
    state([record("boxes.a", "1", {}, { deposed: [object("2", "").id] }), record("tasks.t", "1")]).records,
  );

  test("is the address of the record with its ID, or that replaced it", () => {
    expect([owners.get("boxes", "1"), owners.get("boxes", "2"), owners.get("tasks", "1")]).toEqual([
      "boxes.a",
      "boxes.a",
      "tasks.t",
    ]);
    expect([owners.has("boxes", "2"), owners.has("tasks", "2"), owners.has("labels", "1")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(owners.get("labels", "1")).toBeUndefined();
  });
});

describe("the recorded values of a comparison", () => {
  const { seen: _seen, ...half } = record("boxes.a", "1", { size: 1 }, { seen: { timeout: 5 } }) as Extract<
    StateRecord,
    { status: "ready" }
  >;
  const ready = record("boxes.a", "1", { size: 1 }, { seen: { timeout: 5 } });
  const deleting = { ...half, status: "deleting" } as const;
  const creating = { ...half, status: "creating", token: "t" } as const;
  const normalizing = { ...boxes, planning: { normalize: () => ({ size: 7 }) } };

  test("are what was applied and seen, and nothing of an unfinished object", () => {
    expect(recordedOf(boxes, ready)).toMatchObject({ applied: { size: 1 }, seen: { timeout: 5 } });
    expect(recordedOf(boxes, deleting)).toEqual({ applied: { size: 1 }, seen: {} });
    expect(recordedOf(boxes, creating)).toBeUndefined();
    expect(recordedOf(boxes, undefined)).toBeUndefined();
  });

  test("are normalized for the kind and differ between two kinds", () => {
    const known = { ...ready };
    expect(recordedOf(normalizing, known)).toEqual({ applied: { size: 7 }, seen: { timeout: 5 } });
    expect(recordedOf(normalizing, { ...deleting })).toEqual({ applied: { size: 7 }, seen: {} });
    const other = { ...boxes, planning: { normalize: () => ({ size: 8 }) } };
    expect(recordedOf(other, known)?.applied).toEqual({ size: 8 });
  });
});

describe("an attribute that others refer to", () => {
  const known = state([record("boxes.a", "b1", { size: 1 })]);
  const after = { size: 2, note: "${boxes.b.box_id}" };
  const unresolved = [reference(["note"], "boxes.b", "box_id")];

  function attribute(change: Change | undefined, name: string) {
    const decided = change === undefined ? [] : [change];
    return plannedAttribute(context({ state: known }, decided), "boxes.a" as Address, name);
  }

  test("is the recorded ID while nothing is decided, and no other attribute is known", () => {
    expect([attribute(undefined, "box_id"), attribute(undefined, "size")]).toEqual(["b1", undefined]);
  });

  test.each([
    create("boxes.a", { after, unresolved }),
    replace("boxes.a", { after, unresolved, before: { timeout: 5 } }),
  ])(
    "of a new object is a value of the spec, but not its ID or what it refers to itself ($action)",
    (change) => {
      expect([attribute(change, "box_id"), attribute(change, "size"), attribute(change, "note")]).toEqual([
        undefined,
        2,
        undefined,
      ]);
      expect(attribute(change, "timeout")).toBeUndefined();
    },
  );

  const before = { timeout: 5, size: 1, note: "old" };

  test.each([
    update("boxes.a", { after, unresolved, before }),
    noop("boxes.a", { after, unresolved, before }),
    adopt("boxes.a", { after, unresolved, before }),
  ])("of an existing object is its ID, the value to reach, or else the live one ($action)", (change) => {
    expect(["box_id", "size", "timeout", "note"].map((name) => attribute(change, name))).toEqual([
      "1",
      2,
      5,
      undefined,
    ]);
  });

  test.each([remove("boxes.a"), forget("boxes.a"), report("boxes.a")])(
    "is unknown after $action",
    (change) => {
      expect([attribute(change, "box_id"), attribute(change, "size")]).toEqual([undefined, undefined]);
    },
  );
});

test("a kind holds values that cannot be read if a field is write-only and has a witness", () => {
  const kind = (field: FieldSchema) => ({ ...boxes, fields: { plain: { type: "string" }, field } });
  expect(hasUnreadableValue(registry.get("keys"))).toBe(true);
  expect(hasUnreadableValue(kind({ writeOnly: true, witness: "at" }))).toBe(true);
  expect(hasUnreadableValue(kind({ writeOnly: true }))).toBe(false);
  expect(hasUnreadableValue(kind({ witness: "at" }))).toBe(false);
});

describe("the index of live objects", () => {
  const diagnostic = error("API_FORBIDDEN", "no");
  const withParents = (parents: ReadonlyMap<string, typeof diagnostic>): LiveKind => ({
    readable: true,
    objects: [],
    unreadableParents: parents,
  });
  const unreadable = (found: LiveKind | undefined, name: string) =>
    indexLive(new Map(found === undefined ? [] : [["labels", found]]), registry).unreadable("labels", name);

  test("says why an object is unknown: its kind or its parent could not be read", () => {
    expect(unreadable({ readable: false, diagnostic }, "a/x")).toBe(diagnostic);
    expect(unreadable(withParents(new Map([["a", diagnostic]])), "a/x")).toBe(diagnostic);
    expect(unreadable(withParents(new Map([["a", diagnostic]])), "b/x")).toBeUndefined();
    expect(unreadable(withParents(new Map()), "a/x")).toBeUndefined();
    expect(unreadable(undefined, "a/x")).toBeUndefined();
  });

  test("has nothing of a kind that could not be read", () => {
    const index = indexLive(new Map([["boxes", { readable: false, diagnostic }]]), registry);
    expect([index.all("boxes"), index.byName("boxes", "a")]).toEqual([[], []]);
    expect(index.byId("boxes", object("1", "").id)).toBeUndefined();
  });

  test("finds every object of a name that is normalized for its kind", () => {
    const world = live({ boxes: [object("1", "A"), object("2", "a")], tasks: [object("3", "A")] });
    const index = indexLive(world, registry);
    expect(index.byName("boxes", "a").map(({ id }) => id)).toEqual(["1", "2"]);
    expect(index.byName("tasks", "a")).toEqual([]);
  });
});
