// Credentials in kinds with other fields: they come from sensitive variables, and neither the state nor an output has them.

import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const TOKEN = "canary-token-77f1";
const ROTATED = "canary-token-8e02";
const SPEC = `variables: { token: { type: string, sensitive: true } }
git_credentials: { gitHub: { git_username: ada, personal_access_token: "\${var.token}" } }
notification_destinations: { hook: { destination_type: WEBHOOK, url: "\${var.token}" } }
`;

function setUp(spec = SPEC) {
  const folder = folderWith(spec);
  const state = mkdtempSync(join(tmpdir(), "sensitive-credentials-"));
  const files = (): string =>
    readdirSync(state, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .join("\n");
  const run = async (line: string, token = TOKEN, folderOfState = state) => {
    const env = {
      WORKSPACE_HOST: "embedded",
      WORKSPACE_DIALECT: "databricks",
      WORKSPACE_STATE: folderOfState,
      WORKSPACE_VAR_token: token,
    };
    const context = contextWith(env, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), all: context.out() + context.err() };
  };
  return { run, files, write: (text: string) => writeFileSync(join(folder, "workspace.yaml"), text) };
}

test("a credential is written, a rotated one is the only update, and nothing shows either", async () => {
  const { run, files } = setUp();
  const seen: string[] = [];
  const step = async (line: string, token?: string) => {
    const { code, out, all } = await run(line, token);
    seen.push(all);
    return { code, out };
  };
  expect((await step("apply --auto-approve")).code).toBe(0);
  expect((await step("plan --detailed-exitcode")).code).toBe(0);
  const rotated = await step("plan --detailed-exitcode", ROTATED);
  expect(rotated.code).toBe(2);
  expect(rotated.out).toContain("personal_access_token  (sensitive) → (sensitive)");
  for (const form of ["json", "markdown", "html"]) await step(`plan -o ${form}`, ROTATED);
  expect((await step("apply --auto-approve", ROTATED)).code).toBe(0);
  expect((await step("plan --detailed-exitcode", ROTATED)).code).toBe(0);
  await step("state show git_credentials.gitHub", ROTATED);
  for (const text of [...seen, files()])
    for (const value of [TOKEN, ROTATED])
      for (const form of ["utf8", "base64", "hex"] as const)
        expect(text).not.toContain(form === "utf8" ? value : Buffer.from(value).toString(form));
});

const newState = (): string => mkdtempSync(join(tmpdir(), "sensitive-credentials-"));

test("an adoption writes the credential of the spec, because the one of the object is unknown", async () => {
  const { run } = setUp();
  await run("apply --auto-approve");
  const state = newState();
  const plan = await run("plan --adopt", ROTATED, state);
  expect(plan.out).toContain(`  ~ update   git_credentials.gitHub
      personal_access_token  (sensitive)  # security
      because it exists and is adopted
      because the service never returns personal_access_token, so it is written
`);
  expect(plan.out).toContain("Plan: 0 to create, 2 to update, 0 to replace, 0 to delete.");
  const applied = await run("apply --adopt --auto-approve", ROTATED, state);
  expect(applied.all).toMatch(/Applied in .*: 0 created, 2 updated, 0 replaced, 0 deleted\./);
  expect((await run("plan --detailed-exitcode", ROTATED, state)).code).toBe(0);
  expect((await run("plan --detailed-exitcode", TOKEN, state)).code).toBe(2);
});

test("after an import, the next apply writes the credential of the spec", async () => {
  const { run } = setUp();
  await run("apply --auto-approve");
  const shown = (await run("state show git_credentials.gitHub -o json")).out;
  const [, id = ""] = /"id": "([^"]*)"/.exec(shown) ?? [];
  const state = newState();
  const imported = await run(`import git_credentials.gitHub ${id}`, ROTATED, state);
  expect(imported.out).toContain("because the service never returns personal_access_token, so it is written");
  expect((await run("plan --only git_credentials.gitHub --detailed-exitcode", ROTATED, state)).code).toBe(2);
  const applied = await run("apply --only git_credentials.gitHub --auto-approve", ROTATED, state);
  expect(applied.all).toContain("updated git_credentials.gitHub");
  expect((await run("plan --only git_credentials.gitHub --detailed-exitcode", ROTATED, state)).code).toBe(0);
});

test("a credential in the spec itself is an error that does not show it", async () => {
  const { run } = setUp(
    SPEC.replace('personal_access_token: "${var.token}"', `personal_access_token: ${TOKEN}`),
  );
  const { code, all } = await run("validate");
  expect(code).toBe(1);
  expect(all).toContain(
    "error SPEC_SECRET_LITERAL: the spec contains the secret value of personal_access_token of git_credentials.gitHub",
  );
  expect(all).not.toContain(TOKEN);
});

test("a credential from a variable that is not sensitive is an error", async () => {
  const { run } = setUp(SPEC.replace(", sensitive: true", ""));
  const { code, all } = await run("validate");
  expect([code, all.match(/SPEC_SECRET_LITERAL/g)?.length]).toEqual([1, 2]);
  expect(all).not.toContain(TOKEN);
});

test("a credential from a variable without a value is an error about the variable alone", async () => {
  const { run } = setUp(SPEC.replaceAll("${var.token}", "${var.missing}"));
  const { code, all } = await run("validate");
  expect(code).toBe(1);
  expect([...new Set(all.match(/^error \w+/gm))]).toEqual(["error SPEC_VARIABLE"]);
});
