// Lists with page tokens, read from a function, since 10,000 pages take ten seconds through nock.

import { expect, test } from "vitest";
import { allPages, readPages } from "../../../src/api/dialect/pages.ts";
import type { JsonObject } from "../../../src/core/json.ts";

const endless = () => {
  const asked: (string | undefined)[] = [];
  const page = async ({ page_token }: { readonly page_token?: string }): Promise<JsonObject> => {
    asked.push(page_token);
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

test("a part of a list ends at the page that completes it, and the next part starts after it", async () => {
  const { asked, list } = endless();
  const first = await readPages(list, 2);
  expect(first.elements).toEqual([1, 2]);
  expect((await readPages(list, 1, first.next)).elements).toEqual([3]);
  expect(asked).toEqual([undefined, "t1", "t2"]);
});

test("an object that is on two pages, because the pages shifted, is in the list once", async () => {
  const pages: Readonly<Record<string, JsonObject>> = {
    first: { jobs: [{ job_id: 2n }, { job_id: 1 }], has_more: true, next_page_token: "second" },
    second: { jobs: [{ job_id: 1 }, { job_id: 3 }], has_more: false },
  };
  const page = async ({ page_token = "first" }): Promise<JsonObject> => pages[page_token] ?? {};
  const list = { operation: "jobs/list", member: "jobs", last: "has_more", page } as const;
  expect(await allPages(list, "job_id")).toEqual([{ job_id: 2n }, { job_id: 1 }, { job_id: 3 }]);
});
