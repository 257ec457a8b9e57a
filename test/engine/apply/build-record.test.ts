import { expect, test } from "vitest";
import { type Address, kindOf, remoteId } from "../../../src/core/address.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { ApplyRun } from "../../../src/engine/apply/apply-run.ts";
import {
  leavesToServer,
  previousObservations,
  recordAfter,
  seenIn,
} from "../../../src/engine/apply/record-values.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { registry } from "../../../src/providers/index.ts";
import type { FieldTable } from "../../../src/resource/field-schema.ts";
import type { StateRecord } from "../../../src/state/model/record.ts";
import { ready } from "../../state/build.ts";

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

/** A run of the spec without resources, whose state has one record. */
const runWith = (record: StateRecord): ApplyRun => {
  const lease = { record: (address: Address) => (address === record.address ? record : undefined) };
  return { input: { lease, registry, resources: new Map() } } as unknown as ApplyRun;
};
const changeOf = (address: string): Change => {
  const common = { cause: "spec", reasons: [], consequences: [], dependsOn: [], unresolved: [] } as const;
  const object = { id: remoteId("old"), name: "old", after: {}, before: {}, fingerprint: "" };
  return {
    action: "adopt",
    address: address as Address,
    kind: kindOf(address as Address),
    ...common,
    ...object,
  };
};

test("a replaced object that takes its place again leaves the one that replaced it to be deleted", () => {
  const record = ready("jobs.a", { id: remoteId("new"), deposed: [remoteId("old"), remoteId("older")] });
  expect(recordAfter(runWith(record), changeOf("jobs.a"), remoteId("old"), {}, {})).toMatchObject({
    id: "old",
    deposed: ["older", "new"],
  });
});

test("an update keeps what the service decided, and not the witness of the value that it writes", () => {
  const secret = ready("secrets.s/k", { seen: { last_updated_timestamp: "7" } });
  expect(previousObservations(runWith(secret), changeOf("secrets.s/k"))).toEqual({});
  const pool = ready("pools.a", { seen: { enable_elastic_disk: false } });
  expect(previousObservations(runWith(pool), changeOf("pools.a"))).toEqual({ enable_elastic_disk: false });
});

test("a kind declares whether an apply must be verified", () => {
  expect(leavesToServer(FIELDS)).toBe(true);
  expect(leavesToServer({ size: { type: "integer" }, name: FIELDS.name ?? {} })).toBe(true);
  expect(leavesToServer({ size: { type: "integer" } })).toBe(false);
});
