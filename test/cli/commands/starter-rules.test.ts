// The rules of examples/rules: each passes for some specs and fails for others; the starter rules in both dialects.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const RULES = join(import.meta.dirname, "../../../examples/rules");
const NODE = "spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1";
const cluster = (fields: string): string => `clusters: { c: { ${NODE}, ${fields} } }\n`;
const job = (cluster: string, more: string): string =>
  `jobs: { j: { new_cluster: { spark_version: 6.4.x-scala2.11, num_workers: 1, ${cluster} }, spark_jar_task: { main_class_name: a.B }, ${more} } }\n`;
const POOL = "pools: { p: { node_type_id: Standard_DS3_v2 } }\n";
const TAG = "custom_tags: { team: ads }";
const MAIL = "email_notifications: { on_failure: [a@example.com] }";
const TAGGED = `node_type_id: Standard_DS3_v2, ${TAG}`;

/** The names of the rules that a new workspace of this spec violates. */
async function violated(spec: string, dialect: string): Promise<readonly string[]> {
  const folder = folderWith(spec);
  const context = contextWith({}, folder);
  await runProgram(context, ["plan", "--offline", "--rules", RULES, "--dialect", dialect, "-o", "json"]);
  const { guards, diagnostics } = JSON.parse(context.out());
  const errors = diagnostics.filter(({ severity }: { severity: string }) => severity === "error");
  expect(errors).toEqual([]);
  return guards.map(({ rule }: { rule: { name: string } }) => rule.name).sort();
}

describe.each(["contract", "databricks"])("the starter rules in the dialect %s", (dialect) => {
  test.each([
    ["a cluster that terminates and has a team", cluster(`autotermination_minutes: 30, ${TAG}`), []],
    [
      "a cluster that never terminates",
      cluster(`autotermination_minutes: 0, ${TAG}`),
      ["clusters-autoterminate"],
    ],
    ["a cluster without autotermination", cluster(TAG), ["clusters-autoterminate"]],
    [
      "a cluster with an empty tag",
      cluster("autotermination_minutes: 30, custom_tags: { team: '' }"),
      ["clusters-use-pool-or-team-tag"],
    ],
    [
      "a cluster without pool and tag",
      cluster("autotermination_minutes: 30"),
      ["clusters-use-pool-or-team-tag"],
    ],
    [
      "a cluster of a pool that does not exist yet",
      `${POOL}clusters: { c: { spark_version: 6.4.x-scala2.11, num_workers: 1, autotermination_minutes: 30, instance_pool_id: "\${pools.p.instance_pool_id}" } }\n`,
      [],
    ],
    ["a job with a team and failure emails", job(TAGGED, MAIL), []],
    ["a job with a pool", POOL + job('instance_pool_id: "${pools.p.instance_pool_id}"', MAIL), []],
    [
      "a job without a team",
      job("node_type_id: Standard_DS3_v2", MAIL),
      ["job-clusters-use-pool-or-team-tag"],
    ],
    ["a job without emails", job(TAGGED, "max_retries: 1"), ["jobs-have-failure-emails"]],
    [
      "a job with other emails",
      job(TAGGED, "email_notifications: { on_start: [a@example.com] }"),
      ["jobs-have-failure-emails"],
    ],
    [
      "a job with no recipient",
      job(TAGGED, "email_notifications: { on_failure: [] }"),
      ["jobs-have-failure-emails"],
    ],
    ["users who read a scope", "scopes: { s: { acls: { users: READ } } }\n", []],
    [
      "users who manage a scope",
      "scopes: { s: { acls: { users: MANAGE } } }\n",
      ["scopes-no-manage-for-users"],
    ],
    ["users in capitals", "scopes: { s: { acls: { USERS: MANAGE } } }\n", ["scopes-no-manage-for-users"]],
    [
      "a scope that all users manage at first",
      "scopes: { s: { initial_manage_principal: users } }\n",
      ["scopes-no-manage-for-users"],
    ],
    ["a group that manages a scope", "groups: { data: {} }\nscopes: { s: { acls: { data: MANAGE } } }\n", []],
    ["pools and groups", `${POOL}groups: { a: {} }\n`, []],
  ])("%s", async (_world, spec, rules) => {
    expect(await violated(spec, dialect)).toEqual(rules);
  });
});

test.each(["access", "cost", "databricks", "limits", "safety"])(
  "every rule of the folder %s is refused by one of its tests",
  (folder) => {
    const text = (name: string): string => readFileSync(join(RULES, folder, name), "utf8");
    const names = [...text(`${folder}.yaml`).matchAll(/- name: (\S+)/g)].map(([, name]) => name);
    const refused = text(`${folder}.test.yaml`);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !refused.includes(String(name)))).toEqual([]);
  },
);

test("the tests of all ready-made rules pass", async () => {
  const context = contextWith({}, RULES);
  const code = await runProgram(context, ["test"]);
  expect([code, context.out().match(/failed/g)]).toEqual([0, null]);
});
