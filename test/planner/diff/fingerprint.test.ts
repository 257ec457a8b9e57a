// The digest of the live values that a change rests on, and the forms in which a kind compares values.

import { describe, expect, test } from "vitest";
import { remoteId } from "../../../src/core/address.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { withoutAdded } from "../../../src/planner/diff/diff.ts";
import {
  comparable,
  declaredForm,
  isAsPlanned,
  liveFingerprint,
} from "../../../src/planner/diff/normalize.ts";
import type { FieldTable, Values } from "../../../src/resource/field-schema.ts";
import { object } from "../build.ts";
import { remove, replace, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const names = { type: "array", whenAbsent: "unmanaged", list: "set" } as const;
const fields: FieldTable = {
  size: { type: "integer" },
  owner: { type: "string", readOnly: true },
  folder: { type: "string", source: true },
  note: { type: "string", whenAbsent: "unmanaged" },
  members: { ...names, items: { type: "string", names: "users" } },
  team: { type: "object", whenAbsent: "unmanaged", properties: { lead: { type: "string", names: "users" } } },
  boss: { type: "string", whenAbsent: "unmanaged", names: "users" },
  value: { type: "string", writeOnly: true, witness: "written" },
  blind: { type: "string", writeOnly: true },
};
const LIVE = {
  size: 1,
  owner: "o",
  folder: "f",
  note: "n",
  members: ["a"],
  team: { lead: "a" },
  boss: "a",
  value: "v",
};
const FACTS = { written: 5, "": 6 };

/** The fields whose live value makes a difference. */
function counted(after: Values | undefined): string[] {
  const of = (values: JsonObject, facts: JsonObject = FACTS) =>
    liveFingerprint(fields, { values, facts }, after);
  const other: JsonObject = {
    size: 2,
    owner: "p",
    folder: "g",
    note: "m",
    members: ["b"],
    team: { lead: "b" },
    boss: "b",
    value: "w",
    blind: "x",
  };
  const found = Object.keys(fields).filter(
    (name) => of({ ...LIVE, [name]: other[name] ?? null }) !== of(LIVE),
  );
  const isWitness = of(LIVE, { ...FACTS, written: 7 }) !== of(LIVE);
  const isBlind = of(LIVE, { ...FACTS, "": 7 }) !== of(LIVE);
  return [...found, ...(isWitness ? ["witness"] : []), ...(isBlind ? ["blind"] : [])];
}

describe("the fingerprint of a live object", () => {
  test("of a delete has every field but those of the service, and memberships of others", () => {
    expect(counted(undefined)).toEqual(["size", "note", "witness", "blind"]);
  });

  test("of a write has unmanaged fields only where the write sets them", () => {
    expect(counted({})).toEqual(["size", "witness", "blind"]);
    expect(counted({ note: "x", members: [], team: {}, boss: "x" })).toEqual([
      "size",
      "note",
      "members",
      "team",
      "boss",
      "witness",
      "blind",
    ]);
  });

  test("is that of the values and nothing else", () => {
    const of = (values: JsonObject) =>
      liveFingerprint({ a: { list: "set" }, b: {} }, { values, facts: {} }, {});
    expect(of({ a: [2, 1], b: {} })).toBe(of({ a: [1, 2] }));
    expect(of({})).toBe(liveFingerprint({}, { values: {}, facts: {} }, {}));
    expect(of({ a: [1] })).not.toBe(of({ b: [1] }));
  });
});

describe("an object is the one that the plan saw", () => {
  const states: FieldTable = {
    size: { type: "integer" },
    state: { type: "string", atRest: "STOPPED" },
    mode: { type: "string", atRest: "SLEEPING" },
  };
  const kind = { ...registry.get("boxes"), fields: states };
  const identity = { id: remoteId("1"), name: "a", facts: {} };
  const running = { size: 1, state: "RUNNING" };
  const stopped = { size: 1, state: "STOPPED" };
  const as = (before: Values, after?: Values) => ({
    before,
    fingerprint: liveFingerprint(states, { values: before, facts: {} }, after),
  });
  const deleted = (before: Values, values: Values) =>
    isAsPlanned(kind, { ...identity, values }, remove("boxes.a", as(before)));

  test("when it is unchanged, or came to rest before it is deleted or replaced", () => {
    expect(deleted(running, running)).toBe(true);
    expect(deleted(running, stopped)).toBe(true);
    const change = replace("boxes.a", { ...as(running, running), after: running });
    expect(isAsPlanned(kind, { ...identity, values: stopped }, change)).toBe(true);
  });

  test("unless another field changed, or the object works again", () => {
    expect(deleted(running, { ...stopped, size: 2 })).toBe(false);
    expect(deleted(stopped, running)).toBe(false);
    expect(deleted(running, { size: 1, state: "PAUSED" })).toBe(false);
  });

  test("unless the field had no value, or the object is updated", () => {
    expect(deleted(running, { ...running, mode: "SLEEPING" })).toBe(false);
    const change = update("boxes.a", { ...as(running, running), after: running });
    expect(isAsPlanned(kind, { ...identity, values: running }, change)).toBe(true);
    expect(isAsPlanned(kind, { ...identity, values: stopped }, change)).toBe(false);
  });
});

describe("the form in which a kind compares", () => {
  const boxes = registry.get("boxes");
  const doubled = { ...boxes, planning: { normalize: (values: Values) => ({ ...values, seen: true }) } };

  test("of a declaration has its natural name, unless it is declared or no field has it", () => {
    expect(declaredForm(boxes, "a", { size: 1 })).toEqual({ size: 1, box_name: "a" });
    expect(declaredForm(boxes, "a", { box_name: "b" })).toEqual({ box_name: "b" });
    expect(declaredForm(registry.get("labels"), "a/x", { text: "t" })).toEqual({ text: "t" });
    expect(declaredForm(doubled, "a", {})).toEqual({ box_name: "a", seen: true });
  });

  test("of a live object is the object itself, or what the kind makes of it", () => {
    const live = object("1", "a", { size: 1 });
    expect(comparable(boxes, live)).toBe(live);
    expect(comparable(doubled, live)).toEqual({ ...live, values: { size: 1, seen: true } });
    const other = { ...boxes, planning: { normalize: () => ({}) } };
    expect(comparable(other, live).values).toEqual({});
  });
});

describe("members that the service adds to a map", () => {
  const schema = { addedByService: { a: "1", b: "2" } };

  test("are left out with the value that the service gives, unless the spec sets them", () => {
    expect(withoutAdded(schema, { c: "3" }, { a: "1", b: "x", c: "3" })).toEqual({ b: "x", c: "3" });
    expect(withoutAdded(schema, { a: "0" }, { a: "1", b: "2" })).toEqual({ a: "1" });
    expect(withoutAdded(schema, "text", { a: "1", c: "3" })).toEqual({ c: "3" });
    expect(withoutAdded(schema, undefined, { a: "1" })).toBeUndefined();
  });

  test("stay in other fields, and a string is not a map", () => {
    expect(withoutAdded({}, undefined, { a: "1" })).toEqual({ a: "1" });
    expect(withoutAdded(schema, undefined, "text")).toBe("text");
  });

  test("are members of the rule itself", () => {
    expect(withoutAdded(schema, undefined, { toString: "1" })).toEqual({ toString: "1" });
  });
});
