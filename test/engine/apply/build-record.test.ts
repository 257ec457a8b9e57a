import { expect, test } from "vitest";
import { remoteId } from "../../../src/core/address.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { leavesToServer, seenIn } from "../../../src/engine/apply/build-record.ts";
import type { FieldTable } from "../../../src/resource/field-schema.ts";

const FIELDS: FieldTable = {
  size: { type: "integer" },
  color: { type: "string", serverDefault: true },
  name: {
    type: "object",
    properties: { given: { type: "string", serverDefault: true }, title: { type: "string" } },
  },
  conf: { type: "object", serverDefault: true, additionalProperties: { type: "string" } },
  value: { type: "string", writeOnly: true, witness: "stamp" },
  made_by: { type: "string", readOnly: true, serverDefault: true },
};

const seen = (applied: JsonObject, values: JsonObject, facts: JsonObject = {}) =>
  seenIn(FIELDS, applied, { id: remoteId("1"), name: "a", values, facts });

test("values of the spec are not recorded as service defaults", () => {
  expect(seen({ size: 1, color: "red" }, { size: 1, color: "red" })).toEqual({});
});

test("service defaults are recorded, also inside objects and maps", () => {
  const live = { size: 1, color: "red", name: { given: "Ada", title: "Dr" }, conf: { a: "1", b: "2" } };
  expect(seen({}, live)).toEqual({ color: "red", name: { given: "Ada" }, conf: { a: "1", b: "2" } });
  expect(seen({ name: { title: "Dr" }, conf: { a: "1" } }, live)).toEqual({
    color: "red",
    name: { given: "Ada" },
    conf: { b: "2" },
  });
});

test("the witness of a value that cannot be read is seen", () => {
  expect(seen({ value: "digest" }, {}, { stamp: "17" })).toEqual({ stamp: "17" });
});

test("read-only fields are not service defaults", () => {
  expect(seen({}, { made_by: "ada" })).toEqual({});
});

test("a kind declares whether an apply must be verified", () => {
  expect(leavesToServer(FIELDS)).toBe(true);
  expect(leavesToServer({ size: { type: "integer" }, name: FIELDS.name ?? {} })).toBe(true);
  expect(leavesToServer({ size: { type: "integer" } })).toBe(false);
});
