// Reads a complete SCIM list: one request without paging, and further pages only if the answer is incomplete.

import { error } from "../../core/diagnostic.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";

type Fetch = (input: JsonObject) => Promise<JsonObject>;

const TRIES = 3;

/** All resources of a SCIM list; it is read again if its pages shifted. Throws Refused (API_PROTOCOL) if it stays incomplete. */
export async function readWholeList(operation: string, input: JsonObject, fetch: Fetch): Promise<JsonObject> {
  for (let tries = 1; ; tries++) {
    const first = await fetch(input);
    const total = totalOf(first);
    if ("startIndex" in input || "count" in input || total <= resourcesOf(first).length) return first;
    const resources = await further(input, first, total, fetch);
    if (resources.length === total)
      return { ...first, totalResults: total, itemsPerPage: total, Resources: resources };
    if (tries === TRIES) throw incomplete(operation, resources.length, total);
  }
}

/** Follows the pages; ends early where one brings nothing new or promises another total. */
async function further(input: JsonObject, first: JsonObject, total: number, fetch: Fetch): Promise<Json[]> {
  const resources = [...resourcesOf(first)];
  const ids = new Set(resources.map(idOf));
  while (resources.length < total) {
    const page = await fetch({ ...input, startIndex: resources.length + 1 });
    const fresh = resourcesOf(page).filter((resource) => !ids.has(idOf(resource)));
    if (fresh.length === 0 || totalOf(page) !== total) break;
    for (const resource of fresh) ids.add(idOf(resource));
    resources.push(...fresh);
  }
  return resources;
}

function resourcesOf(list: JsonObject): readonly Json[] {
  return Array.isArray(list.Resources) ? list.Resources : [];
}

function totalOf(list: JsonObject): number {
  const total = Number(list.totalResults);
  return Number.isInteger(total) ? total : 0;
}

function idOf(resource: Json): string {
  return resource !== null && typeof resource === "object" && "id" in resource ? `${resource.id}` : "";
}

function incomplete(operation: string, got: number, total: number): Refused {
  return new Refused(
    200,
    "",
    error("API_PROTOCOL", `${operation} announced ${total} entries but returned ${got}`, {
      hint: "the list may have changed during the read; run the command again",
    }),
  );
}
