// The prompt for approval: which answers approve a change.

import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { askApproval } from "../../../src/cli/output/prompt.ts";
import { contextWith } from "../context.ts";

const ASKING = { autoApprove: false, noInput: false };

async function answered(text: string, showDetails?: (request: string) => void): Promise<boolean> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const context = { ...contextWith(), stdin };
  const approved = askApproval(
    context,
    ASKING,
    "Apply?",
    new AbortController().signal,
    "approve it",
    showDetails,
  );
  stdin.end(text);
  return await approved;
}

test.each(["yes\n", "YES\n", "  yes \n"])("the answer %j approves a change", async (text) => {
  expect(await answered(text)).toBe(true);
});

test.each(["y\n", "yep\n", "yes please\n", "yesterday\n", "yno\n", "no\n", "\n", ""])(
  "the answer %j approves nothing",
  async (text) => {
    expect(await answered(text)).toBe(false);
  },
);

test("the answer details shows what it names and asks again, until another answer", async () => {
  const requests: string[] = [];
  const show = (request: string) => void requests.push(request);
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const stderr = { write: (text: string) => void said.push(text), stream: new PassThrough() };
  const said: string[] = [];
  const context = { ...contextWith(), stdin, stderr: { ...contextWith().stderr, ...stderr } };
  stderr.stream.on("data", (chunk: Buffer) => said.push(String(chunk)));
  const approved = askApproval(context, ASKING, "Apply?", new AbortController().signal, "approve it", show);
  for (const line of ["details", "details 2", "3", "DETAILS pools.a", "yes"]) {
    stdin.write(`${line}\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await approved).toBe(true);
  expect(requests).toEqual(["", "2", "3", "pools.a"]);
  expect(said.join("")).toContain('Apply? Enter "yes", "no", or "details": ');
});

test("the answer details approves nothing without changes to show", async () => {
  expect(await answered("details\n")).toBe(false);
  expect(await answered("1\n")).toBe(false);
});
