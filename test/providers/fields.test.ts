// Properties of the fields of every kind: they are described, they are JSON Schema, and equivalent values become one.

import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { registry } from "../../src/providers/index.ts";
import { preservedIn, preservedPaths, withPreserved } from "../../src/providers/kit/preserved-fields.ts";
import { normalizeDesired, normalizeLive } from "../../src/providers/kit/spec-form.ts";
import { ANNOTATION_KEYWORDS, type FieldSchema, type FieldTable } from "../../src/resource/field-schema.ts";

const kinds = registry.kinds.map((provider) => [provider.kind, provider] as const);

function every(table: FieldTable, visit: (path: string, schema: FieldSchema) => void): void {
  const walk = (path: string, schema: FieldSchema): void => {
    visit(path, schema);
    for (const [name, member] of Object.entries(schema.properties ?? {})) walk(`${path}.${name}`, member);
    if (schema.items !== undefined) walk(`${path}[]`, schema.items);
    if (typeof schema.additionalProperties === "object") walk(`${path}{}`, schema.additionalProperties);
  };
  for (const [name, schema] of Object.entries(table)) walk(name, schema);
}

describe.each(kinds)("%s", (_kind, provider) => {
  test("every field, however deep, is described by a sentence", () => {
    const bad: string[] = [];
    every(provider.fields, (path, schema) => {
      if ((schema.description ?? "").length < 3) bad.push(path);
    });
    expect(bad).toEqual([]);
    expect(provider.description).toMatch(/\.$/);
  });

  test("the fields are JSON Schema that ajv compiles in strict mode", () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, keywords: [...ANNOTATION_KEYWORDS] });
    expect(() => ajv.compile({ type: "object", properties: provider.fields })).not.toThrow();
  });

  test("lists say how they compare, and no object takes unknown members", () => {
    const bad: string[] = [];
    every(provider.fields, (path, schema) => {
      if (schema.type === "array" && schema.list === undefined) bad.push(path);
      if (schema.properties !== undefined && schema.additionalProperties !== false) bad.push(path);
    });
    expect(bad).toEqual([]);
  });

  test("references and names lead to kinds that exist", () => {
    const kinds = provider.nested === undefined ? [] : [provider.nested.kind];
    every(provider.fields, (_path, { refersTo, names }) => {
      for (const kind of [refersTo, names]) if (kind !== undefined) kinds.push(kind);
    });
    expect(kinds.filter((kind) => registry.find(kind) === undefined)).toEqual([]);
  });

  test("a kind that is renamed aside knows how to rename, and its name field exists", () => {
    expect(provider.replaceStrategy === "rename-aside").toBe(provider.operations.rename !== undefined);
    if (provider.nameField !== undefined) expect(provider.fields[provider.nameField]).toBeDefined();
  });
});

const table: FieldTable = {
  count: { type: "integer", default: 1 },
  on: { type: "boolean" },
  price: { type: "number" },
  id: { type: "string", minLength: 1 },
  mode: { type: "string", enum: ["A", "B"] },
  any: { type: ["string", "number", "boolean"] },
  tags: { type: "object", additionalProperties: { type: "string" } },
  names: { type: "array", items: { type: "string" }, default: [] },
  deep: { type: "object", properties: { a: { type: "integer", default: 5 }, b: { type: "string" } } },
};

describe("one form", () => {
  test("numbers as text, truth as text, tags as a list and unknown members become what the table says", () => {
    const answer = {
      count: "12",
      on: "true",
      price: "-0.5",
      any: 7,
      tags: [{ key: "a", value: "b" }, { key: "__proto__", value: "c" }, "junk"],
      names: ["x", null],
      deep: { b: "c", z: 1 },
      unknown: 1,
    };
    const live = normalizeLive(table, answer);
    expect(live).toMatchObject({
      count: 12,
      on: true,
      price: -0.5,
      any: "7",
      names: ["x"],
      deep: { a: 5, b: "c" },
    });
    expect(Object.entries(Object(live.tags))).toEqual([
      ["a", "b"],
      ["__proto__", "c"],
    ]);
    expect(live).not.toHaveProperty("unknown");
  });

  test("absent, empty, and null members become defaults", () => {
    expect(normalizeLive(table, { tags: {}, names: [], deep: {}, on: null })).toEqual({
      count: 1,
      deep: { a: 5 },
    });
    expect(normalizeDesired(table, { tags: {}, names: [], deep: {}, on: null })).toEqual({});
  });

  test("an empty string is absent where the service has no empty value, and stays in a spec", () => {
    const empty = { id: "", mode: "", any: "", tags: { a: "" } };
    expect(normalizeLive(table, empty)).toEqual({ count: 1, any: "", tags: { a: "" } });
    expect(normalizeDesired(table, empty)).toEqual(empty);
  });

  test("references and strings that are not numbers stay strings", () => {
    const desired = { count: "${pools.p.max_capacity}", on: "${var.on}", deep: { a: "12x" } };
    expect(normalizeDesired(table, desired)).toEqual(desired);
  });

  test("values that have it already are shared, not copied", () => {
    const live = normalizeLive(table, { tags: { a: "b" }, names: ["a"] });
    expect(normalizeDesired(table, live)).toBe(live);
    expect(normalizeDesired(table, { ...live, tags: { a: 1 } }).names).toBe(live.names);
  });
});

describe("what an edit carries", () => {
  const kept: FieldTable = {
    size: { type: "integer", serverDefault: true },
    mine: { type: "string" },
    theirs: { type: "string", whenAbsent: "unmanaged" },
    deep: { type: "object", properties: { inner: { type: "string", serverDefault: true } } },
  };
  const live = { size: 3, mine: "m", theirs: "t", deep: { inner: "i", other: "o" } };
  const diff = { before: 3, after: undefined, cause: "spec", replaces: false } as const;

  test("service defaults and unmanaged fields are preserved, fields that left the spec are not", () => {
    const paths = preservedPaths(kept, live, { deep: {} }, []);
    expect(paths).toEqual([["size"], ["theirs"], ["deep", "inner"]]);
    expect(withPreserved({ deep: {} }, live, paths)).toEqual({ size: 3, theirs: "t", deep: { inner: "i" } });
  });

  test("fields that return to the service's default are not preserved", () => {
    expect(preservedPaths(kept, live, {}, [{ ...diff, path: ["size"] }])).toEqual([["theirs"]]);
  });

  test("paths come back out of a step as they went in, and junk does not", () => {
    expect(
      preservedIn({
        keep: [
          ["a", "b"],
          ["c", 1],
        ],
      }),
    ).toEqual([
      ["a", "b"],
      ["c", 1],
    ]);
    expect(preservedIn({ keep: "x" })).toEqual([]);
    expect(preservedIn(undefined)).toEqual([]);
  });
});
