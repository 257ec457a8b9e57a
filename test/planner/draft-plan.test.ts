// Planning in halves: a draft, the facts that it asks for, and the finished plan.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringifyJson } from "../../src/core/exact-json.ts";
import { draftPlan, finishPlan, missingFacts } from "../../src/planner/make-plan.ts";
import type { PlanFacts, PlanInput } from "../../src/planner/model/input.ts";
import { registryOf } from "../../src/resource/kind.ts";
import { sampleOf } from "../sample-size.ts";
import { live, object, record, requests, resource, spec, state } from "./build.ts";
import { registry as small } from "./kinds.ts";

const registry = registryOf(
  small.kinds.map((one) =>
    one.kind === "boxes"
      ? {
          ...one,
          usedBy: ["tasks"],
          planning: {
            ...one.planning,
            // The caller matters only to a box that a task uses, so tasks have to be listed first.
            neededFacts: (change, workspace) =>
              change.action === "delete" &&
              workspace.live("tasks").some(({ values }) => values.box === change.live?.id)
                ? ["caller", "activeRuns"]
                : [],
          },
        }
      : one,
  ),
);

const box = object("b1", "a", { box_name: "a" });
const task = object("t1", "theirs", { name: "theirs", box: "b1" });
const deleting: PlanInput = {
  registry,
  host: "h",
  spec: spec([]),
  live: new Map([...live({ boxes: [box] })].filter(([kind]) => kind !== "tasks")),
  state: state([record("boxes.a", "b1", { box_name: "a" })]),
};
const listed = (objects: readonly (typeof task)[]) => live({ tasks: objects });

describe("missingFacts", () => {
  test("is empty when the plan has no changes", () => {
    const same = { ...deleting, spec: spec([resource("boxes.a")]) };
    expect(missingFacts(draftPlan(same), {})).toEqual({
      caller: false,
      activeRuns: false,
      dependentsOfDeleted: new Set(),
      contents: [],
      lookups: [],
      principals: new Set(),
    });
  });

  test("asks for the kinds that may use what the plan deletes", () => {
    expect(missingFacts(draftPlan(deleting), {})).toMatchObject({
      dependentsOfDeleted: new Set(["tasks"]),
      caller: false,
    });
  });

  test("asks for the caller and active runs once users of deleted objects show that a change turns on them", () => {
    const draft = draftPlan(deleting);
    const used = missingFacts(draft, { dependentsOfDeleted: listed([task]) });
    expect(used).toMatchObject({ caller: true, activeRuns: true, dependentsOfDeleted: new Set() });
    expect(missingFacts(draft, { dependentsOfDeleted: listed([]) })).toMatchObject({
      caller: false,
      activeRuns: false,
    });
  });

  test("asks for the caller when a list that the spec owns has members that the service may add itself", () => {
    const world = live({
      boxes: [box],
      labels: [object("a/x", "a/x", { text: "owner" })],
    });
    const known = state([record("boxes.a", "b1", { box_name: "a" })]);
    const owning = spec([resource("boxes.a", { owns: ["labels"] })]);
    expect(requests({ spec: owning, live: world, state: known }).caller).toBe(true);
    expect(requests({ spec: spec([resource("boxes.a")]), live: world, state: known }).caller).toBe(false);
  });
});

const texts = fc.constantFrom("owner", "plain");
const names = fc.uniqueArray(fc.constantFrom<string>("a", "b", "c"), { maxLength: 3 });
interface Drawn {
  readonly declared: readonly string[];
  readonly there: readonly string[];
  readonly recorded: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly users: readonly string[];
  readonly caller: string | undefined;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  declared: names,
  there: names,
  recorded: names,
  labels: fc.dictionary(fc.constantFrom("a", "b", "c"), texts),
  users: names,
  caller: fc.option(fc.constantFrom("l", "nobody"), { nil: undefined }),
});

function inputOf({ declared, there, recorded, labels }: Drawn): PlanInput {
  const boxes = there.map((name) => object(`b-${name}`, name, { box_name: name }));
  const members = Object.entries(labels)
    .filter(([name]) => there.includes(name))
    .map(([name, text]) => object(`${name}/l`, `${name}/l`, { text }));
  return {
    registry,
    host: "h",
    spec: spec(declared.map((name) => resource(`boxes.${name}`, { owns: ["labels"] }))),
    live: new Map([...live({ boxes, labels: members })].filter(([kind]) => kind !== "tasks")),
    state: state(
      recorded
        .filter((name) => there.includes(name))
        .map((name) => record(`boxes.${name}`, `b-${name}`, { box_name: name })),
    ),
    adopt: true,
  };
}

const factsOf = ({ users, caller }: Drawn): PlanFacts => ({
  dependentsOfDeleted: listed(users.map((name) => object(`t-${name}`, name, { name, box: `b-${name}` }))),
  activeRuns: [],
  contents: new Map(),
  lookups: { catalogs: new Map(), kinds: new Map() },
  ...(caller === undefined ? {} : { caller }),
});

test("a plan with every fact asks for nothing but a caller that the service does not tell", () => {
  fc.assert(
    fc.property(drawn, (one) => {
      const open = missingFacts(draftPlan(inputOf(one)), factsOf(one));
      expect({ ...open, caller: false }).toEqual({
        caller: false,
        activeRuns: false,
        dependentsOfDeleted: new Set(),
        contents: [],
        lookups: [],
        principals: new Set(),
      });
      if (one.caller !== undefined) expect(open.caller).toBe(false);
    }),
    { numRuns: sampleOf(300) },
  );
});

test("facts other than users of deleted objects never lead to further requests", () => {
  fc.assert(
    fc.property(drawn, (one) => {
      const draft = draftPlan(inputOf(one));
      const first = missingFacts(draft, {});
      const { dependentsOfDeleted: _, ...facts } = factsOf(one);
      const then = missingFacts(draft, facts);
      if (then.caller) expect(first.caller).toBe(true);
      for (const kind of then.dependentsOfDeleted) expect(first.dependentsOfDeleted).toContain(kind);
    }),
    { numRuns: sampleOf(300) },
  );
});

test("finishPlan does not change the draft: the same facts give the same plan again", () => {
  fc.assert(
    fc.property(drawn, (one) => {
      const draft = draftPlan(inputOf(one));
      const before = stringifyJson(finishPlan(draft, {}));
      const known = stringifyJson(finishPlan(draft, factsOf(one)));
      expect(stringifyJson(finishPlan(draft, factsOf(one)))).toBe(known);
      expect(stringifyJson(finishPlan(draft, {}))).toBe(before);
    }),
    { numRuns: sampleOf(200) },
  );
});
