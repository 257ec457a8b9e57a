import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { clusterEvents, isPaged, newestRuns, pages } from "../../../src/workflow/operate/paging.ts";

/** Answers slices of `all` as runs/list does, and records what was asked. */
function runsOf(all: readonly number[], asked: JsonObject[] = []) {
  return {
    asked,
    read: async (_: string, input: JsonObject = {}) => {
      asked.push(input);
      const offset = Number(input.offset ?? 0);
      const page = all.slice(offset, offset + Number(input.limit));
      return {
        ...(page.length === 0 ? {} : { runs: page.map((run_id) => ({ run_id })) }),
        has_more: offset + page.length < all.length,
      };
    },
  };
}

const ids = (runs: readonly JsonObject[]) => runs.map((run) => run.run_id);
const numbers = (count: number) => Array.from({ length: count }, (_, at) => count - at);

describe("runs", () => {
  test("as many as are wanted come in one request where the service gives so many at once", async () => {
    const reader = runsOf(numbers(50));
    expect(ids(await newestRuns(reader, { active_only: true }, 20))).toEqual(numbers(50).slice(0, 20));
    expect(reader.asked).toEqual([{ active_only: true, limit: 20, offset: 0 }]);
  });

  test("all of them come in pages of the most that the service gives", async () => {
    const reader = runsOf(numbers(2500));
    expect(ids(await newestRuns(reader, {}, Number.POSITIVE_INFINITY))).toEqual(numbers(2500));
    expect(reader.asked.map((one) => one.offset)).toEqual([0, 999, 1998]);
  });

  test("a run that begins meanwhile shifts the pages, and none comes twice", async () => {
    const all = numbers(10);
    let calls = 0;
    const read = async (_: string, input: JsonObject = {}) => {
      const shown = calls++ === 0 ? all : [11, ...all];
      const offset = Number(input.offset);
      const page = shown.slice(offset, offset + 4).map((run_id) => ({ run_id }));
      return { runs: page, has_more: offset + 4 < shown.length };
    };
    const found = await pages("jobs/runs/list", { limit: 4 }, (input) => read("", input));
    expect(ids(found.runs as JsonObject[])).toEqual(all);
    expect(found.has_more).toBe(false);
  });

  test("a service that promises more and gives nothing is not asked without end", async () => {
    const read = async () => ({ has_more: true });
    expect(await pages("jobs/runs/list", {}, read)).toEqual({ has_more: false });
  });
});

describe("events", () => {
  const log = (count: number, asked: JsonObject[] = []) => ({
    asked,
    read: async (_: string, input: JsonObject = {}) => {
      asked.push(input);
      const offset = Number(input.offset ?? 0);
      const next = offset + Number(input.limit);
      const events = numbers(count)
        .slice(offset, next)
        .map((timestamp) => ({ timestamp }));
      return {
        events,
        total_count: count,
        ...(next < count ? { next_page: { cluster_id: "c", offset: next, end_time: 99 } } : {}),
      };
    },
  });

  test("every page is asked for as the one before it says", async () => {
    const reader = log(1200);
    const { events, total } = await clusterEvents(reader, { cluster_id: "c" }, Number.POSITIVE_INFINITY);
    expect([events.length, total]).toEqual([1200, 1200]);
    expect(reader.asked.map(({ offset, end_time, limit }) => [offset, end_time, limit])).toEqual([
      [undefined, undefined, 500],
      [500, 99, 500],
      [1000, 99, 500],
    ]);
  });

  test("no page is asked for beyond what is wanted", async () => {
    const reader = log(1200);
    expect((await clusterEvents(reader, { cluster_id: "c" }, 600)).events).toHaveLength(600);
    expect(reader.asked).toHaveLength(2);
  });
});

describe("any operation", () => {
  test("a page size of a SCIM list is followed to the end", async () => {
    const all = ["a", "b", "c", "d", "e"];
    const asked: JsonObject[] = [];
    const found = await pages("scim/users/list", { count: 2 }, async (input) => {
      asked.push(input);
      const start = Number(input.startIndex ?? 1);
      const Resources = all.slice(start - 1, start + 1).map((id) => ({ id }));
      return { totalResults: 5, startIndex: start, itemsPerPage: Resources.length, Resources };
    });
    expect(found).toEqual({
      totalResults: 5,
      startIndex: 1,
      itemsPerPage: 5,
      Resources: all.map((id) => ({ id })),
    });
    expect(asked).toEqual([{ count: 2 }, { count: 2, startIndex: 3 }, { count: 2, startIndex: 5 }]);
  });

  test("a page of a SCIM list with more entries than its total is refused, and an empty page after the end is not", async () => {
    const Resources = [{ id: "a" }, { id: "b" }];
    const short = pages("scim/users/list", { count: 2 }, async () => ({ totalResults: 1, Resources }));
    await expect(short).rejects.toMatchObject({ diagnostic: { code: "API_PROTOCOL" } });
    const late = { startIndex: 9, count: 2 };
    expect(
      await pages("scim/users/list", late, async () => ({ totalResults: 2, startIndex: 9, itemsPerPage: 0 })),
    ).toMatchObject({ totalResults: 2, Resources: [] });
  });

  test("one without pages is asked once", async () => {
    expect(isPaged("clusters/list")).toBe(false);
    expect(isPaged("toString")).toBe(false);
    expect(await pages("clusters/list", {}, async () => ({ clusters: [] }))).toEqual({ clusters: [] });
  });
});
