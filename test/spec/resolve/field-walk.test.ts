// Walks through values and schemas: which paths a kind has, and what is at them.

import { describe, expect, it } from "vitest";
import type { FieldTable } from "../../../src/resource/field-schema.ts";
import type { PlannedKind } from "../../../src/resource/provider.ts";
import { attributesOf, describedAt, fieldOf, hasPath } from "../../../src/spec/resolve/field-walk.ts";
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
    expect(describedAt(kind, path)).toBe(expected);
  });
});

it("a field that a kind does not have has an empty schema", () => {
  expect(fieldOf(kind, "toString")).toEqual({});
  expect(fieldOf(kind, "plain")).toBe(fields.plain);
});

it("the attributes of a kind are its ID and its fields, each once, without secrets and sources", () => {
  expect(attributesOf(kind)).toEqual(["plain", "tags", "free", "open", "closed", "list"]);
  expect(attributesOf(registry.get("secrets"))).toEqual(["key"]);
  expect(attributesOf(kind)).toBe(attributesOf(kind));
});
