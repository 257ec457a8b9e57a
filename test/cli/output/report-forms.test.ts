// Each format contains the findings of a run, and a truncated Markdown report names the complete one.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const TOKEN = "forms-token";
const DOCUMENTS = ["json", "markdown", "html", "junit"] as const;
const OF_APPLY = ["json", "markdown", "html", "junit"] as const;

let server: RunningServer;
beforeEach(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
});
afterEach(() => server.close());

async function run(cwd: string, line: string) {
  const context = contextWith({ WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN }, cwd);
  const code = await runProgram(context, line.split(" "));
  return { code, out: context.out(), err: context.err() };
}

/** Text that Markdown and markup write with entities, as people see it. */
const seen = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))).replaceAll("&quot;", '"');

const DOUBTFUL = [
  "pools: { p: { node_type_id: Standard_DS3_v2 } }",
  "clusters:",
  "  k:",
  "    spark_version: 7.3.x-scala2.12",
  '    instance_pool_id: "${pools.p.instance_pool_id}"',
  "    node_type_id: Standard_DS3_v2",
  "    num_workers: 1",
  "",
].join("\n");
const RULE = "rules: [{ name: named, kinds: [groups], assert: 'true', message: no }]\n";
const DOUBT = "node_type_id has no effect next to instance_pool_id";

describe("a warning about the spec", () => {
  test.each(DOCUMENTS)("is in the plan as %s, and on standard error", async (form) => {
    const { code, out, err } = await run(folderWith(DOUBTFUL), `plan -o ${form}`);
    expect([code, seen(out), err]).toEqual([
      0,
      expect.stringContaining(DOUBT),
      expect.stringContaining(DOUBT),
    ]);
  });

  test.each(OF_APPLY)("is in the report of an apply as %s", async (form) => {
    const { code, out } = await run(folderWith(DOUBTFUL), `apply --auto-approve -o ${form}`);
    expect([code, seen(out)]).toEqual([0, expect.stringContaining(DOUBT)]);
  });

  test.each(OF_APPLY)("is in the report of a saved plan that is applied, as %s", async (form) => {
    const folder = folderWith(DOUBTFUL);
    expect((await run(folder, "plan --out saved.plan")).code).toBe(0);
    const { code, out } = await run(folder, `apply saved.plan -o ${form}`);
    expect([code, seen(out)]).toEqual([0, expect.stringContaining(DOUBT)]);
  });
});

test("a usage error is in each report that was requested, and replaces the report of an earlier run", async () => {
  const folder = folderWith(DOUBTFUL);
  const file = join(folder, "report.json");
  writeFileSync(file, "earlier");
  const { code, out, err } = await run(folder, "plan -o junit -o json=report.json --nope --parallelism 0");
  const written = JSON.parse(readFileSync(file, "utf8")) as {
    readonly diagnostics: readonly { message: string }[];
  };
  const problems = ["unknown option '--nope'", '--parallelism cannot be "0": use an integer from 1 to 256'];
  expect([code, written.diagnostics.map(({ message }) => message)]).toEqual([1, problems]);
  for (const problem of problems) {
    expect(seen(out).replaceAll("&apos;", "'")).toContain(problem);
    expect(err).toContain(problem);
  }
});

describe("a report in a file", () => {
  test("of an untrusted spec goes through no symbolic link of its folder", async () => {
    const folder = folderWith("groups: { g: {} }\n");
    const outside = folderWith("outside\n");
    const target = join(outside, "workspace.yaml");
    symlinkSync(target, join(folder, "report.md"));
    symlinkSync(outside, join(folder, "reports"));
    for (const [file, link] of [
      ["report.md", "report.md"],
      ["reports/workspace.yaml", "reports"],
    ]) {
      const line = `plan --untrusted --state ${outside}/state -o markdown=${file}`;
      const { code, err } = await run(folder, line);
      expect([code, err]).toEqual([1, expect.stringContaining(`${link} is a symbolic link`)]);
    }
    const { code } = await run(folder, `plan --untrusted --state ${outside}/state --metrics report.md`);
    expect([code, readFileSync(target, "utf8")]).toEqual([1, "outside\n"]);
    const line = `plan --untrusted --state ${outside}/state -o markdown=${target}`;
    expect((await run(folder, line)).code).toBe(0);
  });

  test("overwrites neither the spec nor another file of the run", async () => {
    const folder = folderWith(DOUBTFUL);
    await run(folder, "plan --out saved.plan");
    const saved = readFileSync(join(folder, "saved.plan"), "utf8");
    symlinkSync("workspace.yaml", join(folder, "link.yaml"));
    symlinkSync(".", join(folder, "same"));
    for (const [line, message] of [
      ["plan -o markdown=./workspace.yaml", "which is the spec"],
      ["plan -o markdown=a.txt -o html=./a.txt", "two reports cannot be written to the same file"],
      ["plan --out a.plan -o json=./a.plan", "a report and the plan cannot be written to the same file"],
      ["plan -o markdown=link.yaml", "which is the spec"],
      ["plan --out same/workspace.yaml", "which is the spec"],
      ["plan -o markdown=a.txt -o html=same/a.txt", "two reports cannot be written to the same file"],
      ["apply saved.plan --metrics same/saved.plan", "which is the plan to read"],
      ["plan --out workspace.yaml", "the plan cannot be written to"],
      ["plan --metrics workspace.yaml", "which is the spec"],
      ["plan -o json=a --metrics a", "a report and the metrics cannot be written to the same file"],
      ["show saved.plan -o markdown=saved.plan", "which is the plan to read"],
      ["apply saved.plan -o markdown=saved.plan", "which is the plan to read"],
      ["apply saved.plan --metrics saved.plan", "which is the plan to read"],
    ] as const)
      expect(await run(folder, line)).toMatchObject({ code: 1, err: expect.stringContaining(message) });
    expect(readFileSync(join(folder, "workspace.yaml"), "utf8")).toBe(DOUBTFUL);
    expect(readFileSync(join(folder, "saved.plan"), "utf8")).toBe(saved);
  });

  test.each([
    ["plan -o json=included.yaml", "included.yaml", "the run reads"],
    ["apply --auto-approve --metrics link.yaml", "included.yaml", "the run reads"],
    ["plan --out included.yaml", "included.yaml", "the run reads"],
    ["plan --offline -o json=included.yaml", "included.yaml", "the run reads"],
    ["drift -o json=included.yaml", "included.yaml", "the run reads"],
    ["validate -o json=included.yaml", "included.yaml", "the run reads"],
    ["destroy --auto-approve -o json=source.py", "source.py", "the run reads"],
    ["plan --var-file vars.yaml -o json=vars.yaml", "vars.yaml", "is a variable file"],
    ["apply saved.plan -o json=vars.yaml", "vars.yaml", "the run reads"],
    ["plan --rules rules -o json=rules/r.yaml", "rules/r.yaml", "the run reads"],
    [
      "plan -o json=.workspace/default/state.json",
      ".workspace/default/state.json",
      "is in the folder of the state",
    ],
    ["plan --out .workspace/default/key", ".workspace/default/key", "is in the folder of the state"],
    ["apply --auto-approve --metrics .workspace/default/x", ".workspace/default/state.json", "of the state"],
    ["plan --state . -o json=state.json", ".workspace/default/state.json", "is in the folder of the state"],
    ["plan --base base -o json=base/workspace.yaml", "base/workspace.yaml", "the run reads"],
    [
      "show saved.plan -o json=.workspace/default/key",
      ".workspace/default/key",
      "is in the folder of the state",
    ],
    ["test -o junit=a.test.yaml", "a.test.yaml", "the run reads"],
    ["test -o junit=included.yaml", "included.yaml", "the run reads"],
    ["plan --no-such-option -o json=workspace.yaml", "workspace.yaml", "is the spec"],
  ])("of `%s` is refused, and %s stays", async (line, kept, message) => {
    const folder = folderWith(
      "include: included.yaml\nvariables: { v: { default: p } }\nfiles: { /a.py: { source: source.py } }\n",
    );
    writeFileSync(join(folder, "included.yaml"), "groups: { g: {} }\n");
    writeFileSync(join(folder, "source.py"), "print(1)\n");
    writeFileSync(join(folder, "vars.yaml"), "v: q\n");
    mkdirSync(join(folder, "base"));
    writeFileSync(join(folder, "base/workspace.yaml"), "groups: { g: {} }\n");
    mkdirSync(join(folder, "rules"));
    writeFileSync(join(folder, "rules/r.yaml"), RULE);
    writeFileSync(join(folder, "a.test.yaml"), "tests: { t: { steps: [{ apply: }] } }\n");
    symlinkSync("included.yaml", join(folder, "link.yaml"));
    await run(folder, "apply --auto-approve");
    await run(folder, "plan --var-file vars.yaml --out saved.plan");
    const before = readFileSync(join(folder, kept), "utf8");
    const { code, out, err } = await run(folder, line);
    expect([code, readFileSync(join(folder, kept), "utf8")]).toEqual([1, before]);
    expect(`${out}${err}`).toContain(message);
  });

  test("may be in the folder of the spec if the state is there, too", async () => {
    const folder = folderWith("groups: { g: {} }\n");
    expect(await run(folder, "apply --auto-approve --state . -o json=report.json")).toMatchObject({
      code: 0,
    });
    expect(JSON.parse(readFileSync(join(folder, "report.json"), "utf8").split("\n")[0] ?? "")).toBeTruthy();
  });
});

test("a dash for a file is standard output", async () => {
  const { code, out } = await run(folderWith("groups: { g: {} }\n"), "plan -o gitlab=-");
  expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ create: 1 })]);
});

describe("a report in a plain text file", () => {
  test.each(["plan", "apply --auto-approve"])(
    "of %s has the warnings, which standard output lacks",
    async (line) => {
      const folder = folderWith(DOUBTFUL);
      const { code, out } = await run(folder, `${line} -o text -o text=report.txt`);
      const text = readFileSync(join(folder, "report.txt"), "utf8");
      expect([code, out]).toEqual([0, expect.not.stringContaining(DOUBT)]);
      expect(text.split(DOUBT)).toHaveLength(2);
      expect(text).toMatch(/workspace \d+\.\d+\.\d+ · \d{4}-/);
    },
  );
});

const FAULT = "Fault injected: status";
const REFUSED = "groups: { ok: {} }\npools: { p: { node_type_id: Standard_DS3_v2 } }\n";

test.each(OF_APPLY)(
  "a change that the service refuses has the service's message and its place in the spec, as %s",
  async (form) => {
    await fetch(`${server.url}/__emulator/faults`, {
      method: "PUT",
      headers: { authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({
        rules: [{ path: "/api/2.0/instance-pools/create", fate: "status", status: 403 }],
      }),
    });
    const { code, out, err } = await run(folderWith(REFUSED), `apply --auto-approve -o ${form}`);
    const [, refused = ""] = /failed pools\.p: (.*)/.exec(err) ?? [];
    expect([code, refused]).toEqual([1, expect.stringContaining("403")]);
    const whole = seen(out);
    expect(whole).toContain(refused);
    expect(whole).toContain(FAULT);
    expect(whole).toContain(
      form === "json" ? '"at":{"file":"workspace.yaml","line":2,' : "workspace.yaml:2:",
    );
  },
);

describe("Markdown that does not fit", () => {
  const groups = (number: number) =>
    `groups:\n${Array.from({ length: number }, (_, at) => `  a-group-whose-name-is-long-enough-that-a-comment-of-a-forge-is-full-after-a-few-hundred-of-them-${at}: {}`).join("\n")}\n`;
  const NAMES = Array.from(
    { length: 600 },
    (_, at) =>
      `groups.a-group-whose-name-is-long-enough-that-a-comment-of-a-forge-is-full-after-a-few-hundred-of-them-${at}`,
  );
  const missing = (text: string) => NAMES.filter((name) => !text.includes(name));

  test("names the log of the run, and the log shows the whole plan and the whole outcome", async () => {
    const folder = folderWith(groups(NAMES.length));
    const plan = await run(folder, "plan -o markdown");
    expect(plan.out.length).toBeLessThanOrEqual(65_536);
    expect(plan.out).toMatch(
      /\*\*Shortened to fit\*\*: [\d,]+ changes left out\. The log of this run has the whole report, and `-o json` each finding\./,
    );
    expect(missing(plan.out)).not.toEqual([]);
    expect(missing(plan.err)).toEqual([]);
    const applied = await run(folder, "apply --auto-approve -o markdown");
    expect(applied.out.match(/\*\*Shortened to fit\*\*/g)).toHaveLength(1);
    expect(applied.out.match(/<!-- workspace:/g)).toHaveLength(1);
    const [, results, planned] = /: (\d+) changes and (\d+) planned changes left out/.exec(applied.out) ?? [];
    expect(Number(results)).toBeLessThan(NAMES.length);
    expect(Number(planned)).toBe(NAMES.length);
    expect(applied.out.length).toBeLessThanOrEqual(65_536);
    expect(missing(applied.err)).toEqual([]);
    const created = applied.err.split("\n").filter((line) => / created groups\./.test(line));
    expect(missing(created.join("\n"))).toEqual([]);
  }, 60_000);

  const VARIABLES = Array.from({ length: 900 }, (_, at) => `LONG_NAME_OF_A_VARIABLE_OF_THE_SPEC_${at}_`);

  test.each([
    ["validate -o markdown"],
    ["plan --offline -o markdown"],
    ["plan --offline -o text -o markdown=report.md -o markdown-summary=summary.md"],
  ])(
    "of a spec with more errors than a comment holds, the log of %s shows each once",
    async (command) => {
      const wrong = VARIABLES.map((name, at) => `  g${at}: { ${name}: 1 }\n`);
      const folder = folderWith(`groups:\n${wrong.join("")}`);
      const { out, err } = await run(folder, command);
      const report = out === "" ? readFileSync(join(folder, "report.md"), "utf8") : out;
      expect(report).toContain("**Shortened to fit**");
      expect(VARIABLES.filter((name) => !err.includes(name))).toEqual([]);
      expect(err.match(/^error /gm)).toHaveLength(VARIABLES.length);
    },
    60_000,
  );

  test("of a plan with more warnings than a comment holds, the log counts them, and the JSON has each once", async () => {
    const secrets = VARIABLES.map((name, at) => `s${at}: { env: ${name} }`);
    const folder = folderWith(`scopes: { etl: { secrets: { ${secrets.join(", ")} } } }\n`);
    const { err } = await run(folder, "plan -o text -o markdown=report.md");
    expect(readFileSync(join(folder, "report.md"), "utf8")).toMatch(/\*\*Shortened to fit\*\*: \d+ findings/);
    expect(err).toMatch(/^ {2}also secrets\..*; `-o json` lists each$/m);
    expect(err).toContain(`\n${VARIABLES.length} warnings\n`);
    const { out } = await run(folder, "plan -o json");
    expect(VARIABLES.filter((name) => !out.includes(`${name} is not set`))).toEqual([]);
  }, 60_000);
});
