// A plan compared with the plan of its base: what a change causes, what was pending, and what it resolves.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { changeKey } from "../../src/planner/model/order.ts";
import type { Plan } from "../../src/planner/model/plan.ts";
import { splitGuards } from "../../src/planner/split-guards.ts";
import { splitPlan } from "../../src/planner/split-plan.ts";
import type { Policy } from "../../src/spec/model/spec.ts";
import { live, object, plan, record, resource, spec, state } from "./build.ts";
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
      const one = changes[changeKey(change)];
      if (one === undefined) return [];
      const fields = one.fields.map(({ path, origin }) => `${path.join(".")}:${origin}`).sort();
      return [[change.address, change.action, one.origin, ...fields].join(" ")];
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
  });
});

const box = fc.record({
  size: fc.constantFrom(1, 2, 3),
  note: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
});
const boxes: fc.Arbitrary<Boxes> = fc
  .dictionary(fc.constantFrom("a", "b", "c"), box)
  .map((one) => JSON.parse(JSON.stringify(one)) as Boxes);

const touches = ({ action }: { readonly action: string }) => action !== "noop" && action !== "report";

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
