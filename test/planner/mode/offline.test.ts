// Plans without a network: the recorded values take the place of the live ones.

import { describe, expect, test } from "vitest";
import { makePlan } from "../../../src/planner/make-plan.ts";
import { offlineNotes, recordedLive } from "../../../src/planner/mode/offline.ts";
import type { Resource } from "../../../src/spec/model/spec.ts";
import type { StateRecord } from "../../../src/state/model/record.ts";
import { actions, record, resource, spec, state } from "../build.ts";
import { registry } from "../kinds.ts";

function planned(resources: readonly Resource[], records: readonly StateRecord[]) {
  const known = state(records);
  const live = recordedLive(registry, known);
  return makePlan({ registry, host: "h", spec: spec(resources), live, state: known, partial: true });
}

describe("an offline plan", () => {
  test("of what was applied is empty and shows no drift, server-decided and unreadable values among it", () => {
    const made = planned(
      [
        resource("boxes.a", { values: { material: "wood", tags: { x: "1" }, limits: { high: 3 } } }),
        {
          ...resource("keys.a/k", { values: { value: "digest" }, dependsOn: ["boxes.a"] }),
          payload: { digest: "digest", bytes: () => new Uint8Array() },
        },
        resource("tasks.t", { values: { steps: ["one"] } }),
      ],
      [
        record(
          "boxes.a",
          "b1",
          { box_name: "a", material: "wood", tags: { x: "1" }, limits: { high: 3 } },
          { seen: { timeout: 7 } },
        ),
        record("keys.a/k", "a/k", { value: "digest" }, { seen: { written: "5" } }),
        record("tasks.t", "t1", { name: "t", steps: ["one"] }),
      ],
    );
    expect(actions(made)).toEqual({});
    expect(made.drift).toEqual([]);
  });

  test("shows what the spec changed, added and dropped since", () => {
    const made = planned(
      [resource("boxes.a", { values: { size: 3 } }), resource("tasks.new")],
      [record("boxes.a", "b1", { box_name: "a", size: 2 }), record("boxes.b", "b2", { box_name: "b" })],
    );
    expect(actions(made)).toEqual({ "boxes.a": "update", "tasks.new": "create", "boxes.b": "delete" });
  });

  test("does not refuse a name that only the workspace may know", () => {
    const made = planned([resource("boxes.a", { values: { near: ["elsewhere"] } })], []);
    expect(made.diagnostics).toEqual([]);
  });

  test("has the recorded values as live ones: applied over seen, without what the service never returns", () => {
    const { seen: _seen, ...half } = record("boxes.c", "b3", { size: 3 }) as Extract<
      StateRecord,
      { status: "ready" }
    >;
    const known = state([
      record(
        "boxes.a",
        "b1",
        { tags: { x: "1" }, size: 2 },
        { seen: { tags: { y: "2", x: "0" }, size: { deep: 1 }, stamp: 9 } },
      ),
      record("keys.a/k", "a/k", { value: "digest" }, { seen: { written: "5" } }),
      { ...half, status: "deleting" },
      { ...half, address: resource("boxes.d").address, status: "creating", token: "t" },
      record("rooms.r", "r"),
    ]);
    const live = recordedLive(registry, known);
    expect([...live].map(([kind, found]) => [kind, found.readable && found.objects])).toEqual([
      [
        "boxes",
        [
          {
            id: "b1",
            name: "a",
            values: { tags: { y: "2", x: "1" }, size: 2 },
            facts: { tags: { y: "2", x: "0" }, size: { deep: 1 }, stamp: 9 },
          },
          { id: "b3", name: "c", values: { size: 3 }, facts: {} },
          { id: "b3", name: "c", values: {}, facts: {} },
        ],
      ],
      ["labels", []],
      ["keys", [{ id: "a/k", name: "a/k", values: {}, facts: { written: "5" } }]],
      ["tasks", []],
    ]);
  });

  test("says what it was compared with", () => {
    const first = (records: readonly StateRecord[], serial: number) =>
      offlineNotes({ ...state(records), serial })[0];
    expect(first([], 0)).toEqual({
      severity: "warning",
      code: "PLAN_MODE",
      message:
        "planned offline: the state is empty, so every resource is planned as new; the workspace was not read",
      hint: "to show drift, names from the workspace, and side effects on live objects, plan without --offline",
    });
    const compared = (serial: number) =>
      `planned offline: compared with serial ${serial} of the state; the workspace was not read`;
    expect(first([], 3)?.message).toBe(compared(3));
    expect(first([record("boxes.a", "b1")], 0)?.message).toBe(compared(0));
  });

  test("says that only the workspace shows the changes of an interrupted run", () => {
    const interrupted = {
      severity: "warning",
      code: "PLAN_MODE",
      message: "a run was interrupted, and only the workspace can tell the outcome of its requests",
      hint: "the next plan or apply with network access resolves it",
    };
    const sweep = { token: "t", address: resource("boxes.a").address, until: 1 };
    expect(offlineNotes({ ...state(), sweeps: [sweep] }).slice(1)).toEqual([interrupted]);
    expect(offlineNotes(state())).toHaveLength(1);
  });

  test("says that it is offline, and that an earlier run was interrupted", () => {
    const open = { seq: 1, at: 0, action: "create", operation: "o", token: "t", existed: false } as const;
    const intent = { ...open, address: resource("boxes.a").address, name: "a", wanted: {}, depends_on: [] };
    const said = offlineNotes({ ...state(), open: [intent] }).map((one) => one.message);
    expect(said.join("\n")).toMatch(/planned offline.*\n.*was interrupted/);
  });
});
