// The law of two worlds: two workspaces that differ in sensitive values alone give the author of a pull request the same plan.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { contextWith } from "../cli/context.ts";
import { folderWith } from "../cli/program.ts";

interface World {
  readonly title: string;
  /** Only where the dialect of Databricks has it. */
  readonly databricks?: true;
  readonly spec: string;
  /** Specs of pull requests. */
  readonly changed: readonly string[];
  /** The sensitive values of each world, by the names of their variables. */
  readonly values: readonly [Values, Values];
}

type Values = Readonly<Record<string, string>>;

const FORMATS = ["text", "json", "markdown", "html", "junit", "sarif", "github"];

/** What differs between any two workspaces: times, IDs, and digests. */
const comparable = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\b\d{4}-\d{6}-[\w-]+/g, "ID")
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+/g, "ID")
    .replaceAll(/\b[0-9a-fA-F]{12,64}\b/g, "DIGEST")
    .replaceAll(/\b\d{13,}\b/g, "NUMBER")
    .replaceAll(/(time|timestamp)="[^"]+"/g, "TIME");

async function worldWith({ spec, databricks }: World, values: Values) {
  const folder = folderWith(spec);
  const state = mkdtempSync(join(tmpdir(), "world-"));
  const dialect = databricks ? { WORKSPACE_DIALECT: "databricks", WORKSPACE_CLOUD: "azure" } : {};
  const run = async (line: string, variables: Values = {}) => {
    const env = Object.entries(variables).map(([name, value]) => [`WORKSPACE_VAR_${name}`, value]);
    const all = { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: state, ...dialect };
    const context = contextWith({ ...all, ...Object.fromEntries(env) }, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: comparable((context.out() + context.err()).replaceAll(folder, "FOLDER")) };
  };
  expect(await run("apply --auto-approve", values)).toMatchObject({ code: 0 });
  return { run, write: (text: string) => writeFileSync(join(folder, "workspace.yaml"), text) };
}

const NODE = "node_type_id: Standard_DS3_v2";
const sensitive = (defaults: Values): string =>
  `variables:\n${Object.entries(defaults)
    .map(
      ([name, value]) => `  ${name}: { type: string, sensitive: true, default: ${JSON.stringify(value)} }\n`,
    )
    .join("")}`;

const GUESSES = `${sensitive({ pin: "0000" })}pools:
  p: { ${NODE}, custom_tags: { k: "\${var.pin}" } }
clusters:
  c:
    spark_version: 6.4.x-scala2.11
    ${NODE}
    num_workers: 1
    spark_env_vars: { a: "7310", b: "7311", "k7312": x, "k7313": x }
    custom_tags: { a: "7310", b: "7311", c: "7312", d: "7313" }
    ssh_public_keys: [ssh-rsa 7311, ssh-rsa 7312]
`;

const LEVELS = `${sensitive({ level: "READ" })}groups: { data-eng: {} }
scopes: { wh: { acls: { data-eng: "\${var.level}", users: READ } } }
`;

const WORLDS: readonly World[] = [
  {
    title: "a spec with every guess in the clear",
    spec: GUESSES,
    changed: [
      GUESSES,
      GUESSES.replaceAll(/"73(\d\d)"/g, '"x$1"'),
      GUESSES.replaceAll(/"k73\d\d": x,? ?/g, "").replaceAll("7313", "7314"),
      GUESSES.replace(/clusters[\s\S]*/, ""),
      GUESSES.replace(/pools[\s\S]*clusters/, "clusters"),
    ],
    values: [{ pin: "7312" }, { pin: "9999" }],
  },
  {
    title: "a sensitive level that the caller has on the scope, too",
    spec: LEVELS,
    changed: [
      LEVELS,
      LEVELS.replace('"${var.level}"', "WRITE"),
      LEVELS.replace('data-eng: "${var.level}", ', ""),
    ],
    values: [{ level: "MANAGE" }, { level: "READ" }],
  },
];

describe.each(WORLDS)("$title", (world) => {
  test("gives the same plan of an untrusted spec with other sensitive values", async () => {
    const worlds = await Promise.all(world.values.map((values) => worldWith(world, values)));
    for (const text of world.changed)
      for (const line of [
        ...FORMATS.map((format) => `plan --untrusted --detailed-exitcode -o ${format}`),
        "plan --untrusted --offline",
      ]) {
        const [one, other] = await Promise.all(
          worlds.map(({ run, write }) => {
            write(text);
            return run(line);
          }),
        );
        expect([text, line, one]).toEqual([text, line, other]);
        expect(one?.code).not.toBe(4);
      }
  }, 120_000);
});
