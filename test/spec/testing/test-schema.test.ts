import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { SIGNS } from "../../../src/report/text/vocabulary.ts";
import { ajvForSpecs } from "../../../src/spec/schema/validate.ts";

const published = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../../../schemas/${name}`, import.meta.url), "utf8"));

/** The validator as an editor has it: with the schema of the spec next to it. */
function editorValidator() {
  const ajv = ajvForSpecs();
  ajv.addSchema(published("workspace.schema.json"), "workspace.schema.json");
  return ajv.compile(published("test.schema.json"));
}

test("the published schema accepts the tests of the example, and inline specs", () => {
  const validate = editorValidator();
  const example = readFileSync(new URL("../../../examples/teams/teams.test.yaml", import.meta.url), "utf8");
  expect([validate(parse(example)), validate.errors]).toEqual([true, null]);
  const inline = {
    world: { pools: { a: { node_type_id: "x" } } },
    tests: {
      t: { steps: [{ apply: { spec: { groups: { g: {} } } } }, { create: { users: { "e@x.com": {} } } }] },
    },
  };
  expect([validate(inline), validate.errors]).toEqual([true, null]);
});

test("the published schema rejects unknown fields of tests and of inline specs", () => {
  const validate = editorValidator();
  expect(validate({ tests: { t: { steps: [{ plan: { sumary: {} } }] } } })).toBe(false);
  expect(validate({ world: { pools: { a: { size: 1 } } }, tests: { t: { steps: [{ plan: null }] } } })).toBe(
    false,
  );
});

test("every field of the published schema has a description", () => {
  const missing: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { properties } = value as { properties?: Record<string, Record<string, unknown>> };
    for (const [name, field] of Object.entries(properties ?? {}))
      if (typeof field.description !== "string") missing.push(`${path}.${name}`);
    for (const [key, one] of Object.entries(value)) if (key !== "examples") visit(one, `${path}/${key}`);
  };
  visit(published("test.schema.json"), "");
  expect(missing).toEqual([]);
});

test("the published schema has every action of a plan, and no other", () => {
  const validate = editorValidator();
  const accepts = (action: string): boolean =>
    validate({ tests: { t: { steps: [{ plan: { actions: { "pools.a": action } } }] } } });
  expect(Object.keys(SIGNS).filter((action) => !accepts(action))).toEqual([]);
  expect(accepts("rename")).toBe(false);
});
