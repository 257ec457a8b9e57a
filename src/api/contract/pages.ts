// Reads lists that come in pages, with page tokens or as SCIM lists. Only an explicit end ends a list, and a page that repeats is an error.

import { stringifyJson } from "../../core/exact-json.ts";
import { type Json, type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { type Refused, refusedWith } from "../../core/request-failure.ts";

/** More than any workspace has; a service that never ends its pages is not followed further. */
const MOST_PAGES = 10_000;

/** Sends the request for a page; `at` is the part of the input that names the page, empty for the first one. */
export type ReadPage = (at: JsonObject) => Promise<JsonObject>;

export interface Page {
  readonly answer: JsonObject;
  readonly isLast: boolean;
}

/** All pages in order. `next` names the page after an answer; undefined at the end. Throws Refused if the pages do not end. */
export async function* eachPage(
  operation: string,
  read: ReadPage,
  next: (answer: JsonObject) => JsonObject | undefined,
): AsyncGenerator<Page> {
  const positions = new Set<string>();
  for (let at: JsonObject | undefined = {}; at !== undefined; ) {
    if (positions.size > MOST_PAGES) throw broken(operation, `more than ${MOST_PAGES} pages`);
    positions.add(stringifyJson(at));
    const answer = await read(at);
    at = next(answer);
    if (at !== undefined && positions.has(stringifyJson(at)))
      throw broken(operation, "the same page token twice");
    yield { answer, isLast: at === undefined };
  }
}

/** How the last page shows itself: by `has_more`, or by a token that is empty or absent. */
type LastPage = "has_more" | "no token";

/** The pages of a list with page tokens. Throws Refused where a page neither ends the list nor names the next one. */
export function eachTokenPage(operation: string, last: LastPage, read: ReadPage): AsyncGenerator<Page> {
  return eachPage(operation, read, (answer) => {
    const { has_more: more, next_page_token: token } = answer;
    if (more === false || token === "" || Object.keys(answer).length === 0) return undefined;
    if (typeof token === "string") return { page_token: token };
    if (last === "no token" && token === undefined && more === undefined) return undefined;
    throw broken(operation, "a page that is not the last and has no token for the next one");
  });
}

interface PagedList {
  readonly operation: string;
  readonly member: string;
  readonly last: LastPage;
  readonly page: ReadPage;
}

/** The complete list, each object once: a new object can move the last one of a page to the next page. */
export async function allPages(list: PagedList, id: string): Promise<readonly JsonObject[]> {
  const objects = new Map<string, JsonObject>();
  for await (const { answer } of eachTokenPage(list.operation, list.last, list.page))
    for (const element of elementsIn(list, answer).map(objectIn)) objects.set(String(element[id]), element);
  return [...objects.values()];
}

/** The elements of a page. Throws Refused if the answer has no list of them. */
export function elementsIn(
  list: Pick<PagedList, "operation" | "member">,
  answer: JsonObject,
): readonly Json[] {
  const elements = answer[list.member] ?? [];
  if (Array.isArray(elements)) return elements;
  throw broken(list.operation, `a "${list.member}" that is not a list`);
}

function broken(operation: string, what: string): Refused {
  return refusedWith(200, "API_PROTOCOL", `${operation} answered with ${what}`, {
    hint: "an incomplete list is not used; run the command again, and report the problem if it persists",
  });
}

type Fetch = (input: JsonObject) => Promise<JsonObject>;

const TRIES = 3;

/** All resources of a SCIM list; it is read again if its pages shifted. Throws Refused (API_PROTOCOL) if it stays incomplete. */
export async function readWholeList(operation: string, input: JsonObject, fetch: Fetch): Promise<JsonObject> {
  for (let tries = 1; ; tries++) {
    const first = await fetch(input);
    if ("startIndex" in input || "count" in input) return first;
    const total = scimTotal(operation, first);
    if (total <= listIn(first.Resources).length) return first;
    const resources = await further(operation, input, first, total, fetch);
    if (resources.length === total)
      return { ...first, totalResults: total, itemsPerPage: total, Resources: resources };
    if (tries === TRIES) throw incomplete(operation, resources.length, total);
  }
}

/** Follows the pages; ends early where one brings nothing new or promises another total. */
async function further(
  operation: string,
  input: JsonObject,
  first: JsonObject,
  total: number,
  fetch: Fetch,
): Promise<Json[]> {
  const resources = [...listIn(first.Resources)];
  const ids = new Set(resources.map(idOf));
  while (resources.length < total) {
    const page = await fetch({ ...input, startIndex: resources.length + 1 });
    const fresh = listIn(page.Resources).filter((resource) => !ids.has(idOf(resource)));
    if (fresh.length === 0 || scimTotal(operation, page) !== total) break;
    for (const resource of fresh) ids.add(idOf(resource));
    resources.push(...fresh);
  }
  return resources;
}

/**
 * The number of entries of the whole list. Throws Refused (API_PROTOCOL) if a page has none, or one that is smaller than what it has:
 * one page of several would look like a whole list, and what the others have like deleted.
 */
export function scimTotal(operation: string, page: JsonObject): number {
  const { totalResults, startIndex, Resources } = page;
  if (!Number.isInteger(totalResults)) throw broken(operation, 'no valid "totalResults"');
  const items = listIn(Resources).length;
  const last = items === 0 ? 0 : (typeof startIndex === "number" ? startIndex : 1) + items - 1;
  if (Number(totalResults) >= last) return Number(totalResults);
  throw broken(operation, `a "totalResults" of ${totalResults}, although it has entry ${last}`);
}

function idOf(resource: Json): string {
  return resource !== null && typeof resource === "object" && "id" in resource ? `${resource.id}` : "";
}

function incomplete(operation: string, got: number, total: number): Refused {
  return refusedWith(200, "API_PROTOCOL", `${operation} announced ${total} entries but returned ${got}`, {
    hint: "the list may have changed during the read; run the command again",
  });
}
