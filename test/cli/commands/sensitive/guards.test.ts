// Guards and side effects that compare sensitive values in the dialect of Databricks: they show none, and do not compare hidden ones.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

type Values = Readonly<Record<string, string>>;

function site(spec: string) {
  const folder = folderWith(spec);
  const env = {
    WORKSPACE_HOST: "embedded",
    WORKSPACE_STATE: mkdtempSync(join(tmpdir(), "guards-")),
    WORKSPACE_DIALECT: "databricks",
    WORKSPACE_CLOUD: "azure",
  };
  const run = async (line: string, values: Values = {}) => {
    const variables = Object.entries(values).map(([name, value]) => [`WORKSPACE_VAR_${name}`, value]);
    const context = contextWith({ ...env, ...Object.fromEntries(variables) }, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, all: context.out() + context.err() };
  };
  return { run, write: (text: string) => writeFileSync(join(folder, "workspace.yaml"), text) };
}

const policed = (definition: string, fields: string): string => `variables:
  num: { type: string, sensitive: true, default: "7" }
  word: { type: string, sensitive: true, default: q }
cluster_policies: { pol: { definition: ${definition} } }
clusters:
  pc:
    spark_version: 15.4.x-scala2.12
    node_type_id: Standard_DS3_v2
    policy_id: "\${cluster_policies.pol.policy_id}"
    ${fields}
`;

const RULES = [
  ["maximum", '{ num_workers: { type: range, maxValue: "${int(var.num)}" } }', "num_workers: 50", "at most"],
  ["minimum", '{ num_workers: { type: range, minValue: "${int(var.num)}" } }', "num_workers: 1", "at least"],
  ["fixed value", '{ num_workers: { type: fixed, value: "${int(var.num)}" } }', "num_workers: 1", "must be"],
  [
    "list of allowed values",
    '{ custom_tags.z: { type: allowlist, values: [ok, "${var.word}", "${var.num}"] } }',
    "custom_tags: { z: other }\n    num_workers: 1",
    "must be",
  ],
  [
    "pattern",
    '{ custom_tags.z: { type: regex, pattern: "${var.word}.*" } }',
    "custom_tags: { z: other }\n    num_workers: 1",
    "must match",
  ],
  [
    "list of blocked values with a sensitive value of the cluster",
    '{ custom_tags.z: { type: blocklist, values: ["${var.word}"] } }',
    'custom_tags: { z: "${var.word}" }\n    num_workers: 1',
    "must not be",
  ],
  [
    "default of a required field",
    '{ autotermination_minutes: { type: unlimited, defaultValue: "${int(var.num)}" } }',
    "num_workers: 1",
    "is required",
  ],
] as const;

describe("a rule of a cluster policy with a sensitive value", () => {
  test.each(RULES)("is not shown: %s", async (_, definition, fields, words) => {
    const { run } = site(policed(definition, fields));
    for (const format of ["text", "json", "markdown", "html"]) {
      const { code, all } = await run(`plan -o ${format}`, { num: "37", word: "Zq" });
      expect([code, all]).toEqual([3, expect.stringContaining("GUARD_CLUSTER_POLICY")]);
      expect(all).toContain(words);
      expect(all).toContain("sensitive");
      // The time of a plan can have the number.
      expect(all.replaceAll(/\d\d:\d\d(:\d\d\.\d+)?/g, "TIME")).not.toMatch(/\b37\b|\bZq\b/);
    }
  });

  test("is not compared in a plan of an untrusted spec, and a note says so", async () => {
    const spec = policed(
      '{ num_workers: { type: fixed, value: "${int(var.num)}" }, custom_tags.z: { type: allowlist, values: [ok, "${var.word}"] } }',
      "num_workers: 37\n    custom_tags: { z: ok }",
    );
    const { run, write } = site(spec);
    expect(await run("apply --auto-approve", { num: "37", word: "Zq" })).toMatchObject({ code: 0 });
    write(spec.replace("num_workers: 37", "num_workers: 38").replace("z: ok", "z: other"));
    const { code, all } = await run("plan --untrusted --detailed-exitcode");
    expect([code, all]).toEqual([2, expect.not.stringContaining("GUARD_CLUSTER_POLICY")]);
    expect(all).toContain(
      "PLAN_UNCHECKED: clusters.pc: num_workers and custom_tags.z are not compared with the cluster policy pol, because sensitive values are involved",
    );
  });

  test("leaves other rules of the policy in force in a plan of an untrusted spec", async () => {
    const spec = policed(
      '{ num_workers: { type: range, maxValue: 5 }, custom_tags.z: { type: fixed, value: "${var.word}" } }',
      "num_workers: 5",
    );
    const { run, write } = site(spec);
    expect(await run("apply --auto-approve", { word: "Zq" })).toMatchObject({ code: 0 });
    write(spec.replace("num_workers: 5", "num_workers: 6"));
    const { code, all } = await run("plan --untrusted");
    expect([code, all]).toEqual([3, expect.stringContaining("num_workers must be at most 5")]);
  });
});

describe("an IP access list with a sensitive address", () => {
  const lists = (more: string): string => `variables:
  ip: { type: string, sensitive: true, default: 192.0.2.9 }
workspace_conf: { enableIpAccessLists: { value: true } }
ip_access_lists:
  me: { list_type: ALLOW, ip_addresses: [127.0.0.1] }
  part: { list_type: ALLOW, ip_addresses: [10.128.0.0/9] }
${more}`;
  const PARTNER = '  partner: { list_type: ALLOW, ip_addresses: ["${var.ip}", 198.51.100.76] }\n';

  test("is not shown by the ranges that are left of it", async () => {
    const { run, write } = site(lists(PARTNER));
    expect(await run("apply --auto-approve", { ip: "10.0.0.0/8" })).toMatchObject({ code: 0 });
    write(lists(""));
    for (const values of [{ ip: "10.0.0.0/8" }, {}] as readonly Values[]) {
      const { code, all } = await run("plan", values);
      expect([code, all]).toEqual([
        0,
        expect.stringContaining("addresses can no longer reach the workspace"),
      ]);
      expect(all).not.toMatch(/10\.0\.0\.0|198\.51\.100\.76 and/);
    }
  });

  test("is not compared in a plan of an untrusted spec, and a note says so", async () => {
    const office = (range: string): string => `variables:
  ip: { type: string, sensitive: true, default: 192.0.2.9 }
workspace_conf: { enableIpAccessLists: { value: true } }
ip_access_lists:
  office: { list_type: ALLOW, ip_addresses: ["\${var.ip}", ${range}] }
`;
    const { run, write } = site(office("203.0.113.0/24"));
    expect(await run("apply --auto-approve", { ip: "127.0.0.1" })).toMatchObject({ code: 0 });
    write(office("203.0.114.0/24"));
    const { code, all } = await run("plan --untrusted --detailed-exitcode");
    expect([code, all]).toEqual([2, expect.not.stringContaining("GUARD_LOCKOUT")]);
    expect(all).toContain("PLAN_UNCHECKED: ip_access_lists.office: ");
    write(office("203.0.114.0/24").replace('"${var.ip}", ', ""));
    expect(await run("plan")).toMatchObject({ code: 3, all: expect.stringContaining("GUARD_LOCKOUT") });
  });
});

describe("an IP access list of an untrusted spec with an address that was not read", () => {
  const spec = (lists: string): string => `variables:
  ip: { type: string, sensitive: true, default: 192.0.2.9 }
policy: { max_deletes: 100% }
workspace_conf: { enableIpAccessLists: { value: true } }
ip_access_lists:
${lists}`;
  const list = (name: string, addresses: string): string =>
    `  ${name}: { list_type: ALLOW, ip_addresses: [${addresses}] }\n`;
  const HIDDEN = '"${var.ip}"';
  const OFFICE = list("office", "127.0.0.1, 203.0.113.0/24");

  test.each([
    ["all addresses become sensitive", OFFICE, list("office", HIDDEN)],
    ["a new list has it", OFFICE, list("office", "203.0.114.0/24") + list("new", HIDDEN)],
    [
      "a list with it leaves",
      list("me", HIDDEN) + list("office", "203.0.113.0/24"),
      list("office", "203.0.114.0/24"),
    ],
    [
      "an address replaces it",
      list("me", HIDDEN) + list("office", "203.0.113.0/24"),
      list("me", "10.0.0.0/8") + list("office", "203.0.114.0/24"),
    ],
    [
      "another list changes",
      list("me", HIDDEN) + OFFICE,
      list("me", HIDDEN) + list("office", "203.0.114.0/24"),
    ],
  ])("is neither blocked nor silent when %s", async (_, before, changed) => {
    const { run, write } = site(spec(before));
    expect(await run("apply --auto-approve", { ip: "127.0.0.1" })).toMatchObject({ code: 0 });
    write(spec(changed));
    const { code, all } = await run("plan --untrusted --detailed-exitcode");
    expect([code, all]).toEqual([2, expect.not.stringContaining("GUARD_LOCKOUT")]);
    expect(all).toMatch(/PLAN_UNCHECKED: ip_access_lists\.\w+: the list is not compared/);
  });

  test("is blocked when no address is sensitive", async () => {
    const { run, write } = site(spec(OFFICE));
    expect(await run("apply --auto-approve")).toMatchObject({ code: 0 });
    write(spec(list("office", "203.0.114.0/24")));
    expect(await run("plan --untrusted")).toMatchObject({
      code: 3,
      all: expect.stringContaining("GUARD_LOCKOUT"),
    });
  });
});

describe("a sensitive role of an administrator", () => {
  const ROLES =
    '{ admin@example.com: { permissions: ["${var.role}"] }, Ada@example.com: { permissions: ["${var.role}"] } }';
  const spec = (roles: string): string => `variables:
  role: { type: string, sensitive: true, default: USER }
policy: { max_deletes: 100% }
users: { ada@example.com: {}, bo@example.com: {} }
workspace_assignments: ${roles}
`;

  test.each([
    ["leaves the spec", "{}"],
    ["is another one in the spec", "{ admin@example.com: { permissions: [USER] } }"],
  ])("of the caller that %s is not compared in an untrusted plan, and a note says so", async (_, changed) => {
    const { run, write } = site(spec(ROLES));
    expect(await run("apply --auto-approve", { role: "ADMIN" })).toMatchObject({ code: 0 });
    write(spec(changed));
    const { code, all } = await run("plan --untrusted --detailed-exitcode");
    expect([code, all]).toEqual([2, expect.not.stringContaining("GUARD_LOCKOUT")]);
    expect(all).toContain(
      "PLAN_UNCHECKED: workspace_assignments.admin@example.com: permissions is not compared with the role of the caller",
    );
    expect(await run("plan")).toMatchObject({ code: 3, all: expect.stringContaining("GUARD_LOCKOUT") });
  });

  test("is not told by the groups of a user that leaves, and a note says that administrators are not compared", async () => {
    const { run, write } = site(spec(ROLES));
    expect(await run("apply --auto-approve", { role: "ADMIN" })).toMatchObject({ code: 0 });
    write(spec(ROLES).replace("ada@example.com: {}, ", ""));
    const { code, all } = await run("plan --untrusted --detailed-exitcode");
    expect([code, all]).toEqual([2, expect.not.stringContaining("it leaves 1 group")]);
    expect(all).toContain(
      "PLAN_UNCHECKED: users.ada@example.com: the change is not compared with the members of admins",
    );
  });
});
