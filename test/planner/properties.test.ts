// Properties of planning: any live × any spec × any state converges in one apply, and unmanaged objects do not change.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { stringifyJson } from "../../src/core/exact-json.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { auditPlan } from "../../src/planner/audit.ts";
import { makePlan } from "../../src/planner/make-plan.ts";
import type { PlanFacts, PlanInput } from "../../src/planner/model/input.ts";
import type { LiveObject } from "../../src/resource/live.ts";
import type { Resource } from "../../src/spec/model/spec.ts";
import { sampleOf } from "../sample-size.ts";
import { actions, live, object, record, reference, resource, spec, state } from "./build.ts";
import { registry } from "./kinds.ts";
import { applied } from "./model.ts";

const NAMES = ["a", "b", "c", "d"] as const;
const some = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });

const boxValues = fc
  .record({
    material: fc.constantFrom("wood", "steel"),
    size: some(fc.integer({ min: 1, max: 3 })),
    timeout: some(fc.constantFrom(5, 60)),
    note: some(fc.constantFrom("x", "y")),
    colors: some(fc.uniqueArray(fc.constantFrom("r", "g", "b"))),
    members: some(fc.uniqueArray(fc.constantFrom("p", "q"))),
    tags: some(fc.dictionary(fc.constantFrom("k", "l"), fc.constantFrom("1", "2"))),
    limits: some(
      fc.record({ low: some(fc.integer({ min: 0, max: 1 })), high: some(fc.integer({ min: 2, max: 3 })) }),
    ),
  })
  .map((values) => JSON.parse(JSON.stringify(values)) as JsonObject);

interface Scene {
  readonly boxes: readonly (readonly [string, JsonObject])[];
  readonly labels: readonly (readonly [string, string])[];
  readonly tasks: readonly (readonly [string, string | undefined])[];
}

const scene: fc.Arbitrary<Scene> = fc.record({
  boxes: fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), boxValues), { selector: ([name]) => name }),
  labels: fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom("hi", "ho")), {
    selector: ([name]) => name,
  }),
  tasks: fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), some(fc.constantFrom(...NAMES))), {
    selector: ([name]) => name,
  }),
});

function resourcesOf(wanted: Scene): Resource[] {
  const boxes = new Map(wanted.boxes);
  const label = wanted.labels.filter(([name]) => boxes.has(name));
  return [
    ...wanted.boxes.map(([name, values]) =>
      resource(`boxes.${name}`, { values, owns: ["labels"], lifecycle: { on_immutable_change: "replace" } }),
    ),
    ...label.map(([name, text]) =>
      resource(`labels.${name}/l`, { values: { text }, dependsOn: [`boxes.${name}`] }),
    ),
    ...wanted.tasks.map(([name, at]) => {
      if (at === undefined || !boxes.has(at)) return resource(`tasks.${name}`);
      const target = `boxes.${at}`;
      return resource(`tasks.${name}`, {
        values: { box: `\${${target}.box_id}` },
        references: [reference(["box"], target, "box_id")],
        dependsOn: [target],
      });
    }),
  ];
}

/** A world in which some objects are recorded (some with other values than now), and others are unmanaged. */
function worldOf(now: Scene, ours: readonly string[]): Pick<PlanInput, "live" | "state"> {
  const boxes = now.boxes.map(([name, values]) =>
    object(`b-${name}`, name, { box_name: name, size: 1, timeout: 60, ...values }),
  );
  const known = new Set(boxes.map((one) => one.name));
  const labels = now.labels
    .filter(([name]) => known.has(name))
    .map(([name, text]) => object(`${name}/l`, `${name}/l`, { text }));
  const tasks = now.tasks.map(([name, at]) =>
    object(`t-${name}`, name, { name, ...(at === undefined ? {} : { box: `b-${at}` }) }),
  );
  const recorded = (kind: string, all: readonly LiveObject[]) =>
    all
      .filter((one) => ours.includes(one.name))
      .map((one) => record(`${kind}.${one.name}`, one.id, { ...one.values, size: 2 }));
  const parents = recorded("boxes", boxes);
  const children = labels
    .filter((one) => parents.some((parent) => one.name.startsWith(`${parent.name}/`)))
    .map((one) =>
      record(`labels.${one.name}`, one.id, one.values, {
        depends_on: [`boxes.${one.name.slice(0, 1)}` as Address],
      }),
    );
  return {
    live: live({ boxes, labels, tasks }),
    state: state([...parents, ...children, ...recorded("tasks", tasks)]),
  };
}

const cases = fc.tuple(scene, scene, fc.uniqueArray(fc.constantFrom(...NAMES)));

function inputOf([wanted, now, ours]: readonly [Scene, Scene, readonly string[]]): PlanInput & PlanFacts {
  return {
    registry,
    host: "h",
    spec: spec(resourcesOf(wanted)),
    adopt: true,
    caller: "nobody",
    ...worldOf(now, ours),
  };
}

test("any live × any spec × any state converges in one apply: the second plan is empty", () => {
  fc.assert(
    fc.property(cases, (drawn) => {
      const input = inputOf(drawn);
      const first = makePlan(input);
      expect(first.diagnostics).toEqual([]);
      const after = applied(first, input.spec, input);
      const second = makePlan({ ...input, ...after });
      expect(actions(second)).toEqual({});
      expect(second.drift).toEqual([]);
    }),
    { numRuns: sampleOf(500) },
  );
});

test("a plan with an exclusion changes no excluded address, passes the audit, and what follows it converges", () => {
  fc.assert(
    fc.property(cases, fc.constantFrom(...NAMES), (drawn, name) => {
      const input = inputOf(drawn);
      const exclude = (address: string) => address.endsWith(`.${name}`);
      const partial = makePlan({ ...input, exclude });
      expect(partial.changes.filter(({ address }) => exclude(address))).toEqual([]);
      expect(auditPlan(partial, { ...input, exclude })).toEqual([]);
      const after = { ...input, ...applied(partial, input.spec, input) };
      const full = makePlan(after);
      expect(full.diagnostics).toEqual([]);
      expect(actions(makePlan({ ...after, ...applied(full, input.spec, after) }))).toEqual({});
    }),
    { numRuns: sampleOf(300) },
  );
});

test("every plan passes the audit that knows only the rules of plans", () => {
  fc.assert(
    fc.property(cases, (drawn) => {
      const input = inputOf(drawn);
      expect(auditPlan(makePlan(input), input)).toEqual([]);
    }),
    { numRuns: sampleOf(300) },
  );
});

test("objects that are neither declared nor recorded are not changed", () => {
  fc.assert(
    fc.property(cases, (drawn) => {
      const input = { ...inputOf(drawn), adopt: false };
      const strangers = new Set(makePlan(input).unmanaged.map((one) => one.id));
      for (const change of makePlan(input).changes)
        if ("id" in change) expect(strangers.has(change.id)).toBe(false);
    }),
    { numRuns: sampleOf(300) },
  );
});

test("the order of the YAML does not matter, and the same input gives the same plan byte for byte", () => {
  fc.assert(
    fc.property(cases, fc.integer(), (drawn, turn) => {
      const input = inputOf(drawn);
      const resources = [...input.spec.resources.values()];
      const at = resources.length === 0 ? 0 : Math.abs(turn) % resources.length;
      const turned = spec([...resources.slice(at), ...resources.slice(0, at)].reverse());
      expect(stringifyJson(makePlan({ ...input, spec: turned }))).toBe(stringifyJson(makePlan(input)));
      expect(stringifyJson(makePlan(input))).toBe(stringifyJson(makePlan(input)));
    }),
    { numRuns: sampleOf(200) },
  );
});

test("a change comes after everything that it needs", () => {
  fc.assert(
    fc.property(cases, (drawn) => {
      const made = makePlan(inputOf(drawn));
      const seen = new Set<string>();
      for (const change of made.changes) {
        for (const need of change.dependsOn) expect(seen.has(need)).toBe(true);
        seen.add(change.address);
      }
    }),
    { numRuns: sampleOf(200) },
  );
});
