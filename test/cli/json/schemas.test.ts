// Every command with `-o json` has a schema, and every schema keeps the rules of docs/json.md.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { OUTPUT_SCHEMAS as SHIPPED } from "../../../src/cli/command/output-schemas.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { OUTPUT_SCHEMAS, openValidator, outputSchema } from "../../output-schemas.ts";
import { jsonCommands } from "./json-commands.ts";

interface Node {
  readonly path: string;
  readonly schema: JsonObject;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function nodesOf(value: Json | undefined, path = ""): readonly Node[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => nodesOf(item, `${path}/${at}`));
  if (!isObject(value)) return [];
  const inside = Object.entries(value).flatMap(([key, member]) => nodesOf(member, `${path}/${key}`));
  return [{ path, schema: value }, ...inside];
}

const commands = await jsonCommands();

describe("commands with JSON output", () => {
  test.each(commands.map(({ name, schema }) => [name, schema]))("%s has a schema", (_name, schema) => {
    expect(OUTPUT_SCHEMAS).toContain(schema);
  });

  test("every schema of an output belongs to a command, and `workspace schema` prints it", () => {
    const used = [...new Set(commands.map(({ schema }) => schema))].sort();
    expect(OUTPUT_SCHEMAS).toEqual(used);
    expect(Object.keys(SHIPPED).sort()).toEqual(used);
    for (const [name, read] of Object.entries(SHIPPED))
      expect(JSON.parse(read()).$id).toBe(`${name}.schema.json`);
  });

  test("docs/json.md has a row for each command, with its schema", () => {
    const page = readFileSync("docs/json.md", "utf8");
    const rows = [...page.matchAll(/^\| (`.*) \| \[[\w-]+\]\(\.\.\/schemas\/([\w-]+)\.schema\.json\) \|/gm)];
    const named = rows.flatMap(([, names = "", schema]) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => `${name}: ${schema}`),
    );
    expect(named.sort()).toEqual(commands.map(({ name, schema }) => `${name}: ${schema}`).sort());
  });
});

describe.each(OUTPUT_SCHEMAS.map((name) => [name]))("%s.schema.json", (name) => {
  const schema = outputSchema(name);
  const nodes = nodesOf(schema);

  test("is a strict schema of documents with format_version", () => {
    expect(openValidator(name)({})).toBe(false);
    const documents = nodes.filter(({ path, schema: { required } }) => {
      const isDocument = name === "apply-events" ? /^\/\$defs\/\w+$/.test(path) : path === "";
      return isDocument && Array.isArray(required) && (path === "" || required.includes("type"));
    });
    expect(documents.length).toBeGreaterThan(0);
    for (const { schema: document } of documents) expect(document.required).toContain("format_version");
  });

  test("accepts the members and the values of later versions", () => {
    const closed = nodes.filter(
      ({ schema: node }) => node.additionalProperties === false || node.unevaluatedProperties === false,
    );
    expect(closed.map(({ path }) => path)).toEqual([]);
    // The two severities of diagnostics and the operations of a patch do not grow; an event is known by its type, and two have one result.
    const lists = nodes.filter(
      ({ path, schema: node }) =>
        ("enum" in node && !/\/(anyOf\/0|op|diagnostic\/properties\/severity|type\/not)$/.test(path)) ||
        ("const" in node && node.const !== true && !/\/properties\/(type|result)$/.test(path)),
    );
    expect(lists.map(({ path }) => path)).toEqual([]);
  });

  test("names members in snake_case, times by their type, and durations in seconds", () => {
    const members = nodes.flatMap(({ schema: { properties } }) =>
      isObject(properties) ? Object.entries(properties) : [],
    );
    const wrong = members.filter(([key, member]) => {
      if (!/^[a-z][a-z0-9_]*$/.test(key) || /_ms$|millis/.test(key)) return true;
      const text = JSON.stringify(member);
      if (/_s$/.test(key)) return !text.includes("#/$defs/seconds");
      return /(?<!used)_at$|^until$/.test(key) && !text.includes("#/$defs/time");
    });
    expect(wrong.map(([key]) => key)).toEqual([]);
  });
});
