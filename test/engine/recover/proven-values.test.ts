// What the record of an update without an answer gets from the live object, field by field.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { provenValues, updatedRecord } from "../../../src/engine/recover/proven-values.ts";
import type { FieldTable } from "../../../src/resource/field-schema.ts";
import { ready } from "../../state/build.ts";
import { kind } from "../toy.ts";
import { object } from "./recovered.ts";

const text = { type: "string" } as const;
const fields: FieldTable = {
  size: { type: "integer" },
  limit: { type: "integer", default: 5 },
  color: { ...text, serverDefault: true },
  mail: { ...text, ignoreCase: true },
  key: { ...text, writeOnly: true },
  members: { type: "array", list: "set", items: text },
  steps: { type: "array", list: "ordered", items: text },
  tags: { type: "object", additionalProperties: text },
  group: { type: "object", properties: { a: text, b: { ...text, default: "x" } } },
  access: { type: "object", additionalProperties: text, whenAbsent: "unmanaged" },
};
const provider = kind("things", { fields });

function proven(applied: JsonObject, wanted: JsonObject, live: JsonObject, seen: JsonObject = {}) {
  return provenValues(provider, { applied, seen }, wanted, object("t1", "a", live));
}

type Case = readonly [
  what: string,
  recorded: JsonObject,
  wanted: JsonObject,
  live: JsonObject,
  expected: JsonObject,
];

describe("a value of an update without an answer", () => {
  test.each<Case>([
    ["was written", { size: 1 }, { size: 2 }, { size: 2 }, { size: 2 }],
    ["was not written", { size: 1 }, { size: 2 }, { size: 1 }, { size: 1 }],
    ["was changed by others", { size: 1 }, { size: 2 }, { size: 3 }, { size: 2 }],
    ["was added", {}, { size: 2 }, { size: 2 }, { size: 2 }],
    ["was not added", {}, { size: 2 }, {}, {}],
    ["was not added over its default", {}, { limit: 9 }, { limit: 5 }, {}],
    ["was removed", { size: 1 }, {}, {}, {}],
    ["was not removed", { size: 1 }, {}, { size: 1 }, { size: 1 }],
    ["was left to the service", { color: "red" }, {}, { color: "blue" }, {}],
    ["was not left to the service", { color: "red" }, {}, { color: "red" }, { color: "red" }],
    ["differs in its form", { mail: "a@X" }, { mail: "b@x" }, { mail: "A@x" }, { mail: "a@X" }],
    ["cannot be read", { key: "old" }, { key: "new" }, {}, {}],
    [
      "cannot be read and stays",
      { key: "old", size: 1 },
      { key: "old", size: 2 },
      { size: 2 },
      { key: "old", size: 2 },
    ],
    [
      "is one of several",
      { size: 1, mail: "a" },
      { size: 2, mail: "b" },
      { size: 2, mail: "a" },
      { size: 2, mail: "a" },
    ],
    [
      "is inside a group",
      { group: { a: "1" } },
      { group: { a: "2", b: "y" } },
      { group: { a: "2", b: "x" } },
      { group: { a: "2" } },
    ],
    [
      "is of a map",
      { tags: { a: "1" } },
      { tags: { b: "2" } },
      { tags: { a: "1", b: "2" } },
      { tags: { a: "1", b: "2" } },
    ],
    ["is a list", { steps: ["a"] }, { steps: ["b", "c"] }, { steps: ["b"] }, { steps: ["b", "c"] }],
  ])("that %s", (_what, recorded, wanted, live, expected) => {
    expect(proven(recorded, wanted, live)).toEqual(expected);
  });

  test("that the service decided before was not written where it still has its value", () => {
    expect(proven({}, { color: "blue" }, { color: "red" }, { color: "red" })).toEqual({});
    expect(proven({}, { color: "blue" }, { color: "blue" }, { color: "red" })).toEqual({ color: "blue" });
  });
});

test.each([
  ["all", ["a", "b"], ["b", "c", "d"], ["b", "c", "d"], ["b", "c", "d"]],
  ["none", ["a", "b"], ["b", "c", "d"], ["a", "b"], ["a", "b"]],
  ["one addition", ["a", "b"], ["b", "c", "d"], ["a", "b", "c"], ["b", "c", "a"]],
  ["the removal", ["a", "b"], ["b", "c", "d"], ["b"], ["b"]],
  ["one addition, with one by others", ["a"], ["b", "c"], ["a", "b", "x"], ["b", "a"]],
  ["none, with a removal by others", ["a", "b"], ["a", "b", "c"], ["b"], ["a", "b"]],
])("of the items of a set, %s", (_what, before, wanted, live, expected) => {
  expect(proven({ members: before }, { members: wanted }, { members: live })).toEqual({ members: expected });
});

test("a map that was not managed before is managed once its whole content is live", () => {
  const wanted = { access: { ada: "USE", bo: "RUN" } };
  expect(proven({}, wanted, { access: { ada: "USE", cy: "RUN" } })).toEqual({});
  expect(proven({}, wanted, wanted)).toEqual(wanted);
  expect(proven({ access: {} }, wanted, { access: { ada: "USE" } })).toEqual({ access: { ada: "USE" } });
});

test("of a created object, values that it lacks or that cannot be read may not have been written, and others that differ were", () => {
  const wanted = { size: 2, limit: 9, key: "k", access: { ada: "USE" } };
  const live = object("t1", "a", { size: 3, limit: 5, access: {} });
  expect(provenValues(provider, undefined, wanted, live)).toEqual({ size: 2 });
});

test("the witness of a value that may have been written leaves the record, so that the next plan writes the value", () => {
  const things = kind("things", {
    fields: { ...fields, key: { ...text, writeOnly: true, witness: "written" } },
  });
  const record = ready("things.a", { applied: { size: 1, key: "old" }, seen: { written: 5, color: "red" } });
  for (const live of [undefined, object("t1", "a", { size: 2 })]) {
    const updated = updatedRecord(things, record, { size: 2, key: "new" }, live);
    expect(updated).toMatchObject({ applied: { size: 2 }, seen: { color: "red" } });
    expect(updated.applied).not.toHaveProperty("key");
    expect(updated.seen).not.toHaveProperty("written");
  }
});

test("a record whose object no longer exists gets the wanted values over those that it has", () => {
  const record = ready("things.a", { applied: { size: 1, limit: 3 } });
  expect(updatedRecord(provider, record, { size: 2 }, undefined).applied).toEqual({ size: 2, limit: 3 });
});
