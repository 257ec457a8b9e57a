// Whether a run has written a state at a location.

import { expect, test } from "vitest";
import { stateExists } from "../../../src/planner/model/input.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import type { State } from "../../../src/state/model/record.ts";
import { record, resource, state } from "../build.ts";

const { address } = resource("boxes.a");
const intent = { seq: 1, at: 0, action: "create", operation: "o", token: "t", existed: false } as const;

test.each<readonly [string, Partial<State>]>([
  ["a serial", { serial: 1 }],
  ["a host", { host: "h" }],
  ["a caller", { caller: { name: "ada", credential: "c" } }],
  ["a record", { records: state([record("boxes.a", "b1")]).records }],
  ["an open intent", { open: [{ ...intent, address, name: "a", wanted: {}, depends_on: [] }] }],
  ["a token that was not found", { sweeps: [{ token: "t", address, until: 1 }] }],
  ["a plan that was applied", { nonces: ["n"] }],
])("a state exists with %s", (_, more) => {
  expect(stateExists({ ...emptyState("l"), ...more })).toBe(true);
});

test("no state exists where nothing was written", () => {
  expect(stateExists(emptyState("l"))).toBe(false);
});
