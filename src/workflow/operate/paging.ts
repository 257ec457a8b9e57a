// Follows the pages of operations that have them, and merges them into one answer, up to a limit.

import { eachPage, type ReadPage as Read, scimTotal } from "../../api/contract/pages.ts";
import type { Reader } from "../../api/contract/reader.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";

/** Maximum page size of the service (contract B 4.2 rule 6 and contract B 4.3). */
const RUNS_PAGE = 999;
const EVENTS_PAGE = 500;

export function isPaged(operation: string): boolean {
  return Object.hasOwn(PAGING, operation);
}

/** The complete list of an operation. Lists without paging are already complete. */
export async function pages(operation: string, input: JsonObject, read: Read): Promise<JsonObject> {
  const follow = isPaged(operation) ? PAGING[operation] : undefined;
  return follow === undefined ? read(input) : follow(input, read);
}

const PAGING: Readonly<Record<string, (input: JsonObject, read: Read) => Promise<JsonObject>>> = {
  "jobs/runs/list": async (input, read) => {
    const runs = await byOffset({ limit: RUNS_PAGE, ...input }, read, Number.POSITIVE_INFINITY);
    return { ...(runs.length === 0 ? {} : { runs }), has_more: false };
  },
  "clusters/events": async (input, read) => {
    const { events, total } = await byNextPage(
      { limit: EVENTS_PAGE, ...input },
      read,
      Number.POSITIVE_INFINITY,
    );
    return { ...(events.length === 0 ? {} : { events }), total_count: total };
  },
  "scim/users/list": byStartIndex,
  "scim/groups/list": byStartIndex,
};

/** Runs, the most recently started first. */
export function newestRuns(reader: Reader, filter: JsonObject, most: number): Promise<readonly JsonObject[]> {
  const read: Read = (input) => reader.read("jobs/runs/list", input);
  return byOffset({ ...filter, limit: Math.min(RUNS_PAGE, most) }, read, most);
}

export async function clusterEvents(
  reader: Reader,
  request: JsonObject,
  most: number,
): Promise<{ readonly events: readonly JsonObject[]; readonly total: Json }> {
  const read: Read = (input) => reader.read("clusters/events", input);
  return byNextPage({ ...request, limit: Math.min(EVENTS_PAGE, most) }, read, most);
}

/** `offset` counts from the most recent run; one that starts meanwhile shifts the pages, so that a run may come twice. */
async function byOffset(input: JsonObject, read: Read, most: number): Promise<readonly JsonObject[]> {
  const runs = new Map<string, JsonObject>();
  let offset = typeof input.offset === "number" ? input.offset : 0;
  const page: Read = (at) => read({ ...input, offset, ...at });
  const pages = eachPage("jobs/runs/list", page, (answer) => {
    const { length } = objectsIn(answer.runs);
    offset += length;
    return answer.has_more === true && length > 0 ? { offset } : undefined;
  });
  for await (const { answer } of pages) {
    for (const run of objectsIn(answer.runs)) runs.set(String(run.run_id), run);
    if (runs.size >= most) break;
  }
  return [...runs.values()].slice(0, most);
}

/** `next_page` is the input of the next request, and absent on the last page. */
async function byNextPage(
  input: JsonObject,
  read: Read,
  most: number,
): Promise<{ readonly events: readonly JsonObject[]; readonly total: Json }> {
  const events: JsonObject[] = [];
  let total: Json | undefined;
  const page: Read = (at) => read({ ...input, ...at });
  const pages = eachPage("clusters/events", page, ({ events, next_page }) =>
    isObject(next_page) && objectsIn(events).length > 0 ? next_page : undefined,
  );
  for await (const { answer } of pages) {
    events.push(...objectsIn(answer.events));
    total = answer.total_count;
    if (events.length >= most) break;
  }
  return { events: events.slice(0, most), total: total ?? events.length };
}

/** The client itself reads a list whole where no page is asked for; a page size is followed here. */
async function byStartIndex(input: JsonObject, read: Read): Promise<JsonObject> {
  const whole: JsonObject[] = [];
  const first = typeof input.startIndex === "number" ? input.startIndex : 1;
  let last: JsonObject = {};
  const page: Read = (at) => read({ ...input, ...at });
  const pages = eachPage("a SCIM list", page, (answer) => {
    const { length } = objectsIn(answer.Resources);
    const next = first + whole.length + length;
    return next > scimTotal("a SCIM list", answer) || length === 0 ? undefined : { startIndex: next };
  });
  for await (const { answer } of pages) {
    whole.push(...objectsIn(answer.Resources));
    last = answer;
  }
  return { ...last, startIndex: first, itemsPerPage: whole.length, Resources: whole };
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}

export function listActiveRuns(reader: Reader): Promise<readonly JsonObject[]> {
  return newestRuns(reader, { active_only: true }, Number.POSITIVE_INFINITY);
}
