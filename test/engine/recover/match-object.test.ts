// Which live object a request created, and whether it is as requested.

import { describe, expect, test } from "vitest";
import { remoteId } from "../../../src/core/address.ts";
import { confirmableValues } from "../../../src/engine/recover/proven-values.ts";
import {
  duplicatesOf,
  isFoundByName,
  matchesRequest,
  withDeposed,
} from "../../../src/engine/recover/recover.ts";
import type { FieldTable } from "../../../src/resource/field-schema.ts";
import { ready } from "../../state/build.ts";
import { kind } from "../toy.ts";
import { object } from "./recovered.ts";

test.each([
  ["client-named", true, true],
  ["client-named", false, false],
  ["repeatable", true, false],
  ["tagged", true, false],
  ["two-phase", false, false],
] as const)(
  "an object of a %s kind whose names are unique (%s) is found by its name alone: %s",
  (recovery, unique, expected) => {
    expect(isFoundByName(kind("things", { creationRecovery: recovery, unique }))).toBe(expected);
  },
);

test.each([
  ["tagged", ["2"]],
  ["two-phase", ["2"]],
  ["client-named", []],
  ["repeatable", []],
] as const)("an object of a %s kind has these duplicates under its token: %j", (recovery, expected) => {
  const all = [
    object("1", "a", {}, "t"),
    object("2", "a", {}, "t"),
    object("3", "a", {}, "u"),
    object("4", "a"),
  ];
  const found = duplicatesOf("t", { id: remoteId("1") }, kind("things", { creationRecovery: recovery }), {
    all: () => all,
  });
  expect(found).toEqual(expected);
});

describe("replaced objects", () => {
  const ids = (...texts: string[]) => texts.map(remoteId);

  test("are added to those of the record once", () => {
    const record = ready("things.a", { deposed: ids("1", "2") });
    expect(withDeposed(record, ids("2", "3"))).toEqual({ ...record, deposed: ["1", "2", "3"] });
    expect(withDeposed(ready("things.a"), ids("1"))).toEqual({ ...ready("things.a"), deposed: ["1"] });
  });

  test("are not listed where there are none", () => {
    expect(withDeposed(ready("things.a"), [])).not.toHaveProperty("deposed");
  });
});

const fields: FieldTable = {
  size: { type: "integer" },
  key: { type: "string", writeOnly: true },
  secret: { type: "string", writeOnly: true, witness: "changed" },
  shown: { type: "string", witness: "changed" },
};

test.each([
  [{ size: 1 }, true],
  [{ size: 2 }, false],
  [{ size: 1, key: "digest" }, true],
  [{ size: 2, key: "digest" }, false],
  [{ size: 1, secret: "digest" }, true],
])("an object of size 1 matches a request for %o: %s", (wanted, expected) => {
  expect(matchesRequest(kind("vaults", { fields }), wanted, object("1", "a"))).toBe(expected);
});

test("a live object proves every value but those that others may have written since", () => {
  const wanted = { size: 1, key: "digest", secret: "digest", shown: "x", unknown: true };
  expect(confirmableValues(fields, wanted)).toEqual({ size: 1, key: "digest", shown: "x", unknown: true });
});
