// Pages of the lists of version 2.1: opaque tokens, and an explicit end.

import { type Json, type JsonObject, objectIn } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";

export interface Page {
  readonly items: readonly JsonObject[];
  /** Absent on the last page, and on the first. */
  readonly next?: string;
  readonly previous?: string;
}

export function pageOf(list: Json | undefined, input: JsonObject, size: Json | undefined): Page {
  const all = Array.isArray(list) ? list.map(objectIn) : [];
  const limit = Number(size ?? 20);
  const from = input.page_token === undefined ? Number(input.offset ?? 0) : offsetIn(input.page_token);
  return {
    items: all.slice(from, from + limit),
    ...(from + limit < all.length ? { next: tokenOf(from + limit) } : {}),
    ...(from > 0 ? { previous: tokenOf(Math.max(0, from - limit)) } : {}),
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
