// A plan that is saved without the values of secrets, and applied with them, as pipelines do: recorded fields that equal a secret do not make it stale.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const SECRET = "scopes: { s: { secrets: { k: { env: SECRET } } } }\npolicy: { max_deletes: 100% }\n";
const pool = (key: string, more = "") =>
  `  ${key}: { node_type_id: Standard_DS3_v2, custom_tags: { owner: svc-etl }${more} }\n`;
const SIZES = "spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1";
const JSON_VALUE = JSON.stringify({ user: "svc-etl-of-the-team" });

test.each([
  [
    "a resource is removed",
    `pools:\n${pool("p")}${pool("r")}`,
    `pools:\n${pool("r")}`,
    "svc-etl",
    "1 deleted",
  ],
  [
    "a resource is moved",
    `pools:\n${pool("p")}`,
    `pools:\n${pool("q", ", max_capacity: 4")}moved: [{ from: pools.p, to: pools.q }]\n`,
    "svc-etl",
    "1 updated",
  ],
  [
    "the secret is a JSON document",
    `pools:\n${pool("p").replace("svc-etl", "svc-etl-of-the-team")}${pool("r")}`,
    `pools:\n${pool("r")}`,
    JSON_VALUE,
    "1 deleted",
  ],
  [
    "a field changes to another value",
    `clusters: { c: { ${SIZES}, spark_env_vars: { USER: svc-etl, A: a } } }\n`,
    `clusters: { c: { ${SIZES}, spark_env_vars: { USER: other, A: a } } }\n`,
    "svc-etl",
    "1 updated",
  ],
])(
  "a saved plan without the value of a secret is applied with it when %s",
  async (_how, before, after, value, counts) => {
    const folder = folderWith(SECRET + before);
    const run = async (line: string, env: Readonly<Record<string, string>> = {}) => {
      const context = contextWith({ WORKSPACE_HOST: "embedded", ...env }, folder);
      const code = await runProgram(context, line.split(" "));
      return { code, all: context.out() + context.err() };
    };
    expect(await run("apply --auto-approve", { SECRET: value })).toMatchObject({ code: 0 });
    writeFileSync(join(folder, "workspace.yaml"), SECRET + after);
    expect(await run("plan --out saved.json")).toMatchObject({ code: 0 });
    const { code, all } = await run("apply saved.json", { SECRET: value });
    expect([code, all]).toEqual([0, expect.stringContaining(counts)]);
    expect(await run("plan", { SECRET: value })).toMatchObject({
      all: expect.stringContaining("No changes"),
    });
  },
);
