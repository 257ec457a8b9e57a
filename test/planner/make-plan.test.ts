// Planning: the three-way rules, replacements, deletions, references, and the order of changes.

import { describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { error } from "../../src/core/diagnostic.ts";
import type { Live } from "../../src/resource/live.ts";
import type { Resource } from "../../src/spec/model/spec.ts";
import { actions, live, object, plan, record, reference, requests, resource, spec, state } from "./build.ts";

const box = (values = {}, more = {}) =>
  resource("boxes.a", { values: { material: "wood", ...values }, ...more });
const liveBox = (values = {}) => ({
  boxes: [object("b1", "a", { box_name: "a", material: "wood", size: 1, timeout: 60, ...values })],
});
const applied = { box_name: "a", material: "wood" };

const task = resource("tasks.t", {
  values: { box: "${boxes.a.box_id}" },
  references: [reference(["box"], "boxes.a", "box_id")],
  dependsOn: ["boxes.a"],
});

function onlyChange(made: ReturnType<typeof plan>) {
  const [change] = made.changes;
  if (change === undefined || made.changes.length !== 1)
    throw new Error(`one change expected, got ${made.changes.length}`);
  return change;
}

describe("a resource that is in the spec", () => {
  test("and nowhere else is created", () => {
    expect(actions(plan({ spec: spec([box()]) }))).toEqual({ "boxes.a": "create" });
  });

  test("and of a kind without side effects is created without any", () => {
    expect(onlyChange(plan({ spec: spec([box()]) })).consequences).toEqual([]);
  });

  test("and equal in the workspace is not changed", () => {
    expect(
      actions(
        plan({
          spec: spec([box()]),
          live: live(liveBox()),
          state: state([record("boxes.a", "b1", applied)]),
        }),
      ),
    ).toEqual({});
  });

  test("and exists unmanaged is refused with a hint to adopt it", () => {
    const made = plan({ spec: spec([box()]), live: live(liveBox()) });
    expect(made.changes).toEqual([]);
    expect(made.diagnostics).toMatchObject([
      { code: "PLAN_ALREADY_EXISTS", hint: expect.stringContaining("--adopt") },
    ]);
  });

  test("and is refused holds back nothing that --only names and that does not need it", () => {
    const refused = { spec: spec([box(), resource("tasks.free"), task]), live: live(liveBox()) };
    const only = (name: string) => plan({ ...refused, only: (address) => address === name });
    expect(actions(only("tasks.free"))).toEqual({ "tasks.free": "create" });
    expect(only("tasks.free").diagnostics).toEqual([]);
    expect(only("tasks.t").diagnostics).toMatchObject([{ code: "PLAN_ALREADY_EXISTS" }]);
  });

  test("and is excluded is neither planned nor refused, and what depends on it is named", () => {
    const refused = { spec: spec([box(), resource("tasks.free"), task]), live: live(liveBox()) };
    const without = (name: string) => plan({ ...refused, exclude: (address) => address === name });
    const made = without("boxes.a");
    expect(actions(made)).toEqual({ "tasks.free": "create" });
    expect(made.diagnostics).toMatchObject([{ code: "PLAN_EXCLUDED", severity: "warning" }]);
    expect(without("tasks.free").diagnostics).toMatchObject([{ code: "PLAN_ALREADY_EXISTS" }]);
    const decided = plan({ spec: refused.spec, live: live(), exclude: (address) => address === "boxes.a" });
    expect(actions(decided)).toEqual({ "tasks.free": "create" });
    expect(decided.part).toEqual({ planned: 1, total: 3, options: ["--exclude"], excluded: ["tasks.t"] });
    expect(decided.diagnostics).toMatchObject([
      {
        code: "PLAN_EXCLUDED",
        message: "1 more resource is excluded, because its change depends on an excluded one: tasks.t",
      },
    ]);
  });

  test("and exists unmanaged and equal is adopted on request, an unequal one updated", () => {
    expect(actions(plan({ spec: spec([box()]), live: live(liveBox()), adopt: true }))).toEqual({
      "boxes.a": "adopt",
    });
    expect(actions(plan({ spec: spec([box({ size: 3 })]), live: live(liveBox()), adopt: true }))).toEqual({
      "boxes.a": "update",
    });
  });

  test("and was deleted outside is created again, as drift", () => {
    const made = plan({ spec: spec([box()]), state: state([record("boxes.a", "b1", applied)]) });
    expect(onlyChange(made)).toMatchObject({ action: "create", cause: "drift" });
    expect(made.drift).toMatchObject([{ address: "boxes.a", what: "deleted" }]);
  });

  test("and is a built-in of the service is adopted without --adopt", () => {
    const made = plan({
      spec: spec([resource("boxes.root")]),
      live: live({ boxes: [object("b0", "root", { box_name: "root" })] }),
    });
    expect(actions(made)).toEqual({ "boxes.root": "adopt" });
  });

  test("under a name that another address manages is refused with the move that repairs it", () => {
    const made = plan({
      spec: spec([resource("boxes.b", { values: { box_name: "a" } })]),
      live: live(liveBox()),
      state: state([record("boxes.a", "b1", applied)]),
    });
    expect(made.diagnostics).toMatchObject([
      { code: "PLAN_ALREADY_EXISTS", hint: expect.stringContaining("state mv boxes.a boxes.b") },
    ]);
  });
});

describe("three-way difference", () => {
  const made = (desired: object, now: object, was: object, seen: object = {}) =>
    plan({
      spec: spec([box(desired)]),
      live: live(liveBox(now)),
      state: state([record("boxes.a", "b1", { ...applied, ...was }, { seen: { ...seen } })]),
    });

  test("a field that moved in the spec is an update caused by the spec", () => {
    expect(onlyChange(made({ size: 3 }, { size: 2 }, { size: 2 }))).toMatchObject({
      action: "update",
      cause: "spec",
      diffs: [{ path: ["size"], before: 2, after: 3 }],
    });
  });

  test("a field that moved in the workspace is an update caused by drift", () => {
    expect(onlyChange(made({ size: 2 }, { size: 5 }, { size: 2 }))).toMatchObject({
      action: "update",
      cause: "drift",
    });
  });

  test("a field that moved in both is caused by both", () => {
    expect(onlyChange(made({ size: 3 }, { size: 5 }, { size: 2 }))).toMatchObject({
      action: "update",
      cause: "both",
    });
  });

  test("a field dropped from the spec goes back to its default", () => {
    expect(onlyChange(made({}, { size: 4 }, { size: 4 }))).toMatchObject({
      action: "update",
      diffs: [{ path: ["size"], before: 4, after: 1 }],
      after: { size: 1 },
    });
  });

  test("a field dropped from the spec that the server decides is left to the server", () => {
    const change = onlyChange(made({}, { timeout: 5 }, { timeout: 5 }));
    expect(change).toMatchObject({
      action: "update",
      diffs: [{ path: ["timeout"], before: 5, after: undefined }],
    });
    expect(change).not.toHaveProperty("after.timeout");
  });

  test("a field never set that differs from its default is drift", () => {
    expect(onlyChange(made({}, { size: 9 }, {}))).toMatchObject({
      action: "update",
      cause: "drift",
      after: { size: 1 },
    });
  });

  test("a field that the server decides is compared with the value first seen", () => {
    expect(actions(made({}, { timeout: 60 }, {}, { timeout: 60 }))).toEqual({});
    expect(onlyChange(made({}, { timeout: 7 }, {}, { timeout: 60 }))).toMatchObject({
      cause: "drift",
      diffs: [{ path: ["timeout"], before: 7, after: 60 }],
    });
    expect(actions(made({}, { timeout: 7 }, {}))).toEqual({});
  });

  test("an unmanaged field is not compared", () => {
    expect(actions(made({}, { members: ["x"] }, {}))).toEqual({});
    expect(actions(made({ members: ["x"] }, { members: ["x", "y"] }, { members: ["x"] }))).toEqual({
      "boxes.a": "update",
    });
  });

  test("a value that appeared in an optional field is removed", () => {
    expect(onlyChange(made({}, { note: "hello" }, {}))).toMatchObject({
      cause: "drift",
      diffs: [{ path: ["note"], after: undefined }],
    });
  });

  test("sets compare without order, maps key by key, empty as absent, names without case", () => {
    expect(actions(made({ colors: ["r", "g"] }, { colors: ["g", "r"] }, { colors: ["r", "g"] }))).toEqual({});
    expect(actions(made({ tags: {} }, {}, { tags: {} }))).toEqual({});
    expect(actions(made({ box_name: "A" }, {}, { box_name: "A" }))).toEqual({});
    expect(onlyChange(made({ tags: { a: "1", b: "2" } }, { tags: { a: "1", c: "3" } }, {}))).toMatchObject({
      diffs: [
        { path: ["tags", "b"], after: "2" },
        { path: ["tags", "c"], before: "3", after: undefined },
      ],
    });
  });

  test("members of an object fall back to their own defaults", () => {
    expect(
      actions(made({ limits: { high: 5 } }, { limits: { low: 0, high: 5 } }, { limits: { high: 5 } })),
    ).toEqual({});
    expect(
      onlyChange(made({ limits: { high: 5 } }, { limits: { low: 2, high: 5 } }, { limits: { high: 5 } })),
    ).toMatchObject({ diffs: [{ path: ["limits", "low"], before: 2, after: 0 }] });
    expect(actions(made({}, { limits: { low: 0 } }, {}))).toEqual({});
  });

  test("an ignored field is not compared and keeps its live value in a write for another", () => {
    const ignoring = plan({
      spec: spec([box({ size: 3, note: "mine" }, { lifecycle: { ignore_changes: ["note"] } })]),
      live: live(liveBox({ size: 2, note: "theirs" })),
      state: state([record("boxes.a", "b1", { ...applied, size: 2, note: "mine" })]),
    });
    expect(onlyChange(ignoring)).toMatchObject({
      action: "update",
      after: { size: 3, note: "theirs" },
      diffs: [{ path: ["size"] }],
    });
    expect(ignoring.drift).toEqual([]);
  });
});

describe("an immutable field", () => {
  const changed = (more = {}) =>
    spec([
      box({ material: "steel" }, more),
      resource("tasks.t", {
        values: { box: "${boxes.a.box_id}" },
        references: [reference(["box"], "boxes.a", "box_id")],
        dependsOn: ["boxes.a"],
      }),
    ]);
  const world = { ...liveBox(), tasks: [object("t1", "t", { name: "t", box: "b1" })] };
  const known = state([
    record("boxes.a", "b1", applied),
    record("tasks.t", "t1", { name: "t", box: "b1" }, { depends_on: ["boxes.a" as Address] }),
  ]);

  test("that changes is refused unless the policy says replace", () => {
    const made = plan({ spec: changed(), live: live(world), state: known });
    expect(made.diagnostics).toMatchObject([
      {
        code: "PLAN_IMMUTABLE",
        message: expect.stringContaining("material"),
        hint: expect.stringContaining("on_immutable_change"),
      },
    ]);
    expect(actions(made)).toEqual({});
  });

  test("that changes plans a replacement, repoints what holds the old id, and removes the old after that", () => {
    const made = plan({
      spec: changed({ lifecycle: { on_immutable_change: "replace" } }),
      live: live(world),
      state: known,
    });
    expect(actions(made)).toEqual({ "boxes.a": "replace", "tasks.t": "update" });
    expect(made.changes[0]).toMatchObject({
      because: [{ path: ["material"] }],
      replacing: "rename-aside",
      removeAfter: ["tasks.t"],
    });
    expect(made.changes[1]).toMatchObject({
      dependsOn: ["boxes.a"],
      reasons: ["boxes.a is replaced and gets a new ID"],
      diffs: [{ path: ["box"], before: "b1", unknown: true }],
      unresolved: [{ path: ["box"] }],
    });
  });

  test("of a replaced parent creates its nested resources again", () => {
    const nested = [resource("labels.a/x", { values: { text: "hi" }, dependsOn: ["boxes.a"] })];
    const made = plan({
      spec: spec([box({ material: "steel" }, { lifecycle: { on_immutable_change: "replace" } }), ...nested]),
      live: live({ ...liveBox(), labels: [object("a/x", "a/x", { text: "hi" })] }),
      state: state([
        record("boxes.a", "b1", applied),
        record("labels.a/x", "a/x", { text: "hi" }, { depends_on: ["boxes.a" as Address] }),
      ]),
    });
    expect(actions(made)).toEqual({ "boxes.a": "replace", "labels.a/x": "create" });
    expect(made.changes[1]).toMatchObject({
      cause: "spec",
      reasons: ["it is deleted together with the old boxes.a"],
    });
    expect(made.drift).toEqual([]);
  });
});

test("a reference whose target was deleted outside moves because of that, and not because of the spec", () => {
  const task = resource("tasks.t", {
    values: { box: "${boxes.a.box_id}" },
    references: [reference(["box"], "boxes.a", "box_id")],
    dependsOn: ["boxes.a"],
  });
  const known = state([
    record("boxes.a", "b1", { box_name: "a" }),
    record("tasks.t", "t1", { name: "t", box: "b1" }, { depends_on: ["boxes.a" as Address] }),
  ]);
  const after = (box: string) =>
    plan({
      spec: spec([resource("boxes.a"), task]),
      live: live({ tasks: [object("t1", "t", { name: "t", box })] }),
      state: known,
    }).changes.find(({ kind }) => kind === "tasks");
  expect(after("b1")).toMatchObject({ action: "update", cause: "drift" });
  expect(after("other")).toMatchObject({ action: "update", cause: "drift" });
});

describe("a resource that left the spec", () => {
  test("is deleted if it was recorded, forgotten if it is missing, and listed if it was never managed", () => {
    const made = plan({
      spec: spec([resource("boxes.keep")]),
      live: live({
        boxes: [object("b1", "a"), object("b2", "stranger"), object("b3", "keep", { box_name: "keep" })],
      }),
      state: state([
        record("boxes.a", "b1"),
        record("boxes.gone", "b9"),
        record("boxes.keep", "b3", { box_name: "keep" }),
      ]),
    });
    expect(actions(made)).toEqual({ "boxes.a": "delete", "boxes.gone": "forget" });
    expect(made.unmanaged).toEqual([{ kind: "boxes", name: "stranger", id: "b2" }]);
  });

  test("goes after what held it let go, also when that stays", () => {
    const made = plan({
      spec: spec([resource("tasks.t", { values: {} })]),
      live: live({ ...liveBox(), tasks: [object("t1", "t", { name: "t", box: "b1" })] }),
      state: state([
        record("boxes.a", "b1", applied),
        record("tasks.t", "t1", { name: "t", box: "b1" }, { depends_on: ["boxes.a" as Address] }),
      ]),
    });
    expect(made.changes.map((change) => change.address)).toEqual(["tasks.t", "boxes.a"]);
    expect(made.changes[1]?.dependsOn).toEqual(["tasks.t"]);
  });

  test("is deleted with its parent, without a separate request", () => {
    const made = plan({
      spec: spec([]),
      live: live({ ...liveBox(), labels: [object("a/x", "a/x", { text: "hi" })] }),
      state: state([
        record("boxes.a", "b1", applied),
        record("labels.a/x", "a/x", { text: "hi" }, { depends_on: ["boxes.a" as Address] }),
      ]),
    });
    expect(actions(made)).toEqual({ "boxes.a": "delete", "labels.a/x": "forget" });
    expect(made.changes.map((change) => change.address)).toEqual(["boxes.a", "labels.a/x"]);
  });

  test("is deleted in kinds that the policy calls authoritative, built-ins excepted", () => {
    const made = plan({
      spec: spec([], { authoritative: ["boxes"] }),
      live: live({ boxes: [object("b0", "root"), object("b2", "stranger")] }),
    });
    expect(actions(made)).toEqual({ "boxes.stranger": "delete" });
  });

  test("is not deleted if the spec declares it and may not adopt it: one error, and no cycle", () => {
    const made = plan({
      spec: spec([resource("boxes.b"), resource("tasks.t", { dependsOn: ["boxes.b"] })], {
        authoritative: ["boxes"],
      }),
      live: live({ boxes: [object("b9", "B")] }),
    });
    expect(made.diagnostics.map(({ code }) => code)).toEqual(["PLAN_ALREADY_EXISTS"]);
    expect(actions(made)).toEqual({ "tasks.t": "create" });
  });

  test("the deposed object of an earlier replacement is deleted, and its successor is kept", () => {
    const made = plan({
      spec: spec([box()]),
      live: live({ boxes: [...liveBox().boxes, object("b0", "a (replaced)", {})] }),
      state: state([record("boxes.a", "b1", applied, { deposed: ["b0" as never] })]),
    });
    expect(made.changes).toMatchObject([
      { action: "noop", id: "b1" },
      { action: "delete", id: "b0", deposed: true },
    ]);
  });
});

describe("members of a parent", () => {
  const parent = (owns: string[]) => resource("boxes.a", { values: { material: "wood" }, owns });
  const world = live({
    ...liveBox(),
    labels: [object("a/foreign", "a/foreign", { text: "owner" })],
    keys: [object("a/k", "a/k")],
  });
  const known = state([record("boxes.a", "b1", applied)]);

  test("that are not in a managed list are removed and shown as drift", () => {
    const made = plan({ spec: spec([parent(["labels"])]), live: world, state: known, caller: "me" });
    expect(actions(made)).toEqual({ "labels.a/foreign": "delete", "keys.a/k": "report" });
    expect(made.drift).toMatchObject([{ address: "labels.a/foreign", what: "appeared" }]);
  });

  test("stay where the spec does not name the list", () => {
    expect(actions(plan({ spec: spec([parent([])]), live: world, state: known }))).toEqual({
      "keys.a/k": "report",
    });
  });

  test("that the kind keeps for the caller stay, and planning asks who the caller is", () => {
    expect(
      actions(plan({ spec: spec([parent(["labels"])]), live: world, state: known, caller: "foreign" })),
    ).toEqual({ "keys.a/k": "report" });
    expect(requests({ spec: spec([parent(["labels"])]), live: world, state: known }).caller).toBe(true);
  });
});

describe("a value that cannot be read back", () => {
  const parent = resource("boxes.a", { values: { material: "wood" } });
  const key = (
    value: string,
    more: Partial<Resource> = { payload: { digest: value, bytes: () => new Uint8Array() } },
  ) => ({
    ...resource("keys.a/k", { values: { value }, dependsOn: ["boxes.a"] }),
    ...more,
  });
  const made = (value: string, written: number, more?: Partial<Resource>) =>
    plan({
      spec: spec([parent, key(value, more)]),
      live: live({ ...liveBox(), keys: [object("a/k", "a/k", {}, { written })] }),
      state: state([
        record("boxes.a", "b1", applied),
        record(
          "keys.a/k",
          "a/k",
          { value: "d1" },
          { seen: { written: 5 }, depends_on: ["boxes.a" as Address] },
        ),
      ]),
    });

  test("counts as unchanged while its witness and its digest stay", () => {
    expect(actions(made("d1", 5))).toEqual({});
  });

  test("is compared by an apply when the spec's value is unknown, unless it is ignored", () => {
    expect(made("d1", 5, {}).changes).toMatchObject([
      { action: "noop", address: "boxes.a" },
      {
        action: "compare",
        address: "keys.a/k",
        id: "a/k",
        after: { value: "d1" },
        steps: [{ operation: "update" }],
        fingerprint: expect.any(String),
      },
    ]);
    const ignoring = { lifecycle: { ...key("d1").lifecycle, ignore_changes: ["value"] } };
    expect(actions(made("d1", 5, ignoring))).toEqual({});
    expect(made("d1", 5, {}).drift).toEqual([]);
    expect(actions(made("d1", 6, {}))).toEqual({ "keys.a/k": "update" });
  });

  test("is written again if the spec's value changed or it was written outside the spec", () => {
    expect(made("d2", 5).changes.at(-1)).toMatchObject({ action: "update", cause: "spec" });
    expect(made("d1", 6).changes.at(-1)).toMatchObject({ action: "update", cause: "drift" });
    expect(made("d1", 6).drift).toMatchObject([{ address: "keys.a/k" }]);
  });
});

describe("a kind that cannot be read", () => {
  test("is never taken for empty: nothing of it is planned and an error says so", () => {
    const broken: Live = new Map([
      ...live(),
      ["boxes", { readable: false, diagnostic: error("API_FORBIDDEN", "no") }],
    ]);
    const made = plan({
      spec: spec([resource("boxes.new"), resource("tasks.t")]),
      live: broken,
      state: state([record("boxes.a", "b1", applied)]),
    });
    expect(actions(made)).toEqual({ "tasks.t": "create" });
    expect(made.diagnostics).toMatchObject([{ code: "PLAN_UNREADABLE" }]);
  });

  test("is reported once for each cause, with every kind that it blocks", () => {
    const unread = (message: string) =>
      ({ readable: false, diagnostic: error("API_REFUSED", message) }) as const;
    const found = (boxes: string, tasks: string) =>
      plan({
        spec: spec([resource("boxes.new"), resource("tasks.t")]),
        live: new Map([...live(), ["boxes", unread(boxes)], ["tasks", unread(tasks)]]),
      }).diagnostics.map(({ message, cause }) => [message, cause]);
    const later = ", 3 attempts in 2 s";
    expect(found("boxes/list was refused (500)", `tasks/list was refused (500)${later}`)).toEqual([
      [
        "boxes and tasks could not be read, so their differences are unknown",
        "API_REFUSED: boxes/list was refused (500)",
      ],
    ]);
    expect(found("boxes/list was refused (500)", "tasks/list was refused (404)")).toHaveLength(2);
  });
});

describe("guards", () => {
  const many = Array.from({ length: 12 }, (_, at) => `boxes.n${at}`);
  const known = state(many.map((address, at) => record(address, `b${at}`)));
  const world = live({
    boxes: many.map((address, at) => object(`b${at}`, address.slice(6), { box_name: address.slice(6) })),
  });

  test("refuse more deletes than the policy allows", () => {
    const made = plan({ spec: spec([], { max_deletes: { share: 0.3 } }), live: world, state: known });
    expect(made.guards).toMatchObject([{ diagnostic: { code: "GUARD_MAX_DELETES" } }]);
    expect(
      plan({ spec: spec([], { max_deletes: { count: 12 } }), live: world, state: known }).guards,
    ).toEqual([]);
    expect(
      plan({ spec: spec([], { max_deletes: { count: 11 } }), live: world, state: known }).guards,
    ).toHaveLength(1);
  });

  test("let a destroy delete everything except resources with prevent_destroy", () => {
    const marked = resource("boxes.n3", { lifecycle: { prevent_destroy: true } });
    const made = plan({
      spec: spec([marked], { max_deletes: { share: 0.3 } }),
      live: world,
      state: known,
      destroy: true,
    });
    expect(Object.values(actions(made))).toEqual(Array(12).fill("delete"));
    expect(made.guards).toMatchObject([
      { diagnostic: { code: "GUARD_PREVENT_DESTROY", address: "boxes.n3" } },
    ]);
  });

  test("count what the workspace would hold after the plan", () => {
    const keys = ["1", "2", "3", "4"].map((name) =>
      resource(`keys.a/${name}`, { values: { value: "d" }, dependsOn: ["boxes.a"] }),
    );
    const made = plan({ spec: spec([box(), ...keys]) });
    expect(made.guards).toMatchObject([
      { diagnostic: { code: "GUARD_LIMIT", message: expect.stringContaining("4 keys") } },
    ]);
  });
});

describe("a plan restricted to addresses", () => {
  test("has the errors of what the users of a replaced object need", () => {
    const made = plan({
      spec: spec(
        [
          resource("boxes.a", { values: { material: "iron" } }),
          resource("boxes.taken"),
          resource("tasks.t", { values: { box: "new" }, dependsOn: ["boxes.a", "boxes.taken"] }),
        ],
        { on_immutable_change: "replace" },
      ),
      live: live({
        boxes: [
          object("b1", "a", { box_name: "a", material: "wood", size: 1, timeout: 60 }),
          object("b2", "taken", { box_name: "taken", size: 1, timeout: 60 }),
        ],
        tasks: [object("t1", "t", { box: "b1" })],
      }),
      state: state([
        record("boxes.a", "b1", { material: "wood" }),
        record("tasks.t", "t1", { box: "b1" }, { depends_on: ["boxes.a" as Address] }),
      ]),
      only: (address) => address === "boxes.a",
    });
    expect(actions(made)).toEqual({ "boxes.a": "replace", "tasks.t": "update" });
    expect(made.diagnostics).toMatchObject([{ code: "PLAN_ALREADY_EXISTS", address: "boxes.taken" }]);
  });

  test("has the errors of the users of a replaced or deleted object", () => {
    const odd = { ...object("t1", "t", { box: "b1" }), unmanageable: "it has 2 parts" };
    const iron = resource("boxes.a", { values: { material: "iron" } });
    const user = resource("tasks.t", { dependsOn: ["boxes.a"] });
    // A resource that was never applied with the box loses nothing.
    const fresh = resource("tasks.new", { name: "t", dependsOn: ["boxes.a"] });
    const of = (resources: readonly (typeof iron)[], more: { destroy?: boolean; adopt?: boolean } = {}) =>
      plan({
        spec: spec(resources, { on_immutable_change: "replace" }),
        live: live({ boxes: liveBox().boxes, tasks: [odd] }),
        state: state([
          record("boxes.a", "b1", { material: "wood" }),
          record("tasks.t", "t1", { box: "b1" }, { depends_on: ["boxes.a" as Address] }),
        ]),
        only: (address) => address === "boxes.a",
        ...more,
      }).diagnostics.map(({ code, address }) => `${code} ${address}`);
    expect(of([iron, user, fresh], { adopt: true })).toEqual(["PLAN_UNMANAGEABLE tasks.t"]);
    expect(of([resource("tasks.t")])).toEqual(["PLAN_UNMANAGEABLE tasks.t"]);
    expect(of([box(), user])).toEqual([]);
    expect(of([iron, user], { destroy: true })).toEqual([]);
  });

  test("holds them and what they need, nothing else", () => {
    const task = resource("tasks.t", {
      values: { box: "x" },
      references: [reference(["box"], "boxes.a", "box_id")],
      dependsOn: ["boxes.a"],
    });
    const made = plan({
      spec: spec([box(), task, resource("tasks.other")]),
      only: (address) => address === "tasks.t",
    });
    expect(Object.keys(actions(made))).toEqual(["boxes.a", "tasks.t"]);
  });
});
