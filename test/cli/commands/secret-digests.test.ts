// Digests of secrets in a state: salted by address, so that equal secrets have different digests.

import { createHmac } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const SPEC = "scopes: { s: { secrets: { a: { env: A }, b: { env: B } } } }\n";
const EQUAL = { A: "same-password", B: "same-password" };

/** A folder whose two secrets were applied with equal values. */
async function applied() {
  const folder = folderWith(SPEC);
  const state = mkdtempSync(join(tmpdir(), "secret-digests-"));
  const run = async (line: string, env: Readonly<Record<string, string>> = EQUAL) => {
    const context = contextWith({ WORKSPACE_HOST: "embedded", WORKSPACE_STATE: state, ...env }, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), all: context.out() + context.err() };
  };
  const write = (spec: string): void => writeFileSync(join(folder, "workspace.yaml"), spec);
  const digests = async (): Promise<Record<string, string>> => {
    const { records } = JSON.parse((await run("state pull")).out);
    const secrets = records.filter((record: { address: string }) => record.address.startsWith("secrets."));
    return Object.fromEntries(
      secrets.map((record: { address: string; applied: { value: string } }) => [
        record.address,
        record.applied.value,
      ]),
    );
  };
  const key = (): Buffer => Buffer.from(readFileSync(join(state, "key"), "utf8").trim(), "hex");
  const first = await run("apply --auto-approve");
  expect([first.code, first.all]).toEqual([0, expect.stringContaining("3 created")]);
  const unsalted = createHmac("sha256", key()).update("same-password").digest("hex");
  return { folder, state, run, write, digests, unsalted };
}

test("equal secrets have different digests, and neither is the digest of the value alone", async () => {
  const { digests, unsalted } = await applied();
  const { "secrets.s/a": a, "secrets.s/b": b, ...rest } = await digests();
  expect(rest).toEqual({});
  expect(a).toMatch(/^[0-9a-f]{64}$/);
  expect(b).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set([a, b, unsalted]).size).toBe(3);
});

test("a saved plan has different digests of equal secrets", async () => {
  const { folder, run, write } = await applied();
  write("scopes: { t: { secrets: { a: { env: A }, b: { env: B } } } }\npolicy: { max_deletes: 100% }\n");
  await run("plan --out p.plan");
  const { plan } = JSON.parse(readFileSync(join(folder, "p.plan"), "utf8"));
  const payloads = plan.changes.flatMap(({ payload }: { payload?: string }) => payload ?? []);
  expect(payloads).toHaveLength(2);
  expect(new Set(payloads).size).toBe(2);
});

test("an interrupted decryption of a state is completed by the same command", async () => {
  const { run, write, state } = await applied();
  const KEY = { WORKSPACE_STATE_KEY: "7".repeat(64), ...EQUAL };
  const OLD = { WORKSPACE_STATE_KEY_OLD: KEY.WORKSPACE_STATE_KEY };
  write(`${SPEC}groups: { g: {} }\n`);
  expect((await run("apply --auto-approve")).code).toBe(0);
  expect((await run("state rekey", KEY)).code).toBe(0);
  const isVersion = (name: string): boolean => /^state\.\d/.test(name);
  const encrypted = readdirSync(state)
    .filter(isVersion)
    .map((name) => [name, readFileSync(join(state, name))] as const);
  const decrypt = "state rekey --decrypt --allow-unencrypted-state";
  expect((await run(decrypt, OLD)).code).toBe(0);
  // The state comes first, and the versions after it.
  for (const [name, bytes] of encrypted) writeFileSync(join(state, name), bytes);
  expect((await run("state restore 1 --allow-unencrypted-state")).all).toContain("STATE_KEY");
  expect(await run(decrypt, OLD)).toMatchObject({ code: 0 });
  expect(await run("state restore 1 --allow-unencrypted-state")).toMatchObject({ code: 0 });
});

test("a decryption with another key names the variable of that key", async () => {
  const { run } = await applied();
  const key = "7".repeat(64);
  expect((await run("state rekey", { WORKSPACE_STATE_KEY: key, ...EQUAL })).code).toBe(0);
  const wrong = await run("state rekey --decrypt", { WORKSPACE_STATE_KEY_OLD: "6".repeat(64) });
  expect(wrong.all).toContain("is encrypted with a different key than WORKSPACE_STATE_KEY_OLD");
});
