// Each guard alone: when it objects, and what it says.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { checkGuards, problemsOfLiveObjects } from "../../../src/planner/check/guards.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import { createPlannedWorkspace } from "../../../src/planner/model/planned-workspace.ts";
import { type Provider, registryOf } from "../../../src/resource/kind.ts";
import type { Policy } from "../../../src/spec/model/spec.ts";
import { context, live, object, record, resource, spec, state } from "../build.ts";
import { adopt, create, forget, noop, remove, replace, report, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const AT = { file: "workspace.yaml", line: 1, column: 1 };

function guards(changes: readonly Change[], given: Partial<PlanInput> = {}) {
  const here = context(given);
  return checkGuards(here, changes, createPlannedWorkspace(here, {}, changes)).guards;
}

const names = (count: number) => Array.from({ length: count }, (_, at) => `boxes.n${at}`);
const records = (count: number) => state(names(count).map((address) => record(address, address)));
const deletes = (count: number) =>
  names(count).map((address) => remove(address, { id: object(address, "").id }));
const allowing = (max_deletes: Policy["max_deletes"]) => spec([resource("boxes.other")], { max_deletes });

describe("max_deletes", () => {
  const at = (share: number, managed: number, changes: readonly Change[], more: Partial<PlanInput> = {}) =>
    guards(changes, { spec: allowing({ share }), state: records(managed), ...more });

  test("objects to more than its share of the managed resources, and says how many it allows", () => {
    expect(at(0.25, 12, deletes(3))).toEqual([]);
    expect(at(0.25, 12, deletes(4))).toEqual([
      {
        diagnostic: {
          severity: "error",
          code: "GUARD_MAX_DELETES",
          message: "the plan deletes 4 resources; policy.max_deletes allows 25% of 12 managed resources",
          hint: "check for a missing file or target, or raise policy.max_deletes if you intend these deletions",
        },
        addresses: names(4),
      },
    ]);
  });

  test("says nothing about a share of 10 resources or fewer, or of none", () => {
    expect(at(0, 10, deletes(9))).toEqual([]);
    expect(at(0, 11, deletes(1))).toHaveLength(1);
    expect(at(0, 0, [])).toEqual([]);
  });

  test("does not count replaced objects, other changes, or a destroy", () => {
    const old = deletes(4).map((one) => ({ ...one, deposed: true }) as Change);
    expect(at(0.25, 12, [...old, ...deletes(3)])).toEqual([]);
    expect(at(0, 12, [update("boxes.n1"), create("boxes.x"), forget("boxes.n2")])).toEqual([]);
    expect(at(0, 12, deletes(12), { destroy: true })).toEqual([]);
  });

  test("compares deletions with the managed resources, and creations change nothing", () => {
    const creates = Array.from({ length: 100 }, (_, at) => create(`tasks.new${at}`));
    expect(at(0.25, 12, [...deletes(3), ...creates])).toEqual([]);
    expect(at(0.25, 12, [...deletes(4), ...creates])).toHaveLength(1);
  });

  test("objects to more than its number", () => {
    const most = (count: number) => guards(deletes(3), { spec: allowing({ count }), state: records(3) });
    expect(most(3)).toEqual([]);
    expect(most(2)[0]?.diagnostic.message).toBe("the plan deletes 3 resources; policy.max_deletes allows 2");
    const single = guards(deletes(1), { spec: allowing({ count: 0 }), state: records(3) });
    expect(single[0]?.diagnostic.message).toBe("the plan deletes 1 resource; policy.max_deletes allows 0");
  });
});

describe("a plan that deletes every managed resource", () => {
  const HINT =
    "check for a missing file or target; to delete them, run `workspace destroy`, or set policy.max_deletes to 100% or a number";
  const at = (managed: number, changes: readonly Change[], more: Partial<PlanInput> = {}) =>
    guards(changes, { spec: allowing({ share: 0.99 }), state: records(managed), ...more });

  test("is blocked, however few they are, whatever it creates, and also if others no longer exist", () => {
    expect(at(2, deletes(2))).toEqual([
      {
        diagnostic: {
          severity: "error",
          code: "GUARD_MAX_DELETES",
          message: "the plan deletes every managed resource, 2 in all",
          hint: HINT,
        },
        addresses: names(2),
      },
    ]);
    expect(at(1, [...deletes(1), create("boxes.x"), create("boxes.y")])).toHaveLength(1);
    expect(at(3, [...deletes(2), forget("boxes.n2")])).toHaveLength(1);
    expect(at(11, deletes(11))).toHaveLength(1);
  });

  test("is not a plan that keeps one, replaces one, or deletes none", () => {
    expect(at(3, deletes(2))).toEqual([]);
    expect(at(3, [...deletes(2), noop("boxes.n2")])).toEqual([]);
    expect(at(3, [...deletes(2), replace("boxes.n2")])).toEqual([]);
    const kept = live({ boxes: [object("boxes.n2", "n2")] });
    expect(at(3, [...deletes(2), forget("boxes.n2")], { live: kept })).toEqual([]);
    expect(at(1, [forget("boxes.n0")])).toEqual([]);
    expect(at(0, [create("boxes.x")])).toEqual([]);
  });

  test("is accepted for a destroy, and where the policy allows all or a number of deletions", () => {
    expect(at(2, deletes(2), { destroy: true })).toEqual([]);
    expect(at(2, deletes(2), { spec: allowing({ share: 1 }) })).toEqual([]);
    expect(at(2, deletes(2), { spec: allowing({ count: 2 }) })).toEqual([]);
    expect(at(2, deletes(2), { spec: allowing({ count: 1 }) })).toHaveLength(1);
  });
});

describe("an empty spec", () => {
  const at = (managed: number, changes: readonly Change[], max_deletes: Policy["max_deletes"]) =>
    guards(changes, { spec: spec([], { max_deletes }), state: records(managed) });

  test("deletes nothing, even if other resources are left out of the plan", () => {
    expect(at(5, deletes(1), { share: 0.3 })).toMatchObject([
      { diagnostic: { message: "the spec declares no resources, and the plan deletes 1 resource" } },
    ]);
    expect(at(5, deletes(1), { share: 1 })).toEqual([]);
    expect(at(5, deletes(1), { count: 1 })).toEqual([]);
  });

  test("is accepted where nothing is managed, or everything stays in the workspace", () => {
    expect(at(0, [], { share: 0 })).toEqual([]);
    expect(at(2, [forget("boxes.n0"), forget("boxes.n1")], { share: 0 })).toEqual([]);
  });
});

describe("max_deletes of unmanaged objects", () => {
  const boxes = ["n0", "n1", "n2", "x"].map((name) => object(name, name));
  const world = live({
    boxes: [...boxes, object("root", "root")],
    tasks: [object("t1", "t"), object("t2", "u")],
  });
  const at = (share: number, changes: readonly Change[], more: Partial<PlanInput> = {}) =>
    guards(changes, { spec: allowing({ share }), live: world, ...more });

  test("objects to more than its share of the live objects of a kind, and names each kind", () => {
    expect(at(0.5, deletes(2))).toEqual([]);
    expect(at(0.5, [...deletes(3), remove("tasks.t"), remove("tasks.u")])).toEqual([
      {
        diagnostic: {
          severity: "error",
          code: "GUARD_MAX_DELETES",
          message:
            "the plan deletes unmanaged objects: 3 of 4 boxes, 2 of 2 tasks; policy.max_deletes allows 50% of each kind",
          hint: "declare the objects to keep, or set policy.max_deletes to a higher value or a number if you intend these deletions",
        },
        addresses: [...names(3), "tasks.t", "tasks.u"],
      },
    ]);
  });

  test("does not count managed objects, members, a number, or a destroy", () => {
    expect(at(0, deletes(3), { state: records(4) })).toEqual([]);
    expect(at(0, [remove("labels.a/x")])).toEqual([]);
    expect(at(0, deletes(3), { destroy: true })).toEqual([]);
    expect(at(0, [update("boxes.n1"), create("boxes.n9")])).toEqual([]);
    expect(guards(deletes(3), { spec: allowing({ count: 3 }), live: world })).toEqual([]);
  });
});

describe("prevent_destroy", () => {
  const protectedBox = spec([resource("boxes.a", { lifecycle: { prevent_destroy: true } })], {
    max_deletes: { count: 9 },
  });
  const remembered = state([record("boxes.a", "1", {}, { prevent_destroy: true })]);
  const messages = (change: Change, given: Partial<PlanInput> = { spec: protectedBox }) =>
    guards([change], { ...given }).map(({ diagnostic, addresses }) => [diagnostic.message, ...addresses]);

  test("in the spec objects to deletes and replacements, also to one that keeps the old object for now, with its place", () => {
    expect(guards([remove("boxes.a")], { spec: protectedBox })).toEqual([
      {
        diagnostic: {
          severity: "error",
          code: "GUARD_PREVENT_DESTROY",
          message: "boxes.a would be deleted, but prevent_destroy is set",
          address: "boxes.a",
          at: AT,
          hint: "remove lifecycle.prevent_destroy to allow this change",
        },
        addresses: ["boxes.a"],
      },
    ]);
    expect(messages(replace("boxes.a"))).toEqual([
      ["boxes.a would be replaced, but prevent_destroy is set", "boxes.a"],
    ]);
    expect(messages(replace("boxes.a", { keepsOld: true }))).toEqual([
      ["boxes.a would be replaced, but prevent_destroy is set", "boxes.a"],
    ]);
    expect(messages(forget("boxes.a", { dependsOn: ["boxes.parent"] }))).toEqual([
      ["boxes.a would be deleted, but prevent_destroy is set", "boxes.a"],
    ]);
  });

  test("of the last apply objects when the spec no longer has the resource", () => {
    expect(guards([remove("boxes.a")], { state: remembered })).toEqual([
      {
        diagnostic: {
          severity: "error",
          code: "GUARD_PREVENT_DESTROY",
          message: "boxes.a would be deleted, but prevent_destroy was set when it was last in the spec",
          address: "boxes.a",
          hint: "to delete it, first apply it without prevent_destroy; to keep it, run `workspace state rm boxes.a` (or `workspace state mv boxes.a NEW` if it was renamed)",
        },
        addresses: ["boxes.a"],
      },
    ]);
    expect(messages(remove("boxes.a"), { state: remembered, spec: spec([resource("boxes.a")]) })).toEqual([]);
    expect(messages(remove("boxes.a"), { state: state([record("boxes.a", "1")]) })).toEqual([]);
  });

  test.each([
    ["a replaced object", remove("boxes.a", { deposed: true })],
    ["a record alone", forget("boxes.a")],
    ["an update", update("boxes.a", { dependsOn: ["boxes.parent"] })],
    ["a creation", create("boxes.a", { dependsOn: ["boxes.parent"] })],
    ["no change", noop("boxes.a")],
    ["a report", report("boxes.a")],
    ["an adoption", adopt("boxes.a", { dependsOn: ["boxes.parent"] })],
  ])("does not protect %s", (_, change) => {
    expect(messages(change)).toEqual([]);
    expect(messages(change, { state: remembered })).toEqual([]);
  });
});

describe("the objections of a kind", () => {
  const objecting = (hint?: string): Provider => ({
    ...(registry.get("boxes") as Provider),
    planning: {
      objections: ({ action, live: found }) => [
        {
          code: "GUARD_LIMIT",
          message: `${action} of ${found?.name ?? "nothing"}`,
          ...(hint === undefined ? {} : { hint }),
        },
      ],
    },
  });
  const said = (changes: readonly Change[], hint?: string) =>
    guards(changes, {
      registry: registryOf([objecting(hint), registry.get("tasks")]),
      spec: spec([resource("boxes.a")]),
      live: live({ boxes: [object("1", "a")] }),
    });

  test("are guards of the changes that send requests, at their resources", () => {
    expect(said([update("boxes.a"), remove("boxes.b", { deposed: true }), create("tasks.t")])).toEqual([
      {
        diagnostic: {
          severity: "error",
          code: "GUARD_LIMIT",
          message: "update of a",
          address: "boxes.a",
          at: AT,
        },
        addresses: ["boxes.a"],
      },
      {
        diagnostic: { severity: "error", code: "GUARD_LIMIT", message: "delete of a", address: "boxes.b" },
        addresses: ["boxes.b"],
      },
    ]);
    expect(said([noop("boxes.a"), forget("boxes.b"), adopt("boxes.a"), report("boxes.a")])).toEqual([]);
  });

  test("have the hint of the kind", () => {
    expect(said([update("boxes.a")], "do this")[0]?.diagnostic.hint).toBe("do this");
  });
});

test("a kind warns of what it could not check, without a guard", () => {
  const message = "not read";
  const boxes: Provider = {
    ...(registry.get("boxes") as Provider),
    planning: {
      objections: ({ action }) => [{ code: action === "update" ? "PLAN_UNCHECKED" : "GUARD_LIMIT", message }],
    },
  };
  const here = context({ registry: registryOf([boxes]), live: live({ boxes: [object("1", "a")] }) });
  const changes = [update("boxes.a"), remove("boxes.b")];
  const found = checkGuards(here, changes, createPlannedWorkspace(here, {}, changes));
  expect(found.warnings).toEqual([
    { severity: "warning", code: "PLAN_UNCHECKED", message, address: "boxes.a" },
  ]);
  expect(found.guards.map(({ addresses }) => addresses)).toEqual([["boxes.b"]]);
});

describe("a live object that its kind finds not ready", () => {
  const boxes: Provider = {
    ...(registry.get("boxes") as Provider),
    planning: {
      liveProblems: ({ name }) => [
        { code: "PLAN_UNCHECKED", message: `${name} failed`, path: ["size"], hint: "wait" },
      ],
    },
  };
  const of = (changes: readonly Change[], found = [object("1", "a")]) =>
    problemsOfLiveObjects(
      context({
        registry: registryOf([boxes, registry.get("tasks")]),
        spec: spec([
          { ...resource("boxes.a"), locate: (path) => ({ ...AT, file: path.join() }) },
          resource("tasks.a"),
        ]),
        live: live({ boxes: found, tasks: [object("1", "a")] }),
      }),
      changes,
    );

  test.each([noop("boxes.a"), update("boxes.a"), replace("boxes.a"), adopt("boxes.a")])(
    "is a warning if the plan keeps it or replaces it",
    (change) => {
      expect(of([change])).toEqual([
        {
          ...{ severity: "warning", code: "PLAN_UNCHECKED", message: "boxes.a: a failed" },
          ...{ address: "boxes.a", at: { ...AT, file: "size" }, hint: "wait" },
        },
      ]);
    },
  );

  test("is none if the plan removes or creates it, if it or its declaration is missing, or in other kinds", () => {
    const others = [
      remove("boxes.a"),
      forget("boxes.a"),
      create("boxes.a"),
      update("boxes.b"),
      update("tasks.a"),
    ];
    expect(of(others)).toEqual([]);
    expect(of([update("boxes.a")], [])).toEqual([]);
  });
});

describe("the limit of a kind", () => {
  const boxes = (count: number) =>
    live({ boxes: Array.from({ length: count }, (_, at) => object(`${at}`, `l${at}`)) });
  const keys = (...all: readonly string[]) => live({ keys: all.map((name) => object(name, name)) });
  const limits = (changes: readonly Change[], world = live()) =>
    guards(changes, { live: world, spec: allowing({ count: 9 }) }).map(({ diagnostic, addresses }) => [
      diagnostic.message,
      diagnostic.hint,
      ...addresses,
    ]);
  const hint = "remove unused ones first";

  test("objects to a creation that leaves more than the service allows", () => {
    expect(limits([create("boxes.x")], boxes(39))).toEqual([]);
    expect(limits([create("boxes.x"), create("boxes.y")], boxes(39))).toEqual([
      [
        "after this plan, the workspace would contain 41 boxes; the service allows 40",
        hint,
        "boxes.x",
        "boxes.y",
      ],
    ]);
    expect(limits([create("boxes.x"), remove("boxes.n0")], boxes(40))).toEqual([]);
    expect(limits([update("boxes.n0"), create("tasks.t"), remove("tasks.u")], boxes(41))).toEqual([]);
    expect(limits([create("boxes.x"), remove("tasks.u"), create("tasks.t")], boxes(40))).toHaveLength(1);
  });

  test("counts all objects of a workspace, whatever their names", () => {
    const slashed = live({ boxes: Array.from({ length: 40 }, (_, at) => object(`${at}`, `p/${at}`)) });
    expect(limits([create("boxes.q/x")], slashed)).toHaveLength(1);
  });

  test("counts by parent where each has its own", () => {
    expect(limits([create("keys.a/4")], keys("a/1", "a/2", "a/3", "b/1"))).toEqual([
      ["after this plan, boxes a would contain 4 keys; the service allows 3", hint, "keys.a/4"],
    ]);
    expect(limits([create("keys.b/2")], keys("a/1", "a/2", "a/3", "a/4", "b/1"))).toEqual([]);
    expect(limits([create("keys.c/1"), create("keys.c/2"), create("keys.c/3"), create("keys.c/4")])).toEqual([
      [
        "after this plan, boxes c would contain 4 keys; the service allows 3",
        hint,
        "keys.c/1",
        "keys.c/2",
        "keys.c/3",
        "keys.c/4",
      ],
    ]);
  });
});

test("every guard is in the plan, in a fixed order", () => {
  const found = guards([...deletes(12), replace("boxes.a")], {
    spec: spec([resource("boxes.a", { lifecycle: { prevent_destroy: true } })], {
      max_deletes: { share: 0.1 },
    }),
    state: state([...records(12).records.values(), record("boxes.b" as Address, "b")]),
    live: live({ boxes: [object("x", "x")] }),
  });
  expect(found.map(({ diagnostic }) => diagnostic.code)).toEqual([
    "GUARD_MAX_DELETES",
    "GUARD_PREVENT_DESTROY",
  ]);
});
