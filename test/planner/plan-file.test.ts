// Saved plans: what binds them, and that no changed leaf is ever accepted.

import { describe, expect, test } from "vitest";
import { keyedDigest } from "../../src/core/digest.ts";
import { parseJson, stringifyJson } from "../../src/core/exact-json.ts";
import type { Json } from "../../src/core/json.ts";
import { withValueAt } from "../../src/core/pointer.ts";
import {
  type Binding,
  movedSince,
  otherRecords,
  readPlan,
  recordsDigest,
  savePlan,
  staleness,
} from "../../src/planner/plan-file.ts";
import { live, object, plan, record, reference, resource, spec, state } from "./build.ts";
import { registry } from "./kinds.ts";

const keyed = (text: string): string => keyedDigest(new Uint8Array(32).fill(7), text);
const binding: Binding = {
  tool_version: "1",
  host: "https://h",
  target: "default",
  made_at: 1_000,
  expires_at: 2_000,
  nonce: "n1",
  state: { lineage: "l", serial: 4, records: recordsDigest(state([])) },
  spec: { file: "workspace.yaml", files: [{ path: "workspace.yaml", digest: "d" }], vars: {}, var_files: [] },
};
const before = live({
  boxes: [object("9007199254740993", "a", { box_name: "a", size: 1 })],
  tasks: [object("t1", "gone", {})],
});
const made = plan({
  spec: spec([
    resource("boxes.a", { values: { size: 3 } }),
    resource("boxes.new"),
    resource("tasks.t", {
      values: { box: "${boxes.new.box_id}" },
      references: [reference(["box"], "boxes.new", "box_id")],
      dependsOn: ["boxes.new"],
    }),
  ]),
  live: before,
  state: state([
    record("boxes.a", "9007199254740993", { box_name: "a", size: 1 }),
    record("tasks.gone", "t1"),
  ]),
});
const text = savePlan(binding, made, keyed);
const present = {
  host: "https://h",
  now: 1_500,
  state: { lineage: "l", serial: 4, nonces: [] },
  files: [{ path: "workspace.yaml", digest: "d" }],
};

function saved() {
  const read = readPlan(text, keyed);
  if ("code" in read) throw new Error(read.message);
  return read;
}

/** Every path to a leaf of a JSON value. */
function leaves(value: Json, path: (string | number)[] = []): (string | number)[][] {
  if (value === null || typeof value !== "object") return [path];
  return Object.entries(value).flatMap(([key, member]) =>
    leaves(member, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

describe("a plan file", () => {
  test("returns the saved plan", () => {
    expect(stringifyJson(saved().plan)).toBe(stringifyJson(made));
    expect(saved().plan.changes.map((change) => change.action)).toEqual([
      "update",
      "create",
      "create",
      "delete",
    ]);
  });

  test("with any leaf changed is refused", () => {
    const whole = parseJson(text);
    const paths = leaves(whole);
    expect(paths.length).toBeGreaterThan(50);
    for (const path of paths) {
      const flipped = withValueAt(whole, path, "flipped");
      expect(readPlan(stringifyJson(flipped), keyed)).toMatchObject({ code: "PLAN_FILE" });
    }
  });

  test("with a signature of another key, truncated, or in another format is refused", () => {
    expect(readPlan(text, (one) => keyedDigest(new Uint8Array(32), one))).toMatchObject({
      code: "PLAN_FILE",
    });
    const earlier = text.replace("workspace-plan/2", "workspace-plan/1");
    expect(readPlan(earlier, keyed)).toMatchObject({ message: expect.stringContaining("this version") });
    for (const bad of ["", "[]", "null", "{}", text.slice(0, -9), "not json"])
      expect(readPlan(bad, keyed)).toMatchObject({ code: "PLAN_FILE" });
  });
});

describe("staleness", () => {
  const codes = (change: object): string[] =>
    staleness(saved(), { ...present, ...change }).map((one) => one.code);

  test("is empty while nothing moved", () => {
    expect(codes({})).toEqual([]);
  });

  test("names another host, an expiry, a second use, a moved state, another state, changed files", () => {
    expect(codes({ host: "https://other" })).toEqual(["PLAN_STALE"]);
    expect(codes({ now: 2_001 })).toEqual(["PLAN_EXPIRED"]);
    expect(codes({ state: { ...present.state, nonces: ["n1"] } })).toEqual(["PLAN_EXPIRED"]);
    expect(codes({ state: { ...present.state, serial: 5 } })).toEqual(["PLAN_STALE"]);
    expect(codes({ state: { ...present.state, lineage: "x" } })).toEqual(["PLAN_STALE"]);
    expect(codes({ files: [{ path: "workspace.yaml", digest: "e" }] })).toEqual(["PLAN_STALE"]);
    expect(codes({ files: [...present.files, { path: "more.yaml", digest: "e" }] })).toEqual(["PLAN_STALE"]);
  });
});

describe("what an interrupted run left", () => {
  test("makes a plan stale where recovery finds other records, or leaves something open", () => {
    const codes = (...given: Parameters<typeof state>) =>
      otherRecords(saved(), state(...given)).map((one) => one.code);
    expect(codes([])).toEqual([]);
    expect(codes([record("boxes.a", "1")])).toEqual(["PLAN_STALE"]);
    const ids = ["boxes.a", "boxes.b"].map((address) => record(address, "1"));
    expect(recordsDigest(state(ids))).toBe(recordsDigest(state(ids.toReversed())));
  });
});

describe("live objects that moved since the plan", () => {
  test("are named: changed, gone, or there where one was to be created", () => {
    expect(movedSince(saved().plan, before, registry, state())).toEqual([]);
    const moved = live({
      boxes: [object("9007199254740993", "a", { box_name: "a", size: 2 }), object("b3", "new")],
    });
    expect(movedSince(saved().plan, moved, registry, state()).map((one) => one.message)).toEqual([
      "boxes.a changed in the workspace after the plan was made",
      "boxes.new appeared in the workspace after the plan was made",
      "tasks.gone disappeared from the workspace after the plan was made",
    ]);
  });
});
