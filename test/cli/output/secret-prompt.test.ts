// The prompt for a secret: on a terminal it turns the echo off, elsewhere it reads one line.

import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { askSecret } from "../../../src/cli/output/prompt.ts";
import { contextWith } from "../context.ts";

const SECRET = "canary-71b2";

test("a secret typed on a terminal is not shown", async () => {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => modes.push(raw),
  });
  const context = { ...contextWith(), stdin };
  const asked = askSecret(context, "Access token");
  stdin.write(`${SECRET}\r`);
  expect(await asked).toBe(SECRET);
  expect(context.err()).toBe("Access token: \n");
  expect(context.out()).toBe("");
  expect(modes).toEqual([true, false]);
});

test("without a terminal, the first line of standard input is the secret, without a prompt", async () => {
  const context = contextWith();
  (context.stdin as PassThrough).end(` ${SECRET} \nmore\n`);
  expect(await askSecret(context, "Access token")).toBe(SECRET);
  expect(context.err()).toBe("");
});

test("an empty input is refused", async () => {
  const context = contextWith();
  (context.stdin as PassThrough).end("\n");
  await expect(askSecret(context, "Client secret")).rejects.toThrow("client secret is missing");
});

test("an input that is too large for a secret is refused with the limit", async () => {
  const context = contextWith();
  (context.stdin as PassThrough).end(`${"x".repeat(65_537)}\n`);
  await expect(askSecret(context, "Access token")).rejects.toThrow(
    "access token is longer than 65536 characters",
  );
});
