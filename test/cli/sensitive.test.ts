// Sensitive variables through the real commands: the value is in no output.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { contextWith } from "./context.ts";
import { folderWith } from "./program.ts";

const SPEC = `variables:
  license: { type: string, sensitive: true, pattern: "^[a-z0-9&-]+$" }
locals: { header: "key \${upper(var.license)}" }
pools:
  shared:
    node_type_id: Standard_DS3_v2
    custom_tags: { license: "\${var.license}", header: "\${local.header}", json: "\${json(local.header)}" }
`;
const VALUE = "hunter2&swordfish";

async function run(folder: string, words: string, env: Readonly<Record<string, string>> = {}) {
  const context = contextWith({ WORKSPACE_VAR_license: VALUE, ...env }, folder);
  const code = await runProgram(context, words.split(" "));
  return { code, all: context.out() + context.err() };
}

const shows = (text: string): boolean => /hunter2|HUNTER2|swordfish/i.test(text);

test("a sensitive value is in no form of a plan, an apply, or drift, and the API gets it", async () => {
  const folder = folderWith(SPEC);
  const forms = ["text", "json", "markdown", "html", "junit", "sarif", "github"];
  for (const form of forms) {
    const { code, all } = await run(folder, `plan --host embedded -o ${form}`);
    expect({ code, leaks: shows(all) }, form).toEqual({ code: 0, leaks: false });
  }
  expect((await run(folder, "plan --host embedded")).all).toContain("(sensitive)");
  for (const form of ["text", "json", "html"]) {
    const { code, all } = await run(folder, `apply --host embedded --auto-approve -o ${form}`);
    expect({ code, leaks: shows(all) }, form).toEqual({ code: 0, leaks: false });
    writeFileSync(join(folder, "workspace.yaml"), `${SPEC}groups: { after-${form}: {} }\n`);
  }
  expect(shows((await run(folder, "api instance-pools/list --host embedded")).all)).toBe(true);
  const other = { WORKSPACE_VAR_license: "other-value" };
  const { all } = await run(folder, "plan --host embedded", other);
  expect(all).not.toContain("other-value");
});

test("a sensitive value that is refused is in no diagnostic", async () => {
  const folder = folderWith(SPEC);
  for (const words of ["validate", "validate -o json", `validate --var license=${VALUE}!`]) {
    const { code, all } = await run(folder, words, { WORKSPACE_VAR_license: `${VALUE}!` });
    expect({ code, leaks: shows(all) }, words).toEqual({ code: 1, leaks: false });
  }
  writeFileSync(join(folder, "values.yaml"), `license: ${VALUE}!\n`);
  const { code, all } = await run(folder, "validate --var-file values.yaml");
  expect({ code, leaks: shows(all) }).toEqual({ code: 1, leaks: false });
});

test("a sensitive value cannot be part of a key", async () => {
  const folder = folderWith(
    "variables: { v: { default: hunter2, sensitive: true } }\nusers: { 'a-${var.v}@example.com': {} }\n",
  );
  const { code, all } = await run(folder, "validate");
  expect({ code, leaks: shows(all.replace(/ {2}.*\|.*/g, "")) }).toEqual({ code: 1, leaks: false });
  expect(all).toContain("a key cannot contain a sensitive value");
});
