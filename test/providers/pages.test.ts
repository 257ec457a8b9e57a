import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { objectsOfPages } from "../../src/providers/kit/responses.ts";

const pagesOf =
  (pages: Readonly<Record<string, JsonObject>>) =>
  async (token = "first"): Promise<JsonObject> =>
    pages[token] ?? {};

describe("a list with page tokens", () => {
  test("has the objects of all pages, and ends without a token or with an empty one", async () => {
    const list = pagesOf({
      first: { repos: [{ id: 1 }], next_page_token: "b" },
      b: { next_page_token: "c" },
      c: { repos: [{ id: 2 }], next_page_token: "" },
    });
    expect(await objectsOfPages("repos", list)).toEqual([{ id: 1 }, { id: 2 }]);
  });

  test("is refused when a token repeats, because the objects of other pages would look deleted", async () => {
    const list = pagesOf({
      first: { repos: [{ id: 1 }], next_page_token: "b" },
      b: { repos: [{ id: 2 }], next_page_token: "b" },
    });
    await expect(objectsOfPages("repos", list)).rejects.toThrow("API_PROTOCOL");
  });
});
