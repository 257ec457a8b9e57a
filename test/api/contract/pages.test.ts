// Lists with page tokens, read from a function, since 10,000 pages take ten seconds through nock.

import { expect, test } from "vitest";
import { allPages, eachTokenPage, type ReadPage } from "../../../src/api/contract/pages.ts";
import type { JsonObject } from "../../../src/core/json.ts";

const endless = () => {
  const asked: (string | undefined)[] = [];
  const page: ReadPage = async ({ page_token }) => {
    asked.push(page_token === undefined ? undefined : String(page_token));
    return { clusters: [asked.length], next_page_token: `t${asked.length}` };
  };
  return { asked, list: { operation: "clusters/list", member: "clusters", last: "no token", page } as const };
};

test("a list is refused after 10,000 pages", async () => {
  const { asked, list } = endless();
  await expect(allPages(list, "cluster_id")).rejects.toThrow(
    "clusters/list answered with more than 10000 pages",
  );
  expect(asked).toHaveLength(10_001);
});

test("a page is read when it is asked for", async () => {
  const { asked, list } = endless();
  const pages = eachTokenPage(list.operation, list.last, list.page);
  expect((await pages.next()).value).toMatchObject({ answer: { clusters: [1] }, isLast: false });
  expect((await pages.next()).value).toMatchObject({ answer: { clusters: [2] } });
  expect(asked).toEqual([undefined, "t1"]);
});

test("a list ends without a token or with an empty one, and is refused when a token repeats", async () => {
  const pages: Readonly<Record<string, JsonObject>> = {
    first: { repos: [{ id: 1 }], next_page_token: "b" },
    b: { next_page_token: "c" },
    c: { repos: [{ id: 2 }], next_page_token: "" },
  };
  const page: ReadPage = async ({ page_token = "first" }) => pages[String(page_token)] ?? {};
  const list = { operation: "repos/list", member: "repos", last: "no token", page } as const;
  expect(await allPages(list, "id")).toEqual([{ id: 1 }, { id: 2 }]);
  const repeated = { ...list, page: async () => ({ repos: [{ id: 1 }], next_page_token: "b" }) };
  await expect(allPages(repeated, "id")).rejects.toThrow(
    "repos/list answered with the same page token twice",
  );
});

test("an object that is on two pages, because the pages shifted, is in the list once", async () => {
  const pages: Readonly<Record<string, JsonObject>> = {
    first: { jobs: [{ job_id: 2n }, { job_id: 1 }], has_more: true, next_page_token: "second" },
    second: { jobs: [{ job_id: 1 }, { job_id: 3 }], has_more: false },
  };
  const page: ReadPage = async ({ page_token = "first" }) => pages[String(page_token)] ?? {};
  const list = { operation: "jobs/list", member: "jobs", last: "has_more", page } as const;
  expect(await allPages(list, "job_id")).toEqual([{ job_id: 2n }, { job_id: 1 }, { job_id: 3 }]);
});
