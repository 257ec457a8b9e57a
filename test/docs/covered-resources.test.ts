// The table of docs/databricks.md against the program: each kind of the dialect, and where `convert` puts a Terraform resource.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { registry } from "../../src/providers/index.ts";
import { resourceType } from "../../src/workflow/convert/resource-types.ts";

const TABLE = /^\| `(databricks_\w+)` \| (`.+?) \| /gm;

/** The types of the table, each with the names of its second column: the first is that of the kind. */
const rows = [...readFileSync("docs/databricks.md", "utf8").matchAll(TABLE)].map(
  ([, type = "", target = ""]) => [type, [...target.matchAll(/`(\w+)`/g)].map(([, name]) => name)] as const,
);

test("the table of covered resources has a row for each kind of the dialect", () => {
  const targets = new Set(rows.flatMap(([, targets]) => targets));
  expect(registry.kinds.map(({ kind }) => kind).filter((kind) => !targets.has(kind))).toEqual([]);
});

test("the table of covered resources names the kinds to which `convert` turns the types", () => {
  const kinds = rows.flatMap(([type, [target]]) => {
    const kind = resourceType(type)?.kind;
    return kind === undefined ? [] : [[type, kind, target] as const];
  });
  expect(kinds.length).toBeGreaterThan(15);
  expect(kinds.filter(([, kind, target]) => kind !== target)).toEqual([]);
});
