// Follows the pages of operations that have them, and merges them into one answer, up to a limit.

import type { Reader } from "../../api/contract/reader.ts";
import type { Json, JsonObject } from "../../core/json.ts";

type Read = (input: JsonObject) => Promise<JsonObject>;

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
  const first = typeof input.offset === "number" ? input.offset : 0;
  for (let passed = 0; ; ) {
    const answer = await read({ ...input, offset: first + passed });
    const page = objectsIn(answer.runs);
    passed += page.length;
    for (const run of page) runs.set(String(run.run_id), run);
    if (answer.has_more !== true || page.length === 0 || runs.size >= most)
      return [...runs.values()].slice(0, most);
  }
}

/** `next_page` is the input of the next request, and absent on the last page. */
async function byNextPage(
  input: JsonObject,
  read: Read,
  most: number,
): Promise<{ readonly events: readonly JsonObject[]; readonly total: Json }> {
  const events: JsonObject[] = [];
  for (let next = input; ; ) {
    const answer = await read(next);
    const page = objectsIn(answer.events);
    events.push(...page);
    const { next_page: further } = answer;
    const isLast = further === null || typeof further !== "object" || Array.isArray(further);
    if (isLast || page.length === 0 || events.length >= most)
      return { events: events.slice(0, most), total: answer.total_count ?? events.length };
    next = { ...input, ...(further as JsonObject) };
  }
}

/** The client itself reads a list whole where no page is asked for; a page size is followed here. */
async function byStartIndex(input: JsonObject, read: Read): Promise<JsonObject> {
  const whole: JsonObject[] = [];
  const first = typeof input.startIndex === "number" ? input.startIndex : 1;
  for (;;) {
    const answer = await read(whole.length === 0 ? input : { ...input, startIndex: first + whole.length });
    const page = objectsIn(answer.Resources);
    whole.push(...page);
    if (page.length === 0 || first - 1 + whole.length >= Number(answer.totalResults))
      return { ...answer, startIndex: first, itemsPerPage: whole.length, Resources: whole };
  }
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}

export function listActiveRuns(reader: Reader): Promise<readonly JsonObject[]> {
  return newestRuns(reader, { active_only: true }, Number.POSITIVE_INFINITY);
}
