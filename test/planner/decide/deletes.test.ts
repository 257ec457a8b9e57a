// What leaves the workspace or the state, and what stays.

import { describe, expect, test } from "vitest";
import { error } from "../../../src/core/diagnostic.ts";
import { auditPlan } from "../../../src/planner/audit.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import { actions, live, object, plan, record, resource, spec, state } from "../build.ts";
import { registry } from "../kinds.ts";

const box = (name: string) => object(`b-${name}`, name, { box_name: name });
const recorded = (name: string, more: Parameters<typeof record>[3] = {}) =>
  record(`boxes.${name}`, `b-${name}`, { box_name: name }, more);
const label = object("a/x", "a/x", { text: "hello" });
const labelRecord = record("labels.a/x", "a/x", { text: "hello" }, { depends_on: [recorded("a").address] });

describe("a record that the spec does not declare", () => {
  test.each([
    { about: "is deleted when its object is live", there: [box("a")], gives: { "boxes.a": "delete" } },
    { about: "is forgotten when its object is gone", there: [], gives: { "boxes.a": "forget" } },
  ])("$about", ({ there, gives }) => {
    const made = plan({ spec: spec([]), live: live({ boxes: there }), state: state([recorded("a")]) });
    expect(actions(made)).toEqual(gives);
  });

  test("is forgotten when the service has its object in every workspace", () => {
    const made = plan({
      spec: spec([]),
      live: live({ boxes: [box("root")] }),
      state: state([recorded("root")]),
    });
    expect(actions(made)).toEqual({ "boxes.root": "forget" });
  });
});

describe("a recorded member that the spec does not declare", () => {
  const world = live({ boxes: [box("a")], labels: [label] });
  const known = state([recorded("a"), labelRecord]);

  test.each([
    {
      about: "is deleted when the spec owns the list",
      wanted: [resource("boxes.a", { owns: ["labels"] })],
      gives: { "labels.a/x": "delete" },
    },
    {
      about: "is forgotten when the spec no longer owns the list",
      wanted: [resource("boxes.a")],
      gives: { "labels.a/x": "forget" },
    },
    {
      about: "goes with its parent",
      wanted: [],
      gives: { "boxes.a": "delete", "labels.a/x": "forget" },
    },
  ])("$about", ({ wanted, gives }) => {
    expect(actions(plan({ spec: spec(wanted), live: world, state: known }))).toEqual(gives);
  });
});

describe("an object that was replaced earlier", () => {
  const world = live({ boxes: [box("a"), object("old", "a (old)", { box_name: "a (old)" })] });
  const known = state([recorded("a", { deposed: [object("old", "").id] })]);

  test("is deleted while its successor stays", () => {
    const made = plan({ spec: spec([resource("boxes.a")]), live: world, state: known });
    expect(made.changes.filter(({ action }) => action === "delete")).toMatchObject([
      { address: "boxes.a", id: "old", deposed: true },
    ]);
  });

  const gone = { spec: spec([resource("boxes.a")]), live: live({ boxes: [box("a")] }), state: known };

  test("is removed from the record when it no longer exists, and the record stays", () => {
    const made = plan(gone);
    expect(made.changes.filter(({ action }) => action !== "noop")).toMatchObject([
      { action: "forget", address: "boxes.a", id: "old", deposed: true },
    ]);
    expect(made.changes.map(({ action }) => action)).toEqual(["noop", "forget"]);
    expect(auditPlan(made, { ...gone, registry, host: "h" })).toEqual([]);
  });

  const unread: PlanInput["live"] = new Map([
    ["boxes", { readable: false, diagnostic: error("API_FORBIDDEN", "no") }],
  ]);

  test.each([
    { about: "the plan is offline", given: { partial: true } },
    { about: "its kind was not read", given: { live: new Map() } },
    { about: "its kind could not be read", given: { live: unread } },
  ])("stays in the record when $about", ({ given }) => {
    expect(actions(plan({ ...gone, ...given }))).toEqual({});
  });
});

describe("an undeclared object of an authoritative kind", () => {
  const world = live({ boxes: [box("a"), box("b"), box("root")] });
  const made = (authoritative: readonly string[], destroy = false) =>
    plan({
      spec: spec([resource("boxes.a")], { authoritative }),
      live: world,
      state: state([recorded("a")]),
      destroy,
    });

  test("is deleted, but not what the service has in every workspace", () => {
    expect(actions(made(["boxes"]))).toEqual({ "boxes.b": "delete" });
  });

  test("stays when the kind is not authoritative", () => {
    expect(actions(made([]))).toEqual({});
  });

  test("stays when everything managed is destroyed", () => {
    expect(actions(made(["boxes"], true))).toEqual({ "boxes.a": "delete" });
  });
});
