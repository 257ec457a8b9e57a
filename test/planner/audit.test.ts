// The audit of a plan: each contradiction is found when it is planted.

import { describe, expect, test } from "vitest";
import type { Address, RemoteId } from "../../src/core/address.ts";
import { error } from "../../src/core/diagnostic.ts";
import { auditPlan, nameContradictions } from "../../src/planner/audit.ts";
import { liveFingerprint } from "../../src/planner/diff/normalize.ts";
import { makePlan } from "../../src/planner/make-plan.ts";
import type { Change } from "../../src/planner/model/change.ts";
import { indexLive } from "../../src/planner/model/context.ts";
import type { PlanInput } from "../../src/planner/model/input.ts";
import type { Plan } from "../../src/planner/model/plan.ts";
import { live, object, record, resource, spec, state } from "./build.ts";
import { adopt, compare, create, forget, noop, remove, replace, report, update } from "./changes.ts";
import { registry } from "./kinds.ts";

const input: PlanInput = {
  registry,
  host: "h",
  spec: spec([
    resource("boxes.a", { values: { size: 3 } }),
    resource("labels.a/x", { values: { text: "t" }, dependsOn: ["boxes.a"] }),
    resource("boxes.n"),
  ]),
  live: live({
    boxes: [
      object("b1", "a", { box_name: "a", size: 1 }),
      object("b2", "old", { box_name: "old" }),
      object("b0", "root"),
      object("b9", "stranger"),
    ],
  }),
  state: state([
    record("boxes.a", "b1", { box_name: "a", size: 1 }),
    record("boxes.old", "b2", { box_name: "old" }),
  ]),
};
const sound = makePlan(input);

function planted(change: (changes: Change[]) => void): string[] {
  const changes = sound.changes.map((one) => ({ ...one }) as Change);
  change(changes);
  return auditPlan({ ...sound, changes }, input).map((one) => one.message);
}

function edit(action: Change["action"], to: object): (changes: Change[]) => void {
  return (changes) => {
    const at = changes.findIndex((one) => one.action === action);
    changes[at] = { ...changes[at], ...to } as Change;
  };
}

test("a sound plan has no findings", () => {
  expect(sound.changes.map((one) => one.action)).toEqual(["update", "create", "create", "delete"]);
  expect(auditPlan(sound, input)).toEqual([]);
});

test.each([
  [
    "the same resource twice",
    (changes: Change[]) => changes.push({ ...changes[0] } as Change),
    "planned twice",
  ],
  ["one object under two addresses", edit("delete", { id: "b1" }), "changed by both"],
  ["a need that comes later", edit("update", { dependsOn: ["boxes.old"] }), "comes later"],
  ["a change of something that is not live", edit("delete", { id: "nowhere" }), "not live"],
  ["a fingerprint of another object", edit("update", { fingerprint: "0" }), "fingerprint"],
  [
    "an immutable field changed in place",
    edit("update", {
      diffs: [{ path: ["material"], before: "a", after: "b", cause: "spec", replaces: true }],
    }),
    "immutable",
  ],
  ["an update without a step", edit("update", { steps: [] }), "without a step"],
  ["a delete of what the spec declares", edit("delete", { address: "boxes.n" }), "in the spec"],
  ["a delete of a built-in", edit("delete", { name: "root" }), "built in"],
  ["a delete of a stranger", edit("delete", { address: "boxes.stranger", id: "b9" }), "never managed"],
  ["a creation that nobody asked for", edit("create", { address: "boxes.x" }), "not in the spec"],
])("%s is found", (_name, plant, message) => {
  expect(planted(plant).join("\n")).toContain(message);
});

test("a finding is an error that tells the user that nothing was changed", () => {
  const changes = sound.changes.map((change) => ({
    ...change,
    name: change.action === "delete" ? "root" : change.name,
  }));
  expect(auditPlan({ ...sound, changes } as Plan, input)).toEqual([
    {
      severity: "error",
      code: "PLAN_UNSOUND",
      message: "boxes.old is built in and would be deleted",
      hint: "this is a bug in workspace; nothing was changed",
    },
  ]);
});

describe("the audit of one change", () => {
  const box = object("b1", "a", { box_name: "a", size: 1, members: ["x"] });
  const diff = (replaces: boolean) =>
    ({ path: ["size"], before: 1, after: 2, cause: "spec", replaces }) as const;
  const fits = {
    id: box.id,
    after: { size: 2 },
    fingerprint: liveFingerprint(registry.get("boxes").fields, box, { size: 2 }),
  };
  const forDelete = {
    id: box.id,
    fingerprint: liveFingerprint(registry.get("boxes").fields, box, undefined),
  };
  const world = live({ boxes: [box], keys: [object("a/k", "a/k")] });
  const found = (changes: readonly Change[], more: Partial<PlanInput> = {}) => {
    const from = {
      registry,
      host: "h",
      spec: spec([resource("boxes.a")]),
      live: world,
      state: state(),
      ...more,
    };
    return auditPlan({ ...sound, changes }, from).map(({ message }) => message);
  };
  const managed = { spec: spec([]), state: state([record("boxes.a", "b1")]) };

  test("accepts each change that fits", () => {
    expect(found([update("boxes.a", fits)])).toEqual([]);
    expect(found([replace("boxes.a", fits)])).toEqual([]);
    expect(found([adopt("boxes.a", fits)])).toEqual([]);
    expect(found([noop("boxes.a", fits)])).toEqual([]);
    expect(found([remove("boxes.a", forDelete)], managed)).toEqual([]);
    expect(found([remove("boxes.a", { ...forDelete, deposed: true })], { state: managed.state })).toEqual([]);
    const keyPrint = liveFingerprint(registry.get("keys").fields, object("a/k", "a/k"), undefined);
    expect(found([report("keys.a/k", { id: object("a/k", "").id, fingerprint: keyPrint })])).toEqual([]);
    expect(found([remove("keys.a/k", { id: object("a/k", "").id, fingerprint: keyPrint })])).toEqual([]);
    expect(found([remove("boxes.a", forDelete)], { spec: spec([], { authoritative: ["boxes"] }) })).toEqual(
      [],
    );
    expect(found([forget("boxes.gone"), forget("tasks.gone")])).toEqual([]);
  });

  test("compares all live values for a delete, and those that it sets for a write", () => {
    const others = { live: live({ boxes: [{ ...box, values: { ...box.values, members: ["y"] } }] }) };
    expect(found([update("boxes.a", fits)], others)).toEqual([]);
    expect(found([remove("boxes.a", forDelete)], { ...managed, ...others })).toEqual([
      "boxes.a has the fingerprint of another object",
    ]);
    expect(found([report("boxes.a", forDelete)], others)).toEqual([
      "boxes.a has the fingerprint of another object",
    ]);
    expect(found([adopt("boxes.a", { ...fits, fingerprint: "0" })])).toEqual([
      "boxes.a has the fingerprint of another object",
    ]);
  });

  test("finds changes of what is not in the spec", () => {
    expect(found([update("boxes.a", fits)], { spec: spec([]) })).toEqual([
      "boxes.a is updated, but is not in the spec",
    ]);
    expect(found([create("boxes.n")], { spec: spec([resource("boxes.n")]), destroy: true })).toEqual([
      "boxes.n is created, but is not in the spec",
    ]);
    expect(found([remove("boxes.a", forDelete)], { state: managed.state })).toEqual([
      "boxes.a is deleted, but is in the spec",
    ]);
    expect(found([remove("boxes.a", forDelete)], { state: managed.state, destroy: true })).toEqual([]);
  });

  test("finds a comparison of what is not in the spec, and one or an update without a step", () => {
    const compared = compare("boxes.a", fits);
    expect(found([compared])).toEqual([]);
    expect(found([compared], { spec: spec([]) })).toEqual(["boxes.a is compared, but is not in the spec"]);
    expect(found([{ ...compared, steps: [] }])).toEqual(["boxes.a is compared without a step"]);
    expect(found([update("boxes.a", { ...fits, steps: [] })])).toEqual(["boxes.a is updated without a step"]);
  });

  test("finds an immutable field among others that an update changes", () => {
    expect(found([update("boxes.a", { ...fits, diffs: [diff(false), diff(true)] })])).toEqual([
      "boxes.a changes an immutable field in place",
    ]);
  });

  test("finds replacements without a reason, and of what is built in", () => {
    expect(found([replace("boxes.a", { ...fits, because: [diff(true), diff(false)] })])).toEqual([
      "boxes.a is replaced without a reason",
    ]);
    expect(found([replace("boxes.a", { ...fits, name: "root" })])).toContain(
      "boxes.a is built in and would be replaced",
    );
  });

  test("finds changes of what could not be read", () => {
    const unread = {
      live: new Map([["boxes", { readable: false, diagnostic: error("API_FORBIDDEN", "no") } as const]]),
    };
    expect(found([create("boxes.a")], unread)).toEqual([
      "boxes.a is planned, but its kind could not be read",
    ]);
    expect(found([forget("boxes.a")], unread)).toEqual([]);
  });

  test("finds one object under two addresses, but not one that leaves the state", () => {
    const both = { spec: spec([resource("boxes.a"), resource("boxes.b")]) };
    expect(found([noop("boxes.a", fits), noop("boxes.b", fits)], both)).toEqual([
      "boxes b1 is changed by both boxes.a and boxes.b",
    ]);
    expect(found([noop("boxes.a", fits), forget("boxes.b", { id: box.id })], both)).toEqual([]);
    expect(
      found([create("boxes.b"), create("boxes.c")], {
        spec: spec([resource("boxes.b"), resource("boxes.c")]),
      }),
    ).toEqual([]);
  });

  test("finds only what comes after the change that depends on it", () => {
    const both = { spec: spec([resource("boxes.c"), resource("boxes.b")]) };
    expect(
      found([create("boxes.c", { dependsOn: ["boxes.b", "boxes.x"] }), create("boxes.b")], both),
    ).toEqual(["boxes.c depends on boxes.b, which comes later"]);
    expect(
      found([create("boxes.b"), create("boxes.c", { dependsOn: ["boxes.b", "boxes.c"] })], both),
    ).toEqual([]);
  });

  test("finds duplicate changes, but accepts a replaced object and its successor", () => {
    expect(found([noop("boxes.a", fits), forget("boxes.a")])).toEqual(["boxes.a is planned twice"]);
    const old = remove("boxes.a", { id: object("b7", "").id, deposed: true });
    expect(found([noop("boxes.a", fits), old], { state: managed.state })).toEqual([
      "boxes.a refers to b7, which is not live",
    ]);
  });
});

describe("the audit of names", () => {
  const [a, b] = [object("b1", "a", { box_name: "a" }), object("b2", "b", { box_name: "b" })];
  const world = live({ boxes: [a, b], tasks: [object("t1", "same")] });
  const named = (changes: readonly Change[], kinds = registry, more: Partial<Plan> = {}) =>
    nameContradictions({ ...sound, changes, ...more }, kinds, indexLive(world, kinds));
  const to = (name: string) => ({ after: { box_name: name } });
  const from = (id: RemoteId, freedWhen: "done" | "removed" = "done") => ({
    nameFrom: { address: "boxes.b" as Address, id, freedWhen },
  });
  const held = (address: string, id: string) => `${address} takes the name of ${id}, which still has it`;

  test("accepts names that are free, an object's own, or given up before", () => {
    expect(named([create("boxes.n", to("n")), update("boxes.a", { id: a.id, ...to("A") })])).toEqual([]);
    expect(
      named([update("boxes.a", { id: a.id, ...to("b"), ...from(b.id) }), remove("boxes.b", { id: b.id })]),
    ).toEqual([]);
    expect(
      named([
        update("boxes.a", { id: a.id, ...to("b"), ...from(b.id) }),
        update("boxes.b", { id: b.id, ...to("x") }),
      ]),
    ).toEqual([]);
    expect(
      named([
        create("boxes.n", { ...to("b"), ...from(b.id, "removed") }),
        replace("boxes.b", { id: b.id, ...to("x") }),
      ]),
    ).toEqual([]);
    expect(
      named([
        create("boxes.n", { ...to("b"), ...from(b.id) }),
        replace("boxes.b", { id: b.id, ...to("x"), replacing: "delete-first" }),
      ]),
    ).toEqual([]);
    expect(named([create("tasks.n", { name: "same", after: { name: "same" } })])).toEqual([]);
    expect(named([create("tasks.a"), create("boxes.n", to("n"))])).toEqual([]);
    expect(named([noop("boxes.n", { ...to("b") }), adopt("boxes.m", { ...to("b") })])).toEqual([]);
  });

  test("accepts updates that keep the name that another object has, too", () => {
    const twin = object("b3", "a", { box_name: "a" });
    const twins = indexLive(live({ boxes: [a, b, twin] }), registry);
    const audited = (...changes: readonly Change[]) =>
      nameContradictions({ ...sound, changes }, registry, twins);
    const keeping = update("boxes.a", { id: twin.id, ...to("A") });
    expect(audited(keeping)).toEqual([]);
    expect(audited(keeping, update("boxes.c", { id: a.id, ...to("a") }))).toEqual([]);
    expect(audited(update("boxes.b", { id: b.id, name: "b", ...to("a") }))).toEqual([
      held("boxes.b", "b1"),
      held("boxes.b", "b3"),
    ]);
    expect(audited(keeping, create("boxes.n", to("a")))).toEqual([
      held("boxes.n", "b1"),
      held("boxes.n", "b3"),
    ]);
    expect(audited(replace("boxes.a", { id: twin.id, ...to("a") }))).toEqual([held("boxes.a", "b1")]);
  });

  test("finds names that another object still has", () => {
    expect(named([create("boxes.n", to("B"))])).toEqual([held("boxes.n", "b2")]);
    expect(named([replace("boxes.a", { id: a.id, ...to("b") })])).toEqual([held("boxes.a", "b2")]);
    expect(
      named([create("boxes.n", { ...to("b"), ...from(b.id) }), update("boxes.b", { id: b.id, ...to("b") })]),
    ).toContain(held("boxes.n", "b2"));
    expect(
      named([create("boxes.n", { ...to("b"), ...from(b.id) }), replace("boxes.b", { id: b.id, ...to("x") })]),
    ).toEqual([held("boxes.n", "b2")]);
    expect(
      named([create("boxes.n", { ...to("b"), ...from(a.id) }), update("boxes.a", { id: a.id, ...to("x") })]),
    ).toEqual([held("boxes.n", "b2")]);
    expect(
      named([create("boxes.n", { ...to("b"), ...from(b.id) }), adopt("boxes.b", { id: b.id, ...to("x") })]),
    ).toEqual([held("boxes.n", "b2")]);
  });

  test("finds two changes that take the same name", () => {
    expect(named([create("boxes.n", to("n")), create("boxes.m", to("N"))])).toEqual([
      "boxes.n and boxes.m take the same name",
      "boxes.m and boxes.n take the same name",
    ]);
  });

  test("says nothing of a plan with errors, which is not applied", () => {
    expect(
      named([create("boxes.n", to("b"))], registry, { diagnostics: [error("PLAN_ALREADY_EXISTS", "no")] }),
    ).toEqual([]);
  });
});
