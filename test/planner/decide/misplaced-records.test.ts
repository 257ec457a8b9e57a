// Records of one object under the address of another, for kinds whose key is the name.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { dropMisplacedRecords, recordFitsAddress } from "../../../src/planner/model/context.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { Resource } from "../../../src/spec/model/spec.ts";
import type { StateRecord } from "../../../src/state/model/record.ts";
import { actions, live, object, plan, record, resource, spec, state } from "../build.ts";
import { registry } from "../kinds.ts";

const world = live({
  boxes: [object("b1", "a", { box_name: "a" })],
  labels: [object("a/x", "a/x", { text: "hello" })],
});
const box = resource("boxes.a", { owns: [] });
const boxRecord = record("boxes.a", "b1", { box_name: "a" });

test("a record of another name is not believed: what the spec asks for is made, and what was recorded stays", () => {
  const moved = record("labels.a/y", "a/x", { text: "hello" }, { name: "a/x", depends_on: [] });
  const wanted = resource("labels.a/y", { values: { text: "hello" }, dependsOn: ["boxes.a"] });
  const made = plan({ spec: spec([box, wanted]), live: world, state: state([boxRecord, moved]) });
  expect(actions(made)).toEqual({ "labels.a/y": "create" });
  expect(made.changes.find(({ action }) => action === "create")).toMatchObject({
    cause: "spec",
    reasons: ["the state records a/x under this address"],
  });
  expect(made.drift).toEqual([]);
});

test("a record of another name that the spec does not have is forgotten, never deleted", () => {
  const moved = record("labels.a/y", "a/x", { text: "hello" }, { name: "a/x" });
  const made = plan({ spec: spec([box]), live: world, state: state([boxRecord, moved]) });
  expect(actions(made)).toEqual({ "labels.a/y": "forget" });
});

describe("a record", () => {
  const rooms = { ...registry.get("boxes"), kind: "rooms", nameField: undefined, fields: {} } as const;
  const doors = {
    ...registry.get("labels"),
    kind: "doors",
    ignoreCase: true,
    nested: { kind: "rooms", under: "doors" },
  } as const;
  const kinds = registryOf([...registry.kinds, rooms, doors]);
  const keeps = (one: StateRecord, wanted: readonly Resource[] = []) => {
    const known = state([one, boxRecord]);
    const { input, misplacedRecords } = dropMisplacedRecords({
      registry: kinds,
      host: "h",
      spec: spec(wanted),
      live: world,
      state: known,
    });
    expect(input.state.records.size + misplacedRecords.size).toBe(2);
    expect(input.state.records.has(boxRecord.address)).toBe(true);
    return !misplacedRecords.has(one.address);
  };

  test("of a kind whose key is not its name may have any name", () => {
    expect(keeps(record("boxes.x", "x", {}, { name: "other" }))).toBe(true);
    expect(keeps(record("unknown.x", "x", {}, { name: "other" }))).toBe(true);
  });

  test("of a kind whose key is its name has that name, normalized for the kind", () => {
    expect(keeps(record("rooms.r", "r"))).toBe(true);
    expect(keeps(record("rooms.r", "r", {}, { name: "R" }))).toBe(true);
    expect(keeps(record("rooms.r", "r", {}, { name: "other" }))).toBe(false);
    expect(keeps(record("rooms.a/r", "r", {}, { name: "b/r" }))).toBe(false);
  });

  test("of a member has its own name, whatever its parent is called", () => {
    expect(keeps(record("labels.a/x", "x", {}, { name: "renamed/x" }))).toBe(true);
    expect(keeps(record("labels.a/x", "x", {}, { name: "a/y" }))).toBe(false);
    expect(keeps(record("doors.a/x", "x", {}, { name: "a/X" }))).toBe(true);
  });

  test("of a declared member has the name that the spec gives it", () => {
    const declared = [resource("labels.a/x", { name: "renamed/x" })];
    expect(keeps(record("labels.a/x", "x", {}, { name: "renamed/x" }), declared)).toBe(true);
    expect(keeps(record("labels.a/x", "x", {}, { name: "a/x" }), declared)).toBe(false);
  });

  test("of a member belongs to the parent that it depends on, where the key of the parent is its name", () => {
    const door = (parent: string) =>
      record("doors.a/x", "x", {}, { name: "a/x", depends_on: ["tasks.t" as Address, parent as Address] });
    expect(keeps(door("rooms.a"))).toBe(true);
    expect(keeps(door("rooms.b"))).toBe(false);
    expect(keeps(door("tasks.b"))).toBe(true);
    const label = record("labels.a/x", "x", {}, { name: "a/x", depends_on: ["boxes.b" as Address] });
    expect(keeps(label)).toBe(true);
    expect(keeps(record("rooms.a", "a", {}, { depends_on: ["rooms.b" as Address] }))).toBe(true);
  });

  test("fits an address of a kind whose key is not its name, or with its own name", () => {
    const one = record("labels.a/x", "x");
    const fits = (kind: string, address: string) =>
      recordFitsAddress(kinds.get(kind), one, address as Address);
    expect([fits("boxes", "boxes.y"), fits("labels", "labels.a/x"), fits("labels", "labels.a/y")]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

test("valid records leave the input unchanged", () => {
  const input = { registry, host: "h", spec: spec([]), live: world, state: state([boxRecord]) };
  expect(dropMisplacedRecords(input).input).toBe(input);
});
