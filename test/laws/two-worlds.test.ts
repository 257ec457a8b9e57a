// The law of two worlds: two workspaces that differ in sensitive values alone give the author of a pull request the same plan.

import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { parse } from "yaml";
import { registry } from "../../src/providers/index.ts";
import { sampleFrom } from "../sample-size.ts";
import { databricksSamples } from "./databricks-samples.ts";
import { samples } from "./samples.ts";
import { type Values, type World, type Worlds, worldOf, worldsOf } from "./sensitive-worlds.ts";

const FORMATS = ["text", "markdown", "html", "junit", "json", "sarif", "github"];

const UNTRUSTED = [
  ...FORMATS.map((format) => `plan --untrusted --detailed-exitcode -o ${format}`),
  "plan --untrusted --offline",
  ...["json", "text", "markdown"].map(
    (format) => `plan --untrusted --base BASE --exitcode-for change --detailed-exitcode -o ${format}`,
  ),
];

/** A new cluster runs after this time. */
const STARTED_MS = 60_000;

/** Runs a command in both worlds, each with its own values, and expects the same answer. */
async function expectSame(worlds: readonly World[], line: string, values: readonly Values[] = []) {
  const [one, other] = await Promise.all(worlds.map(({ run }, at) => run(line, values[at])));
  expect([line, one]).toEqual([line, other]);
  return one;
}

// Whether a cluster runs depends on the time, so both worlds have the same.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
});
afterAll(() => {
  vi.useRealTimers();
});

async function appliedWorlds(both: Worlds): Promise<readonly World[]> {
  const worlds = both.values.map(() => worldOf(both));
  // An apply waits for a cluster that the spec wants to run.
  const clock = setInterval(() => vi.setSystemTime(Date.now() + 1_000), 50);
  onTestFinished(() => clearInterval(clock));
  for (const [at, { run, write }] of worlds.entries()) {
    expect(await run("apply --auto-approve", both.values[at])).toMatchObject({ code: 0 });
    if (both.outside === undefined) continue;
    write(both.outside);
    expect(await run("apply --auto-approve --adopt --state other")).toMatchObject({ code: 0 });
  }
  clearInterval(clock);
  vi.setSystemTime(Date.now() + STARTED_MS);
  return worlds;
}

async function expectSamePlans(both: Worlds, worlds?: readonly World[]): Promise<void> {
  const applied = worlds ?? (await appliedWorlds(both));
  for (const text of both.changed) {
    for (const { write } of applied) write(text);
    for (const line of sampleFrom(UNTRUSTED)) {
      const answer = await expectSame(applied, line);
      expect(answer?.code).not.toBe(4);
    }
  }
}

/**
 * Answers about the spec, a plan, and access of a run that has the values. Shorter ones also occur by chance, and in the live workspace
 * other objects have the same levels.
 */
async function expectHiddenAnswers(both: Worlds, worlds: readonly World[]): Promise<void> {
  const spec = parse(both.spec) as Readonly<Record<string, object>>;
  const addresses = Object.entries(spec).flatMap(([kind, resources]) =>
    registry.find(kind) === undefined ? [] : Object.keys(resources).map((name) => `${kind}.${name}`),
  );
  const lines = addresses.flatMap((address) => [
    `explain ${address} --plan`,
    ...["spec", "plan"].flatMap((of) =>
      sampleFrom(["json", "text", "markdown", "html"]).map(
        (format) => `access ${address} --of ${of} -o ${format}`,
      ),
    ),
  ]);
  for (const [at, { run }] of worlds.entries()) {
    const values = Object.values(both.values[at] ?? {}).filter(({ length }) => length >= 8);
    for (const line of ["validate", "validate -o json", ...lines]) {
      const { code, out } = await run(line, both.values[at]);
      // A question about an object without rights has a hint with examples.
      const shown = values.filter((value) => code === 0 && out.includes(value));
      expect([line, shown]).toEqual([line, []]);
    }
  }
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

const POLICED = `${sensitive({ num: "7", word: "q" })}cluster_policies:
  pol:
    definition:
      num_workers: { type: range, maxValue: "\${int(var.num)}" }
      autotermination_minutes: { type: fixed, value: "\${int(var.num)}" }
      custom_tags.z: { type: allowlist, values: [ok, "\${var.word}"] }
clusters:
  pc:
    spark_version: 15.4.x-scala2.12
    ${NODE}
    num_workers: 5
    autotermination_minutes: "\${int(var.num)}"
    custom_tags: { z: ok }
    policy_id: "\${cluster_policies.pol.policy_id}"
`;

const LISTS = `${sensitive({ ip: "192.0.2.9" })}workspace_conf: { enableIpAccessLists: { value: true } }
ip_access_lists:
  me: { list_type: ALLOW, ip_addresses: [127.0.0.1] }
  partner: { list_type: ALLOW, ip_addresses: ["\${var.ip}", 198.51.100.76] }
  part: { list_type: ALLOW, ip_addresses: [10.128.0.0/9] }
`;

const STATES = `${sensitive({ state: "RUNNING", up: "RUNNING", word: "q" })}workspace_conf: { maxTokenLifetimeDays: { value: "90" } }
warehouses:
  hidden: { cluster_size: Small, run_state: "\${var.state}", custom_tags: { a: "\${var.word}" } }
  plain: { cluster_size: Small }
clusters:
  c: { spark_version: 15.4.x-scala2.12, ${NODE}, num_workers: 1, run_state: "\${var.up}" }
repos:
  /Repos/data/etl: { url: https://github.com/example/etl.git, provider: gitHub }
`;

const ROLES = `${sensitive({ role: "USER" })}policy: { max_deletes: 100% }
users: { ada@example.com: {}, bo@example.com: { groups: [data] } }
groups: { admins: {}, data: { entitlements: [allow-cluster-create] } }
workspace_assignments: { Ada@example.com: { permissions: ["\${var.role}"] } }
`;

const WORLDS: readonly Worlds[] = [
  {
    isDatabricks: false,
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
    isDatabricks: false,
    title: "a sensitive level that the caller has on the scope, too",
    spec: LEVELS,
    changed: [
      LEVELS,
      LEVELS.replace('"${var.level}"', "WRITE"),
      LEVELS.replace('data-eng: "${var.level}", ', ""),
    ],
    values: [{ level: "MANAGE" }, { level: "READ" }],
  },
  {
    isDatabricks: true,
    title: "sensitive limits of a cluster policy",
    spec: POLICED,
    changed: [
      POLICED,
      POLICED.replace("num_workers: 5", "num_workers: 60"),
      POLICED.replace("z: ok", "z: Zq"),
      POLICED.replace('autotermination_minutes: "${int(var.num)}"', "autotermination_minutes: 37"),
      POLICED.replaceAll(/"\$\{int\(var.num\)\}"/g, "37"),
    ],
    values: [
      { num: "37", word: "Zq" },
      { num: "4400", word: "none" },
    ],
  },
  {
    isDatabricks: true,
    title: "a sensitive address of an IP access list",
    spec: LISTS,
    changed: [
      LISTS,
      LISTS.replace(/ {2}partner.*\n/, ""),
      LISTS.replace(/ {2}me:.*\n/, ""),
      LISTS.replace('"${var.ip}"', "10.0.0.0/8"),
      LISTS.replace(/ {2}part:.*\n/, ""),
      LISTS.replace("value: true", "value: false"),
    ],
    values: [{ ip: "10.0.0.0/8" }, { ip: "172.16.0.0/12" }],
  },
  {
    isDatabricks: true,
    title: "a sensitive role that makes a member of admins",
    spec: ROLES,
    changed: [
      ROLES,
      ROLES.replace(/workspace_assignments.*\n/, ""),
      ROLES.replace("ada@example.com: {}, ", ""),
      ROLES.replace("ada@example.com: {}", "ada@example.com: { groups: [data] }"),
      ROLES.replace("ada@example.com: {}", "ada@example.com: { groups: [admins] }"),
      ROLES.replace("admins: {}", "admins: { members: { users: [admin@example.com] } }"),
      ROLES.replace("admins: {}", "admins: { members: { users: [admin@example.com, ada@example.com] } }"),
      ROLES.replace('"${var.role}"', "ADMIN"),
    ],
    values: [{ role: "ADMIN" }, { role: "USER" }],
  },
  {
    isDatabricks: true,
    title: "sensitive values that are defaults elsewhere, or that another user wrote there",
    spec: STATES,
    outside: 'workspace_conf: { maxTokenLifetimeDays: { value: "37" } }',
    changed: [
      STATES,
      STATES.replaceAll("Small", "Medium").replace("num_workers: 1", "num_workers: 2"),
      STATES.replaceAll(/"\$\{var.(state|up)\}"/g, "RUNNING").replace('"90"', '"37"'),
      STATES.replaceAll("15.4.x", "14.3.x").replace("provider: gitHub }", "provider: gitHub, branch: main }"),
      STATES.replace(/warehouses[\s\S]*clusters/, "clusters"),
      STATES.replace(/clusters[\s\S]*/, ""),
      STATES.replace(/workspace_conf[\s\S]*/, "policy: { max_deletes: 100% }\n"),
    ],
    values: [
      { state: "RUNNING", up: "RUNNING", word: "main" },
      { state: "STOPPED", up: "TERMINATED", word: "37" },
    ],
  },
];

describe("a plan of an untrusted spec is the same with other sensitive values", () => {
  test.each(WORLDS)("$title", { timeout: 120_000 }, (both) => expectSamePlans(both));
});

const FIELDS = `${sensitive({ word: "q", level: "READ", num: "3", on: "no" })}policy: { max_deletes: 100% }
users: { ada@example.com: { displayName: "\${var.word}" }, bo@example.com: { active: "\${var.on == 'yes'}" } }
groups: { data-eng: {} }
scopes: { wh: { acls: { data-eng: "\${var.level}" } } }
pools: { p: { ${NODE}, max_capacity: "\${int(var.num)}" } }
clusters:
  c:
    spark_version: 6.4.x-scala2.11
    ${NODE}
    num_workers: 1
    spark_env_vars: { a: "\${var.word}", b: "x \${var.word}", c: open }
`;

/** Another user changes each sensitive field to a third value. */
const CHANGED_OUTSIDE = FIELDS.replaceAll("${var.word}", "another word")
  .replace("${var.level}", "WRITE")
  .replace('"${int(var.num)}"', "12")
  .replace("\"${var.on == 'yes'}\"", "true")
  .replace("c: open", "c: changed");

const DRIFTED: readonly (Worlds & { readonly shown: RegExp })[] = [
  {
    isDatabricks: false,
    title: "that another user changed",
    spec: FIELDS,
    outside: CHANGED_OUTSIDE,
    changed: [],
    values: [
      { word: "one-word", level: "MANAGE", num: "7", on: "no" },
      { word: "other-word-here", level: "READ", num: "9", on: "no" },
    ],
    shown: /max_capacity/,
  },
  {
    isDatabricks: false,
    title: "that are unchanged",
    spec: FIELDS,
    changed: [],
    values: [
      { word: "one-word", level: "MANAGE", num: "7", on: "yes" },
      { word: "other-word-here", level: "READ", num: "9", on: "no" },
    ],
    shown: /No drift/,
  },
];

describe("drift of sensitive values", () => {
  test.each(DRIFTED)("$title is the same, whatever the values are", { timeout: 120_000 }, async (both) => {
    const worlds = await appliedWorlds(both);
    for (const { write } of worlds) write(both.spec);
    for (const format of ["text", "json", "markdown", "html", "junit"])
      for (const values of [both.values, []]) {
        const line = `drift -o ${format}`;
        const answer = await expectSame(worlds, line, values);
        if (format === "text") expect([line, answer?.out]).toEqual([line, expect.stringMatching(both.shown)]);
      }
  });
});

const SAMPLES = [
  ...samples.map((sample) => ["contract", sample] as const),
  ...databricksSamples.map((sample) => [sample.cloud ?? "azure", sample] as const),
].map(([dialect, sample]) => ({ dialect, sample, title: `${sample.kind} ${sample.title ?? ""}`.trim() }));

/** Kinds whose samples have no other value that may be sensitive. */
const WITHOUT_VALUES = new Set([
  ...["scopes", "groups", "secrets", "directories", "notebooks", "files", "workspace_files"],
]);

describe("with sensitive values in a sample", () => {
  test.each(sampleFrom(SAMPLES))(
    "plans of an untrusted spec are the same, and answers have no value: $dialect: $title",
    { timeout: 240_000 },
    async ({ dialect, sample, title }) => {
      const both = await worldsOf(sample, dialect);
      expect(both === undefined).toBe(WITHOUT_VALUES.has(title));
      if (both === undefined) return;
      const worlds = await appliedWorlds(both);
      await expectHiddenAnswers(both, worlds);
      await expectSamePlans(both, worlds);
    },
  );
});
