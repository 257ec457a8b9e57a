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
        resource("keys.a/k", { values: { value: "digest" }, dependsOn: ["boxes.a"] }),
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

  test("says that it is offline, and that an earlier run was interrupted", () => {
    const open = { seq: 1, at: 0, action: "create", operation: "o", token: "t", existed: false } as const;
    const intent = { ...open, address: resource("boxes.a").address, name: "a", wanted: {}, depends_on: [] };
    const said = offlineNotes({ ...state(), open: [intent] }).map((one) => one.message);
    expect(said.join("\n")).toMatch(/planned offline.*\n.*was interrupted/);
  });
});
