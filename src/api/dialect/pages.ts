// Reads a list with page tokens to its end: only an explicit end is one, and a token that comes twice is an error.

import { error } from "../../core/diagnostic.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";

/** All elements of the pages. Throws Refused with API_PROTOCOL where the pages have no end. */
export async function allPages(
  operation: string,
  member: string,
  page: (token: string | undefined) => Promise<JsonObject>,
): Promise<readonly Json[]> {
  const all: Json[] = [];
  const tokens = new Set<string>();
  for (let token: string | undefined; ; ) {
    const answer = await page(token);
    const elements = answer[member] ?? [];
    if (!Array.isArray(elements)) throw broken(operation, `a "${member}" that is not a list`);
    all.push(...elements);
    const next = nextToken(operation, answer);
    if (next === undefined) return all;
    if (tokens.has(next)) throw broken(operation, "a page token for the second time");
    tokens.add(next);
    token = next;
  }
}

/** The token of the next page; undefined at the end, which an answer without anything says as well. */
function nextToken(operation: string, answer: JsonObject): string | undefined {
  const { has_more: more, next_page_token: token } = answer;
  if (more === false || token === "" || Object.keys(answer).length === 0) return undefined;
  if (typeof token === "string") return token;
  throw broken(operation, "a page that is neither the last nor names the next one");
}

function broken(operation: string, what: string): Refused {
  return new Refused(
    200,
    "",
    error("API_PROTOCOL", `${operation} answered with ${what}`, {
      hint: "part of a list is never taken for the whole; run the command again, and report this if it stays so",
    }),
  );
}
