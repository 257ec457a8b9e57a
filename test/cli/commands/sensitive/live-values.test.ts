// Values of secrets and of sensitive variables that are in live objects: no output shows them, in no encoding.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { sampleFrom } from "../../../sample-size.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const VALUE = 'CANARY7q-"s3&cret/+é';
const VARIABLE = "CANARY8q-variable-77";
const FILE = "CANARY9q-of-a-file-5c";
const BLOCK = "-----BEGIN KEY-----\nCANARYAq-first-line-0001\nCANARYBq-second-line-0002\n-----END KEY-----";
const VALUES = { VALUE, VARIABLE, FILE, BLOCK };

const SPEC = `variables: { x: { type: string, sensitive: true } }
scopes:
  s:
    secrets:
      a: { env: SECRET_A }
      b: { file: b.txt }
      c: { env: SECRET_C }
jobs:
  j:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, spark_env_vars: { X: "\${var.x}", open: o } }
    notebook_task: { notebook_path: /n, base_parameters: { open: o } }
users: { ada@example.com: { displayName: Ada } }
notebooks: { /n: { source: n.py } }
files: { /d.txt: { source: d.txt } }
`;

/** How a value can be written, by name. */
const FORMS: Readonly<Record<string, (value: string) => string>> = {
  raw: (value) => value,
  base64: (value) => Buffer.from(value).toString("base64"),
  "base64 inside": (value) => Buffer.from(`x${value}yy`).toString("base64"),
  hex: (value) => Buffer.from(value).toString("hex"),
  URL: encodeURIComponent,
  JSON: (value) => JSON.stringify(value),
  form: (value) => String(new URLSearchParams({ v: value })).slice(2),
  "JSON in JSON": (value) => JSON.stringify(JSON.stringify(value)),
};

/** What must not be in an output: each form, and the characters of base64 that do not depend on what surrounds the value. */
function leaksIn(text: string): readonly string[] {
  return Object.entries(VALUES).flatMap(([name, value]) => {
    const bytes = Buffer.from(value);
    const aligned = [0, 1, 2].map((before) =>
      Buffer.concat([Buffer.alloc(before), bytes])
        .toString("base64")
        .replace(/=+$/, "")
        .slice(before === 0 ? 0 : 4, -2),
    );
    const lines = value.split("\n").filter((line) => line.startsWith("CANARY"));
    const parts = lines.map((line) => /CANARY\w+/.exec(line)?.[0] ?? line);
    const forms = [value, encodeURIComponent(value), bytes.toString("hex"), ...aligned, ...lines, ...parts];
    return forms.filter((form) => text.toLowerCase().includes(form.toLowerCase())).map(() => name);
  });
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

const WITH_VALUES = { WORKSPACE_VAR_x: VARIABLE, SECRET_A: VALUE, SECRET_C: BLOCK };

async function applied() {
  const folder = folderWith(SPEC);
  const state = mkdtempSync(join(tmpdir(), "live-state-"));
  mkdirSync(join(folder, "out"));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write("b.txt", `${FILE}\n`);
  write("n.py", "print(1)\n");
  write("d.txt", "d\n");
  const run = async (line: string, env: Readonly<Record<string, string>> = WITH_VALUES) => {
    const words = { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: state, ...env };
    const context = contextWith(words, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), all: context.out() + context.err() };
  };
  const call = async (operation: string, input: object) => {
    write("input.json", JSON.stringify(input));
    const { code, all, out } = await run(`api ${operation} --input input.json`);
    expect([operation, code, all]).toEqual([operation, 0, expect.any(String)]);
    return JSON.parse(out === "" ? "{}" : out);
  };
  const files = (): string =>
    [state, join(folder, "out")]
      .flatMap((root) => readdirSync(root, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .join("\n");
  const first = await run("apply --auto-approve");
  expect([first.code, first.all]).toEqual([0, expect.stringContaining("Applied")]);
  return { folder, run, call, write, files };
}

type Site = Awaited<ReturnType<typeof applied>>;

/** Puts each value into fields, and into a notebook and a file. */
async function changedByHand({ call }: Site, form: (value: string) => string) {
  const texts = Object.values(VALUES).map(form);
  const tags = Object.fromEntries(texts.map((text, at) => [`k${at}`, `got ${text} here`]));
  const { jobs } = await call("jobs/list", {});
  const [{ job_id, settings }] = jobs;
  const { new_cluster, notebook_task } = settings;
  await call("jobs/reset", {
    job_id,
    new_settings: {
      ...settings,
      new_cluster: { ...new_cluster, spark_env_vars: { ...tags, open: texts[0], X: VARIABLE } },
      notebook_task: {
        ...notebook_task,
        base_parameters: { open: texts[1], more: texts.join(","), [`key ${texts[1]}`]: "k" },
      },
    },
  });
  await call("jobs/create", { ...settings, name: `unmanaged ${texts[0]}` });
  const content = Buffer.from(`print(1)\n${texts.map((text) => `s = ${text}\n`).join("")}`).toString(
    "base64",
  );
  await call("workspace/import", {
    path: "/n",
    format: "SOURCE",
    language: "PYTHON",
    overwrite: true,
    content,
  });
  await call("fs/put", { path: "/d.txt", overwrite: true, contents: content });
}

const FORMATS = ["json", "markdown", "html", "junit", "sarif", "github"];

describe.each(sampleFrom(Object.entries(FORMS)))(
  "a sensitive value that is in live objects as %s",
  (_, form) => {
    test("is in no output of drift and plan, in no format, message, metric, or state", async () => {
      const site = await applied();
      const { run, files } = site;
      await changedByHand(site, form);
      const reports = (name: string) =>
        FORMATS.map((format) => ` -o ${format}=out/${name}.${format}`).join("");
      const signals = `--metrics out/m.prom --webhook ${url}`;
      for (const [at, line] of [
        "drift",
        "drift --since last",
        "plan",
        "plan --offline",
        "plan --adopt",
        "plan --destroy",
      ].entries()) {
        const { all, code } = await run(
          `${line}${reports(`r${at}`)}${line === "drift" ? ` ${signals}` : ""}`,
        );
        expect([line, leaksIn(all), code === 1]).toEqual([line, [], false]);
      }
      const shown = await run("drift");
      expect([shown.code, shown.all]).toEqual([2, expect.stringContaining("(sensitive)")]);
      for (const line of [
        "drift accept jobs.j",
        "drift accept * --dry-run -o json",
        "drift accept notebooks./n --dry-run",
        "drift accept * --keep-going --dry-run",
        "drift acknowledge jobs.j --until 2999-12-31 --reason test",
        "validate -o json",
        "console --eval 1",
        "history --diff -o json",
        "apply --auto-approve -o json",
        "history --diff",
        "state pull",
      ]) {
        const { all } = await run(line);
        expect([line, leaksIn(all)]).toEqual([line, []]);
      }
      expect((await run("plan --detailed-exitcode")).code).toBe(0);
      expect(leaksIn(files())).toEqual([]);
      expect(messages.flatMap(leaksIn)).toEqual([]);
      expect(messages.length).toBeGreaterThan(0);
    }, 60_000);
  },
);

test("drift needs no value of a secret, and no file with one", async () => {
  const { folder, run } = await applied();
  rmSync(join(folder, "b.txt"));
  const { code, all } = await run("drift", { WORKSPACE_VAR_x: VARIABLE });
  expect([code, all]).toEqual([0, expect.stringContaining("No drift.")]);
  expect(all).not.toContain("SPEC_SECRET");
});

test("a value that the spec itself declares is recorded, also if a secret is a part of it", async () => {
  const { run, write, files } = await applied();
  const user = `ada-${FILE}`;
  write(
    "workspace.yaml",
    `${SPEC}groups: { g: { members: { users: [ada@example.com] } } }\n`.replace("Ada", user),
  );
  const plan = await run("plan");
  expect([plan.code, plan.all]).toEqual([0, expect.stringContaining("displayName  Ada → ada-(sensitive)")]);
  expect((await run("apply --auto-approve")).code).toBe(0);
  expect(files()).toContain(user);
  write("b.txt", "another value\n");
  const after = await run("drift");
  expect([after.code, after.all]).toEqual([0, expect.stringContaining("No drift.")]);
});

/** An environment without the values of secrets. */
const WITHOUT_VALUES = { WORKSPACE_VAR_x: VARIABLE };

describe.each([
  ["with values, for one without", WITH_VALUES, WITHOUT_VALUES],
  ["without values, for one with", WITHOUT_VALUES, WITH_VALUES],
])("a run %s", (_, first, second) => {
  const DRIFTED = ["jobs.j", "notebooks./n", "files./d.txt"];

  test("acknowledges drift of live values that contain a secret, until they change again", async () => {
    const site = await applied();
    const { run, files } = site;
    await changedByHand(site, (value) => value);
    for (const address of DRIFTED) {
      const { code, all } = await run(`drift acknowledge ${address} --until 2999-12-31 --reason test`, first);
      expect([code, all]).toEqual([0, expect.stringContaining(`Acknowledged ${address}`)]);
    }
    for (const env of [first, second]) expect((await run("drift", env)).code).toBe(0);
    const plan = await run("plan", second);
    expect(plan.all).toContain("This plan reverts acknowledged drift of 3 resources");
    expect(leaksIn(files())).toEqual([]);
    await changedByHand(site, (value) => `${value} again`);
    expect((await run("drift", second)).code).toBe(2);
  });

  test("reports such drift, which is not new", async () => {
    const site = await applied();
    await changedByHand(site, (value) => value);
    const { run, files } = site;
    expect((await run("drift --since last", first)).code).toBe(2);
    expect((await run("drift --since last", second)).code).toBe(0);
    expect(leaksIn(files())).toEqual([]);
  });
});

test("the value of a secret that only the base declares is in no output of a plan", async () => {
  const site = await applied();
  const { folder, run, write } = site;
  await changedByHand(site, (value) => value);
  const base = mkdtempSync(join(tmpdir(), "live-base-"));
  for (const name of ["workspace.yaml", "b.txt", "n.py", "d.txt"])
    writeFileSync(join(base, name), readFileSync(join(folder, name)));
  write("workspace.yaml", SPEC.replace(/ {6}[ac]: \{ env.*\n/g, ""));
  const { code, all } = await run(`plan --base ${base} -o json`);
  expect([code, all]).toEqual([0, expect.stringContaining("spark_env_vars")]);
  expect(leaksIn(all)).toEqual([]);
});
