// The JSON form of a plan fits its schema and keeps secrets out.

import jsonPatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { remoteId } from "../../../src/core/address.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { planJson } from "../../../src/report/format/plan-json.ts";
import { closedValidator, openValidator } from "../../output-schemas.ts";
import { create, everything, noop, planOf, replace, secret, update, viewOf } from "../plans.ts";
import { run } from "../run.ts";

const valid = closedValidator("plan");

const REFERENCE = "${pools.new.id}";

function inner(change: Change): Record<string, unknown> {
  const [only] = planJson(viewOf(planOf([change])), run).resource_changes as {
    change: Record<string, unknown>;
  }[];
  return only?.change ?? {};
}

describe("plan as JSON", () => {
  test("each change has its cost before, after, and the difference, and the plan the sum", () => {
    const side = (max: number) => ({ range: { min: 1, max }, always: 0.5, runsPerMonth: 0, unknown: [] });
    const unknown = { range: undefined, always: 0, runsPerMonth: 0, unknown: ["the price of X"] };
    const plan = {
      ...planOf([create, update]),
      cost: {
        currency: "USD",
        changes: [
          { address: create.address, after: side(4) },
          { address: update.address, before: side(4), after: unknown },
        ],
        before: side(4),
        after: side(8),
        unchanged: [],
      },
    };
    const json = JSON.parse(JSON.stringify(planJson(viewOf(plan), run)));
    valid(json);
    expect(valid.errors).toBeNull();
    expect(json.cost.change).toEqual({
      min_per_hour: 0,
      max_per_hour: 4,
      always_per_hour: 0,
      runs_per_month: 0,
    });
    const [created, updated] = json.resource_changes;
    expect(created.cost).toMatchObject({ before: null, after: { max_per_hour: 4 } });
    expect(created.cost.change).toMatchObject({ min_per_hour: 1, max_per_hour: 4, always_per_hour: 0.5 });
    expect(updated.cost.change).toMatchObject({ max_per_hour: null, always_per_hour: -0.5 });
    expect(json.cost.changes[0]).toEqual({ address: create.address, ...created.cost });
  });

  test("a member that is deleted together with its parent names the parent, and one that is kept does not", () => {
    const forgotten = (dependsOn: Change["dependsOn"]): Change => ({
      ...noop,
      action: "forget",
      id: remoteId("1"),
      dependsOn,
      reasons: [],
    });
    const plan = planOf([forgotten([create.address]), forgotten([])]);
    const changes = planJson(viewOf(plan), run).resource_changes;
    expect(changes).toMatchObject([{ deleted_with: create.address }, { deleted_with: undefined }]);
  });

  test("every part of a plan fits schemas/plan.schema.json", () => {
    const json = JSON.parse(JSON.stringify(planJson(viewOf(everything), run)));
    valid(json);
    expect(valid.errors).toBeNull();
    expect(json.summary).toEqual({
      create: 2,
      update: 1,
      replace: 1,
      delete: 1,
      adopt: 0,
      import: 0,
      move: 0,
      forget: 0,
      compare: 0,
      noop: 1,
    });
  });

  test("a misspelt member does not fit the closed schema, and a later one fits the schema of users", () => {
    const later = JSON.parse(JSON.stringify({ ...planJson(viewOf(planOf([])), run), extra: 1 }));
    expect(valid(later)).toBe(false);
    expect(openValidator("plan")(later)).toBe(true);
  });

  test("a replace is two actions, in the order in which they happen, and one where the old object stays", () => {
    expect(inner(replace).actions).toEqual(["create", "delete"]);
    expect(inner({ ...replace, replacing: "delete-first" } as typeof replace).actions).toEqual([
      "delete",
      "create",
    ]);
    const keeping = inner({ ...replace, keepsOld: true } as typeof replace);
    expect(keeping.actions).toEqual(["create"]);
    expect(inner(replace).replace_paths).toEqual([["node_type_id"]]);
  });

  test("the patch turns the live values into what is planned", () => {
    const { before, patch } = inner(update) as { before: object; patch: jsonPatch.Operation[] };
    const after = jsonPatch.applyPatch(structuredClone(before), patch).newDocument;
    expect(after).toEqual({ max_capacity: 50, node_type_id: "small", versions: ["b", "c"] });
  });

  test("an unchanged resource is in `after` as well, and the order of a set makes no step of the patch", () => {
    const before = { node_type_id: "small", max_capacity: 10, versions: ["z", "b"] };
    const change = {
      ...update,
      before,
      after: { versions: ["b", "y"] },
      diffs: [{ path: ["versions"], before: ["z", "b"], after: ["b", "y"], cause: "spec", replaces: false }],
    } as typeof update;
    const shown = inner(change) as { before: object; after: object; patch: jsonPatch.Operation[] };
    expect(shown.after).toEqual({ node_type_id: "small", max_capacity: 10, versions: ["b", "y"] });
    expect(shown.patch).toEqual([{ op: "replace", path: "/versions/1", value: "y" }]);
    expect(jsonPatch.applyPatch(structuredClone(shown.before), shown.patch).newDocument).toEqual(shown.after);
  });

  test("an unchanged resource has its live values on both sides", () => {
    const shown = inner({ ...noop, before: { node_type_id: "small" } } as typeof noop);
    expect([shown.before, shown.after, shown.patch]).toEqual([
      { node_type_id: "small" },
      { node_type_id: "small" },
      [],
    ]);
  });

  test("an unknown member of a list keeps its place", () => {
    const change = {
      ...update,
      after: { tasks: [REFERENCE, "x"] },
      unresolved: [{ path: ["tasks", 0], parts: [] }],
      diffs: [
        {
          path: ["tasks"],
          before: [],
          after: [REFERENCE, "x"],
          unknown: true,
          cause: "spec",
          replaces: false,
        },
      ],
    } as unknown as typeof update;
    const shown = inner(change) as { after: { tasks: unknown }; after_unknown: unknown };
    expect([shown.after.tasks, shown.after_unknown]).toEqual([[null, "x"], { tasks: [true, false] }]);
  });

  test("a create has no before, and an update no patch of what stays", () => {
    expect(inner(create).before).toBeNull();
    expect(JSON.stringify(inner(update).patch)).not.toContain("node_type_id");
  });

  test("each difference has both sides: masked where the field is sensitive, and as the text of a reference where an apply decides", () => {
    const diff = { cause: "spec", replaces: false } as const;
    const digest = `(sensitive ${"0".repeat(16)}-${"a".repeat(32)})`;
    const differencesOf = (change: Change) =>
      (planJson(viewOf(planOf([change])), run).resource_changes as { differences: object[] }[])[0]
        ?.differences;
    const diffs = [
      { ...diff, path: ["max_capacity"], before: 10, after: undefined },
      { ...diff, path: ["node_type_id"], before: digest, after: REFERENCE, unknown: true },
    ] as const;
    expect(differencesOf({ ...update, diffs } as unknown as Change)).toMatchObject([
      { path: ["max_capacity"], before: 10, after: null },
      { path: ["node_type_id"], before: "(sensitive)", after: REFERENCE, after_unknown: true },
    ]);
    const value = { ...diff, path: ["value"], before: "old", after: "new" };
    const written = {
      ...update,
      ...secret,
      action: "update",
      before: {},
      diffs: [value],
    } as unknown as Change;
    expect(differencesOf(written)).toMatchObject([{ before: "(sensitive)", after: "(sensitive)" }]);
  });

  test("a plan says whether it is blocked, and lists each guard and error as a reason", () => {
    const guard = { code: "GUARD_LIMIT", message: "m", severity: "error" } as const;
    const diagnostics = [
      { code: "SPEC_EMPTY", message: "w", severity: "warning" },
      { code: "PLAN_UNREADABLE", message: "e", severity: "error" },
    ] as const;
    const guards = [{ diagnostic: guard, addresses: ["pools.a"] }] as never;
    const blocked = planJson(viewOf(planOf([], { guards, diagnostics })), run);
    expect(blocked).toMatchObject({ blocked: true, blocked_by: [guard, { code: "PLAN_UNREADABLE" }] });
    expect(blocked.blocked_by).toHaveLength(2);
    expect(planJson(viewOf(planOf([], { diagnostics: diagnostics.slice(0, 1) })), run)).toMatchObject({
      blocked: false,
      blocked_by: [],
    });
  });

  test("a secret is masked and marked", () => {
    expect(inner(secret).after).toEqual({ value: "(sensitive)" });
    expect(inner(secret).after_sensitive).toEqual({ value: true });
  });

  test("values known after apply are marked by their location", () => {
    const reference = { path: ["tags", "pool"], parts: [] };
    const change = { ...create, unresolved: [reference] } as typeof create;
    expect(inner(change).after_unknown).toEqual({ tags: { pool: true } });
    expect(inner(change).after).not.toHaveProperty("tags.pool");
  });
});
