// One read of the workspace sends no request twice.

import { expect, it } from "vitest";
import type { Reader } from "../../../src/api/contract/reader.ts";
import { memoizedReader } from "../../../src/engine/observe/observe.ts";

function counting(): { readonly reader: Reader; readonly asked: string[] } {
  const asked: string[] = [];
  const reader: Reader = {
    read: async (operation, input) => {
      asked.push(`${operation} ${JSON.stringify(input ?? {})}`);
      return { number: asked.length };
    },
  };
  return { reader, asked };
}

it("the same list is asked for once, and both get its answer", async () => {
  const { reader, asked } = counting();
  const once = memoizedReader(reader);
  const answers = await Promise.all([
    once.read("workspace/list", { path: "/Shared" }),
    once.read("workspace/list", { path: "/Shared" }),
  ]);
  expect(answers).toEqual([{ number: 1 }, { number: 1 }]);
  expect(asked).toEqual(['workspace/list {"path":"/Shared"}']);
});

it("other lists, and all other reads, are requested each time", async () => {
  const { reader, asked } = counting();
  const once = memoizedReader(reader);
  await once.read("workspace/list", { path: "/a" });
  await once.read("workspace/list", { path: "/b" });
  await once.read("fs/list", { path: "/a" });
  await once.read("jobs/list");
  for (let n = 0; n < 2; n++) await once.read("workspace/export", { path: "/a", format: "SOURCE" });
  expect(asked).toHaveLength(6);
});

it("two looks do not share what they saw", async () => {
  const { reader, asked } = counting();
  await memoizedReader(reader).read("jobs/list");
  await memoizedReader(reader).read("jobs/list");
  expect(asked).toHaveLength(2);
});
