// The prompt for approval: which answers approve a change.

import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { askApproval } from "../../../src/cli/output/prompt.ts";
import { contextWith } from "../context.ts";

const ASKING = { autoApprove: false, noInput: false };

async function answered(text: string): Promise<boolean> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const context = { ...contextWith(), stdin };
  const approved = askApproval(context, ASKING, "Apply?", new AbortController().signal, "approve it");
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
