// The JSON form of a plan fits its schema and keeps secrets out.

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import jsonPatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { changeJson, planJson } from "../../src/report/plan-json.ts";
import { create, everything, planOf, registry, replace, secret, update } from "./plans.ts";

const schema = JSON.parse(readFileSync("schemas/plan.schema.json", "utf8"));
const valid = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false }).compile(schema);

function inner(change: Parameters<typeof changeJson>[0]): Record<string, unknown> {
  return changeJson(change, registry).change as Record<string, unknown>;
}

describe("plan as JSON", () => {
  test("every part of a plan fits schemas/plan.schema.json", () => {
    const json = JSON.parse(JSON.stringify(planJson(everything, registry, "1.2.3")));
    valid(json);
    expect(valid.errors).toBeNull();
    expect(json.summary).toEqual({
      create: 2,
      update: 1,
      replace: 1,
      delete: 1,
      adopt: 0,
      forget: 0,
      noop: 1,
    });
  });

  test("a misspelt member does not fit the schema", () => {
    expect(valid({ ...planJson(planOf([]), registry, "1"), extra: 1 })).toBe(false);
  });

  test("a replace is two actions, in the order in which they happen", () => {
    expect(inner(replace).actions).toEqual(["create", "delete"]);
    expect(inner({ ...replace, replacing: "delete-first" } as typeof replace).actions).toEqual([
      "delete",
      "create",
    ]);
    expect(inner(replace).replace_paths).toEqual([["node_type_id"]]);
  });

  test("the patch turns the live values into what is planned", () => {
    const { before, patch } = inner(update) as { before: object; patch: jsonPatch.Operation[] };
    const after = jsonPatch.applyPatch(structuredClone(before), patch).newDocument;
    expect(after).toEqual({ max_capacity: 50, node_type_id: "small", versions: ["b", "c"] });
  });

  test("a create has no before, and an update no patch of what stays", () => {
    expect(inner(create).before).toBeNull();
    expect(JSON.stringify(inner(update).patch)).not.toContain("node_type_id");
  });

  test("a secret is masked and marked", () => {
    expect(inner(secret).after).toEqual({ value: "(sensitive)" });
    expect(inner(secret).after_sensitive).toEqual({ value: true });
  });

  test("what only an apply can tell is marked by its place", () => {
    const reference = { path: ["tags", "pool"], parts: [] };
    const change = { ...create, unresolved: [reference] } as typeof create;
    expect(inner(change).after_unknown).toEqual({ tags: { pool: true } });
    expect(inner(change).after).not.toHaveProperty("tags.pool");
  });
});
