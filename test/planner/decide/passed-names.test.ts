// Unique names that pass from one object to another within a plan: the order, the temporary names, and what is refused.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { auditPlan } from "../../../src/planner/audit.ts";
import { makePlan } from "../../../src/planner/make-plan.ts";
import type { Plan } from "../../../src/planner/model/plan.ts";
import { live, object, record, resource, spec, state } from "../build.ts";
import { registry } from "../kinds.ts";

const named = (key: string, name: string) => resource(`boxes.${key}`, { values: { box_name: name } });
const box = (key: string, name: string) =>
  object(`id-${key}`, name, { box_name: name, size: 1, timeout: 60 });
const ours = (key: string, name = key) => record(`boxes.${key}`, `id-${key}`, { box_name: name });

/** Boxes a, b, and c are managed under their own names; others are unmanaged. */
function input(wanted: Readonly<Record<string, string>>, strangers: readonly string[] = []) {
  const known = ["a", "b", "c"];
  return {
    registry,
    host: "h",
    spec: spec(Object.entries(wanted).map(([key, name]) => named(key, name))),
    live: live({ boxes: [...known, ...strangers].map((key) => box(key, key)) }),
    state: state(known.map((key) => ours(key))),
  };
}

function told(plan: Plan): readonly string[] {
  return plan.changes
    .filter((one) => one.action !== "noop")
    .map((one) => {
      const from = "nameFrom" in one ? ` after ${one.nameFrom?.address} ${one.nameFrom?.once}` : "";
      const aside = "temporaryName" in one && one.temporaryName !== undefined ? " temporary" : "";
      return `${one.action} ${one.address} ${one.name}${from}${aside}`;
    });
}

function planned(wanted: Readonly<Record<string, string>>, strangers?: readonly string[]): Plan {
  const from = input(wanted, strangers);
  const plan = makePlan(from);
  expect(auditPlan(plan, from)).toEqual([]);
  return plan;
}

describe("the plan", () => {
  test("orders a chain of names, and the last name comes free by a delete", () => {
    expect(told(planned({ a: "b", b: "c" }))).toEqual([
      "delete boxes.c c",
      "update boxes.b c after boxes.c done",
      "update boxes.a b after boxes.b done",
    ]);
  });

  test("breaks a cycle with one temporary name", () => {
    const plan = planned({ a: "b", b: "c", c: "a" });
    expect(told(plan)).toEqual([
      "update boxes.c a after boxes.a aside",
      "update boxes.b c after boxes.c done",
      "update boxes.a b after boxes.b done temporary",
    ]);
  });

  test("lets a new resource take a name that another one gives up", () => {
    expect(told(planned({ a: "x", b: "b", c: "c", n: "a" }))).toEqual([
      "update boxes.a x",
      "create boxes.n a after boxes.a done",
    ]);
  });

  test("compares names as the service compares them", () => {
    expect(told(planned({ a: "B", b: "A", c: "c" }))).toEqual([
      "update boxes.b A after boxes.a aside",
      "update boxes.a B after boxes.b done temporary",
    ]);
  });

  test("chooses a temporary name that no live object and no resource has", () => {
    const [first] = planned({ a: "b", b: "a", c: "c" }).changes.flatMap((one) =>
      "temporaryName" in one && one.temporaryName !== undefined ? [one.temporaryName] : [],
    );
    const [second] = planned({ a: "b", b: "a", c: "c" }, [first ?? ""]).changes.flatMap((one) =>
      "temporaryName" in one && one.temporaryName !== undefined ? [one.temporaryName] : [],
    );
    expect(first).toMatch(/^a \(temporary [0-9a-f]{6}\)$/);
    expect(second).toMatch(/^a \(temporary [0-9a-f]{6}\)$/);
    expect(second).not.toBe(first);
  });

  test("keeps the whole cycle when --only names one of it", () => {
    const from = { ...input({ a: "b", b: "a", c: "x" }), only: (address: Address) => address === "boxes.a" };
    const plan = makePlan(from);
    expect(told(plan)).toEqual([
      "update boxes.b a after boxes.a aside",
      "update boxes.a b after boxes.b done temporary",
    ]);
  });
});

describe("a name that stays taken", () => {
  test("is an error at the field when an unmanaged object has it", () => {
    const plan = planned({ a: "s", b: "b", c: "c" }, ["s"]);
    expect(plan.diagnostics).toMatchObject([
      { code: "PLAN_ALREADY_EXISTS", address: "boxes.a", at: { file: "workspace.yaml" } },
    ]);
  });

  test("is refused with state mv when the spec only renamed the key", () => {
    const [problem] = planned({ a: "a", b: "b", n: "c" }).diagnostics;
    expect(problem).toMatchObject({ code: "PLAN_ALREADY_EXISTS", address: "boxes.n" });
    expect(problem?.hint).toContain("state mv boxes.c boxes.n");
  });
});

describe("the audit", () => {
  const from = input({ a: "b", b: "a", c: "c" });
  const plan = makePlan(from);

  test("refuses a plan whose names are taken before they are free", () => {
    const broken = plan.changes.map((one) => ({ ...one, nameFrom: undefined }));
    expect(
      auditPlan({ ...plan, changes: broken } as unknown as Plan, from).map((one) => one.message),
    ).toEqual([
      "boxes.b takes the name of id-a, which still has it",
      "boxes.a takes the name of id-b, which still has it",
    ]);
  });

  test("refuses a temporary name that another object has", () => {
    const broken = plan.changes.map((one) =>
      "temporaryName" in one && one.temporaryName !== undefined ? { ...one, temporaryName: "c" } : one,
    );
    expect(auditPlan({ ...plan, changes: broken }, from).map((one) => one.message)).toContain(
      "boxes.a takes the name of id-c, which still has it",
    );
  });
});
