import { expect, test } from "vitest";
import { remoteId } from "../../src/core/address.ts";
import { createNameIndex, toNames } from "../../src/engine/name-index.ts";
import type { FieldTable } from "../../src/resource/field-schema.ts";
import { registryOf } from "../../src/resource/kind.ts";
import { kindsNamedBy, translateNames } from "../../src/resource/names.ts";
import { kind } from "./toy.ts";

const FIELDS: FieldTable = {
  size: { type: "integer" },
  owner: { type: "string", names: "people" },
  groups: { type: "array", items: { type: "string", names: "teams" } },
  whole: { type: "array", names: "teams", items: { type: "string" } },
  members: {
    type: "object",
    properties: {
      users: { type: "array", list: "set", items: { type: "string", names: "people" } },
      note: { type: "string" },
    },
  },
  byKey: { type: "object", additionalProperties: { type: "string", names: "people" } },
};
const IDS: Record<string, string> = { ada: "1", bo: "2", ops: "30" };
const toId = (_kind: string, name: string): string | undefined => IDS[name];

test("names are translated wherever a field says so: alone, in lists, in objects, in maps", () => {
  const values = {
    size: 1,
    owner: "ada",
    groups: ["ops"],
    whole: ["ops"],
    members: { users: ["ada", "bo"], note: "ada" },
    byKey: { first: "bo" },
  };
  expect(translateNames(FIELDS, values, toId)).toEqual({
    size: 1,
    owner: "1",
    groups: ["30"],
    whole: ["30"],
    members: { users: ["1", "2"], note: "ada" },
    byKey: { first: "2" },
  });
});

test("unknown IDs are not replaced", () => {
  expect(translateNames(FIELDS, { owner: "eve", groups: ["ops", "9"] }, toId)).toEqual({
    owner: "eve",
    groups: ["30", "9"],
  });
});

test("there and back again is the same", () => {
  const registry = registryOf([kind("people"), kind("teams")]);
  const names = createNameIndex(registry, new Map());
  names.add("people", "ada", remoteId("1"));
  names.add("teams", "ops", remoteId("30"));
  const values = { owner: "ada", groups: ["ops"], members: { users: ["ada"] } };
  const wire = translateNames(FIELDS, values, (of, name) => names.idOf(of, name));
  expect(wire).toEqual({ owner: "1", groups: ["30"], members: { users: ["1"] } });
  expect(toNames(FIELDS, wire, names)).toEqual(values);
});

test("a name and an id of different kinds do not meet", () => {
  const registry = registryOf([kind("people"), kind("teams")]);
  const names = createNameIndex(registry, new Map());
  names.add("people", "ops", remoteId("1"));
  expect([names.idOf("teams", "ops"), names.nameOf("teams", "1")]).toEqual([undefined, undefined]);
});

test("names of kinds that ignore case are found in any case, and shown unchanged", () => {
  const registry = registryOf([kind("people", { ignoreCase: true })]);
  const names = createNameIndex(registry, new Map());
  names.add("people", "Ada@Example.com", remoteId("1"));
  expect([names.idOf("people", "ada@example.COM"), names.nameOf("people", "1")]).toEqual([
    "1",
    "Ada@Example.com",
  ]);
});

test("a table knows which kinds its fields name", () => {
  expect([...kindsNamedBy(FIELDS)].sort()).toEqual(["people", "teams"]);
  expect(kindsNamedBy({ size: { type: "integer" } }).size).toBe(0);
});

test("values without names are not copied", () => {
  const values = { size: 1 };
  expect(translateNames({ size: { type: "integer" } }, values, toId)).toBe(values);
});
