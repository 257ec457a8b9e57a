// The facts that a plan asks for, and what it says once they are known.

import { describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { draftPlan, finishPlan, missingFacts } from "../../src/planner/make-plan.ts";
import type { MissingFacts, PlanFacts, PlanInput } from "../../src/planner/model/input.ts";
import { type Provider, registryOf } from "../../src/resource/kind.ts";
import type { PlannedChange } from "../../src/resource/planning.ts";
import { live, object, record, resource, spec, state } from "./build.ts";
import { registry as plain } from "./kinds.ts";

/** Boxes ask for facts by their note; tasks have a content and use boxes. */
const registry = registryOf(
  plain.kinds.map((kind): Provider => {
    if (kind.kind === "boxes")
      return {
        ...(kind as Provider),
        usedBy: ["tasks"],
        planning: {
          neededFacts: ({ after, live: found }) => {
            const note = after?.note ?? found?.values.note;
            return note === "who" ? ["caller"] : note === "runs" ? ["activeRuns"] : [];
          },
          consequences: ({ action, name }: PlannedChange) =>
            name === "quiet" ? [] : [`${action} disturbs ${name}`],
        },
      };
    if (kind.kind !== "tasks") return kind as Provider;
    const more = {
      content: { type: "string" },
      imported: { type: "string" },
      machine: { type: "string", catalog: "node_types" },
    } as const;
    return {
      ...(kind as Provider),
      fields: { ...kind.fields, ...more },
      planning: { content: { text: () => "" } },
    };
  }),
);

const box = (values = {}, more: Parameters<typeof resource>[1] = {}) =>
  resource("boxes.a", { values: { size: 1, ...values }, ...more });
const LIVE = { box_name: "a", size: 1 };
const world = live({ boxes: [object("b1", "a", LIVE)] });
const known = state([record("boxes.a", "b1", LIVE)]);
const input = (given: Partial<PlanInput> = {}): PlanInput => ({
  registry,
  host: "h",
  spec: spec([]),
  live: world,
  state: known,
  ...given,
});
const asked = (given: Partial<PlanInput>, facts: PlanFacts = {}) =>
  missingFacts(draftPlan(input(given)), facts);
const NOTHING: MissingFacts = {
  caller: false,
  activeRuns: false,
  dependentsOfDeleted: new Set(),
  contents: [],
  lookups: [],
  principals: new Set(),
};

describe("a plan asks", () => {
  test("for nothing when it has no changes", () => {
    expect(asked({ spec: spec([box()]) })).toEqual(NOTHING);
    expect(
      asked({
        spec: spec([box()]),
        live: live({ boxes: [object("b1", "a", { ...LIVE, note: undefined as never })] }),
      }),
    ).toEqual(NOTHING);
  });

  test("for the caller and active runs where the rules of a kind need them and they are unknown", () => {
    const who = { spec: spec([box({ note: "who" })]) };
    const runs = { spec: spec([box({ note: "runs" })]) };
    expect(asked(who)).toEqual({ ...NOTHING, caller: true });
    expect(asked(who, { caller: "ada" })).toEqual(NOTHING);
    expect(asked(runs)).toEqual({ ...NOTHING, activeRuns: true });
    expect(asked(runs, { activeRuns: [] })).toEqual(NOTHING);
    expect(asked({ spec: spec([box({ note: "other" })]) })).toEqual(NOTHING);
  });

  test("for nothing on behalf of changes that send no requests", () => {
    const there = live({ boxes: [object("b1", "a", { ...LIVE, note: "who" })] });
    const adopting = { spec: spec([box({ note: "who" })]), live: there, state: state(), adopt: true };
    expect(asked(adopting)).toEqual(NOTHING);
  });

  test("for kinds that may use what it deletes, unless they were read", () => {
    const partial = new Map([...world].filter(([kind]) => kind !== "tasks"));
    expect(asked({ live: partial })).toEqual({ ...NOTHING, dependentsOfDeleted: new Set(["tasks"]) });
    expect(asked({ live: partial }, { dependentsOfDeleted: new Map() })).toEqual(NOTHING);
    expect(asked({})).toEqual(NOTHING);
  });

  const content = (values = {}) => ({
    spec: spec([resource("tasks.t", { values: { content: "new", ...values } })]),
    live: live({ tasks: [object("t1", "t", { name: "t", content: "old" })] }),
    state: state([record("tasks.t", "t1", { name: "t", content: "old" })]),
  });

  test("for contents of text that it changes, unless they were read", () => {
    expect(asked(content()).contents.map(({ address }) => address)).toEqual(["tasks.t"]);
    expect(asked(content(), { contents: new Map() }).contents).toEqual([]);
    expect(asked(content({ content: "old", steps: ["x"] })).contents).toEqual([]);
    const binary = registryOf(
      registry.kinds.map((one) => (one.kind === "tasks" ? { ...one, planning: { content: {} } } : one)),
    );
    expect(asked({ ...content(), registry: binary }).contents).toEqual([]);
    const none = registryOf(
      registry.kinds.map((one) => (one.kind === "tasks" ? { ...one, planning: {} } : one)),
    );
    expect(asked({ ...content(), registry: none }).contents).toEqual([]);
  });

  test("for values of catalogs that it sends, unless they were looked up", () => {
    const wanted = { spec: spec([box(), resource("tasks.t", { values: { machine: "m" } })]) };
    expect(asked(wanted).lookups).toEqual([
      { address: "tasks.t", path: ["machine"], text: "m", source: { in: "catalog", of: "node_types" } },
    ]);
    expect(asked(wanted, { lookups: { catalogs: new Map(), kinds: new Map() } }).lookups).toEqual([]);
  });

  test("for the caller when an owned list has members that the service may add, also if nothing changes", () => {
    const member = live({
      boxes: [object("b1", "a", LIVE)],
      labels: [object("a/x", "a/x", { text: "owner" })],
    });
    const owning = { spec: spec([box({}, { owns: ["labels"] })]), live: member };
    expect(asked(owning)).toEqual({ ...NOTHING, caller: true });
    expect(asked(owning, { caller: "y" })).toEqual(NOTHING);
    // For this caller the member stays, and then nothing changes.
    expect(asked(owning, { caller: "x" })).toEqual(NOTHING);
    const restricted = { ...owning, only: (address: Address) => address === "boxes.a" };
    expect(asked(restricted)).toEqual({ ...NOTHING, caller: true });
    expect(asked(restricted, { caller: "x" })).toEqual(NOTHING);
  });
});

describe("a finished plan", () => {
  const finished = (given: Partial<PlanInput>, facts: PlanFacts = {}) =>
    finishPlan(draftPlan(input(given)), facts);

  test("has the side effects of each change that does something", () => {
    const made = finished({ spec: spec([box({ size: 2 }), resource("boxes.n"), resource("boxes.quiet")]) });
    expect(made.changes.map(({ address, consequences }) => [address, ...consequences])).toEqual([
      ["boxes.a", "update disturbs a"],
      ["boxes.n", "create disturbs n"],
      ["boxes.quiet"],
    ]);
    const unmoved = finished({ spec: spec([box()]) }).changes;
    expect(unmoved.map(({ action, consequences }) => [action, ...consequences])).toEqual([["noop"]]);
    const adopted = finished({ spec: spec([box()]), state: state(), adopt: true }).changes;
    expect(adopted.map(({ action, consequences }) => [action, ...consequences])).toEqual([["adopt"]]);
  });

  test("is decided again once the caller is known, where that matters", () => {
    const member = live({
      boxes: [object("b1", "a", LIVE)],
      labels: [object("a/x", "a/x", { text: "owner" })],
    });
    const owning = { spec: spec([box({}, { owns: ["labels"] })]), live: member };
    const shown = (facts: PlanFacts) =>
      finished(owning, facts).changes.map(({ action, address }) => `${action} ${address}`);
    expect(shown({})).toEqual(["noop boxes.a", "delete labels.a/x"]);
    expect(shown({ caller: "other" })).toEqual(["noop boxes.a", "delete labels.a/x"]);
    expect(shown({ caller: "x" })).toEqual(["noop boxes.a"]);
  });

  test("lists the unmanaged objects of the kinds that it uses", () => {
    const boxes = ["a", "b", "c", "root"].map((name) =>
      object(`b-${name}`, name, { ...LIVE, box_name: name }),
    );
    const found = live({ boxes, tasks: [object("t1", "t", { name: "t" })], labels: [object("a/x", "a/x")] });
    const records = state([
      record("boxes.a", "b-a", LIVE),
      record("boxes.gone", "b-gone", LIVE, { deposed: [object("b-c", "").id] }),
    ]);
    const unmanaged = (wanted: Parameters<typeof spec>[0], more: Partial<PlanInput> = {}) =>
      finished({ spec: spec(wanted), live: found, state: records, ...more }).unmanaged.map(
        ({ kind, name, id }) => `${kind} ${name} ${id}`,
      );
    expect(unmanaged([box()])).toEqual(["boxes b b-b"]);
    expect(unmanaged([box(), resource("tasks.n")])).toEqual(["boxes b b-b", "tasks t t1"]);
    expect(unmanaged([], { state: state() })).toEqual([]);
    expect(unmanaged([box(), resource("boxes.b", { values: { size: 1 } })], { adopt: true })).toEqual([]);
    expect(unmanaged([resource("labels.a/y")], { state: state() })).toEqual([]);
    // `--only` restricts the changes, not what the spec knows.
    const only = (address: Address) => address === "boxes.a";
    expect(unmanaged([box(), resource("tasks.t")], { only, adopt: true })).toEqual(["boxes b b-b"]);
  });

  test("says of how many resources it decides when it is restricted", () => {
    const part = (given: Partial<PlanInput>) => finished(given).part;
    const wanted = spec([box(), resource("boxes.n"), resource("tasks.t", { dependsOn: ["boxes.n"] })]);
    const records = state([record("boxes.a", "b1", LIVE), record("boxes.gone", "b9")]);
    expect(finished({ spec: wanted, state: state(), destroy: true }).diagnostics).toEqual([]);
    expect(part({ spec: wanted })).toBeUndefined();
    expect(finished({ spec: wanted })).not.toHaveProperty("part");
    expect(part({ spec: wanted, state: records, only: (address) => address === "tasks.t" })).toEqual({
      planned: 2,
      total: 4,
    });
    expect(part({ spec: wanted, state: records, only: (address) => address === "boxes.a" })).toEqual({
      planned: 1,
      total: 4,
    });
    expect(part({ spec: wanted, state: state(), destroy: true, only: () => true })).toEqual({
      planned: 0,
      total: 0,
    });
    expect(
      part({ spec: wanted, state: records, destroy: true, only: (address) => address === "boxes.a" }),
    ).toEqual({ planned: 1, total: 2 });
    const keys = live({ boxes: [object("b1", "a", LIVE)], keys: [object("a/k", "a/k")] });
    expect(part({ spec: spec([box()]), live: keys, only: () => true })).toEqual({ planned: 1, total: 1 });
  });

  test("keeps the objects that users of deleted objects use, and has no guards while it has errors", () => {
    const limited = { spec: spec([], { max_deletes: { count: 0 } }) };
    expect(finished(limited).guards.map(({ diagnostic }) => diagnostic.code)).toEqual(["GUARD_MAX_DELETES"]);
    const stranger = live({ boxes: [object("b1", "a", LIVE), object("b2", "n")] });
    const refused = { spec: spec([resource("boxes.n")], { max_deletes: { count: 0 } }), live: stranger };
    expect(finished(refused)).toMatchObject({ guards: [], diagnostics: [{ code: "PLAN_ALREADY_EXISTS" }] });
  });

  test("has the host, and drift of the resources that it is restricted to", () => {
    const moved = live({ boxes: [object("b1", "a", { ...LIVE, size: 9 })] });
    expect(finished({ host: "https://here", spec: spec([box()]) }).host).toBe("https://here");
    const drift = (only?: PlanInput["only"]) =>
      finished({
        spec: spec([box(), resource("tasks.t")]),
        live: moved,
        ...(only === undefined ? {} : { only }),
      }).drift.length;
    expect([
      drift(),
      drift((address) => address === "boxes.a"),
      drift((address) => address === "tasks.t"),
    ]).toEqual([1, 1, 0]);
  });

  test("decides resources in the order of their dependencies, whatever the order of the spec", () => {
    const reference = { path: ["note"], parts: [{ address: "boxes.z" as Address, attribute: "material" }] };
    const first = resource("boxes.a", {
      values: { note: "${boxes.z.material}" },
      references: [reference],
      dependsOn: ["boxes.z", "boxes.gone"],
    });
    const last = resource("boxes.z", { values: { material: "wood" } });
    for (const wanted of [
      [first, last],
      [last, first],
    ]) {
      const made = finished({ spec: spec(wanted), live: live(), state: state() });
      expect(made.changes.find(({ address }) => address === "boxes.a")).toMatchObject({
        after: { note: "wood" },
        unresolved: [],
      });
    }
  });

  test("decides by address, so that the order of the spec does not choose among equals", () => {
    const twins = ["boxes.x", "boxes.w"].map((address) =>
      resource(address, { values: { box_name: "same", size: 1 } }),
    );
    const there = {
      live: live({ boxes: [object("b7", "same", { ...LIVE, box_name: "same" })] }),
      state: state(),
      adopt: true,
    };
    const told = (wanted: typeof twins) =>
      finished({ spec: spec(wanted), ...there }).changes.map(({ action, address }) => `${action} ${address}`);
    expect(told(twins)).toEqual(told(twins.toReversed()));
  });

  test("has its errors by address, whatever the order of the spec", () => {
    const strangers = live({ boxes: ["x", "y", "z"].map((name) => object(`b-${name}`, name)) });
    const wanted = ["y", "z", "x"].map((name) => resource(`boxes.${name}`));
    const errors = (resources: typeof wanted) =>
      finished({ spec: spec(resources), live: strangers, state: state() }).diagnostics.map(
        ({ address }) => address,
      );
    expect(errors(wanted)).toEqual(["boxes.x", "boxes.y", "boxes.z"]);
    expect(errors(wanted.toReversed())).toEqual(["boxes.x", "boxes.y", "boxes.z"]);
  });

  test("shows errors of the resources that it is restricted to, and of what they depend on", () => {
    const stranger = live({ boxes: [object("b1", "a", LIVE), object("b2", "n", LIVE)] });
    const wanted = spec([
      resource("boxes.n"),
      resource("tasks.t", { dependsOn: ["boxes.n", "boxes.gone"] }),
      resource("tasks.u"),
    ]);
    const codes = (only?: string) =>
      finished({
        spec: wanted,
        live: stranger,
        ...(only === undefined ? {} : { only: (address: Address) => address === only }),
      }).diagnostics.map(({ address }) => address);
    expect([codes(), codes("tasks.t"), codes("tasks.u"), codes("boxes.n")]).toEqual([
      ["boxes.n"],
      ["boxes.n"],
      [],
      ["boxes.n"],
    ]);
  });
});

test("nothing of a kind that was not read is decided", () => {
  const made = finishPlan(
    draftPlan(
      input({
        spec: spec([box(), resource("tasks.t")]),
        live: new Map([["tasks", live().get("tasks") as never]]),
      }),
    ),
    {},
  );
  expect(made.changes.map(({ address }) => address)).toEqual(["tasks.t"]);
});
