// A law of sensitive values: what comes from one is in no output, no file, and no state, whatever the spec says later.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { registry } from "../../src/providers/index.ts";
import { CONTRACT_FIELDS, registryIn } from "../../src/resource/dialect-view.ts";
import type { FieldSchema } from "../../src/resource/field-schema.ts";
import { contextWith } from "../cli/context.ts";
import { sampleFrom } from "../sample-size.ts";

/** A number up to 10,000, which some fields take: none that the state has as the process. */
const [SMALL = 0, OTHER_SMALL = 0] = [4827, 5931, 7253].filter((number) => number !== process.pid);

/** The second value has characters that formats escape. */
const VALUES = {
  ...{ v: "CANARY7q-plain-1", w: 'CANARY8"q\\é&<z>', u: "CANARY9q@example.com" },
  ...{ n: "4821337", m: String(SMALL), yes: "yes" },
};
const ROTATED = {
  ...{ n: "4733191", m: String(OTHER_SMALL), yes: "no" },
  v: "ROTATED7q-plain-2",
  w: 'ROTATED8"q\\é&<z>',
  u: "ROTATED9q@example.com",
  right: "allow-instance-pool-create",
};

const DECLARED = `variables:
  v: { type: string, sensitive: true }
  w: { type: string, sensitive: true }
  u: { type: string, sensitive: true }
  spark: { type: string, sensitive: true, default: 6.4.x-scala2.11 }
  node: { type: string, sensitive: true, default: Standard_DS3_v2 }
  driver: { type: string, sensitive: true, default: Standard_DS4_v2 }
  right: { type: string, sensitive: true, default: allow-cluster-create }
  cron: { type: string, sensitive: true, default: "0 30 2 * * ?" }
  zone: { type: string, sensitive: true, default: Europe/Paris }
  n: { type: string, sensitive: true, default: "31" }
  m: { type: string, sensitive: true, default: "41" }
  few: { type: string, sensitive: true, default: "3" }
  yes: { type: string, sensitive: true, default: "no" }
locals:
  one: "\${var.v}"
  two: { inner: "pre-\${local.one}-post", list: ["\${var.w}", open] }
`;

/** For plans that read no values: defaults take the place of the values. */
const UNVALUED = DECLARED.replace(/( {2}[vw]: .*true)/g, "$1, default: none").replace(
  /( {2}u: .*true)/,
  "$1, default: none@example.com",
);

interface Case {
  readonly kind: string;
  /** Resources with sensitive values in every field that can have one. */
  readonly spec: string;
  /** The same without variables: other values, and nothing in place of some. */
  readonly dropped: string;
  readonly address: string;
}

const CLUSTER = `    spark_version: "\${var.spark}"
    node_type_id: "\${var.node}"
    driver_node_type_id: "\${var.driver}"
    num_workers: "\${int(var.m)}"
    autotermination_minutes: "\${int(var.m)}"
    enable_elastic_disk: "\${var.yes == 'yes'}"
    custom_tags: { a: "\${local.one}", b: "\${local.two.inner}" }
    spark_conf: { spark.a: "\${var.w}" }
    spark_env_vars: { A: "\${var.v.upperAscii()}", B: "\${json(local.two)}", C: "\${'%s!'.format([var.w])}", D: open }
    ssh_public_keys: ["ssh-rsa \${var.v}"]
`;
const SCALED = `    spark_version: 6.4.x-scala2.11
    node_type_id: Standard_DS3_v2
    autoscale: { min_workers: "\${int(var.few)}", max_workers: "\${int(var.m)}" }
`;
const OPEN_CLUSTER = `    spark_version: 6.4.x-scala2.11
    node_type_id: Standard_DS3_v2
    num_workers: 1
    custom_tags: { a: other }
    spark_env_vars: { A: other, D: open }
`;

const CASES: readonly Case[] = [
  {
    kind: "users",
    spec: `users:
  ada@example.com:
    displayName: "\${var.w}"
    name: { givenName: "\${var.v}", familyName: "\${var.w}" }
    emails: [{ value: "\${var.u}", type: "\${var.v}", primary: "\${var.yes == 'yes'}" }]
    active: "\${var.yes == 'yes'}"
    entitlements: ["\${var.right}"]
    externalId: "\${var.v}"
  bo@example.com: { displayName: "x \${local.two.inner}" }
`,
    dropped: "users: { ada@example.com: { displayName: Ada } }\n",
    address: "users.ada@example.com",
  },
  {
    kind: "groups",
    spec: 'groups: { g: { entitlements: ["${var.right}"] } }\n',
    dropped: "groups: { g: { entitlements: [allow-cluster-create, allow-instance-pool-create] } }\n",
    address: "groups.g",
  },
  {
    kind: "scopes",
    spec: `scopes:
  s: { backend_type: CLOUD_KEYVAULT, keyvault_metadata: { resource_id: "\${var.v}", dns_name: "https://\${var.v}.example.com/" } }
`,
    dropped:
      "scopes: { s: { backend_type: CLOUD_KEYVAULT, keyvault_metadata: { resource_id: x, dns_name: 'https://x.example.com/' } } }\n",
    address: "scopes.s",
  },
  {
    kind: "pools",
    spec: `pools:
  p:
    min_idle_instances: "\${int(var.few)}"
    max_capacity: "\${int(var.n)}"
    idle_instance_autotermination_minutes: "\${int(var.m)}"
    enable_elastic_disk: "\${var.yes == 'yes'}"
    disk_spec: { disk_type: { cloud_disk_volume_type: PREMIUM_LRS }, disk_count: "\${int(var.few)}", disk_size: "\${int(var.few)}" }
    node_type_id: "\${var.node}"
    preloaded_spark_versions: ["\${var.spark}"]
    custom_tags: { a: "\${var.v}", b: "x-\${local.one}", open: o }
`,
    dropped: "pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { a: other, open: o } } }\n",
    address: "pools.p",
  },
  {
    kind: "clusters",
    spec: `clusters:\n  c:\n${CLUSTER}    pinned: "\${var.yes == 'yes'}"\n  d:\n${SCALED}`,
    dropped: `clusters:\n  c:\n${OPEN_CLUSTER}`,
    address: "clusters.c",
  },
  {
    kind: "jobs",
    spec: `jobs:
  j:
    new_cluster:
      cluster_name: "\${var.v}"
${CLUSTER.replaceAll(/^/gm, "  ").trimEnd()}
    notebook_task: { notebook_path: /Shared/n, base_parameters: { a: "\${var.w}", b: "\${local.two.inner}" } }
    libraries:
      - maven: { coordinates: "g:\${var.v}:1", repo: "https://r.example.com/\${var.v}", exclusions: ["\${var.v}:x"] }
      - pypi: { package: "\${var.v}", repo: "https://r.example.com/\${var.v}" }
      - cran: { package: "\${var.v}", repo: "https://r.example.com/\${var.v}" }
    schedule: { quartz_cron_expression: "\${var.cron}", timezone_id: "\${var.zone}" }
    email_notifications: { on_start: ["\${var.u}"], on_success: ["\${var.u}"], on_failure: ["\${var.u}", open@example.com], no_alert_for_skipped_runs: "\${var.yes == 'yes'}" }
    timeout_seconds: "\${int(var.n)}"
    max_retries: "\${int(var.n)}"
    min_retry_interval_millis: "\${int(var.n) * 3}"
    retry_on_timeout: "\${var.yes == 'yes'}"
    max_concurrent_runs: "\${int(var.few)}"
  k:
    new_cluster:
${SCALED.replaceAll(/^/gm, "  ").trimEnd()}
    spark_jar_task: { main_class_name: "\${var.v}", parameters: [a, "\${var.w}", "\${local.two.list[0]}"] }
  l:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }
    spark_python_task: { python_file: "fs:/main.py", parameters: ["\${var.v.lowerAscii()}", "\${var.w.trim()}"] }
  m:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }
    spark_submit_task: { parameters: ["--conf", "a=\${var.w}"] }
`,
    dropped: `jobs:
  j:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 2, spark_env_vars: { A: other } }
    notebook_task: { notebook_path: /Shared/n, base_parameters: { a: other, z: new } }
    email_notifications: { on_failure: [open@example.com] }
  k:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }
    spark_jar_task: { main_class_name: other, parameters: [a] }
`,
    address: "jobs.j",
  },
  {
    kind: "modules",
    spec: 'modules: { m: { source: m, with: { given: "${var.w}", size: "${size(var.v)}" } } }\n',
    dropped: "modules: { m: { source: m, with: { given: other } } }\n",
    address: "pools.m/q",
  },
];

const MODULE = `inputs: { given: { type: string }, size: { type: integer, default: 3 } }
outputs: { out: "\${input.given.upperAscii()}" }
pools: { q: { node_type_id: Standard_DS3_v2, max_capacity: "\${input.size}", custom_tags: { a: "\${input.given.lowerAscii()}", b: "\${input.given}" } } }
`;

const FORMATS = ["json", "markdown", "html", "junit", "sarif", "github"];
const reports = (name: string): string => FORMATS.map((form) => ` -o ${form}=out/${name}.${form}`).join("");

/** Every form of a value that an output could contain, in lower case. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  // Of base64, the characters that do not depend on what is before and after the value.
  const aligned = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/, "")
      .slice(before === 0 ? 0 : 4, -2),
  );
  const html = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    JSON.stringify(JSON.stringify(value).slice(1, -1)).slice(1, -1),
    encodeURIComponent(value),
    html,
    html.replaceAll('"', "&quot;"),
    bytes.toString("hex"),
    ...aligned,
    // The part that no format escapes.
    /^\w+/.exec(value)?.[0] ?? value,
  ].map((form) => form.toLowerCase());
}

const FORMS = [VALUES, ROTATED].flatMap(({ v, w, u }) => [v, w, u]).flatMap(formsOf);
/** Also a number that is computed from one. */
const NUMBERS = new RegExp(
  `\\b(${[VALUES, ROTATED].flatMap(({ n, m }) => [n, m, 3 * Number(n)]).join("|")})\\b`,
  "g",
);

const leaksIn = (text: string): readonly string[] => {
  const lower = text.toLowerCase();
  return [...FORMS.filter((form) => lower.includes(form)), ...(text.match(NUMBERS) ?? [])];
};

/** Fields with a boolean or a small number: such a value also occurs elsewhere, so only its place is searched. */
const SHORT = [
  ...["primary", "active", "enable_elastic_disk", "pinned", "no_alert_for_skipped_runs", "retry_on_timeout"],
  ...["min_idle_instances", "disk_count", "disk_size", "min_workers", "max_concurrent_runs"],
];

/** The short values of such fields of a case: in a line, or in JSON as a member or a change of its resource. */
function shortValuesIn(text: string, { spec, address }: Case): readonly string[] {
  const names = SHORT.filter((name) => spec.includes(`${name}: "\${`));
  if (names.length === 0) return [];
  const inLine = `\\b(${names.join("|")})\\b[^\\n]{0,80}?([ >\`]|(?<!=)")(true|false|31|41|\\d)\\b`;
  if (!text.startsWith("{\n")) return text.match(new RegExp(inLine, "g")) ?? [];
  const visit = (value: unknown, name: string): readonly string[] => {
    if (typeof value !== "object" || value === null)
      return names.includes(name) && typeof value !== "string" && value !== null ? [`${name}: ${value}`] : [];
    const object = value as { readonly path?: unknown; readonly address?: unknown };
    if (object.address !== undefined && object.address !== address) return [];
    const path = typeof object.path === "string" ? object.path.split("/") : object.path;
    const field = Array.isArray(path) ? String(path.at(-1)) : name;
    // In maps such as `after_sensitive`, true is a mark.
    return Object.entries(value).flatMap(([key, member]) =>
      /_(sensitive|unknown)$/.test(key)
        ? []
        : visit(member, ["before", "after", "value"].includes(key) ? field : key),
    );
  };
  return visit(JSON.parse(text), "");
}

const reportsIn = (folder: string): readonly string[] =>
  filesIn(join(folder, "out"))
    .filter((path) => /\.(json|markdown|html|junit|sarif|github)$/.test(path))
    .map((path) => readFileSync(path, "utf8"));

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes("/.workspace/embedded/"));
}

/** The fields of a kind in which a spec may write any text, number, or boolean, such as `custom_tags.*`. */
function openFields(fields: Readonly<Record<string, FieldSchema>>): readonly string[] {
  const visit = (schema: FieldSchema, path: string): readonly string[] => {
    const { type, source, names, refersTo, mentions, fileUri, items, properties = {} } = schema;
    const decides = [source, names, refersTo, mentions, fileUri].some((role) => role !== undefined);
    const isOpen = schema.enum === undefined && schema.sensitive !== true && schema.readOnly !== true;
    if (schema.source === true || schema.dialect === "databricks" || schema.cloud !== undefined) return [];
    const inner = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
    return [
      ...(OPEN_TYPES.has(type) && isOpen && !decides ? [path] : []),
      ...(items === undefined ? [] : visit(items, `${path}[]`)),
      ...(inner === undefined ? [] : visit(inner, `${path}.*`)),
      ...Object.entries(properties).flatMap(([key, member]) => visit(member, `${path}.${key}`)),
    ];
  };
  return Object.entries(fields).flatMap(([key, schema]) => visit(schema, key));
}

const OPEN_TYPES = new Set<unknown>(["string", "integer", "number", "boolean"]);

/** The fields in which recorded values have a digest. */
function digestsIn(schema: FieldSchema, value: unknown, path: string): readonly string[] {
  if (typeof value === "string") return value.includes("(sensitive ") ? [path] : [];
  if (Array.isArray(value)) return value.flatMap((item) => digestsIn(schema.items ?? {}, item, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const property = schema.properties?.[key];
    const inner = typeof schema.additionalProperties === "object" ? schema.additionalProperties : {};
    return digestsIn(property ?? inner, member, `${path}.${property === undefined ? "*" : key}`);
  });
}

/** By kind, the fields that the cases below recorded with a digest. */
const covered = new Map<string, Set<string>>();

function cover(state: string): void {
  for (const { address, applied } of JSON.parse(state).records) {
    const kind = String(address).split(".", 1)[0] ?? "";
    const fields = digestsIn({ properties: registry.get(kind).fields }, applied, "");
    covered.set(kind, new Set([...(covered.get(kind) ?? []), ...fields.map((field) => field.slice(1))]));
  }
}

const messages: string[] = [];
const receiver = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    messages.push(Buffer.concat(parts).toString());
    response.end();
  });
});
let url = "";

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(() => receiver.close());

/** A folder with a program that checks its own output, files, and temporary files after each command. */
function site(sample: Case) {
  const folder = mkdtempSync(join(tmpdir(), "law-"));
  const temporary = mkdtempSync(join(tmpdir(), "law-tmp-"));
  const recorded = mkdtempSync(join(tmpdir(), "law-state-"));
  for (const name of ["m", "out"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "m/workspace.yaml"), MODULE);
  const write = (text: string): void => writeFileSync(join(folder, "workspace.yaml"), text);
  write(DECLARED + sample.spec);
  /** Most files are those of the command before. */
  const searched = new Set<string>();
  const isNew = (text: string): boolean => searched.size < searched.add(text).size;
  const run = async (line: string, values: Readonly<Record<string, string>> = {}) => {
    const env = Object.fromEntries(
      Object.entries(values).map(([name, text]) => [`WORKSPACE_VAR_${name}`, text]),
    );
    const context = contextWith({ WORKSPACE_HOST: "embedded", WORKSPACE_STATE: recorded, ...env }, folder);
    vi.stubEnv("TMPDIR", temporary);
    const code = await runProgram(context, line.split(" ")).finally(() => vi.unstubAllEnvs());
    const all = context.out() + context.err();
    expect([line, leaksIn(all)]).toEqual([line, []]);
    for (const path of [folder, temporary, recorded].flatMap(filesIn)) {
      const bytes = readFileSync(path, "latin1");
      if (!isNew(bytes)) continue;
      expect([line, path, leaksIn(bytes), leaksIn(readFileSync(path, "utf8"))]).toEqual([line, path, [], []]);
    }
    expect([line, messages.filter(isNew).flatMap(leaksIn)]).toEqual([line, []]);
    if (isHidden)
      for (const text of [context.out(), ...reportsIn(folder)])
        expect([line, shortValuesIn(text, sample)]).toEqual([line, []]);
    return { code, all };
  };
  /** A plain value that was applied is shown. */
  let isHidden = true;
  const showShort = (): void => {
    isHidden = false;
  };
  const state = (): string => readFileSync(join(recorded, "state.json"), "utf8");
  return { folder, write, run, state, showShort };
}

describe.each(sampleFrom(CASES))("a sensitive value in $kind", (sample) => {
  test("is in no report, saved plan, state, history, metric, message, or temporary file", async () => {
    const { write, run, state, showShort } = site(sample);
    const signals = `--metrics out/m.prom --webhook ${url}`;
    const first = await run(`plan${reports("plan")} --out p.plan ${signals}`, VALUES);
    expect([first.code, first.all]).toEqual([0, expect.stringContaining("(sensitive)")]);
    await run(`show p.plan${reports("show")}`);
    const applied = await run(
      `apply p.plan${reports("apply").replaceAll(/ -o (sarif|github)\S+/g, "")} ${signals}`,
      VALUES,
    );
    expect([applied.code, applied.all]).toEqual([0, expect.stringContaining("Applied")]);
    expect(state()).toMatch(/\(sensitive [0-9a-f]{16}-[0-9a-f]{32}\)/);
    cover(state());
    const unchanged = await run("plan --detailed-exitcode", VALUES);
    expect(unchanged.all).toContain("No changes.");
    expect(unchanged.code).toBe(0);
    write(UNVALUED + sample.spec);
    for (const line of ["plan --untrusted", "plan --untrusted --offline"]) {
      const { code, all } = await run(`${line} --detailed-exitcode`);
      expect([line, code, all]).toEqual([line, 0, expect.stringContaining("No changes.")]);
    }
    write(DECLARED + sample.spec);
    for (const line of [
      `state show ${sample.address}`,
      "state pull --out out/pull.json",
      "state pull",
      "history",
      "history -o json",
    ])
      expect([line, (await run(line)).code]).toEqual([line, 0]);

    // Answers about the spec, a plan, and access.
    await run("validate -o json", VALUES);
    for (const values of [VALUES, ROTATED]) {
      await run(`explain ${sample.address} --plan`, values);
      for (const of of ["live", "spec", "plan"])
        for (const name of [sample.address, "ada@example.com"])
          for (const form of ["text", "json", "markdown", "html"])
            await run(`access ${name} --of ${of} -o ${form}`, values);
    }

    // Drift with the variable unset and rotated.
    await run(`drift${reports("unset")} ${signals}`);
    await run(`drift${reports("rotated")} ${signals}`, ROTATED);
    const rotated = await run(`plan${reports("rotated-plan")} --out r.plan`, ROTATED);
    expect(rotated.all).toContain("(sensitive)");

    // A pull request that drops the variable, and removes it from some resources.
    write(sample.dropped);
    const untrusted = await run(`plan --untrusted${reports("untrusted")}`);
    expect(untrusted.all).toContain("(sensitive)");
    await run("plan --untrusted --offline");
    const trusted = await run(`plan${reports("trusted")} --out t.plan ${signals}`);
    expect(trusted.all).toContain("(sensitive)");
    await run("plan --offline");
    await run(`drift${reports("drift")}`);
    await run(`show t.plan${reports("show-t")}`);
    write("groups: { g: {} }\n");
    for (const line of [
      `plan${reports("removed")}`,
      "plan --untrusted -o json",
      `plan --destroy${reports("destroy")}`,
    ])
      await run(line);

    // Applied without the variable, then with another value.
    showShort();
    write(sample.dropped.replace(/^/, "policy: { max_deletes: 100%, on_immutable_change: replace }\n"));
    expect((await run(`apply --auto-approve -o json=out/dropped.json ${signals}`)).all).toContain("Applied");
    write(`policy: { max_deletes: 100%, on_immutable_change: replace }\n${DECLARED}${sample.spec}`);
    const again = await run("apply --auto-approve", ROTATED);
    expect([again.code, again.all]).toEqual([0, expect.stringContaining("Applied")]);
    expect((await run("plan --detailed-exitcode", ROTATED)).code).toBe(0);
    await run("history");
    await run(`destroy --auto-approve ${signals}`, ROTATED);
    expect(messages.length).toBeGreaterThan(0);
  }, 240_000);
});

/** Digests of files, which the spec names by their path. */
const OF_FILES = new Set(["notebooks.content", "notebooks.imported", "files.content"]);

const triesAll = sampleFrom(CASES).length === CASES.length;
test.runIf(triesAll)(
  "a value of every field that may be any text, number, or boolean was one of these",
  () => {
    const missing = registryIn(registry, CONTRACT_FIELDS).kinds.flatMap(({ kind, nameField, fields }) =>
      openFields(fields)
        .filter((field) => field !== nameField && covered.get(kind)?.has(field) !== true)
        .map((field) => `${kind}.${field}`)
        .filter((field) => !OF_FILES.has(field)),
    );
    expect(missing).toEqual([]);
  },
);

const { v, w, u } = VALUES;
test.each([v, w, u].flatMap(formsOf))("the form %s of a value is recognized", (form) => {
  expect(leaksIn(`a ${form} b`)).not.toEqual([]);
});
