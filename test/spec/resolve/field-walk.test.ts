// Walks through values and schemas: which paths a kind has, and what is at them.

import { describe, expect, it } from "vitest";
import { type FieldSchema, type FieldTable, schemaAt } from "../../../src/resource/field-schema.ts";
import type { PlannedKind } from "../../../src/resource/kind.ts";
import { Findings } from "../../../src/spec/model/findings.ts";
import { SourceText } from "../../../src/spec/model/source.ts";
import { attributesOf, fieldOf, hasPath, walkFields } from "../../../src/spec/resolve/field-walk.ts";
import { readYaml } from "../../../src/spec/yaml/read-yaml.ts";
import { registry } from "../kinds.ts";

const fields: FieldTable = {
  plain: { type: "string", description: "A string." },
  tags: { type: "object", additionalProperties: { type: "string", description: "A tag." } },
  free: { type: "object" },
  open: { additionalProperties: { properties: { inner: {} } } },
  closed: { properties: { inner: { type: "string", description: "Inner." } }, additionalProperties: {} },
  list: {
    type: "array",
    items: { type: "object", description: "An item.", properties: { name: { description: "Its name." } } },
  },
  hidden: { type: "string", source: true },
  secret: { type: "string", sensitive: true, writeOnly: true },
};
const kind = { ...registry.get("pools"), fields, idAttribute: "plain" } as unknown as PlannedKind;

describe("a path", () => {
  it.each<[string, boolean]>([
    ["", false],
    ["plain", true],
    ["plain.x", false],
    ["plain.x.y", false],
    ["constructor", false],
    ["unknown", false],
    ["tags", true],
    ["tags.team", true],
    ["tags.team.x", false],
    ["free.anything", true],
    ["open.any", true],
    ["open.any.inner", true],
    ["open.any.other", false],
    ["open.any.constructor", false],
    ["closed.inner", true],
    ["closed.other", false],
    ["closed.inner.x", false],
    ["list", true],
    ["list.name", false],
  ])("%j leads to a field: %s", (path, expected) => {
    expect(hasPath(kind, path === "" ? [] : path.split("."))).toBe(expected);
  });

  it.each<[readonly (string | number)[], string | undefined]>([
    [[], undefined],
    [["plain"], "A string."],
    [["constructor"], undefined],
    [["tags", "team"], "A tag."],
    [["closed", "inner"], "Inner."],
    [["closed", "other"], undefined],
    [["list", 0], "An item."],
    [["list", 0, "name"], "Its name."],
    [["list", "0"], undefined],
    [["plain", 0], undefined],
  ])("%j is described as %s", (path, expected) => {
    expect(schemaAt(kind.fields, path).description).toBe(expected);
  });
});

it("a field that a kind does not have has an empty schema", () => {
  expect(fieldOf(kind, "toString")).toEqual({});
  expect(fieldOf(kind, "plain")).toBe(fields.plain);
});

it("the attributes of a kind are its ID and its fields, each once, without secrets and sources", () => {
  expect(attributesOf(kind)).toEqual(["plain", "tags", "free", "open", "closed", "list"]);
  expect(attributesOf(registry.get("secrets"))).toEqual(["key"]);
});

describe("a walk", () => {
  const walked = (text: string, entered: (schema: FieldSchema) => boolean) => {
    const node = readYaml(new SourceText("workspace.yaml", text), new Findings());
    if (node?.kind !== "map") throw new Error("not a map");
    const visited: string[] = [];
    walkFields(kind, node, entered, (one, path, schema) =>
      visited.push(`${path.join(".")} ${one.kind} ${schema.description ?? "-"}`),
    );
    return visited;
  };
  const TEXT = "plain: x\ntags: { a: y }\nlist: [{ name: n }, { other: o }]\nunknown: { z: 1 }\n";

  it("visits everything in fields that are entered, with its path and schema", () => {
    expect(walked(TEXT, () => true)).toEqual([
      "plain scalar A string.",
      "tags map -",
      "tags.a scalar A tag.",
      "list list -",
      "list.0 map An item.",
      "list.0.name scalar Its name.",
      "list.1 map An item.",
      "list.1.other scalar -",
      "unknown map -",
      "unknown.z scalar -",
    ]);
  });

  it.each<[string, (schema: FieldSchema) => boolean, readonly string[]]>([
    ["no field", () => false, []],
    [
      "a field and not what is in it",
      (schema) => schema === fields.list || schema === fields.tags,
      ["tags map -", "list list -"],
    ],
    [
      "a list with its items, and not what is in them",
      (schema) => schema === fields.list || schema === fields.list?.items,
      ["list list -", "list.0 map An item.", "list.1 map An item."],
    ],
  ])("may enter %s", (_what, entered, expected) => {
    expect(walked(TEXT, entered)).toEqual(expected);
  });
});
