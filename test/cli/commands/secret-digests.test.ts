// Digests of secrets in a state: salted by address, so that equal secrets have different digests; those of format 3, which have no salt, are recognized.

import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
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
  const written = async (): Promise<readonly number[]> =>
    JSON.parse((await run("api secrets/list scope=s")).out).secrets.map(
      ({ last_updated_timestamp }: { last_updated_timestamp: number }) => last_updated_timestamp,
    );
  const key = (): Buffer => Buffer.from(readFileSync(join(state, "key"), "utf8").trim(), "hex");
  /** Pushes the state as format 3 had it: the digest of a secret had no salt. */
  const downgrade = async (): Promise<Record<string, string>> => {
    const text = (await run("state pull")).out;
    const old = createHmac("sha256", key()).update("same-password").digest("hex");
    writeFileSync(
      join(folder, "old.json"),
      text
        .replace(/"value": "[^"]+"/g, `"value": "${old}"`)
        .replace(/"format_version": \d+/, '"format_version": 3'),
    );
    const pushed = await run("state push old.json --force");
    expect([pushed.code, pushed.all]).toEqual([0, expect.anything()]);
    expect(await digests()).toEqual({ "secrets.s/a": old, "secrets.s/b": old });
    return digests();
  };
  const first = await run("apply --auto-approve");
  expect([first.code, first.all]).toEqual([0, expect.stringContaining("3 created")]);
  return { folder, run, write, digests, written, downgrade };
}

test("equal secrets have different digests, and neither is the digest of the value alone", async () => {
  const { digests, downgrade } = await applied();
  const { "secrets.s/a": a, "secrets.s/b": b, ...rest } = await digests();
  expect(rest).toEqual({});
  const [unsalted] = Object.values(await downgrade());
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

describe("a state of format 3, whose digests have no salt", () => {
  test("is upgraded by the next apply, which writes no unchanged secret", async () => {
    const { run, digests, written, downgrade } = await applied();
    const before = await digests();
    const times = await written();
    await downgrade();
    expect((await run("plan --detailed-exitcode")).code).toBe(0);
    expect((await run("plan --offline --detailed-exitcode")).code).toBe(0);
    const { code, all } = await run("apply --auto-approve");
    expect([code, all]).toEqual([0, expect.stringContaining("No changes.")]);
    expect(await digests()).toEqual(before);
    expect(await written()).toEqual(times);
  });

  test.each([
    ["before the upgrade", false],
    ["right after the upgrade", true],
  ])("shows a changed secret %s, and only that one", async (_, isUpgraded) => {
    const { run, written, downgrade } = await applied();
    await downgrade();
    if (isUpgraded) await run("apply --auto-approve");
    const [a, b] = await written();
    const { code, all } = await run("apply --auto-approve", { ...EQUAL, B: "rotated" });
    expect([code, all]).toEqual([0, expect.stringContaining("1 updated")]);
    const [sameA, laterB] = await written();
    expect(sameA).toBe(a);
    expect(laterB).toBeGreaterThan(b ?? 0);
    expect((await run("plan --detailed-exitcode", { ...EQUAL, B: "rotated" })).code).toBe(0);
  });

  test("is compared by the apply of a plan that was made without the values", async () => {
    const { run, digests, written, downgrade } = await applied();
    const times = await written();
    await downgrade();
    const planned = await run("plan --out p.plan", {});
    expect([planned.code, planned.all]).toEqual([
      0,
      expect.stringContaining("2 secrets are written if they differ"),
    ]);
    const { code, all } = await run("apply p.plan");
    expect([code, all]).toEqual([0, expect.stringContaining("0 updated")]);
    expect(await written()).toEqual(times);
    const { "secrets.s/a": a, "secrets.s/b": b } = await digests();
    expect(a).not.toBe(b);
  });
});
