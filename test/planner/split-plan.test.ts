// A plan compared with the plan of its base: what a change causes, what was pending, and what it resolves.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { error, warning } from "../../src/core/diagnostic.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { Path } from "../../src/core/pointer.ts";
import { type Change, changeKey, touches } from "../../src/planner/model/change.ts";
import type { Plan, PlanSplit } from "../../src/planner/model/plan.ts";
import { causedPart, splitGuards, splitPlan } from "../../src/planner/split-plan.ts";
import type { FieldDiff } from "../../src/resource/planning.ts";
import type { Policy } from "../../src/spec/model/spec.ts";
import { live, object, plan, record, resource, spec, state } from "./build.ts";
import { adopt, compare, create, forget, noop, one, remove, replace, update } from "./changes.ts";
import { registry } from "./kinds.ts";

type Boxes = Readonly<Record<string, JsonObject>>;

const STEEL = { material: "steel" };

/** `a` and `b` were applied with size 1; outside, the size of `b` became 2. */
const world = {
  live: live({
    boxes: [
      object("1", "a", { box_name: "a", ...STEEL, size: 1 }),
      object("2", "b", { box_name: "b", ...STEEL, size: 2 }),
    ],
  }),
  state: state([
    record("boxes.a", "1", { box_name: "a", ...STEEL, size: 1 }),
    record("boxes.b", "2", { box_name: "b", ...STEEL, size: 1 }),
  ]),
};

const specOf = (boxes: Boxes, policy: Partial<Policy> = {}) =>
  spec(
    Object.entries(boxes).map(([name, values]) =>
      resource(`boxes.${name}`, { values: { ...STEEL, ...values } }),
    ),
    policy,
  );

const planOf = (boxes: Boxes, policy: Partial<Policy> = {}): Plan =>
  plan({ ...world, spec: specOf(boxes, policy) });

/** `boxes.a update caused note`: one line for each change, then one for each that is resolved. */
function told(base: Boxes, head: Boxes): readonly string[] {
  const after = planOf(head);
  const { changes, resolved } = splitPlan(planOf(base), after);
  return [
    ...after.changes.flatMap((change) => {
      const split = changes[changeKey(change)];
      if (split === undefined) return [];
      const fields = split.fields.map(({ path, origin }) => `${path.join(".")}:${origin}`).sort();
      return [[change.address, change.action, split.origin, ...fields].join(" ")];
    }),
    ...resolved.map(({ change, fields }) =>
      [change.address, change.action, "resolved", ...(fields ?? []).map((path) => path.join("."))].join(" "),
    ),
  ];
}

const AB = { a: { size: 1 }, b: { size: 1 } };

describe("a plan compared with its base", () => {
  test.each<[string, Boxes, Boxes, readonly string[]]>([
    ["has nothing caused when both specs are the same", AB, AB, ["boxes.b update pending"]],
    [
      "has a new resource as caused",
      AB,
      { ...AB, c: {} },
      ["boxes.c create caused", "boxes.b update pending"],
    ],
    [
      "has a changed field as caused",
      AB,
      { ...AB, a: { size: 3 } },
      ["boxes.a update caused", "boxes.b update pending"],
    ],
    [
      "has a change that was merged and not applied as pending",
      { ...AB, a: { size: 3 } },
      { ...AB, a: { size: 3 } },
      ["boxes.a update pending", "boxes.b update pending"],
    ],
    [
      "marks the fields of a change that is pending in part",
      AB,
      { ...AB, b: { size: 1, note: "x" } },
      ["boxes.b update caused note:caused size:pending"],
    ],
    [
      "has drift that the spec now asks for as resolved",
      AB,
      { ...AB, b: { size: 2 } },
      ["boxes.b update resolved"],
    ],
    [
      "has another value for a pending field as caused, not as resolved",
      AB,
      { ...AB, b: { size: 3 } },
      ["boxes.b update caused"],
    ],
    [
      "has a field that no longer differs as resolved while the rest stays pending",
      { ...AB, b: { size: 1, note: "x" } },
      AB,
      ["boxes.b update pending", "boxes.b update resolved note"],
    ],
    [
      "has a removed resource as caused and not as resolved",
      AB,
      { a: { size: 1 } },
      ["boxes.b delete caused"],
    ],
    [
      "has a pending deletion as resolved when the resource comes back",
      { b: { size: 1 } },
      AB,
      ["boxes.b update pending", "boxes.a delete resolved"],
    ],
    [
      "has a pending creation as resolved when the resource leaves the spec",
      { ...AB, c: {} },
      AB,
      ["boxes.b update pending", "boxes.c create resolved"],
    ],
    [
      "marks the fields of a creation that was pending with other values",
      { ...AB, c: { size: 2 } },
      { ...AB, c: { size: 3 } },
      ["boxes.c create caused box_name:pending material:pending size:caused", "boxes.b update pending"],
    ],
    [
      "has a creation that sets one field less as caused",
      { ...AB, c: { note: "x" } },
      { ...AB, c: {} },
      ["boxes.c create caused box_name:pending material:pending", "boxes.b update pending"],
    ],
  ])("%s", (_name, base, head, expected) => {
    expect(told(base, head).toSorted()).toEqual(expected.toSorted());
  });

  test("has an error of a resource as pending when the base has it, too, and an error without an address never", () => {
    const of = (address: string | undefined) => ({
      severity: "error" as const,
      code: "PLAN_IMMUTABLE" as const,
      message: "m",
      ...(address === undefined ? {} : { address: address as Address }),
    });
    const made = planOf(AB);
    const head = { ...made, diagnostics: [of("boxes.a"), of("boxes.b"), of(undefined)] };
    const base = { ...made, diagnostics: [of("boxes.a"), of(undefined)] };
    expect(splitPlan(base, head).pendingErrors).toEqual([of("boxes.a")]);
    const warned = { ...made, diagnostics: [{ ...of("boxes.a"), severity: "warning" as const }] };
    expect(splitPlan(warned, warned).pendingErrors).toEqual([]);
  });
});

describe("one change compared with its base", () => {
  const withChanges = (...changes: readonly Change[]): Plan => ({ ...planOf(AB), changes });
  const origin = (base: Change, head: Change) =>
    splitPlan(withChanges(base), withChanges(head)).changes[changeKey(head)]?.origin;
  const same = (change: Change) => origin(change, change);
  const id = object("9", "").id;
  const diff = (path: Path, before: Json | undefined, after: Json | undefined, more = {}): FieldDiff => ({
    path,
    before,
    after,
    cause: "spec",
    replaces: false,
    ...more,
  });

  test("of any action is pending when both are the same, and nothing that is not done is split", () => {
    const all = one("boxes.a");
    for (const change of Object.values(all).filter(touches))
      expect([change.action, same(change)]).toEqual([change.action, "pending"]);
    expect([same(all.noop), same(all.report)]).toEqual([undefined, undefined]);
  });

  test("is caused when its action, its name, or its object is another", () => {
    expect(origin(remove("boxes.a"), forget("boxes.a"))).toBe("caused");
    expect(origin(update("boxes.a", { name: "x" }), update("boxes.a"))).toBe("caused");
    expect(origin(remove("boxes.a", { id }), remove("boxes.a"))).toBe("caused");
    expect(origin(forget("boxes.a", { id }), forget("boxes.a"))).toBe("caused");
  });

  test("is caused when it replaces in another way", () => {
    expect(origin(replace("boxes.a", { replacing: "delete-first" }), replace("boxes.a"))).toBe("caused");
    expect(origin(replace("boxes.a", { keepsOld: true }), replace("boxes.a"))).toBe("caused");
    expect(origin(update("boxes.a"), update("boxes.a"))).toBe("pending");
  });

  test("is caused when it compares the value of another source", () => {
    expect(origin(compare("boxes.a", { source: "env OLD" }), compare("boxes.a"))).toBe("caused");
  });

  test("is caused when it adopts with other values or another payload", () => {
    expect(origin(adopt("boxes.a", { after: { size: 2 } }), adopt("boxes.a"))).toBe("caused");
    expect(origin(adopt("boxes.a", { payload: "p" }), adopt("boxes.a"))).toBe("caused");
    expect(origin(adopt("boxes.a", { payload: "p" }), adopt("boxes.a", { payload: "p" }))).toBe("pending");
  });

  test("is caused when it takes the name of another object", () => {
    const from = (other: typeof id) => ({
      nameFrom: { address: "boxes.b" as Address, id: other, freedWhen: "done" } as const,
    });
    expect(origin(update("boxes.a", from(id)), update("boxes.a"))).toBe("caused");
    expect(origin(update("boxes.a", from(id)), update("boxes.a", from(object("8", "").id)))).toBe("caused");
    expect(origin(update("boxes.a", from(id)), update("boxes.a", from(id)))).toBe("pending");
  });

  test.each([update, replace])("is caused when a difference has another value on either side", (make) => {
    const of = (...diffs: [FieldDiff, ...FieldDiff[]]) => make("boxes.a", { diffs });
    expect(origin(of(diff(["size"], 1, 2)), of(diff(["size"], 0, 2)))).toBe("caused");
    expect(origin(of(diff(["size"], 1, 2)), of(diff(["size"], 1, 3)))).toBe("caused");
    expect(origin(of(diff(["size"], 1, null)), of(diff(["size"], 1, undefined)))).toBe("caused");
    expect(origin(of(diff(["size"], 1, [])), of(diff(["size"], 1, undefined)))).toBe("caused");
    expect(origin(of(diff(["size"], 1, "x")), of(diff(["size"], 1, "x", { unknown: true })))).toBe("caused");
    expect(
      origin(of(diff(["size"], 1, "x", { unknown: true })), of(diff(["size"], 1, "x", { unknown: true }))),
    ).toBe("pending");
  });

  test("of a creation is caused when a value becomes one that only an apply can tell", () => {
    const later = { path: ["note"], parts: [{ address: "boxes.b" as Address, attribute: "box_id" }] };
    const after = { note: "x", size: 1 };
    expect(origin(create("boxes.a", { after }), create("boxes.a", { after, unresolved: [later] }))).toBe(
      "caused",
    );
    const other = { ...later, path: ["size"] };
    expect(
      origin(
        create("boxes.a", { after, unresolved: [other] }),
        create("boxes.a", { after, unresolved: [later] }),
      ),
    ).toBe("caused");
  });

  test("of a creation is caused by another payload of a content, and of no other field", () => {
    const of = (payload: string, after: JsonObject) => create("boxes.a", { payload, after });
    expect(origin(of("p", { content: "c" }), of("q", { content: "c" }))).toBe("caused");
    expect(origin(of("p", { note: "c" }), of("q", { note: "c" }))).toBe("pending");
  });

  test("has a field as resolved only when no difference around or inside it is left", () => {
    const resolved = (base: FieldDiff, ...left: [FieldDiff, ...FieldDiff[]]) =>
      splitPlan(
        withChanges(update("boxes.a", { diffs: [base] })),
        withChanges(update("boxes.a", { diffs: left })),
      ).resolved.map(({ fields }) => fields);
    const at = (...path: (string | number)[]) => diff(path, 1, 2);
    expect(resolved(at("tags", "a"), at("size"))).toEqual([[["tags", "a"]]]);
    expect(resolved(at("tags", "a"), at("tags", "b"))).toEqual([[["tags", "a"]]]);
    expect(resolved(at("tags", "a"), at("tags"))).toEqual([]);
    expect(resolved(at("tags"), at("tags", "a"))).toEqual([]);
    expect(resolved(at("tags"), at("tags"))).toEqual([]);
  });
});

describe("the caused part of a plan", () => {
  const guard = (code: "GUARD_LIMIT" | "GUARD_MAX_DELETES", more = {}) => ({
    diagnostic: error(code, "m"),
    addresses: [],
    ...more,
  });
  const [a, b] = [
    error("PLAN_IMMUTABLE", "m", { address: "boxes.a" as Address }),
    error("PLAN_IMMUTABLE", "m", { address: "boxes.b" as Address }),
  ];
  const made: Plan = {
    ...planOf(AB),
    changes: [update("boxes.a"), update("boxes.b"), noop("boxes.c")],
    guards: [
      guard("GUARD_LIMIT", { origin: "pending" }),
      guard("GUARD_MAX_DELETES", { origin: "caused" }),
      guard("GUARD_LIMIT"),
    ],
    diagnostics: [a, b, warning("PLAN_MODE", "w")],
  };
  const split = {
    base: { commit: "c" } as unknown as PlanSplit["base"],
    changes: { "boxes.a": { origin: "caused", fields: [] }, "boxes.b": { origin: "pending", fields: [] } },
    resolved: [],
    pendingErrors: [b],
  } as const;

  test("is without pending changes, guards, and errors", () => {
    const part = causedPart({ ...made, split });
    expect(part.changes.map(({ address }) => address)).toEqual(["boxes.a"]);
    expect(part.guards).toEqual([made.guards[1], made.guards[2]]);
    expect(part.diagnostics).toEqual([a, warning("PLAN_MODE", "w")]);
  });

  test("is the whole plan when it was not compared", () => {
    expect(causedPart(made)).toBe(made);
  });
});

const box = fc.record({
  size: fc.constantFrom(1, 2, 3),
  note: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
});
const boxes: fc.Arbitrary<Boxes> = fc
  .dictionary(fc.constantFrom("a", "b", "c"), box)
  .map((one) => JSON.parse(JSON.stringify(one)) as Boxes);

describe("any two specs", () => {
  test("every change that touches something is either caused or pending, and no other is", () => {
    fc.assert(
      fc.property(boxes, boxes, (base, head) => {
        const made = planOf(head);
        const { changes } = splitPlan(planOf(base), made);
        expect(Object.keys(changes).sort()).toEqual(made.changes.filter(touches).map(changeKey).sort());
      }),
    );
  });

  test("nothing is caused and nothing resolved when both are the same", () => {
    fc.assert(
      fc.property(boxes, (both) => {
        const { changes, resolved } = splitPlan(planOf(both), planOf(both));
        expect(Object.values(changes).filter(({ origin }) => origin === "caused")).toEqual([]);
        expect(resolved).toEqual([]);
      }),
    );
  });

  test("the order of the changes makes no difference", () => {
    const backwards = (made: Plan): Plan => ({ ...made, changes: made.changes.toReversed() });
    fc.assert(
      fc.property(boxes, boxes, (base, head) => {
        const one = splitPlan(planOf(base), planOf(head));
        const other = splitPlan(backwards(planOf(base)), backwards(planOf(head)));
        expect(other.changes).toEqual(one.changes);
        expect(other.resolved.toReversed()).toEqual(one.resolved);
      }),
    );
  });
});

describe("the guards of a plan compared with its base", () => {
  const guardsOf = (base: Boxes, head: Boxes, policy: Partial<Policy>) => {
    const input = { registry, host: "h", ...world, spec: specOf(head, policy) };
    const made = plan(input);
    return splitGuards(input, made, splitPlan(planOf(base, policy), made)).map(
      ({ diagnostic, origin }) => `${diagnostic.code} ${origin}`,
    );
  };

  test.each<[string, Boxes, Boxes, number, readonly string[]]>([
    ["is pending when only pending deletions raise it", {}, {}, 1, ["GUARD_MAX_DELETES pending"]],
    ["is caused when the caused deletions alone raise it", AB, {}, 1, ["GUARD_MAX_DELETES caused"]],
    [
      "is pending when the caused deletion alone is allowed",
      { a: { size: 1 } },
      {},
      1,
      ["GUARD_MAX_DELETES pending"],
    ],
    [
      "is caused when one caused deletion is too many",
      { a: { size: 1 } },
      {},
      0,
      ["GUARD_MAX_DELETES caused"],
    ],
  ])("max_deletes %s", (_name, base, head, most, expected) => {
    expect(guardsOf(base, head, { max_deletes: { count: most } })).toEqual(expected);
  });
});

test("guards of a plan with errors are those of the caused changes, and all are caused", () => {
  const head = { ...AB, c: { size: 1 } };
  const input = { registry, host: "h", ...world, spec: specOf({}, { max_deletes: { count: 0 } }) };
  const made = { ...plan(input), diagnostics: [error("PLAN_IMMUTABLE", "m")], guards: [] };
  const split = splitPlan(planOf(head), made);
  expect(
    splitGuards(input, made, split).map(({ diagnostic, origin }) => `${diagnostic.code} ${origin}`),
  ).toEqual(["GUARD_MAX_DELETES caused"]);
  expect(splitGuards(input, made, { changes: {} })).toEqual([]);
});

test("a guard about duplicate names is caused by its own resource, and another guard by its own changes", () => {
  const input = { registry, host: "h", ...world, spec: specOf(AB) };
  const made = planOf({ a: {} });
  const guards = ["boxes.b", "boxes.c"].map((address) => ({
    diagnostic: error("GUARD_DUPLICATE_NAME", "m"),
    addresses: [address as Address],
  }));
  const split = { changes: { "boxes.b": { origin: "caused", fields: [] } } } as const;
  const origins = splitGuards(input, { ...made, guards }, split).map(({ origin }) => origin);
  expect(origins).toEqual(["caused", "pending"]);
  const protectedBoth = {
    ...input,
    spec: specOf({}),
    state: state(
      ["a", "b"].map((name) => ({
        ...record(`boxes.${name}`, name === "a" ? "1" : "2"),
        prevent_destroy: true as const,
      })),
    ),
  };
  const limited = { ...protectedBoth, spec: specOf({}, { max_deletes: { count: 1 } }) };
  const blocked = plan(limited);
  expect(blocked.guards.map(({ diagnostic }) => diagnostic.code)).toEqual([
    "GUARD_MAX_DELETES",
    "GUARD_PREVENT_DESTROY",
    "GUARD_PREVENT_DESTROY",
  ]);
  expect(splitGuards(limited, blocked, split).map(({ origin }) => origin)).toEqual([
    "pending",
    "caused",
    "pending",
  ]);
  const both = plan(protectedBoth);
  expect(both.guards.map(({ addresses }) => addresses)).toEqual([["boxes.b"], ["boxes.a"]]);
  expect(splitGuards(protectedBoth, both, split).map(({ origin }) => origin)).toEqual(["caused", "pending"]);
});
