// The name of the caller: read once, and what a failed read leaves.

import { expect, test } from "vitest";
import { callerOf } from "../../../src/api/contract/caller.ts";
import type { Reader } from "../../../src/api/contract/reader.ts";
import { error } from "../../../src/core/diagnostic.ts";
import { refusedWith, UnknownOutcome } from "../../../src/core/request-failure.ts";

function readerWith(answers: readonly (() => Promise<{ userName: string }>)[]) {
  let asked = 0;
  const reader: Reader = {
    read: () => (answers[asked++] ?? (() => Promise.reject(new Error("asked again"))))(),
  };
  return { reader, asked: () => asked };
}

const ada = () => Promise.resolve({ userName: "ada" });

test("the caller is read once", async () => {
  const { reader, asked } = readerWith([ada]);
  expect([await callerOf(reader), await callerOf(reader), asked()]).toEqual(["ada", "ada", 1]);
});

test("the caller is read again after a read without an answer", async () => {
  const { reader } = readerWith([
    () => Promise.reject(new UnknownOutcome(error("API_UNREACHABLE", "no answer"))),
    ada,
  ]);
  await expect(callerOf(reader)).rejects.toThrow(UnknownOutcome);
  expect(await callerOf(reader)).toBe("ada");
});

test("a refusal stays: a caller who may not ask is not asked about for each object", async () => {
  const refusal = refusedWith(403, "API_FORBIDDEN", "no", {});
  const { reader, asked } = readerWith([() => Promise.reject(refusal), ada]);
  for (let times = 0; times < 2; times++) await expect(callerOf(reader)).rejects.toBe(refusal);
  expect(asked()).toBe(1);
});
