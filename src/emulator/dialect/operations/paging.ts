// Pages of the lists of version 2.1: opaque tokens, and an explicit end.

import type { Json, JsonObject } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";

/** One page of a list under its name; a list without elements is left out, and so is a token without a page. */
export function pageOf(
  name: string,
  all: readonly JsonObject[],
  input: JsonObject,
  size: Json | undefined,
): JsonObject {
  const limit = Number(size ?? 20);
  const from = input.page_token === undefined ? Number(input.offset ?? 0) : offsetIn(input.page_token);
  const items = all.slice(from, from + limit);
  const more = from + limit < all.length;
  return {
    ...(items.length === 0 ? {} : { [name]: items }),
    has_more: more,
    ...(more ? { next_page_token: tokenOf(from + limit) } : {}),
    ...(from > 0 ? { prev_page_token: tokenOf(Math.max(0, from - limit)) } : {}),
  };
}

const PREFIX = "page:";

const tokenOf = (offset: number): string => btoa(`${PREFIX}${offset}`);

function offsetIn(token: Json): number {
  // The empty token asks for the first page.
  if (token === "") return 0;
  try {
    const text = atob(String(token));
    if (/^page:\d{1,9}$/.test(text)) return Number(text.slice(PREFIX.length));
  } catch {
    // Not base64: no token either.
  }
  throw invalidValue("Invalid page_token.");
}
