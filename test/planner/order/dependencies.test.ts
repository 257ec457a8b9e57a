// Which change waits for which, and what an address restriction keeps.

import { describe, expect, test } from "vitest";
import type { Address, RemoteId } from "../../../src/core/address.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { excludedAddresses, limitChanges } from "../../../src/planner/decide/selection.ts";
import type { Change, Replace } from "../../../src/planner/model/change.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import { changedDependencies, withDependencies } from "../../../src/planner/order/dependencies.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { StateRecord } from "../../../src/state/model/record.ts";
import { context, object, record, resource, spec, state } from "../build.ts";
import { adopt, create, forget, noop, one, remove, replace, report, update } from "../changes.ts";
import { registry } from "../kinds.ts";

function waits(
  changes: readonly Change[],
  given: Partial<PlanInput> = {},
): Record<string, readonly string[]> {
  const found = withDependencies(context(given), changes);
  return Object.fromEntries(
    found.map((change) => [
      `${change.action} ${change.address}`,
      [...change.dependsOn, ...(change.action === "replace" ? ["then", ...change.removeAfter] : [])],
    ]),
  );
}

const recorded = (address: string, ...dependsOn: string[]) =>
  record(address, address, {}, { depends_on: dependsOn as Address[] });
const declared = (address: string, ...dependsOn: string[]) => resource(address, { dependsOn });

describe("an unchanged resource", () => {
  const needs = (decided: readonly Change[], deposed: readonly string[] = []): readonly string[] => {
    const box = record("boxes.a", "1", {}, deposed.length === 0 ? {} : { deposed: deposed as RemoteId[] });
    return changedDependencies(context({ state: state([box]) }, decided), ["boxes.a" as Address]);
  };

  test("depends on nothing when what it depends on is unchanged too", () => {
    expect(needs([noop("boxes.a")])).toEqual([]);
  });

  test("depends on what depends on a change", () => {
    expect(needs([noop("boxes.a", { dependsOn: ["boxes.b"] as Address[] })])).toEqual(["boxes.a"]);
  });

  test("depends on what changes, on what has a replaced object, and on what is not decided", () => {
    expect(needs([update("boxes.a")])).toEqual(["boxes.a"]);
    expect(needs([noop("boxes.a")], ["2"])).toEqual(["boxes.a"]);
    expect(needs([])).toEqual(["boxes.a"]);
  });

  test("depends on all of several when one of them changes, and on none that was never recorded", () => {
    const both = ["boxes.a", "boxes.b"] as Address[];
    expect(changedDependencies(context({}, [noop("boxes.a"), update("boxes.b")]), both)).toEqual(both);
    expect(changedDependencies(context({}, [noop("boxes.a"), noop("boxes.b")]), both)).toEqual([]);
  });
});

describe("a change that depends on an unchanged resource", () => {
  const chain = (kind: string) => [
    update("boxes.a"),
    noop(`${kind}.b`, { dependsOn: ["boxes.a"] as Address[] }),
    noop(`${kind}.c`, { dependsOn: [`${kind}.b`] as Address[] }),
    update("boxes.d", { dependsOn: [`${kind}.c`] as Address[] }),
  ];

  test("waits for the changes below it if all are of its kind", () => {
    expect(waits(chain("boxes"))["update boxes.d"]).toEqual(["boxes.a"]);
  });

  test("waits for them, and for others that it depends on", () => {
    const last = update("boxes.d", { dependsOn: ["boxes.c", "tasks.t"] as Address[] });
    expect(waits([update("tasks.t"), ...chain("boxes").slice(0, 3), last])["update boxes.d"]).toEqual([
      "boxes.a",
      "tasks.t",
    ]);
  });

  test("does not repeat what a changed one of its kind waits for", () => {
    const between = update("boxes.c", { dependsOn: ["boxes.a"] as Address[] });
    const last = update("boxes.d", { dependsOn: ["boxes.c"] as Address[] });
    expect(waits([update("boxes.a"), between, last])["update boxes.d"]).toEqual(["boxes.c"]);
  });

  test("does not wait for them if it is of another kind", () => {
    expect(waits(chain("tasks"))["update boxes.d"]).toEqual([]);
  });
});

describe("a change", () => {
  test.each(["create", "update", "adopt", "forget", "noop", "report"] as const)(
    "(%s) waits for what it depends on and what the plan acts on",
    (action) => {
      const change = {
        ...one("tasks.t")[action],
        dependsOn: ["boxes.a", "boxes.idle"] as Address[],
      } as Change;
      expect(waits([update("boxes.a"), noop("boxes.idle"), change])[`${action} tasks.t`]).toEqual([
        "boxes.a",
      ]);
      expect(waits([noop("boxes.idle"), change])[`${action} tasks.t`]).toEqual([]);
    },
  );

  test("is the same object when all that it depends on acts", () => {
    const change = create("tasks.t", { dependsOn: ["boxes.a"] });
    expect(withDependencies(context(), [create("boxes.a"), change])[1]).toBe(change);
    expect(withDependencies(context(), [create("boxes.a")])[0]).toEqual(create("boxes.a"));
  });

  test.each([noop("boxes.a"), report("boxes.a"), forget("boxes.a")])("waits for no $action", (idle) => {
    expect(waits([idle, create("tasks.t", { dependsOn: ["boxes.a"] })])["create tasks.t"]).toEqual([]);
  });

  test.each([create("boxes.a"), update("boxes.a"), adopt("boxes.a"), replace("boxes.a"), remove("boxes.a")])(
    "waits for a $action",
    (acting) => {
      expect(waits([acting, create("tasks.t", { dependsOn: ["boxes.a"] })])["create tasks.t"]).toEqual([
        "boxes.a",
      ]);
    },
  );
});

describe("a delete", () => {
  test("waits for everything that held it at the last apply or holds it in the spec, in order", () => {
    const given = {
      state: state([recorded("tasks.b", "boxes.a"), recorded("tasks.idle", "boxes.a")]),
      spec: spec([
        declared("tasks.c", "boxes.a"),
        declared("tasks.a", "boxes.a"),
        declared("tasks.b", "boxes.a"),
      ]),
    };
    const changes = [
      remove("boxes.a", { dependsOn: ["boxes.x", "tasks.b"] }),
      update("tasks.c"),
      remove("tasks.b"),
      update("tasks.a"),
      noop("tasks.idle"),
      create("boxes.x"),
    ];
    expect(waits(changes, given)["delete boxes.a"]).toEqual(["boxes.x", "tasks.a", "tasks.b", "tasks.c"]);
  });

  test("waits for what held it at the last apply alone, and for its holders in order", () => {
    const given = { state: state([recorded("tasks.b", "boxes.a"), recorded("tasks.a", "boxes.a")]) };
    expect(waits([remove("boxes.a"), update("tasks.b"), update("tasks.a")], given)["delete boxes.a"]).toEqual(
      ["tasks.a", "tasks.b"],
    );
    expect(
      waits([replace("boxes.a"), update("tasks.b"), update("tasks.a")], given)["replace boxes.a"],
    ).toEqual(["then", "tasks.a", "tasks.b"]);
  });

  test("waits for an update of an object that has its ID in capitals, in a kind that ignores case", () => {
    const changes = [
      remove("boxes.a", { id: object("ID-1", "").id }),
      update("tasks.t", { before: { box: "ID-1" } }),
    ];
    expect(waits(changes)["delete boxes.a"]).toEqual(["tasks.t"]);
  });

  test("waits not for itself, and not for what others hold", () => {
    const given = { spec: spec([declared("boxes.a", "boxes.a"), declared("tasks.t", "boxes.other")]) };
    expect(waits([remove("boxes.a"), update("tasks.t")], given)["delete boxes.a"]).toEqual([]);
  });

  test("waits for the update of an object that names it or has its ID, although nothing else tells", () => {
    const held = (before: JsonObject, kind = "tasks") =>
      waits([remove("boxes.a", { id: object("b1", "").id }), update(`${kind}.t`, { before })])[
        "delete boxes.a"
      ];
    expect(held({ box: "b1" })).toEqual(["tasks.t"]);
    expect(held({ box: "A" })).toEqual(["tasks.t"]);
    expect(held({ box: "other", name: "b1", steps: ["b1"] })).toEqual([]);
    expect(held({ near: ["a"] }, "boxes")).toEqual(["boxes.t"]);
    expect(held({ near: ["x", "y"], members: ["a"] }, "boxes")).toEqual([]);
    expect(held({ box: 5 })).toEqual([]);
  });

  test("waits for all that name it, also deep in their values", () => {
    const deep = {
      type: "object",
      properties: { list: { type: "array", names: "boxes" }, plain: { type: "string" } },
    } as const;
    const map = { type: "object", names: "boxes", additionalProperties: { type: "string" } } as const;
    const kinds = registryOf(
      registry.kinds.map((kind) =>
        kind.kind === "tasks" ? { ...kind, fields: { ...kind.fields, deep, map } } : kind,
      ),
    );
    const given = { registry: kinds };
    const changes = [
      remove("boxes.a", { id: object("b1", "").id }),
      update("tasks.t", { before: { deep: { list: ["x", "a"] } } }),
      update("tasks.u", { before: { box: "b1" } }),
      update("tasks.v", { before: { deep: { plain: "a" }, map: { key: "a" } } }),
    ];
    expect(waits(changes, given)["delete boxes.a"]).toEqual(["tasks.t", "tasks.u"]);
  });

  test("waits for no other change that names it", () => {
    const made = waits([
      remove("boxes.a"),
      remove("tasks.t", { before: { box: "a" } }),
      adopt("tasks.u", { before: { box: "a" } }),
    ]);
    expect(made["delete boxes.a"]).toEqual([]);
    expect(waits([update("boxes.a"), update("tasks.t", { before: { box: "a" } })])["update boxes.a"]).toEqual(
      [],
    );
  });
});

describe("a replacement", () => {
  test.each<readonly [string, Partial<Replace>, readonly StateRecord[], readonly string[]]>([
    ["unless only their new objects depend on each other", {}, [recorded("tasks.t")], []],
    ["when its old object did", {}, [recorded("tasks.t", "boxes.a")], ["tasks.t"]],
    ["when nothing is recorded about its old object", {}, [], ["tasks.t"]],
    [
      "when its old object is deleted first",
      { replacing: "delete-first" },
      [recorded("tasks.t")],
      ["tasks.t"],
    ],
  ])("deletes its old object after a holder that is replaced too %s", (_when, holder, records, after) => {
    const given = { spec: spec([declared("tasks.t", "boxes.a")]), state: state(records) };
    expect(waits([replace("boxes.a"), replace("tasks.t", holder)], given)["replace boxes.a"]).toEqual([
      "then",
      ...after,
    ]);
  });

  test("deletes its old object after an updated holder, also if the last apply recorded no dependency", () => {
    const given = { spec: spec([declared("tasks.t", "boxes.a")]), state: state([recorded("tasks.t")]) };
    expect(waits([replace("boxes.a"), update("tasks.t")], given)["replace boxes.a"]).toEqual([
      "then",
      "tasks.t",
    ]);
  });

  test("waits for holders that the spec or the state names, not for live ones", () => {
    const changes = [
      replace("boxes.a", { id: object("b1", "").id }),
      update("tasks.t", { before: { box: "b1" } }),
      remove("tasks.u"),
    ];
    expect(waits(changes)["replace boxes.a"]).toEqual(["then"]);
  });

  test("is made after what it depends on, and its old object goes after what held it", () => {
    const given = { spec: spec([declared("tasks.t", "boxes.a"), declared("tasks.idle", "boxes.a")]) };
    const changes = [
      replace("boxes.a", { dependsOn: ["boxes.x", "boxes.idle"] }),
      create("boxes.x"),
      update("tasks.t"),
      noop("tasks.idle"),
    ];
    expect(waits(changes, given)["replace boxes.a"]).toEqual(["boxes.x", "then", "tasks.t"]);
  });
});

test("other changes hold back nothing that depends on them", () => {
  const given = {
    spec: spec([declared("tasks.t", "boxes.a")]),
    state: state([recorded("tasks.t", "boxes.a")]),
  };
  expect(waits([update("boxes.a"), update("tasks.t")], given)).toEqual({
    "update boxes.a": [],
    "update tasks.t": [],
  });
});

describe("an excluded address", () => {
  const excluded = (names: readonly string[], changes: readonly Change[], more: Partial<PlanInput> = {}) =>
    [
      ...excludedAddresses({ registry, state: state([]), spec: spec([]), ...more }, changes, (address) =>
        names.includes(address),
      ),
    ].sort();

  test("excludes what depends on it, near and far, and nothing that it depends on", () => {
    const changes = [
      create("tasks.t", { dependsOn: ["boxes.a"] }),
      create("boxes.a", { dependsOn: ["boxes.b"] }),
      create("boxes.b"),
      create("boxes.c", { dependsOn: ["tasks.t"] }),
    ];
    expect(excluded(["boxes.a"], changes)).toEqual(["boxes.a", "boxes.c", "tasks.t"]);
  });

  test("excludes what refers to it in the spec, also when it is unchanged", () => {
    const declaredAll = spec([declared("boxes.a"), declared("tasks.t", "boxes.a")]);
    expect(excluded(["boxes.a"], [update("tasks.t")], { spec: declaredAll })).toEqual(["boxes.a", "tasks.t"]);
  });

  test("excludes the deletion of what it uses, and a deletion excludes no user", () => {
    const changes = [remove("boxes.a", { dependsOn: ["tasks.t"] }), remove("tasks.t")];
    expect(excluded(["tasks.t"], changes, { destroy: true })).toEqual(["boxes.a", "tasks.t"]);
    expect(excluded(["boxes.a"], changes, { destroy: true })).toEqual(["boxes.a"]);
  });
});

describe("a restriction to addresses", () => {
  const kept = (changes: readonly Change[], ...names: string[]) => limitedTo(names, changes);
  const limitedTo = (names: readonly string[], changes: readonly Change[], more: Partial<PlanInput> = {}) =>
    limitChanges({ registry, state: state([]), ...more }, changes, (address) => names.includes(address)).map(
      ({ address }) => address,
    );
  const withUsers = registryOf(
    registry.kinds.map((kind) => ({ ...kind, planning: { ...kind.planning, keptWhileUsedBy: () => [] } })),
  );

  test("keeps what they depend on, near and far", () => {
    const changes = [
      create("tasks.t", { dependsOn: ["boxes.a"] }),
      create("boxes.a", { dependsOn: ["boxes.b"] }),
      create("boxes.b"),
      create("boxes.c", { dependsOn: ["tasks.t"] }),
    ];
    expect(kept(changes, "tasks.t")).toEqual(["tasks.t", "boxes.a", "boxes.b"]);
    expect(kept(changes, "boxes.b")).toEqual(["boxes.b"]);
    expect(kept(changes)).toEqual([]);
  });

  test("keeps the object whose name they take, and every change of an address", () => {
    const nameFrom = { address: "boxes.b" as Address, id: object("b", "").id, freedWhen: "done" } as const;
    const old = remove("boxes.b", { id: nameFrom.id, deposed: true, dependsOn: ["tasks.t"] });
    const changes = [
      update("boxes.a", { nameFrom }),
      update("boxes.b"),
      old,
      create("tasks.t"),
      update("boxes.c"),
    ];
    expect(kept(changes, "boxes.a")).toEqual(["boxes.a", "boxes.b", "boxes.b", "tasks.t"]);
  });

  const replaced = [
    update("boxes.b"),
    remove("boxes.b", { deposed: true, dependsOn: ["tasks.t"] }),
    create("tasks.t"),
  ];

  test("does not keep the users of a replaced object whose name is free, if they keep that object", () => {
    expect(limitedTo(["boxes.b"], replaced, { registry: withUsers })).toEqual(["boxes.b", "boxes.b"]);
  });

  const moving = [
    replace("boxes.b", { removeAfter: ["tasks.t", "tasks.new"] as Address[] }),
    update("tasks.t"),
  ];
  const applied = state([recorded("boxes.b"), recorded("tasks.t", "boxes.b")]);

  test("keeps the users of an object that they replace, and no resource that begins to use it", () => {
    const changes = [...moving, create("tasks.new"), update("tasks.other")];
    expect(limitedTo(["boxes.b"], changes, { state: applied })).toEqual(["boxes.b", "tasks.t"]);
  });

  test("keeps a new resource whose key contains the name of an object that they replace", () => {
    const naming = registryOf(
      registry.kinds.map((kind) => ({
        ...kind,
        planning: { ...kind.planning, namedInKey: () => ({ kinds: ["boxes"], name: "b" }) },
      })),
    );
    const changes = [...moving, create("tasks.new")];
    expect(limitedTo(["boxes.b"], changes, { registry: naming })).toEqual([
      "boxes.b",
      "tasks.t",
      "tasks.new",
    ]);
  });

  test("keeps the records of members that are deleted with an object", () => {
    const member = forget("labels.b/l", { dependsOn: ["boxes.b"] });
    expect(kept([remove("boxes.b"), member, forget("labels.c/l")], "boxes.b")).toEqual([
      "boxes.b",
      "labels.b/l",
    ]);
  });

  test("does not keep the users of an object that they replace, if they keep that object", () => {
    expect(limitedTo(["boxes.b"], moving, { registry: withUsers, state: applied })).toEqual(["boxes.b"]);
  });

  test("keeps the users of a replaced object that is deleted although they use it", () => {
    const all = ["boxes.b", "boxes.b", "tasks.t"];
    expect(limitedTo(["boxes.b"], replaced)).toEqual(all);
    expect(limitedTo(["boxes.b"], replaced, { registry: withUsers, destroy: true })).toEqual(all);
  });

  test("keeps the users of a deleted object, and of a replaced one whose name another takes", () => {
    const deleted = [remove("boxes.b", { dependsOn: ["tasks.t"] }), create("tasks.t")];
    expect(limitedTo(["boxes.b"], deleted, { registry: withUsers })).toEqual(["boxes.b", "tasks.t"]);
    const nameFrom = { address: "boxes.b" as Address, id: object("1", "").id, freedWhen: "done" } as const;
    const takes = [...replaced, update("boxes.c", { nameFrom })];
    expect(limitedTo(["boxes.b"], takes, { registry: withUsers })).toEqual(["boxes.b", "boxes.b", "tasks.t"]);
    const other = update("boxes.c", { nameFrom: { ...nameFrom, id: object("2", "").id } });
    expect(limitedTo(["boxes.b"], [...replaced, other], { registry: withUsers })).toEqual([
      "boxes.b",
      "boxes.b",
    ]);
  });
});
