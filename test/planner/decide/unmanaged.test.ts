// Why a member that the spec does not name goes: it came from outside, or the spec takes the list over now.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { PlanFacts, PlanInput } from "../../../src/planner/model/input.ts";
import type { Values } from "../../../src/resource/field-schema.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { LiveObject } from "../../../src/resource/live.ts";
import type { State } from "../../../src/state/model/record.ts";
import { pastRun } from "../../state/build.ts";
import { live, object, plan, record, requests, resource, spec, state } from "../build.ts";
import { registry } from "../kinds.ts";

const world = live({
  boxes: [object("b1", "a", { box_name: "a" })],
  labels: [object("a/x", "a/x", { text: "hello" })],
});
const wanted = spec([resource("boxes.a", { owns: ["labels"] })]);
const recorded = (owns: readonly string[] | undefined) =>
  state([record("boxes.a", "b1", { box_name: "a" }, owns === undefined ? {} : { owns })]);
const made = (owns: readonly string[] | undefined) =>
  plan({ spec: wanted, live: world, state: recorded(owns) });

test("a member of a list that was the spec's own at the last apply came from outside", () => {
  expect(made(["labels"]).changes.at(-1)).toMatchObject({ action: "delete", cause: "drift" });
  expect(made(["labels"]).drift).toMatchObject([{ what: "appeared", address: "labels.a/x" }]);
  // Records of before do not tell, and were made by specs that own their lists.
  expect(made(undefined).drift).toHaveLength(1);
});

test("a member of a list that the spec begins to manage is removed because of the spec, and is not drift", () => {
  expect(made([]).changes.at(-1)).toMatchObject({ action: "delete", cause: "spec" });
  expect(made([]).drift).toEqual([]);
  const adopting = plan({ spec: wanted, live: world, state: state(), adopt: true });
  expect(adopting.changes.at(-1)).toMatchObject({ action: "delete", cause: "spec" });
});

describe("a member that the spec does not name", () => {
  const parent = (owns: readonly string[], values = {}) => resource("boxes.a", { owns, values });
  const found = (more: Partial<PlanInput & PlanFacts> = {}, owns: readonly string[] = ["labels"]) =>
    plan({ spec: spec([parent(owns)]), live: world, state: recorded(["labels"]), ...more });

  test("is deleted with its reason, or reported when its value cannot be read", () => {
    expect(found().changes.at(-1)).toMatchObject({
      action: "delete",
      address: "labels.a/x",
      name: "a/x",
      reasons: ["the labels of boxes.a do not include it"],
    });
    const keys = live({
      boxes: [object("b1", "a", { box_name: "a" })],
      keys: [object("a/k", "a/k", {}, { written: 5 })],
    });
    expect(found({ live: keys }).changes.at(-1)).toEqual({
      action: "report",
      address: "keys.a/k",
      kind: "keys",
      name: "a/k",
      cause: "drift",
      consequences: [],
      dependsOn: [],
      reasons: ["it is in the workspace but not in the spec; it is kept because its value cannot be read"],
      id: "a/k",
      before: {},
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("depends on the caller only where the kind asks for it and the caller is unknown", () => {
    const asked = (more: Parameters<typeof found>[0], owns?: readonly string[]) => {
      const from = {
        spec: spec([parent(owns ?? ["labels"])]),
        live: world,
        state: recorded(["labels"]),
        ...more,
      };
      return requests(from).caller;
    };
    expect(asked({})).toBe(true);
    expect(asked({ caller: "x" })).toBe(false);
    expect(asked({}, [])).toBe(false);
    expect(asked({ live: live({ boxes: [object("b1", "a", { box_name: "a" })] }) })).toBe(false);
    const labels = registry.get("labels");
    const { isImplicit: _rule, ...planning } = labels.planning;
    const plain = registryOf(
      registry.kinds.map((one) => (one.kind === "labels" ? { ...one, planning } : one)),
    );
    expect(asked({ registry: plain })).toBe(false);
    expect(found({ registry: plain }).changes.at(-1)).toMatchObject({ action: "delete", cause: "drift" });
  });

  test("is kept if the service gave it to someone who applied this state before, also if another caller plans", () => {
    const labels = registry.get("labels");
    const isImplicit = (_live: LiveObject, name: string | undefined) => name === "applier";
    const kinds = registryOf(
      registry.kinds.map((one) => (one.kind === "labels" ? { ...labels, planning: { isImplicit } } : one)),
    );
    const actions = (applied: object) => {
      const { changes, drift } = found({
        registry: kinds,
        state: { ...recorded(["labels"]), ...applied },
        caller: "planner",
      });
      return [changes.map(({ action }) => action), drift.length];
    };
    expect(actions({})).toEqual([["noop", "delete"], 1]);
    expect(actions({ caller: { name: "applier", credential: "c" } })).toEqual([["noop"], 0]);
    const ran = (caller: string, changed: readonly string[]) =>
      pastRun(caller, { caller, changed: changed as readonly Address[] });
    expect(actions({ history: [ran("applier", [])] })).toEqual([["noop"], 0]);
    expect(actions({ history: [ran("applier", ["boxes.a"])] })).toEqual([["noop"], 0]);
    expect(actions({ history: [ran("applier", ["tags.other"]), ran("creator", ["boxes.a"])] })).toEqual([
      ["noop", "delete"],
      1,
    ]);
  });

  test("came with the spec when the parent that was applied kept it for the caller", () => {
    const labels = registry.get("labels");
    const isImplicit = (_live: LiveObject, _caller: string | undefined, values: Values) =>
      values.note === "mine";
    const kinds = registryOf(
      registry.kinds.map((one) => (one.kind === "labels" ? { ...labels, planning: { isImplicit } } : one)),
    );
    const records = (note: string) =>
      state([record("boxes.a", "b1", { box_name: "a", note }, { owns: ["labels"] })]);
    const cause = (note: string) =>
      found({ registry: kinds, state: records(note), caller: "me" }).changes.at(-1)?.cause;
    expect([cause("mine"), cause("other")]).toEqual(["spec", "drift"]);
  });

  test("is unchanged when it is recorded, declared, of another parent, or everything is destroyed", () => {
    const names = (more: Parameters<typeof found>[0]) =>
      found(more).changes.map(({ action, address }) => `${action} ${address}`);
    const both = state([
      ...recorded(["labels"]).records.values(),
      record("labels.other", "a/x", { text: "hello" }, { name: "a/other" }),
    ]);
    expect(names({ state: both })).not.toContain("delete labels.a/x");
    const declared = spec([
      parent(["labels"]),
      resource("labels.a/x", { values: { text: "hello" }, dependsOn: ["boxes.a"] }),
    ]);
    expect(names({ spec: declared })).toEqual(["noop boxes.a", "adopt labels.a/x"]);
    const others = live({ boxes: [object("b1", "a", { box_name: "a" })], labels: [object("b/x", "b/x")] });
    expect(names({ live: others })).toEqual(["noop boxes.a"]);
    expect(names({ destroy: true })).toEqual(["delete boxes.a"]);
  });

  test("is unchanged when its parent is refused, and judged whatever else has the name of the parent", () => {
    const shown = (more: Parameters<typeof found>[0]) =>
      found(more).changes.map(({ action, address }) => `${action} ${address}`);
    expect(shown({ state: state() })).toEqual([]);
    const twin = spec([parent(["labels"]), resource("tasks.a")]);
    expect(shown({ spec: twin })).toEqual(["noop boxes.a", "create tasks.a", "delete labels.a/x"]);
  });

  test("is unchanged when its parent is created or replaced by the plan", () => {
    const made = (record: State, values = {}) =>
      plan({
        spec: spec([parent(["labels"], values)], { on_immutable_change: "replace" }),
        live: live({
          boxes: record.records.size === 0 ? [] : [object("b1", "a", { box_name: "a", material: "wood" })],
          labels: [object("a/x", "a/x")],
        }),
        state: record,
      }).changes.map(({ action, address }) => `${action} ${address}`);
    expect(made(state())).toEqual(["create boxes.a"]);
    expect(made(recorded(["labels"]), { material: "steel" })).toEqual(["replace boxes.a"]);
  });
});

describe("a member whose value cannot be read", () => {
  const keys = live({
    boxes: [object("b1", "a", { box_name: "a" })],
    keys: [object("a/k", "a/k", {}, { written: 5 })],
  });
  const planned = (declared: readonly string[], atLastApply: readonly string[] | undefined, more = {}) =>
    plan({
      spec: spec([resource("boxes.a", { owns: declared })]),
      live: keys,
      state: recorded(atLastApply),
      ...more,
    });
  const addresses = (from: ReturnType<typeof planned>) => from.drift.map(({ address }) => address);

  test("is drift if the list was declared at the last apply, and is still only reported", () => {
    const found = planned(["keys"], ["keys"]);
    expect(found.drift).toEqual([
      {
        address: "keys.a/k",
        kind: "keys",
        name: "a/k",
        what: "appeared",
        values: {},
        diffs: [],
        facts: { written: 5 },
        id: "a/k",
      },
    ]);
    expect(found.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
      "noop boxes.a",
      "report keys.a/k",
    ]);
  });

  test("is not drift if the list is not declared, or was not at the last apply", () => {
    expect(addresses(planned([], ["keys"]))).toEqual([]);
    expect(addresses(planned(["keys"], []))).toEqual([]);
  });

  test("is not drift if it is declared, recorded, or of an object that is not recorded", () => {
    const declared = spec([
      resource("boxes.a", { owns: ["keys"] }),
      resource("keys.a/k", { dependsOn: ["boxes.a"] }),
    ]);
    expect(addresses(planned([], ["keys"], { spec: declared }))).toEqual([]);
    const managed = state([
      ...recorded(["keys"]).records.values(),
      record("keys.other/k", "a/k", {}, { name: "a/k" }),
    ]);
    expect(addresses(planned(["keys"], ["keys"], { state: managed }))).not.toContain("keys.a/k");
    expect(addresses(planned(["keys"], ["keys"], { state: state(), adopt: true }))).toEqual([]);
  });

  test("is limited by --only, and there are as many as the service has", () => {
    const only = (address: string) => address !== "keys.a/k";
    expect(addresses(planned(["keys"], ["keys"], { only }))).toEqual([]);
    const many = live({
      boxes: [object("b1", "a", { box_name: "a" })],
      keys: Array.from({ length: 1000 }, (_, at) => object(`a/k${at}`, `a/k${at}`)),
    });
    expect(addresses(planned(["keys"], ["keys"], { live: many }))).toHaveLength(1000);
  });
});
