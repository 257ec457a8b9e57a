import { describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { error } from "../../src/core/diagnostic.ts";
import type { PastRun } from "../../src/core/past-run.ts";
import { type ExplainInput, explainResource } from "../../src/planner/explain-plan.ts";
import { live, object, plan, record, resource, spec, state } from "./build.ts";
import { registry } from "./kinds.ts";

const at = (text: string): Address => text as Address;
const A = at("boxes.a");
const B = at("boxes.b");

function inputOf(more: Partial<ExplainInput> & Pick<ExplainInput, "spec">, planned = {}): ExplainInput {
  const recorded = more.state ?? state();
  const made = plan({ spec: more.spec, state: recorded, ...planned });
  return { registry, plan: made, permissive: made, state: recorded, originOf: () => undefined, ...more };
}

const run = (id: string, fields: readonly string[]): PastRun => ({
  id,
  command: "apply",
  actor: id,
  started_at: 1,
  plan: "",
  outcome: "applied",
  applied: {},
  left: 0,
  changed: [A],
  details: [{ address: A, action: "update", fields: fields.map((path) => ({ path })) }],
});

const boxes = (values: object) => live({ boxes: [object("1", "a", { box_name: "a", size: 1, ...values })] });

describe("the explanation of a plan", () => {
  test("names for each field the newest run that wrote it", () => {
    const recorded = {
      ...state([record(A, "1", { size: 1, note: "x" })]),
      history: [run("first", ["/size", "/tags/env"]), run("second", ["/note"])],
    };
    const wanted = spec([resource(A, { values: { size: 2, note: "y", tags: { env: "dev" } } })]);
    const input = inputOf({ spec: wanted, state: recorded }, { live: boxes({ note: "x" }) });
    const explanation = explainResource(input, A);
    expect(explanation?.status).toBe("changes");
    expect(explanation?.fields.map(({ diff, writtenBy }) => [diff.path.join("."), writtenBy?.id])).toEqual([
      ["size", "first"],
      ["note", "second"],
      ["tags", "first"],
    ]);
    expect(explanation?.runs.map(({ id }) => id)).toEqual(["second", "first"]);
  });

  test("tells ignored fields apart from those that change", () => {
    const lifecycle = { ignore_changes: ["note"] };
    const values = { size: 2, note: "spec" };
    const wanted = spec([resource(A, { values, lifecycle })]);
    const recorded = state([record(A, "1", { size: 1, note: "live" })]);
    const planned = { spec: wanted, state: recorded, live: boxes({ note: "live" }) };
    const permissive = plan({ ...planned, spec: spec([resource(A, { values })]) });
    const explanation = explainResource(inputOf({ spec: wanted, state: recorded, permissive }, planned), A);
    expect(explanation?.fields.map(({ diff }) => diff.path)).toEqual([["size"]]);
    expect(explanation?.ignored.map(({ diff }) => diff)).toMatchObject([
      { path: ["note"], before: "live", after: "spec" },
    ]);
  });

  test("shows the fields of a refused replacement", () => {
    const values = { material: "steel" };
    const wanted = spec([resource(A, { values })]);
    const recorded = state([record(A, "1", { material: "wood" })]);
    const planned = { spec: wanted, state: recorded, live: boxes({ material: "wood" }) };
    const permissive = plan({
      ...planned,
      spec: spec([resource(A, { values })], { on_immutable_change: "replace" }),
    });
    const explanation = explainResource(inputOf({ spec: wanted, state: recorded, permissive }, planned), A);
    expect(explanation).toMatchObject({ status: "refused", change: undefined });
    expect(explanation?.blockedBy.map(({ code }) => code)).toEqual(["PLAN_IMMUTABLE"]);
    expect(explanation?.fields.map(({ diff }) => [diff.path[0], diff.replaces])).toEqual([
      ["material", true],
    ]);
  });

  test("separates what blocks the resource from what blocks the plan because of others", () => {
    const input = inputOf({ spec: spec([resource(A), resource(B)]) });
    const guard = (address: Address) => ({
      diagnostic: error("GUARD_PREVENT_DESTROY", `about ${address}`),
      addresses: [address],
    });
    const blocked = { ...input.plan, guards: [guard(A), guard(B)] };
    const explanation = explainResource({ ...input, plan: blocked }, A);
    expect(explanation?.blockedBy.map(({ message }) => message)).toEqual(["about boxes.a"]);
    expect(explanation?.planBlockedBy.map(({ message }) => message)).toEqual(["about boxes.b"]);
  });

  test("gives --exclude as the reason of a deletion that an excluded resource prevents", () => {
    const recorded = state([record(A, "1", { size: 1 }, { depends_on: [B] }), record(B, "2", { size: 1 })]);
    const objects = [
      object("1", "a", { box_name: "a", size: 1 }),
      object("2", "b", { box_name: "b", size: 1 }),
    ];
    const exclude = (address: Address): boolean => address === A;
    const wanted = spec([resource(A, { values: { size: 2 } })]);
    const input = inputOf(
      { spec: wanted, state: recorded, exclude },
      { exclude, live: live({ boxes: objects }) },
    );
    expect(input.plan.part?.excluded).toEqual([B]);
    expect(explainResource(input, B)).toMatchObject({ status: "left_out", leftOutBy: ["--exclude"] });
  });

  test("names the excluded resource that a left out one depends on through others", () => {
    const C = at("boxes.c");
    const wanted = spec([resource(A), resource(B, { dependsOn: [A] }), resource(C, { dependsOn: [B] })]);
    const exclude = (address: Address): boolean => address === A;
    const input = inputOf({ spec: wanted, exclude }, { exclude });
    expect(explainResource(input, C)).toMatchObject({
      status: "left_out",
      leftOutBy: ["--exclude"],
      leftOutWith: A,
      dependsOn: [{ address: B, action: undefined, fields: [] }],
    });
    expect(explainResource(input, A)).toMatchObject({ leftOutBy: ["--exclude"], leftOutWith: undefined });
  });

  test("has the fields that refer to a resource, and recorded dependents that are no longer declared", () => {
    const reference = { path: ["box"], parts: [{ address: A, attribute: "box_id" }] };
    const wanted = spec([
      resource(A),
      resource("tasks.t", { dependsOn: [A], references: [reference], values: { box: "${boxes.a.box_id}" } }),
    ]);
    const old = record("tasks.old", "9", {}, { depends_on: [A] });
    const explanation = explainResource(inputOf({ spec: wanted, state: state([old]) }), A);
    expect(explanation?.dependents.map(({ address, fields }) => [address, fields])).toEqual([
      ["tasks.old", []],
      ["tasks.t", [["box"]]],
    ]);
  });

  test("finds an unmanaged object by its name, and nothing at an address without one", () => {
    const found = live({ boxes: [object("7", "Crate", { box_name: "Crate" })] });
    const input = inputOf({ spec: spec([resource(B)]) }, { live: found });
    expect(explainResource(input, at("boxes.crate"))).toMatchObject({
      status: "unmanaged",
      unmanaged: { id: "7" },
      change: undefined,
    });
    expect(explainResource(input, at("boxes.cratte"))).toBeUndefined();
  });
});
