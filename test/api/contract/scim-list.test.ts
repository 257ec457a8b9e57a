import { expect, test } from "vitest";
import { readWholeList } from "../../../src/api/contract/pages.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { Refused } from "../../../src/core/request-failure.ts";
import { thrown } from "../answers.ts";

const people = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({ id: `${from + n}` }));

/** Serves `all()` in pages of `size`, as asked. */
function pages(all: () => readonly JsonObject[], size: number) {
  const asked: JsonObject[] = [];
  const fetch = async (input: JsonObject): Promise<JsonObject> => {
    asked.push(input);
    const whole = all();
    const start = Number(input.startIndex ?? 1) - 1;
    const found = whole.slice(start, start + Math.min(size, Number(input.count ?? size)));
    return {
      totalResults: whole.length,
      startIndex: start + 1,
      ...(found.length > 0 ? { Resources: found } : {}),
    };
  };
  return { fetch, asked };
}

test("a list that comes whole costs one request without paging parameters", async () => {
  const { fetch, asked } = pages(() => people(0, 3), 100);
  expect(await readWholeList("scim/users/list", { filter: "f" }, fetch)).toMatchObject({
    Resources: people(0, 3),
  });
  expect(asked).toEqual([{ filter: "f" }]);
});

test("an empty list has no Resources and costs one request", async () => {
  const { fetch, asked } = pages(() => [], 100);
  expect(await readWholeList("scim/users/list", {}, fetch)).not.toHaveProperty("Resources");
  expect(asked).toHaveLength(1);
});

test("further pages are fetched when the answer says that it was not all", async () => {
  const { fetch, asked } = pages(() => people(0, 250), 100);
  const list = await readWholeList("scim/users/list", {}, fetch);
  expect(list).toMatchObject({ totalResults: 250, Resources: people(0, 250) });
  expect(asked).toEqual([{}, { startIndex: 101 }, { startIndex: 201 }]);
});

test("a request for a page returns that page", async () => {
  const { fetch, asked } = pages(() => people(0, 250), 100);
  expect((await readWholeList("scim/users/list", { startIndex: 11, count: 5 }, fetch)).Resources).toEqual(
    people(10, 15),
  );
  expect(asked).toHaveLength(1);
});

test("a list that changes between two pages is read again, so that no user is missed", async () => {
  let world = people(0, 250);
  const { fetch, asked } = pages(() => world, 100);
  const meddling = async (input: JsonObject) => {
    const page = await fetch(input);
    if (asked.length === 1) world = world.slice(1);
    return page;
  };
  expect((await readWholeList("scim/users/list", {}, meddling)).Resources).toEqual(people(1, 250));
});

test("a service that ignores paging is not taken at its first page", async () => {
  const fetch = async () => ({ totalResults: 5, Resources: people(0, 2) });
  const problem = await thrown(readWholeList("scim/groups/list", {}, fetch));
  expect(problem).toBeInstanceOf(Refused);
  expect(problem).toMatchObject({
    diagnostic: { code: "API_PROTOCOL", message: "scim/groups/list announced 5 entries but returned 2" },
  });
});

const badTotals: readonly JsonObject[] = [
  {},
  { totalResults: "many" },
  { totalResults: 1.5 },
  { totalResults: null },
];
test.each(badTotals)(
  "a list with the total %o is refused, because it may be one page of several",
  async (total) => {
    const fetch = async (): Promise<JsonObject> => ({ ...total, Resources: people(0, 100) });
    expect(await thrown(readWholeList("scim/users/list", {}, fetch))).toMatchObject({
      diagnostic: { code: "API_PROTOCOL", message: expect.stringContaining("totalResults") },
    });
  },
);

const tooSmallTotals: readonly JsonObject[] = [
  { totalResults: 99 },
  { totalResults: 0 },
  { totalResults: -1 },
  { totalResults: 100, startIndex: 51 },
];
test.each(tooSmallTotals)(
  "a list of 100 entries that says %o is refused, because it can be incomplete",
  async (numbers) => {
    const fetch = async (): Promise<JsonObject> => ({ ...numbers, Resources: people(0, 100) });
    expect(await thrown(readWholeList("scim/users/list", {}, fetch))).toMatchObject({
      diagnostic: { code: "API_PROTOCOL", message: expect.stringContaining("totalResults") },
    });
  },
);

test("a service that repeats the page size of its limit as itemsPerPage is understood", async () => {
  const fetch = async () => ({ totalResults: 2, startIndex: 1, itemsPerPage: 100, Resources: people(0, 2) });
  expect((await readWholeList("scim/users/list", {}, fetch)).Resources).toEqual(people(0, 2));
});
