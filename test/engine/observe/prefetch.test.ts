// Requests before the spec is known: the first lists of the managed kinds, and nothing else.

import { expect, test } from "vitest";
import type { Reader } from "../../../src/api/contract/reader.ts";
import { prefetchLists } from "../../../src/engine/observe/readers.ts";
import { registry } from "../../../src/providers/index.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import type { State } from "../../../src/state/model/record.ts";
import { ready } from "../../state/build.ts";

function counting(answer: () => Promise<object>): { readonly reader: Reader; readonly asked: string[] } {
  const asked: string[] = [];
  const reader: Reader = {
    read: async (operation, input) => {
      asked.push(`${operation} ${JSON.stringify(input ?? {})}`);
      return (await answer()) as Awaited<ReturnType<Reader["read"]>>;
    },
  };
  return { reader, asked };
}

function recorded(...addresses: readonly string[]): State {
  const records = addresses.map((address) => ready(address));
  return { ...emptyState("l"), records: new Map(records.map((record) => [record.address, record])) };
}

test("kinds that the state knows are listed, by the folders of what it knows; members wait for their parents", () => {
  const { reader, asked } = counting(() => Promise.resolve({}));
  prefetchLists(registry, reader, recorded("jobs.nightly", "scopes.s", "secrets.s/k", "notebooks./Shared/n"));
  expect(asked.sort()).toEqual([
    "jobs/list {}",
    "secrets/scopes/list {}",
    'workspace/list {"path":"/Shared"}',
  ]);
});

test("a state without records asks for nothing", () => {
  const { reader, asked } = counting(() => Promise.resolve({}));
  prefetchLists(registry, reader, emptyState("l"));
  expect(asked).toEqual([]);
});

test("the observation gets the answer that was asked for, and asks for the rest", async () => {
  const { reader, asked } = counting(() => Promise.resolve({ number: 1 }));
  const ahead = prefetchLists(registry, reader, recorded("pools.a"));
  await ahead.read("instance-pools/list");
  await ahead.read("jobs/list");
  expect(asked).toEqual(["instance-pools/list {}", "jobs/list {}"]);
});

test("a failure reaches only the caller that uses the list", async () => {
  const { reader } = counting(() => Promise.reject(new Error("no")));
  const ahead = prefetchLists(registry, reader, recorded("pools.a"));
  await new Promise((resolve) => setImmediate(resolve));
  await expect(ahead.read("instance-pools/list")).rejects.toThrow("no");
});
