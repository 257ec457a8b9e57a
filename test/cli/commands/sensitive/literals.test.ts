// Values that the spec names as possible: hiding such a word in other fields would show which one the run has.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const SPEC = `variables:
  tier: { type: string, sensitive: true, enum: [gold, silver, bronze] }
jobs:
  j:
    name: silver-line
    new_cluster:
      spark_version: 6.4.x-scala2.11
      node_type_id: Standard_DS3_v2
      num_workers: 1
      custom_tags: { a: "\${var.tier == 'gold' ? 'alpha' : 'bravo'}", b: alpha, c: bravo, known: "gold silver bronze", gold: x, silver: x }
    notebook_task:
      notebook_path: /n
      base_parameters: { tier: "\${var.tier}" }
policy: { max_deletes: 100% }
rules:
  - { name: warned, kinds: [jobs], assert: "change.action == 'never'", message: "gold and silver jobs need a ticket", enforcement: warn }
  - { name: blocked, kinds: [jobs], assert: "change.after.name != 'gold-line'", message: "neither gold nor silver" }
`;
const CHANGED = SPEC.replace("num_workers: 1", "num_workers: 2").replace(
  "gold silver bronze",
  "silver gold bronze",
);

/** What differs between any two runs. */
const comparable = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\b\d{13,}\b/g, "NUMBER")
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f-]{27,}\b/g, "ID")
    .replaceAll(/\b[0-9a-f]{12,64}\b/g, "DIGEST")
    .replaceAll(/\b\d+\.\d s\b/g, "SECONDS")
    .replaceAll(/"(pid|\w+_ms|\w+_s)": \d+(\.\d+)?/g, "NUMBER");

function worldOf(tier: string) {
  const folder = folderWith(SPEC);
  const env = {
    WORKSPACE_HOST: "embedded",
    WORKSPACE_STATE: mkdtempSync(join(tmpdir(), "literals-")),
    WORKSPACE_VAR_tier: tier,
  };
  return {
    write: (file: string, text: string) => writeFileSync(join(folder, file), text),
    async run(line: string) {
      const context = contextWith(env, folder);
      const code = await runProgram(context, line.split(" "));
      return { code, out: comparable((context.out() + context.err()).replaceAll(folder, "FOLDER")) };
    },
  };
}

test("every output is the same for each value of an enum that a sensitive field can have", async () => {
  const [gold, silver] = [worldOf("gold"), worldOf("silver")];
  const same = async (line: string) => {
    const [one, other] = [await gold.run(line), await silver.run(line)];
    expect([line, one]).toEqual([line, other]);
    return one.out;
  };
  const write = (file: string, text: string): void => {
    for (const world of [gold, silver]) world.write(file, text);
  };
  expect(await same("render")).toContain("known: gold silver bronze");
  for (const format of ["text", "json", "markdown", "html"]) await same(`plan -o ${format}`);
  expect(await same("apply --auto-approve")).toContain("Applied");
  for (const format of ["text", "json", "markdown", "html", "sarif"]) {
    expect((await gold.run(`plan --detailed-exitcode -o ${format}`)).code).toBe(0);
    await same(`plan -o ${format}`);
  }
  write("workspace.yaml", CHANGED);
  for (const format of ["text", "json", "markdown", "html", "sarif"]) await same(`plan -o ${format}`);
  const plan = await same("plan");
  expect(plan).toContain('"silver gold bronze"');

  write("workspace.yaml", CHANGED.replace("name: silver-line", "name: gold-line"));
  for (const format of ["text", "json", "markdown", "html", "sarif"]) await same(`plan -o ${format}`);
  expect(await same("plan")).toContain("neither gold nor silver");
  write("workspace.yaml", CHANGED.replace("num_workers: 2", "num_workers: x"));
  const frame = await same("validate");
  expect(frame).toContain("var.tier == 'gold' ? 'alpha' : 'bravo'");
  write("workspace.yaml", CHANGED.replace("bronze] }", "bronze], extra: 1 }"));
  expect(await same("validate")).toContain("[gold, silver, bronze]");
});

test("a default of a sensitive variable is in no frame, also if the run has another value", async () => {
  const world = worldOf("gold");
  world.write("workspace.yaml", SPEC.replace("bronze] }", "bronze], default: silver, extra: 1 }"));
  const { out } = await world.run("validate");
  expect(out).toContain("enum: [gold, silver, bronze], default: ******, extra: 1");
});

test.each([
  [
    'tasks: [{ task_key: one, notebook_task: { notebook_path: /n, base_parameters: { q: "${var.s}" } } }]',
    "jobs.j: tasks must be a map, not a list",
  ],
  [
    'tasks: { t: { notebook_task: { notebook_path: /n }, new_cluster: ["${var.s}"] } }',
    "new_cluster must be a map, not a list",
  ],
  [
    'tasks: { t: { notebook_task: { notebook_path: /n }, max_retries: "${var.s}" } }',
    "a sensitive value is involved",
  ],
])(
  "a message about a list or map with a sensitive value in it says what is wrong: %s",
  async (fields, message) => {
    const folder = folderWith(
      `variables: { s: { type: string, sensitive: true } }\njobs: { j: { ${fields} } }\n`,
    );
    const context = contextWith({ WORKSPACE_DIALECT: "databricks", WORKSPACE_VAR_s: "CANARY-8812" }, folder);
    expect(await runProgram(context, ["validate"])).toBe(1);
    expect(context.err() + context.out()).toContain(message);
    expect(context.err() + context.out()).not.toContain("CANARY");
  },
);
