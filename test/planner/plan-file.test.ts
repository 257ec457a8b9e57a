// Saved plans: what binds them, and that no changed leaf is ever accepted.

import { describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { error } from "../../src/core/diagnostic.ts";
import { fingerprint, keyedDigest } from "../../src/core/digest.ts";
import { parseJson, stringifyJson } from "../../src/core/exact-json.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { withValueAt } from "../../src/core/pointer.ts";
import { liveFingerprint } from "../../src/planner/diff/normalize.ts";
import type { Change } from "../../src/planner/model/change.ts";
import type { Plan } from "../../src/planner/model/plan.ts";
import {
  type Binding,
  changedObjects,
  newHarms,
  otherRecords,
  planFilePieces,
  readPlan,
  recordsDigest,
  type SavedReport,
  staleness,
} from "../../src/planner/plan-file.ts";
import type { LiveObject } from "../../src/resource/live.ts";
import type { OpenIntent } from "../../src/state/model/record.ts";
import { live, object, plan, record, reference, resource, spec, state } from "./build.ts";
import { adopt, compare, create, forget, move, noop, remove, replace, report, update } from "./changes.ts";
import { registry } from "./kinds.ts";

const NO_PLAN: Plan = { host: "h", changes: [], drift: [], unmanaged: [], guards: [], diagnostics: [] };

const savedPlanText = (...plan: Parameters<typeof planFilePieces>): string =>
  [...planFilePieces(...plan)].join("");

const keyed = (text: string | Iterable<string>): string => keyedDigest(new Uint8Array(32).fill(7), text);
const binding: Binding = {
  tool_version: "1",
  host: "https://h",
  target: "default",
  made_at: 1_000,
  expires_at: 2_000,
  nonce: "n1",
  state: { lineage: "l", serial: 4, records: recordsDigest(state([])) },
  spec: { file: "workspace.yaml", files: [{ path: "workspace.yaml", digest: "d" }], vars: {}, var_files: [] },
  options: {},
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
const text = savedPlanText(binding, made, keyed);
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

  test("is read from its text, and from what that was parsed to", () => {
    expect(readPlan(parseJson(text) as JsonObject, keyed)).toEqual(saved());
  });

  test("is written in a few pieces, each of about 64 KiB", () => {
    const changes = Array.from({ length: 200 }, () =>
      update("boxes.a", { after: { note: "x".repeat(1_000) } }),
    );
    const pieces = [...planFilePieces(binding, { ...made, changes }, keyed)];
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.slice(0, -1).every(({ length }) => length >= 65_536 && length < 70_000)).toBe(true);
    expect(readPlan(pieces.join(""), keyed)).toMatchObject({ plan: { changes: { length: 200 } } });
    expect([...planFilePieces(binding, NO_PLAN, keyed)]).toHaveLength(1);
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
    const earlier = text.replace("workspace-plan/3", "workspace-plan/1");
    expect(readPlan(earlier, keyed)).toMatchObject({ message: expect.stringContaining("this version") });
    for (const bad of ["", "[]", "null", "{}", text.slice(0, -9), "not json"])
      expect(readPlan(bad, keyed)).toMatchObject({ code: "PLAN_FILE" });
  });
});

describe("a refused plan file", () => {
  const refusal = (text: string) => readPlan(text, keyed);

  test("says whether it is not a plan, of another version, or modified", () => {
    expect(refusal("[]")).toEqual({
      severity: "error",
      code: "PLAN_FILE",
      message: "the file is not a saved plan",
      hint: "to create one, run `workspace plan --out FILE`",
    });
    expect(refusal("not json")).toEqual(refusal("[]"));
    expect(refusal("{}")).toEqual({
      severity: "error",
      code: "PLAN_FILE",
      message: "the file is not a saved plan of this version",
      hint: "to create a new one, run `workspace plan --out FILE`",
    });
    expect(refusal(text.replace('"n1"', '"n2"'))).toEqual({
      severity: "error",
      code: "PLAN_FILE",
      message: "the plan file was modified, or was made with the key of another state",
      hint: "make a new plan; plan and apply need the same state and WORKSPACE_STATE_KEY",
    });
  });

  test("is read with its report when it has one", () => {
    const report: SavedReport = {
      run: { toolVersion: "1", madeAt: "2020-01-01T00:00:00Z" },
      notes: [],
      places: {},
    };
    expect(readPlan(savedPlanText(binding, made, keyed, report), keyed)).toMatchObject({ report });
    expect(saved()).not.toHaveProperty("report");
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

  test("names every reason with the values, and the same way on", () => {
    const files = [
      { path: "z.yaml", digest: "e" },
      { path: "a.yaml", digest: "e" },
    ];
    const told = (change: object) =>
      staleness(saved(), { ...present, ...change }).map(({ severity, message, hint }) => [
        severity,
        message,
        hint,
      ]);
    const hint = "make a new plan, then apply it";
    expect(told({ host: "https://other", now: 2_001, files })).toEqual(
      [
        "the plan is for https://h, not for https://other",
        "the plan expired at 1970-01-01T00:00:02.000Z",
        "a.yaml changed after the plan was made",
        "workspace.yaml changed after the plan was made",
        "z.yaml changed after the plan was made",
      ].map((message) => ["error", message, hint]),
    );
    expect(told({ state: { lineage: "x", serial: 5, nonces: ["n1"] } })).toEqual([
      [
        "error",
        "an apply of the plan has already begun",
        "make a new plan, then apply it; in a pipeline, run all of its jobs again",
      ],
      ["error", "the state changed after the plan was made (serial 4 then, 5 now)", hint],
    ]);
    expect(told({ state: { lineage: "x", serial: 4, nonces: [] } })).toEqual([
      ["error", "the plan was made with another state", hint],
    ]);
  });

  test("is empty at the last moment before the expiry, and for another state that is empty", () => {
    expect(codes({ now: 2_000 })).toEqual([]);
    const first = { ...saved(), state: { ...saved().state, serial: 0 } };
    const empty = { ...present, state: { lineage: "x", serial: 0, nonces: [] } };
    expect(staleness(first, empty)).toEqual([]);
  });
});

describe("what an interrupted run left", () => {
  test("makes a plan stale where recovery finds other records, or leaves something open", () => {
    const codes = (...given: Parameters<typeof state>) =>
      otherRecords(saved(), state(...given)).map((one) => one.code);
    expect(codes([])).toEqual([]);
    expect(codes([record("boxes.a", "1")])).toEqual(["PLAN_STALE"]);
    expect(otherRecords(saved(), state([record("boxes.a", "1")]))).toEqual([
      {
        severity: "error",
        code: "PLAN_STALE",
        message: "recovery of an interrupted run gave a different result than when the plan was made",
        hint: "make a new plan, then apply it",
      },
    ]);
    const open = (seq: number) => ({ records: state().records, open: [{ seq } as OpenIntent] });
    expect(recordsDigest(open(1))).not.toBe(recordsDigest(open(2)));
    expect(recordsDigest(open(1))).not.toBe(recordsDigest(state()));
    const ids = ["boxes.a", "boxes.b"].map((address) => record(address, "1"));
    expect(recordsDigest(state(ids))).toBe(recordsDigest(state(ids.toReversed())));
    expect(recordsDigest(state(ids)), "as one document").toBe(
      fingerprint(parseJson(stringifyJson({ records: ids, open: [] }))),
    );
  });
});

describe("live objects that moved since the plan", () => {
  test("fits objects that refer to another one by the name from before the plan renames it", () => {
    const world = live({
      boxes: [
        object("b1", "old", { box_name: "old", size: 1 }),
        object("b2", "other", { box_name: "other", near: ["old"], size: 1 }),
      ],
    });
    const known = state([
      record("boxes.a", "b1", { box_name: "old", size: 1 }),
      record("boxes.b", "b2", { box_name: "other", near: ["old"], size: 1 }),
    ]);
    const renaming = plan({
      spec: spec([
        resource("boxes.a", { values: { box_name: "new", size: 1 } }),
        resource("boxes.b", { values: { box_name: "other", near: ["new"], size: 2 } }),
      ]),
      live: world,
      state: known,
    });
    expect(renaming.changes.map(({ address, action }) => `${action} ${address}`).sort()).toEqual([
      "update boxes.a",
      "update boxes.b",
    ]);
    expect(changedObjects(renaming, world, registry, known)).toEqual([]);
  });

  test("are named: changed, gone, or there where one was to be created", () => {
    expect(changedObjects(saved().plan, before, registry, state())).toEqual([]);
    const moved = live({
      boxes: [object("9007199254740993", "a", { box_name: "a", size: 2 }), object("b3", "new")],
    });
    expect(changedObjects(saved().plan, moved, registry, state()).map((one) => one.message)).toEqual([
      "boxes.a changed in the workspace after the plan was made",
      "boxes.new appeared in the workspace after the plan was made",
      "tasks.gone disappeared from the workspace after the plan was made",
    ]);
  });
});

describe("whether one change still fits", () => {
  const a = object("b1", "a", { box_name: "a", size: 1, members: ["x"] });
  const box = registry.get("boxes");
  const moved = (
    change: Change,
    boxes: readonly LiveObject[],
    tasks: readonly LiveObject[] = [],
    known = state(),
  ) =>
    changedObjects({ ...made, changes: [change] }, live({ boxes, tasks }), registry, known).map(
      ({ message }) => message,
    );
  const gone = "boxes.a disappeared from the workspace after the plan was made";
  const changed = "boxes.a changed in the workspace after the plan was made";
  const fingerprint = liveFingerprint(box.fields, a, { size: 1 });
  const forDelete = liveFingerprint(box.fields, a, undefined);

  test.each([
    ["an update", update("boxes.a", { id: a.id, after: { size: 1 }, fingerprint })],
    ["a replacement", replace("boxes.a", { id: a.id, after: { size: 1 }, fingerprint })],
    ["an adoption", adopt("boxes.a", { id: a.id, after: { size: 1 }, fingerprint })],
    ["an import", adopt("boxes.a", { action: "import", id: a.id, after: { size: 1 }, fingerprint })],
    ["a move", move("boxes.a", { id: a.id, after: { size: 1 }, fingerprint })],
    ["a comparison of a secret", compare("boxes.a", { id: a.id, after: { size: 1 }, fingerprint })],
    ["a delete", remove("boxes.a", { id: a.id, fingerprint: forDelete })],
  ])("%s fits the object that it rests on, and no other", (_, change) => {
    expect(moved(change, [a])).toEqual([]);
    expect(moved(change, [{ ...a, values: { ...a.values, size: 2 } }])).toEqual([changed]);
    expect(moved(change, [])).toEqual([gone]);
    const { after } = { after: undefined, ...change } as { after: unknown };
    const others = moved(change, [{ ...a, values: { ...a.values, members: ["y"] } }]);
    expect(others).toEqual(after === undefined ? [changed] : []);
  });

  test("changes of the state alone always fit", () => {
    for (const change of [forget("boxes.a"), noop("boxes.a"), report("boxes.a")])
      expect(moved(change, [])).toEqual([]);
  });

  test("a creation fits while nothing has its name but the object that gives it up", () => {
    const nameFrom = { address: "boxes.b" as Address, id: a.id, freedWhen: "done" } as const;
    expect(moved(create("boxes.a"), [a])).toEqual([
      "boxes.a appeared in the workspace after the plan was made",
    ]);
    expect(moved(create("boxes.a", { nameFrom }), [a])).toEqual([]);
    expect(moved(create("boxes.a", { nameFrom }), [a, object("b2", "A")])).toHaveLength(1);
  });

  test("a creation in an object that the plan deletes or replaces fits, because what is in it is deleted as well", () => {
    const labels = live({ boxes: [a], labels: [object("a/x", "a/x", { text: "t" })] });
    const messages = (...changes: readonly Change[]) =>
      changedObjects({ ...made, changes }, labels, registry, state()).map(({ message }) => message);
    const [label, box] = [create("labels.a/x"), { id: a.id, after: { size: 1 }, fingerprint }];
    const appeared = "labels.a/x appeared in the workspace after the plan was made";
    expect(messages(label)).toEqual([appeared]);
    expect(messages(label, update("boxes.a", box))).toEqual([appeared]);
    expect(messages(label, replace("boxes.a", box))).toEqual([]);
    expect(messages(label, remove("boxes.a", { id: a.id, fingerprint: forDelete }))).toEqual([]);
    expect(messages(label, remove("tasks.a"))).toEqual([
      appeared,
      "tasks.a disappeared from the workspace after the plan was made",
    ]);
    // Only a creation is sure to come after the deletion.
    expect(messages(update("labels.a/y", { id: "a/y" as never }), replace("boxes.a", box))).toHaveLength(1);
  });

  test("a creation in a kind whose names are not unique fits unless an unknown unmanaged namesake appeared", () => {
    const [t1, t2, t3] = [object("t1", "t"), object("t2", "t"), object("t3", "t")];
    const known = state([record("tasks.other", "t3")]);
    const change = create("tasks.t", { namesakes: [{ id: t1.id }] });
    expect(moved(change, [], [t1, t3], known)).toEqual([]);
    expect(moved(create("tasks.t"), [], [], known)).toEqual([]);
    expect(moved(create("tasks.t"), [], [object("t4", "other")], known)).toEqual([]);
    expect(moved(change, [], [t1, t2, t3])).toEqual([
      "tasks.t has a namesake (ID t2 and t3) that appeared in the workspace after the plan was made",
    ]);
  });

  test("a finding has the address and the way on", () => {
    expect(changedObjects({ ...made, changes: [remove("boxes.a")] }, live(), registry, state())).toEqual([
      {
        severity: "error",
        code: "PLAN_LIVE_MOVED",
        message: gone,
        address: "boxes.a",
        hint: "make a new plan, then apply it",
      },
    ]);
  });
});

test.each([
  [
    "is in use by now",
    [],
    ["boxes.a would do more than the plan showed: the old object is in use now, so a new plan keeps it"],
  ],
  ["is still deleted", [remove("boxes.a", { deposed: true })], []],
  ["was deleted by hand", [forget("boxes.a", { deposed: true })], []],
])("a saved plan that deletes a replaced object which %s", (_, now, expected) => {
  const planWith = (all: readonly Change[]): Plan => ({ ...NO_PLAN, changes: all });
  const saved = planWith([remove("boxes.a", { deposed: true }), remove("boxes.b")]);
  const again = planWith([...now, remove("boxes.b")]);
  expect(newHarms(saved, again, (texts) => texts).map(({ message }) => message)).toEqual(expected);
});

test("one more harm that reads like another one, because a sensitive text is masked, is one more", () => {
  const harm = "(sensitive) loses the rights of the group";
  const planWith = (harms: readonly string[]): Plan => ({
    ...NO_PLAN,
    changes: [remove("boxes.a", { harms })],
  });
  const newIn = (before: readonly string[], now: readonly string[]) =>
    newHarms(planWith(before), planWith(now), (texts) => texts).length;
  expect([newIn([harm], [harm]), newIn([harm], [harm, harm]), newIn([harm, harm], [harm])]).toEqual([
    0, 1, 0,
  ]);
});

describe("effects that a saved plan did not show", () => {
  const hint = "make a new plan, then apply it; if this repeats, plan with the credentials of the apply";
  const finding = (address: string, what: string) => ({
    ...{ severity: "error", code: "PLAN_LIVE_MOVED", address, hint },
    message: `${address} would do more than the plan showed: ${what}`,
  });
  const found = (before: Partial<Plan>, now: Partial<Plan>, masked = (texts: readonly string[]) => texts) =>
    newHarms({ ...NO_PLAN, ...before }, { ...NO_PLAN, ...now }, masked);
  const guard = (
    code: "GUARD_DATA_LOSS" | "GUARD_LOCKOUT" | "GUARD_LIMIT",
    ...addresses: readonly string[]
  ) => ({
    ...{ diagnostic: error(code, "a loss"), addresses: addresses as Address[] },
  });

  test("are new harms of a change that it has", () => {
    const harmful = remove("boxes.a", { harms: ["old", "new"] });
    const known = found({ changes: [remove("boxes.a", { harms: ["old"] })] }, { changes: [harmful] });
    expect(known).toEqual([finding("boxes.a", "new")]);
    expect(found({ changes: [remove("boxes.a")] }, { changes: [harmful] })).toHaveLength(2);
    expect(found({ changes: [harmful] }, { changes: [remove("boxes.a")] })).toEqual([]);
    // What the saved plan does not do, the apply does not do either.
    expect(found({ changes: [noop("boxes.a")] }, { changes: [harmful] })).toEqual([]);
    expect(found({ changes: [remove("boxes.b")] }, { changes: [remove("boxes.b"), harmful] })).toEqual([]);
  });

  test("are not harms that differ by a sensitive value of this run alone", () => {
    const [before, now] = ["secret loses", "(sensitive) loses"].map((harm) =>
      remove("boxes.a", { harms: [harm] }),
    );
    const masked = (texts: readonly string[]) => texts.map((text) => text.replace("secret", "(sensitive)"));
    expect(found({ changes: before ? [before] : [] }, { changes: now ? [now] : [] }, masked)).toEqual([]);
  });

  test("are guards about a loss or a lockout by one of its changes, and no other guards", () => {
    const changes = [remove("boxes.a"), update("boxes.b")];
    expect(found({ changes }, { guards: [guard("GUARD_DATA_LOSS", "boxes.x", "boxes.b")] })).toEqual([
      finding("boxes.b", "a loss"),
    ]);
    expect(found({ changes }, { guards: [guard("GUARD_LOCKOUT", "boxes.a")] })).toHaveLength(1);
    expect(found({ changes }, { guards: [guard("GUARD_LIMIT", "boxes.a")] })).toEqual([]);
    expect(found({ changes }, { guards: [guard("GUARD_DATA_LOSS", "boxes.x")] })).toEqual([]);
  });

  const keeps = replace("boxes.a", { keepsOld: true });
  test.each<readonly [string, boolean, Change, readonly Change[]]>([
    ["is in use now", true, replace("boxes.a"), [keeps]],
    ["was in use before", false, keeps, [keeps]],
    ["is not in use", false, replace("boxes.a"), [replace("boxes.a")]],
    ["is no longer replaced", false, replace("boxes.a"), [update("boxes.a")]],
    ["was deleted before", false, replace("boxes.a"), []],
    ["is not replaced, but deleted", false, remove("boxes.a"), []],
  ])("are a replaced object that is kept, if it %s", (_, isKept, before, now) => {
    const expected = finding("boxes.a", "the old object is in use now, so a new plan keeps it");
    expect(found({ changes: [before] }, { changes: now })).toEqual(isKept ? [expected] : []);
  });
});
