// Reads a list with page tokens. Only an explicit end ends it, and a token that repeats is an error.

import { defined, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { type Refused, refusedWith } from "../../core/request-failure.ts";

/** More than any workspace has; a service that never ends its pages is not followed further. */
const MOST_PAGES = 10_000;

/** How the last page shows itself: by `has_more`, or by a token that is empty or absent. */
export type LastPage = "has_more" | "no token";

export interface PagedList {
  readonly operation: string;
  readonly member: string;
  readonly last: LastPage;
  /** Sends the request for a page; `at` is the part of the input that names the page, empty for the first one. */
  readonly page: (at: { readonly page_token?: string }) => Promise<JsonObject>;
}

/** The position after a page: the token of the next one, and all tokens up to it. */
export interface PagePosition {
  readonly token: string;
  readonly tokens: ReadonlySet<string>;
}

export interface PartOfList {
  readonly elements: readonly Json[];
  /** Absent at the end of the list. */
  readonly next?: PagePosition;
}

/** The complete list, each object once: a new object can move the last one of a page to the next page. */
export async function allPages(list: PagedList, id: string): Promise<readonly JsonObject[]> {
  const { elements } = await readPages(list, Number.POSITIVE_INFINITY);
  return [...new Map(elements.map(objectIn).map((element) => [String(element[id]), element])).values()];
}

/** At least `most` elements from a position on, unless the list ends before. Throws Refused likewise. */
export async function readPages(list: PagedList, most: number, from?: PagePosition): Promise<PartOfList> {
  const { operation, member, page } = list;
  const elements: Json[] = [];
  const tokens = new Set(from?.tokens);
  for (let token = from?.token; ; ) {
    const answer = await page(defined({ page_token: token }));
    const items = answer[member] ?? [];
    if (!Array.isArray(items)) throw broken(operation, `a "${member}" that is not a list`);
    elements.push(...items);
    token = nextToken(list, answer);
    if (token === undefined) return { elements };
    if (tokens.size === MOST_PAGES) throw broken(operation, `more than ${MOST_PAGES} pages`);
    if (tokens.has(token)) throw broken(operation, "the same page token twice");
    tokens.add(token);
    if (elements.length >= most) return { elements, next: { token, tokens } };
  }
}

/** The token of the next page; undefined at the end, which an answer without any field says too. */
function nextToken({ operation, last }: PagedList, answer: JsonObject): string | undefined {
  const { has_more: more, next_page_token: token } = answer;
  if (more === false || token === "" || Object.keys(answer).length === 0) return undefined;
  if (typeof token === "string") return token;
  if (last === "no token" && token === undefined) return undefined;
  throw broken(operation, "a page that is not the last and has no token for the next one");
}

function broken(operation: string, what: string): Refused {
  return refusedWith(200, "API_PROTOCOL", `${operation} answered with ${what}`, {
    hint: "an incomplete list is not used; run the command again, and report the problem if it persists",
  });
}
