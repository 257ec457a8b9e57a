// Plans of an untrusted spec in a workspace with sensitive values: an unchanged checkout has no changes, a change shows itself only, and no output tests a guess.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const VALUE = "etl-reader-77";
const HEAD =
  "variables: { login: { sensitive: true, default: none }, node: { sensitive: true, default: none } }\n";
const cluster = (fields: string): string => `${HEAD}clusters:
  c:
    spark_version: 6.4.x-scala2.11
    num_workers: 1
${fields}`;
const NODE = "    node_type_id: Standard_DS3_v2\n";
const POOL = 'pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { a: "${var.login}" } } }\n';
const JOB = `${HEAD}jobs:
  j:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }
    spark_submit_task: { parameters: [LIST] }
`;

/** A folder whose spec was applied with the values, and a program that may run there with other specs. */
async function applied(spec: string, more: Readonly<Record<string, string>> = {}) {
  const folder = folderWith(spec);
  const state = mkdtempSync(join(tmpdir(), "untrusted-values-"));
  const run = async (line: string, env: Readonly<Record<string, string>> = {}) => {
    const context = contextWith({ WORKSPACE_HOST: "embedded", WORKSPACE_STATE: state, ...env }, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), all: context.out() + context.err() };
  };
  const write = (text: string): void => writeFileSync(join(folder, "workspace.yaml"), text);
  const first = await run("apply --auto-approve", {
    WORKSPACE_VAR_login: VALUE,
    WORKSPACE_VAR_node: "Standard_DS4_v2",
    ...more,
  });
  expect([first.code, first.all]).toEqual([0, expect.stringContaining("Applied")]);
  const edit = async (fields: Readonly<Record<string, unknown>>) => {
    const [live] = JSON.parse((await run("api clusters/list")).out).clusters;
    const { cluster_id, cluster_name, spark_version, node_type_id, num_workers } = live;
    const { custom_tags, spark_env_vars } = live;
    const same = { cluster_id, cluster_name, spark_version, node_type_id, num_workers, custom_tags };
    writeFileSync(join(folder, "edit.json"), JSON.stringify({ ...same, spark_env_vars, ...fields }));
    const send = async () => (await run("api clusters/edit --input edit.json")).code;
    // A cluster that is still starting cannot be edited.
    await expect.poll(send, { timeout: 20_000, interval: 500 }).toBe(0);
  };
  return { folder, run, write, edit };
}

const FORMS = ["plan --untrusted --detailed-exitcode", "plan --untrusted --offline --detailed-exitcode"];
const ENV = '    spark_env_vars: { URL: "jdbc:db?user=etl-reader-77", LOGIN: "${var.login}" }\n';

describe("an unchanged checkout has no changes", () => {
  test.each([
    ["when a plain field has the text of a sensitive value", cluster(`${NODE}${ENV}`)],
    [
      "when a key of a map has the text of a sensitive value",
      cluster(`${NODE}    spark_env_vars: { "is etl-reader-77": v, LOGIN: "\${var.login}" }\n`),
    ],
    [
      "when an entry of a list is sensitive",
      cluster(`${NODE}    ssh_public_keys: ["ssh-rsa open", "ssh-rsa \${var.login}"]\n`),
    ],
    [
      "when an entry of a list is sensitive and another one has its text",
      JOB.replace("LIST", '"${var.login}", etl-reader-77, "${var.login}"'),
    ],
    [
      "when entries of a list have sensitive members",
      `${JOB.replace("spark_submit_task: { parameters: [LIST] }", "notebook_task: { notebook_path: /Shared/n }")}    libraries: [{ pypi: { package: open } }, { pypi: { package: "\${var.login}" } }, { maven: { coordinates: "g:\${var.login}:1", exclusions: ["a:b", "\${var.login}:x"] } }]\n`,
    ],
    [
      "when the service fills in a field with a sensitive value",
      cluster('    node_type_id: "${var.node}"\n    custom_tags: { a: Standard_DS4_v2 }\n'),
    ],
  ])("%s", async (_, spec) => {
    const { run } = await applied(spec);
    for (const line of FORMS) {
      const { code, all } = await run(line);
      expect([line, code, all]).toEqual([line, 0, expect.stringContaining("No changes.")]);
    }
    const base = await run(`plan --untrusted --base ${folderWith(spec)} --detailed-exitcode`);
    expect([base.code, base.all]).toEqual([0, expect.not.stringContaining("Resolved by this change")]);
  });
});

describe("a change of an untrusted spec", () => {
  test("of one entry of a list with a sensitive one is an update, in any order of the entries", async () => {
    const { run, write } = await applied(JOB.replace("LIST", 'a, "${var.login}", b'));
    for (const list of [
      'a, "${var.login}", c',
      'b, "${var.login}", a',
      'a, "${var.login}"',
      '"${var.login}", a, b',
    ]) {
      write(JOB.replace("LIST", list));
      for (const line of FORMS) {
        const { code, all } = await run(line);
        expect([line, list, code, all]).toEqual([line, list, 2, expect.stringContaining("1 to update")]);
        expect(all).not.toContain(VALUE);
      }
    }
  });

  test("of a set is none when only the order of its entries differs", async () => {
    const keys = (list: string): string => cluster(`${NODE}    ssh_public_keys: [${list}]\n`);
    const { run, write } = await applied(keys('"ssh-rsa a", "ssh-rsa ${var.login}", "ssh-rsa b"'));
    write(keys('"ssh-rsa ${var.login}", "ssh-rsa b", "ssh-rsa a"'));
    const { code, all } = await run("plan --untrusted --detailed-exitcode");
    expect([code, all]).toEqual([0, expect.stringContaining("No changes.")]);
  });
});

describe("an author who guesses learns nothing", () => {
  const cases: readonly (readonly [string, string, (guess: string) => string])[] = [
    [
      "at a plain place of the checkout",
      cluster(`${NODE}${ENV}`),
      (guess) => cluster(`${NODE}    spark_env_vars: { URL: "${guess}", LOGIN: "\${var.login}" }\n`),
    ],
    [
      "as a part of a text that somebody wrote outside",
      cluster(`${NODE}${ENV}`),
      (guess) =>
        cluster(
          `${NODE}    spark_env_vars: { URL: "jdbc:db?user=etl-reader-77", LOGIN: "\${var.login}", COPY: "is ${guess}" }\n`,
        ),
    ],
    [
      "as a part of a key that somebody wrote outside",
      cluster(`${NODE}${ENV}`),
      (guess) =>
        cluster(
          `${NODE}    spark_env_vars: { URL: "jdbc:db?user=etl-reader-77", LOGIN: "\${var.login}", "is ${guess}": v }\n`,
        ),
    ],
    [
      "as a key that somebody wrote outside in a resource without sensitive values",
      `${cluster(NODE)}${POOL}`,
      (guess) => `${cluster(`${NODE}    spark_env_vars: { "${guess}": v }\n`)}${POOL}`,
    ],
    [
      "in an entry next to the sensitive one",
      JOB.replace("LIST", 'a, "${var.login}"'),
      (guess) => JOB.replace("LIST", `a, ${guess}, "\${var.login}"`),
    ],
    [
      "in place of the sensitive entry",
      JOB.replace("LIST", 'a, "${var.login}"'),
      (guess) => JOB.replace("LIST", `a, ${guess}`),
    ],
    [
      "in a second sensitive entry",
      JOB.replace("LIST", 'a, "${var.login}"'),
      (guess) =>
        JOB.replace("LIST", `"\${var.login}", "\${var.node}"`).replace(
          "node: { sensitive: true, default: none",
          `node: { sensitive: true, default: ${guess}`,
        ),
    ],
    [
      "in a field that the kind compares with the sensitive one",
      cluster('    node_type_id: "${var.node}"\n'),
      (guess) =>
        cluster(
          `    node_type_id: "\${var.node}"\n    driver_node_type_id: ${guess === VALUE ? "Standard_DS4_v2" : "Standard_DS5_v2"}\n`,
        ),
    ],
  ];
  test.each(cases)("%s", { timeout: 60_000 }, async (name, spec, guessed) => {
    const { run, write, edit } = await applied(spec);
    if (name.includes("outside")) {
      const copy = name.includes("key") ? { [`is ${VALUE}`]: "v", [VALUE]: "v" } : { COPY: `is ${VALUE}` };
      await edit({ spark_env_vars: { URL: "jdbc:db?user=etl-reader-77", LOGIN: VALUE, ...copy } });
      const { all } = await run("plan --untrusted -o json");
      expect(all.replaceAll("jdbc:db?user=etl-reader-77", "")).not.toContain(VALUE);
    }
    const told = async (guess: string, line: string) => {
      write(guessed(guess));
      const { code, all } = await run(line);
      // Marks on the words that differ between two shown strings.
      const text = all
        .replaceAll(/<\/?mark>/g, "")
        .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z| UTC)/g, "TIME")
        .replaceAll(VALUE, "GUESS")
        .replaceAll(guess, "GUESS")
        .replaceAll(/Standard_DS[45]_v2/g, "NODE")
        .replaceAll(/"fingerprint": "[^"]+"/g, "");
      return { code, text };
    };
    for (const line of [
      "plan --untrusted --detailed-exitcode",
      "plan --untrusted -o json",
      "plan --untrusted --offline",
      "plan --untrusted -o html",
    ])
      expect([line, await told(VALUE, line)]).toEqual([line, await told("etl-writer-99", line)]);
  });
});

describe("sensitive values that an untrusted plan does not read", () => {
  test("do not block the creation of resources that need confirmed values", async () => {
    const { run, write } = await applied("groups: { g: {} }\n");
    write(`variables:
  node: { type: string, sensitive: true, default: Standard_NONE }
  spark: { type: string, sensitive: true, default: 6.4.x-scala2.11 }
  few: { type: string, sensitive: true, default: "3" }
groups: { g: {} }
pools: { p: { node_type_id: "\${var.node}", max_capacity: "\${int(var.few)}", preloaded_spark_versions: ["\${var.spark}"] } }
clusters: { c: { spark_version: "\${var.spark}", node_type_id: "\${var.node}", num_workers: "\${int(var.few)}" } }
`);
    for (const line of ["plan --untrusted", "plan --untrusted --cost", "plan --untrusted --offline"]) {
      const { code, all } = await run(line);
      expect([line, code, all]).toEqual([line, 0, expect.stringContaining("2 to create")]);
      expect(all).toContain("sensitive values are not compared");
      expect(all).not.toMatch(/Standard_NONE|6\.4\.x/);
    }
  });

  test("are not the state in which a pool's clusters are", async () => {
    const spec = `variables: { state: { type: string, sensitive: true, default: RUNNING } }
pools: { p: { node_type_id: Standard_DS3_v2 } }
clusters:
  c: { spark_version: 6.4.x-scala2.11, instance_pool_id: "\${pools.p.instance_pool_id}", num_workers: 1, run_state: "\${var.state}" }
`;
    const { run, write } = await applied(spec, { WORKSPACE_VAR_state: "TERMINATED" });
    write("groups: { g: {} }\nremoved: [{ address: clusters.c, destroy: false }]\n");
    const { all } = await run("plan --untrusted");
    expect(all).toContain("clusters cannot grow or start until they leave the pool: c");
    expect(all).not.toMatch(/running|stopped/);
  });
});
