// Follows the paging of the operations that have it, and gives one answer with everything in it.

import type { Json, JsonObject } from "../core/json.ts";

type Read = (input: JsonObject) => Promise<JsonObject>;

/** SCIM lists are whole already: the client follows their pages itself. */
export async function pages(operation: string, input: JsonObject, read: Read): Promise<JsonObject> {
  switch (operation) {
    case "jobs/runs/list":
      return byOffset(input, read);
    case "clusters/events":
      return byNextPage(input, read);
    default:
      return read(input);
  }
}

/** Part B, runs/list: `offset` counts from the most recent run; `has_more` tells that older ones follow. */
async function byOffset(input: JsonObject, read: Read): Promise<JsonObject> {
  const runs: Json[] = [];
  const first = typeof input.offset === "number" ? input.offset : 0;
  for (;;) {
    const answer = await read({ ...input, offset: first + runs.length });
    const page = items(answer.runs);
    runs.push(...page);
    if (answer.has_more !== true || page.length === 0) return { ...answer, runs, has_more: false };
  }
}

/** Part B, clusters/events: `next_page` is the input of the next request, and absent on the last page. */
async function byNextPage(input: JsonObject, read: Read): Promise<JsonObject> {
  const events: Json[] = [];
  let next: JsonObject = input;
  for (;;) {
    const { next_page, ...answer } = await read(next);
    events.push(...items(answer.events));
    if (next_page === null || typeof next_page !== "object" || Array.isArray(next_page))
      return { ...answer, events };
    next = { ...input, ...(next_page as JsonObject) };
  }
}

function items(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
