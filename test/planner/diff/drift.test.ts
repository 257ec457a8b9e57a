// What changed in the workspace since the last apply.

import { describe, expect, test } from "vitest";
import { remoteId } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { StateRecord } from "../../../src/state/model/record.ts";
import { live, object, plan, record, reference, resource, spec, state } from "../build.ts";
import { registry } from "../kinds.ts";

const APPLIED = { box_name: "a", material: "wood", size: 2 };
const known = state([record("boxes.a", "b1", APPLIED)]);
const world = (values = {}, facts = {}) =>
  live({ boxes: [object("b1", "a", { ...APPLIED, ...values }, facts)] });
const box = (values = {}, more = {}) =>
  resource("boxes.a", { values: { material: "wood", size: 2, ...values }, ...more });

describe("drift", () => {
  test("has each live value that differs from the recorded one, with the facts of the object", () => {
    const { drift } = plan({ spec: spec([box()]), live: world({ size: 5 }, { by: "ada" }), state: known });
    expect(drift).toEqual([
      {
        address: "boxes.a",
        kind: "boxes",
        name: "a",
        what: "changed",
        diffs: [{ path: ["size"], before: 5, after: 2, cause: "drift", replaces: false }],
        facts: { by: "ada" },
      },
    ]);
  });

  test("is measured against the recorded value, whatever the spec says now", () => {
    const { drift } = plan({ spec: spec([box({ size: 9 })]), live: world({ size: 5 }), state: known });
    expect(drift).toMatchObject([{ diffs: [{ before: 5, after: 2, cause: "drift" }] }]);
    expect(plan({ spec: spec([box({ size: 9 })]), live: world(), state: known }).drift).toEqual([]);
    expect(plan({ spec: spec([]), live: world({ size: 5 }), state: known }).drift).toHaveLength(1);
    expect(
      plan({ spec: spec([box({ size: 5 })]), live: world({ size: 5 }), state: known }).drift,
    ).toHaveLength(1);
  });

  test("leaves out fields that the spec ignores", () => {
    const wanted = spec([box({}, { lifecycle: { ignore_changes: ["size"] } })]);
    const { drift } = plan({ spec: wanted, live: world({ size: 5, note: "x" }), state: known });
    expect(drift).toMatchObject([{ diffs: [{ path: ["note"] }] }]);
    expect(drift[0]?.diffs).toHaveLength(1);
  });

  test("leaves out a field that is managed only if declared and that the spec no longer declares", () => {
    const managed = state([record("boxes.a", "b1", { ...APPLIED, members: ["x"] })]);
    const driftWith = (resources: readonly ReturnType<typeof box>[]) =>
      plan({ spec: spec(resources), live: world({ members: ["x", "y"] }), state: managed }).drift;
    expect(driftWith([box()])).toEqual([]);
    expect(driftWith([box({ members: ["x", "z"] })])).toMatchObject([{ diffs: [{ path: ["members"] }] }]);
    expect(driftWith([])).toMatchObject([{ diffs: [{ path: ["members"] }] }]);
  });

  test("has a live value that differs from the seen one where the record has none", () => {
    const seen = state([record("boxes.a", "b1", APPLIED, { seen: { note: "a" } })]);
    expect(plan({ spec: spec([box()]), live: world({ note: "b" }), state: seen }).drift).toMatchObject([
      { diffs: [{ path: ["note"], before: "b", cause: "drift" }] },
    ]);
  });

  test("has no field that the caller may not read", () => {
    const unread = { ...object("b1", "a", { ...APPLIED, size: 5 }), unreadFields: ["note"] };
    const seen = state([record("boxes.a", "b1", { ...APPLIED, note: "a" })]);
    const { drift, diagnostics } = plan({
      spec: spec([box()]),
      live: live({ boxes: [{ ...unread, unmanageable: "it cannot be read" }] }),
      state: seen,
    });
    expect(drift.map(({ diffs }) => diffs.map(({ path }) => path[0]))).toEqual([["size"]]);
    expect(diagnostics).toMatchObject([{ code: "PLAN_UNREADABLE", address: "boxes.a" }]);
  });

  test("has no value that the service changed", () => {
    const size = { ...registry.get("boxes").fields.size, changedByService: "why" };
    const kinds = registryOf(
      registry.kinds.map((one) => (one.kind === "boxes" ? { ...one, fields: { ...one.fields, size } } : one)),
    );
    const driftWith = (facts: JsonObject) =>
      plan({ registry: kinds, spec: spec([box()]), live: world({ size: 5 }, facts), state: known }).drift;
    expect(driftWith({ why: "ended" })).toEqual([]);
    expect(driftWith({})).toHaveLength(1);
  });

  test("has recorded objects that no longer exist, with what was recorded, in the order of their addresses", () => {
    const records = ["boxes.c", "boxes.a", "boxes.b"].map((address) => record(address, address, APPLIED));
    const { drift } = plan({ spec: spec([]), live: live(), state: state(records) });
    expect(drift).toEqual(
      ["a", "b", "c"].map((name) => ({
        address: `boxes.${name}`,
        kind: "boxes",
        name,
        what: "deleted",
        diffs: [],
        values: APPLIED,
        marks: [{ reported: false, declared: true }],
      })),
    );
  });

  test("says which values the spec has already", () => {
    const declaredWith = (declared: Record<string, Json>) =>
      plan({
        spec: spec([box({ ...APPLIED, ...declared })]),
        live: world({ size: 5, note: "b" }),
        state: state([record("boxes.a", "b1", { ...APPLIED, note: "a" })]),
      }).drift.map(({ diffs, marks }) => [
        diffs.map(({ path }) => path[0]),
        marks?.map(({ declared }) => declared === true),
      ]);
    expect(declaredWith({ size: 5, note: "b" })).toEqual([
      [
        ["size", "note"],
        [true, true],
      ],
    ]);
    expect(declaredWith({ size: 5, note: "a" })).toEqual([
      [
        ["size", "note"],
        [true, false],
      ],
    ]);
    expect(declaredWith({ note: "a" })).toEqual([[["size", "note"], undefined]]);
  });

  test("says so also where the plan deletes a replaced object of the resource", () => {
    const made = plan({
      spec: spec([box({ ...APPLIED, size: 5 })]),
      live: live({ boxes: [object("b1", "a", { ...APPLIED, size: 5 }), object("b0", "old", APPLIED)] }),
      state: state([record("boxes.a", "b1", APPLIED, { deposed: [remoteId("b0")] })]),
    });
    expect(made.changes.map(({ action }) => action).sort()).toEqual(["delete", "noop"]);
    expect(made.drift).toMatchObject([{ address: "boxes.a", marks: [{ declared: true }] }]);
  });

  test("says so of a dependency that --only takes along, too", () => {
    const task = resource("tasks.t", {
      values: { box: "${boxes.a.box_id}" },
      references: [reference(["box"], "boxes.a", "box_id")],
      dependsOn: ["boxes.a"],
    });
    const { drift } = plan({
      spec: spec([box({ size: 5 }), task]),
      live: live({ boxes: [object("b1", "a", { ...APPLIED, size: 5 })], tasks: [] }),
      state: known,
      only: (address: string) => address === "tasks.t",
    });
    expect(drift).toMatchObject([{ address: "boxes.a", marks: [{ declared: true }] }]);
  });

  test("says nothing of unfinished records, and of what was not or could not be read", () => {
    const { seen: _seen, ...half } = record("boxes.a", "b1", APPLIED) as Extract<
      StateRecord,
      { status: "ready" }
    >;
    const drift = (from: StateRecord, found = live()) =>
      plan({ spec: spec([]), live: found, state: state([from]) }).drift;
    expect(drift({ ...half, status: "deleting" })).toEqual([]);
    expect(drift({ ...half, status: "creating", token: "t" })).toEqual([]);
    expect(drift({ ...half, status: "deleting" }, world({ size: 5 }))).toEqual([]);
    const diagnostic = error("API_FORBIDDEN", "no");
    expect(drift(record("boxes.a", "b1"), new Map([["boxes", { readable: false, diagnostic }]]))).toEqual([]);
    expect(drift(record("boxes.a", "b1"), new Map())).toEqual([]);
  });

  test("is found in a resource whose own change is decided only by an apply", () => {
    const task = resource("tasks.t", {
      values: { box: "${boxes.n.box_id}" },
      references: [reference(["box"], "boxes.n", "box_id")],
      dependsOn: ["boxes.n"],
    });
    const made = (steps: readonly string[]) =>
      plan({
        spec: spec([resource("boxes.n"), task]),
        live: live({
          tasks: [object("t1", "t", { name: "t", box: "${boxes.n.box_id}", steps: [...steps] })],
        }),
        state: state([record("tasks.t", "t1", { name: "t", box: "${boxes.n.box_id}" })]),
      }).drift;
    expect(made([])).toEqual([]);
    expect(made(["x"])).toMatchObject([{ address: "tasks.t", diffs: [{ path: ["steps"] }] }]);
  });
});
