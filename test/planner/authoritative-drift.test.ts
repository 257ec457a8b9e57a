// Live objects of kinds that the policy calls authoritative are drift when neither spec nor state has them.

import { describe, expect, test } from "vitest";
import { error } from "../../src/core/diagnostic.ts";
import { emptyState } from "../../src/state/format/fold.ts";
import { actions, live, object, plan, record, resource, spec, state } from "./build.ts";

const known = state([record("boxes.a", "b1", { box_name: "a" })]);
const world = live({
  boxes: [object("b1", "a", { box_name: "a" }), object("b2", "new"), object("b0", "root")],
});
const authoritative = spec([resource("boxes.a")], { authoritative: ["boxes"] });

describe("drift of an authoritative kind", () => {
  test("contains exactly the objects that the plan deletes for the policy", () => {
    const made = plan({ spec: authoritative, live: world, state: known });
    expect(made.drift).toEqual([
      {
        address: "boxes.new",
        kind: "boxes",
        name: "new",
        what: "appeared",
        values: {},
        diffs: [],
        facts: {},
        id: "b2",
      },
    ]);
    expect(actions(made)).toEqual({ "boxes.new": "delete" });
  });

  test("contains nothing of a kind that is not authoritative, and nothing before a state exists", () => {
    expect(plan({ spec: spec([resource("boxes.a")]), live: world, state: known }).drift).toEqual([]);
    expect(plan({ spec: authoritative, live: world, state: emptyState("l") }).drift).toEqual([]);
  });

  test("contains an object with the name of a managed one, under a separate address", () => {
    const made = plan({
      spec: spec([resource("tasks.t")], { authoritative: ["tasks"] }),
      live: live({ tasks: [object("t1", "t"), object("t2", "t")] }),
      state: state([record("tasks.t", "t1")]),
    });
    expect(made.drift.map(({ address, what }) => [address, what])).toEqual([["tasks.t@t2", "appeared"]]);
  });

  test("is not taken for empty when the kind could not be read", () => {
    const unread = new Map(live()).set("tasks", {
      readable: false,
      diagnostic: error("API_FORBIDDEN", "the caller may not list tasks"),
    });
    const wanted = spec([resource("boxes.a")], { authoritative: ["tasks"] });
    const made = plan({ spec: wanted, live: unread, state: known });
    expect(made.diagnostics).toMatchObject([{ severity: "error", code: "PLAN_UNREADABLE" }]);
  });

  test("is restricted by --only", () => {
    const only = (address: string) => address !== "boxes.new";
    expect(plan({ spec: authoritative, live: world, state: known, only }).drift).toEqual([]);
  });
});
