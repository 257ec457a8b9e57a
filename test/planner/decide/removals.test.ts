// Why an object is deleted or only removed from the state, as the plan says it.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import type { LiveKind, LiveObject } from "../../../src/resource/live.ts";
import type { StateRecord } from "../../../src/state/model/record.ts";
import { live, object, plan, record, resource, spec, state } from "../build.ts";

const AT = { file: "workspace.yaml", line: 1, column: 1 };
const box = (name: string, more: Partial<LiveObject> = {}) => ({
  ...object(`b-${name}`, name, { box_name: name }),
  ...more,
});
const recorded = (name: string, more: Parameters<typeof record>[3] = {}) =>
  record(`boxes.${name}`, `b-${name}`, { box_name: name }, more);
const label = (name: string, ...dependsOn: string[]) =>
  record(`labels.${name}`, name, { text: "hi" }, { depends_on: dependsOn as Address[] });

type World = Readonly<Record<string, readonly LiveObject[]>>;
const made = (records: readonly StateRecord[], world: World, more: Partial<PlanInput> = {}) =>
  plan({ spec: spec([]), live: live(world), state: state(records), ...more });
const reasons = (...given: Parameters<typeof made>) =>
  made(...given).changes.map(({ action, address, reasons }) => `${action} ${address}: ${reasons.join("; ")}`);

describe("a managed object that the spec does not declare", () => {
  test("is deleted, and the plan has its live values", () => {
    const [change] = made([recorded("a")], { boxes: [box("a")] }).changes;
    expect(change).toEqual({
      action: "delete",
      address: "boxes.a",
      kind: "boxes",
      name: "a",
      cause: "spec",
      reasons: ["it is no longer in the spec"],
      consequences: [],
      dependsOn: [],
      id: "b-a",
      before: { box_name: "a" },
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("is only removed from the state when it does not exist, is built in, or cannot be managed", () => {
    expect(made([recorded("a")], {}).changes).toEqual([
      {
        action: "forget",
        address: "boxes.a",
        kind: "boxes",
        name: "a",
        id: "b-a",
        cause: "spec",
        reasons: ["it no longer exists in the workspace"],
        consequences: [],
        dependsOn: [],
      },
    ]);
    expect(reasons([recorded("root")], { boxes: [box("root")] })).toEqual([
      "forget boxes.root: it is built in and cannot be deleted",
    ]);
    expect(
      reasons([recorded("a")], { boxes: [box("a", { unmanageable: "it belongs to the account" })] }),
    ).toEqual(["forget boxes.a: it cannot be managed any longer: it belongs to the account"]);
    for (const boxes of [[], [box("root")], [box("a", { unmanageable: "no" })]])
      expect(
        made([recorded("a"), recorded("root")], { boxes }).changes.map(({ dependsOn }) => dependsOn),
      ).toEqual([[], []]);
  });

  test("is unchanged when its kind was not read or could not be read", () => {
    expect(made([recorded("a")], {}, { live: new Map() }).changes).toEqual([]);
    const unread = { readable: false, diagnostic: error("API_FORBIDDEN", "no") } as const;
    expect(made([recorded("a")], {}, { live: new Map([["boxes", unread]]) }).changes).toEqual([]);
    const parents = new Map([["a", error("API_FORBIDDEN", "no")]]);
    const labels: LiveKind = { readable: true, objects: [], unreadableParents: parents };
    const found = new Map([...live(), ["labels", labels] as const]);
    const parent = resource("boxes.a", { owns: ["labels"] });
    expect(reasons([label("a/x"), label("b/x")], {}, { live: found, spec: spec([parent]) })).toEqual([
      "create boxes.a: ",
      "forget labels.b/x: it no longer exists in the workspace",
    ]);
  });

  test("is deleted by a destroy, which says whether it was named", () => {
    const world = { boxes: [box("a")], tasks: [object("t1", "t")] };
    const records = [recorded("a"), record("tasks.t", "t1", {}, { depends_on: ["boxes.a" as Address] })];
    expect(reasons(records, world, { destroy: true })).toEqual([
      "delete tasks.t: the plan destroys every managed resource",
      "delete boxes.a: the plan destroys every managed resource",
    ]);
    const declared = spec([resource("boxes.a"), resource("tasks.t", { dependsOn: ["boxes.a"] })]);
    expect(
      reasons(records, world, { destroy: true, only: (address) => address === "boxes.a", spec: declared }),
    ).toEqual([
      "delete tasks.t: a resource that it depends on is destroyed",
      "delete boxes.a: it is destroyed",
    ]);
  });
});

describe("an entry that removes a resource from the state", () => {
  const removed = (address: string, destroy = false) => ({ address: address as Address, destroy, at: AT });
  const entries = (...all: ReturnType<typeof removed>[]) => ({
    spec: { ...spec([]), stateEntries: { moved: [], imports: [], removed: all } },
  });
  const keeps = "the spec removes it from the state and keeps the object";
  const world = { boxes: [box("a"), box("team/b")], labels: [object("a/x", "a/x", { text: "hi" })] };

  test("keeps the object, and the members of a kept parent", () => {
    expect(reasons([recorded("a"), label("a/x", "boxes.a")], world, entries(removed("boxes.a")))).toEqual([
      `forget labels.a/x: ${keeps}`,
      `forget boxes.a: ${keeps}`,
    ]);
  });

  test("keeps a member alone, while its parent is deleted", () => {
    expect(reasons([recorded("a"), label("a/x", "boxes.a")], world, entries(removed("labels.a/x")))).toEqual([
      `forget labels.a/x: ${keeps}`,
      "delete boxes.a: it is no longer in the spec",
    ]);
  });

  test("keeps every object of a module", () => {
    expect(reasons([recorded("team/b")], world, entries(removed("modules.team")))).toEqual([
      `forget boxes.team/b: ${keeps}`,
    ]);
    expect(reasons([recorded("team/b")], world, entries(removed("modules.other")))).toEqual([
      "delete boxes.team/b: it is no longer in the spec",
    ]);
  });

  test("of a module does not keep an object whose address has no module, and the reason says so", () => {
    const owner = resource("boxes.a", { values: { size: 1 }, owns: ["labels"] });
    const told = (address: string) => {
      const given = entries(removed(address));
      const resources = new Map([[owner.address, owner]]);
      return reasons([recorded("a"), label("a/x", "boxes.a")], world, { spec: { ...given.spec, resources } });
    };
    const reason = "delete labels.a/x: it is no longer in the spec";
    expect(told("modules.team")).toContain(`${reason}, and an entry that keeps a module keeps no labels`);
    expect(told("boxes.other")).toContain(reason);
  });

  test("deletes the object where it says so", () => {
    expect(reasons([recorded("a")], world, entries(removed("boxes.a", true)))).toEqual([
      "delete boxes.a: it is no longer in the spec",
    ]);
  });
});

describe("a recorded member that the spec does not declare", () => {
  const world = { boxes: [box("a")], labels: [object("a/x", "a/x", { text: "hi" })] };

  test.each([
    ["its record depends on the parent", label("a/x", "tasks.t", "boxes.a")],
    ["its name begins with that of the parent", label("a/x", "tasks.t")],
  ])("leaves the state with its parent when %s", (_, member) => {
    const [, change] = made([recorded("a"), member], world).changes;
    expect(change).toMatchObject({
      action: "forget",
      cause: "spec",
      reasons: ["it is deleted together with boxes.a"],
      consequences: [],
      dependsOn: ["boxes.a"],
    });
  });

  test("leaves the state with a parent whose address is not its name", () => {
    const parent = record("boxes.k", "b-a", { box_name: "a" }, { name: "a" });
    const [, change] = made([parent, label("a/x", "tasks.t", "boxes.k")], world).changes;
    expect(change).toMatchObject({
      reasons: ["it is deleted together with boxes.k"],
      dependsOn: ["boxes.k"],
    });
  });

  test("leaves the state with a parent that is replaced", () => {
    const wanted = resource("boxes.a", {
      values: { material: "steel" },
      owns: ["labels"],
      lifecycle: { on_immutable_change: "replace" },
    });
    expect(reasons([recorded("a"), label("a/x", "boxes.a")], world, { spec: spec([wanted]) })).toEqual([
      "replace boxes.a: material cannot be changed in place",
      "forget labels.a/x: it is deleted together with boxes.a",
    ]);
  });

  test("leaves the state when the parent no longer manages its list, and is deleted while it does", () => {
    const parent = (owns: readonly string[]) => ({ spec: spec([resource("boxes.a", { owns })]) });
    const records = [recorded("a"), label("a/x", "boxes.a")];
    expect(made(records, world, parent([])).changes.at(-1)).toMatchObject({
      action: "forget",
      reasons: ["boxes.a no longer manages its labels"],
      dependsOn: [],
    });
    expect(made(records, world, parent(["labels"])).changes.at(-1)).toMatchObject({
      action: "delete",
      cause: "spec",
      reasons: ["it is no longer in the spec"],
    });
  });

  test("is deleted when its parent is neither declared nor recorded", () => {
    expect(reasons([label("a/x")], world)).toEqual(["delete labels.a/x: it is no longer in the spec"]);
  });
});

describe("a record with the name of another object", () => {
  test("leaves the state, and its object stays", () => {
    const wrong = record("labels.a/y", "a/x", {}, { name: "a/x" });
    expect(made([wrong], { labels: [object("a/x", "a/x")] }).changes).toMatchObject([
      {
        action: "forget",
        reasons: ["the state records it as a/x, which is not a valid name for this address"],
        dependsOn: [],
      },
    ]);
  });
});

describe("a replaced object", () => {
  const world = { boxes: [box("a"), object("old", "a (old)", { box_name: "a (old)" })] };
  const known = [recorded("a", { deposed: [object("old", "").id, object("older", "").id] })];
  const wanted = { spec: spec([resource("boxes.a")]) };

  test("is deleted under the address of its successor if it exists", () => {
    expect(made(known, world, wanted).changes).toMatchObject([
      { action: "noop" },
      {
        action: "delete",
        address: "boxes.a",
        name: "a (old)",
        id: "old",
        deposed: true,
        reasons: ["it was replaced earlier and still exists"],
      },
      {
        action: "forget",
        address: "boxes.a",
        id: "older",
        deposed: true,
        reasons: ["the replaced object no longer exists in the workspace"],
      },
    ]);
  });

  test("stays when it cannot be managed", () => {
    const unmanageable = { boxes: [box("a"), { ...object("old", "a (old)"), unmanageable: "no" }] };
    const { changes } = made([recorded("a", { deposed: [object("old", "").id] })], unmanageable, wanted);
    expect(changes.map(({ action }) => action)).toEqual(["noop"]);
  });
});

describe("an undeclared object of an authoritative kind", () => {
  const reason = "the policy makes boxes authoritative, and the spec does not declare it";
  const all = (
    objects: readonly LiveObject[],
    records: readonly StateRecord[] = [],
    more: Parameters<typeof spec>[0] = [],
  ) => reasons(records, { boxes: objects }, { spec: spec(more, { authoritative: ["boxes"] }) });

  test("is deleted under its name, with its ID where the name is in use or empty", () => {
    expect(all([box("x")])).toEqual([`delete boxes.x: ${reason}`]);
    expect(all([object("b9", "")])).toEqual([`delete boxes.b9: ${reason}`]);
    const declared = resource("boxes.x", { values: { box_name: "y" } });
    expect(
      all(
        [box("x"), object("b2", "y", { box_name: "y" })],
        [record("boxes.x", "b2", { box_name: "y" })],
        [declared],
      ),
    ).toEqual(["noop boxes.x: ", `delete boxes.x@b-x: ${reason}`]);
    expect(all([box("x"), object("b2", "y")], [record("boxes.x", "b2")])).toEqual([
      `delete boxes.x@b-x: ${reason}`,
      "delete boxes.x: it is no longer in the spec",
    ]);
    expect(all([box("x")], [], [declared])).toEqual(["create boxes.x: ", `delete boxes.x@b-x: ${reason}`]);
  });

  test("stays when it is declared, adopted, managed, or cannot be managed", () => {
    expect(all([box("x", { unmanageable: "no" })])).toEqual([]);
    expect(all([box("X")], [], [resource("boxes.x")])).toEqual([]);
    expect(all([box("x")], [], [resource("tasks.x")])).toEqual([
      "create tasks.x: ",
      `delete boxes.x: ${reason}`,
    ]);
    const adopting = plan({
      spec: spec([resource("boxes.k", { values: { box_name: "x" } })], { authoritative: ["boxes"] }),
      live: live({ boxes: [box("x")] }),
      adopt: true,
    });
    expect(adopting.changes.map(({ action }) => action)).toEqual(["adopt"]);
  });

  test("stays when it is adopted under an address of another name, in kinds whose names are not unique", () => {
    const made = plan({
      spec: spec([resource("tasks.k", { values: { name: "t" } })], { authoritative: ["tasks"] }),
      live: live({ tasks: [object("t1", "t", { name: "t" })] }),
      adopt: true,
    });
    expect(made.changes.map(({ action, address }) => `${action} ${address}`)).toEqual(["adopt tasks.k"]);
  });

  test("is deleted although it has the name of a declared one, in kinds whose names are not unique", () => {
    const made = plan({
      spec: spec([resource("tasks.t")], { authoritative: ["tasks", "labels"] }),
      live: live({
        tasks: [object("t1", "t", { name: "t" }), object("t2", "t")],
        labels: [object("a/x", "a/x")],
      }),
      state: state([record("tasks.t", "t1")]),
    });
    expect(made.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
      "noop tasks.t",
      "delete tasks.t@t2",
    ]);
  });
});
