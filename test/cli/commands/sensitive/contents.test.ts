// The digest of a content that contains a sensitive value: who knows the rest of the content could test guesses with it.

import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contentDigest } from "../../../../src/providers/kit/notebook-cells.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const VALUE = "CANARY-7731-abcdef";
const VALUES = { WORKSPACE_VAR_x: VALUE, SECRET_A: VALUE };
const SPEC = `variables: { x: { type: string, sensitive: true, default: none } }
pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { a: "\${var.x}" } } }
notebooks: { /n: { source: n.py }, /open: { source: open.py } }
files: { /d.txt: { source: d.txt } }
`;
const NOTEBOOK = `print(1)\ns = "${VALUE}"\n`;

/** The first characters of each digest with which a guess of a content can be tested. */
function digestsOf(text: string): readonly string[] {
  const raw = createHash("sha256").update(text).digest("hex");
  return [raw, contentDigest(Buffer.from(text), "SOURCE", "PYTHON")].map((sum) => sum.slice(0, 12));
}

/** Without a sensitive variable: the state has no digest of a sensitive value, only that of a secret. */
const SECRET_SPEC = `scopes: { s: { secrets: { a: { env: SECRET_A } } } }
notebooks: { /n: { source: n.py }, /open: { source: open.py } }
files: { /d.txt: { source: d.txt } }
`;

async function applied(spec = SPEC) {
  const folder = folderWith(spec);
  const state = mkdtempSync(join(tmpdir(), "sensitive-contents-"));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write("n.py", "print(1)\n");
  write("open.py", "print(2)\n");
  write("d.txt", "d\n");
  const run = async (line: string, env: Readonly<Record<string, string>> = VALUES) => {
    const context = contextWith({ WORKSPACE_HOST: "embedded", WORKSPACE_STATE: state, ...env }, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, all: context.out() + context.err() };
  };
  const first = await run("apply --auto-approve");
  expect([first.code, first.all]).toEqual([0, expect.stringContaining("Applied")]);
  const changeByHand = async (text: string) => {
    const content = Buffer.from(text).toString("base64");
    const imported = await run(
      `api workspace/import path=/n format=SOURCE language=PYTHON overwrite=true content=${content}`,
    );
    expect(imported.code).toBe(0);
    expect((await run(`api fs/put path=/d.txt overwrite=true contents=${content}`)).code).toBe(0);
  };
  return { folder, run, write, changeByHand };
}

const FORMATS = ["json", "markdown", "html", "junit", "sarif", "github"];

describe("the digest of a content that contains a sensitive value", () => {
  test("is in no output when the live object contains it", async () => {
    const { folder, run, write, changeByHand } = await applied();
    await changeByHand(NOTEBOOK);
    const digests = digestsOf(NOTEBOOK);
    const leaks = (text: string) => digests.filter((sum) => text.includes(sum));
    for (const line of ["drift", "plan", "plan --destroy", "plan --only pools.p", "plan --untrusted"]) {
      for (const form of ["", ...FORMATS.map((format) => ` -o ${format}`)]) {
        const { code, all } = await run(`${line}${form}`);
        expect([line, form, code === 1, leaks(all)]).toEqual([line, form, false, []]);
      }
    }
    for (const line of ["plan --out x.plan", "plan --destroy --out y.plan"]) {
      const { code, all } = await run(line);
      expect([code, leaks(all)]).toEqual([0, []]);
    }
    expect(leaks(readFileSync(join(folder, "x.plan"), "utf8"))).toEqual([]);
    expect(leaks(readFileSync(join(folder, "y.plan"), "utf8"))).toEqual([]);
    write("open.py", "print(3)\n");
    const open = await run("plan -o json");
    expect(open.all).toContain(digestsOf("print(3)\n")[1]);
  }, 60_000);

  test("is in no output when a file of the spec contains it, and a saved plan of it is applied", async () => {
    const { folder, run, write } = await applied();
    write("n.py", NOTEBOOK);
    write("d.txt", NOTEBOOK);
    const digests = digestsOf(NOTEBOOK);
    const leaks = (text: string) => digests.filter((sum) => text.includes(sum));
    const plan = await run("plan --out x.plan");
    expect([plan.code, leaks(plan.all)]).toEqual([0, []]);
    expect(leaks(readFileSync(join(folder, "x.plan"), "utf8"))).toEqual([]);
    for (const line of ["plan -o json", "show x.plan", "show x.plan -o json"]) {
      const { code, all } = await run(line);
      expect([line, code, leaks(all)]).toEqual([line, 0, []]);
    }
    write("n.py", `${NOTEBOOK}# other\n`);
    const stale = await run("apply --auto-approve x.plan");
    expect([stale.code, stale.all]).toEqual([4, expect.stringContaining("PLAN_STALE")]);
    write("n.py", NOTEBOOK);
    const apply = await run("apply --auto-approve x.plan");
    expect([apply.code, apply.all]).toEqual([0, expect.stringContaining("2 updated")]);
    expect((await run("plan --detailed-exitcode")).code).toBe(0);
    expect(leaks((await run("history --diff -o json")).all)).toEqual([]);
  }, 60_000);
});

test.each([
  ["plan --untrusted", "a sensitive value", SPEC],
  ["plan --untrusted -o json", "a sensitive value", SPEC],
  ["plan --untrusted --only notebooks./n", "a sensitive value", SPEC],
  ["plan --untrusted", "a secret", SECRET_SPEC],
  ["plan --untrusted -o json", "a secret", SECRET_SPEC],
])(
  "%s is the same for a right and a wrong guess of a live content that was changed outside when the state has %s",
  async (line, _, spec) => {
    const { run, write, changeByHand } = await applied(spec);
    await changeByHand(NOTEBOOK);
    const answers: string[] = [];
    for (const guess of [VALUE, "CANARY-7731-abcdeg"]) {
      write("n.py", NOTEBOOK.replace(VALUE, guess));
      write("d.txt", NOTEBOOK.replace(VALUE, guess));
      const { code, all } = await run(`${line} --detailed-exitcode`, {});
      const plain = all
        .replaceAll(/\b[0-9a-f]{12,64}\b/g, "DIGEST")
        .replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, "T");
      answers.push(`${code} ${plain.replaceAll(/"\w*_?(ms|at|nonce)":.*/g, "")}`);
    }
    expect(answers[1]).toBe(answers[0]);
    expect(answers[0]).toMatch(/^2 /);
    write("n.py", "print(1)\n");
    write("d.txt", "d\n");
    const { code, all } = await run("plan --untrusted", {});
    expect([code, all]).toEqual([0, expect.stringContaining("No changes.")]);
    expect(all).toContain("not compared");
  },
);
