// The example of three teams: the same objects as the spec without a module, in fewer lines.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { registry } from "../../../src/providers/index.ts";
import { loadSpec } from "../../../src/spec/load-spec.ts";

const WRITTEN_OUT = join(import.meta.dirname, "teams-written-out.yaml");
const EXAMPLE = "examples/teams/workspace.yaml";
const MODULE = "examples/teams/modules/team/workspace.yaml";

/** The objects by kind and name, with references to pools by their names. */
async function objects(file: string, target: string): Promise<Readonly<Record<string, Json>>> {
  const { spec, diagnostics } = await loadSpec({
    file,
    target,
    env: {},
    registry,
    secrets: "skip",
    keyed: () => "",
  });
  if (spec === undefined) throw new Error(JSON.stringify(diagnostics));
  const names = new Map([...spec.resources.values()].map(({ address, name }) => [address as string, name]));
  const text = (value: string): string =>
    value.replace(/\$\{(.*)\.instance_pool_id\}/, (_, address: string) => `pool ${names.get(address)}`);
  return Object.fromEntries(
    [...spec.resources.values()]
      .map(({ kind, name, values }) => [
        `${kind} ${name}`,
        JSON.parse(JSON.stringify(values), (_, one) => (typeof one === "string" ? text(one) : one)),
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const linesOf = (file: string): number =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.trim().startsWith("#")).length;

describe("examples/teams", () => {
  test.each(["dev", "prod"])(
    "declares the same objects as the spec without a module in %s",
    async (target) => {
      expect(await objects(EXAMPLE, target)).toEqual(await objects(WRITTEN_OUT, target));
    },
  );

  test("has the numbers of lines that docs/modules.md shows", () => {
    const docs = readFileSync("docs/modules.md", "utf8");
    expect(docs.replace(/\s+/g, " ")).toContain(
      `The module shortens the spec from ${linesOf(WRITTEN_OUT)} lines to ${linesOf(EXAMPLE)}, plus ${linesOf(MODULE)} lines in the module.`,
    );
  });
});
