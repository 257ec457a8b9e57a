// Hooks for operations that behave differently in the dialect, by the name of the contract's operation, with answers to repeated requests and pages.

import { type Json, type JsonObject, listIn } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";
import type { Call, Collection, Operation, Reply, World } from "../../world/world.ts";
import type { Cloud } from "../translate.ts";

/** A request while it is answered. `input` is in the dialect's form, as `before` left it. */
export interface Asked {
  readonly call: Call;
  readonly world: World;
  readonly input: JsonObject;
  /** Version in the path, as `2.1`. */
  readonly version: string;
  readonly cloud: Cloud;
}

interface Hook {
  readonly before?: (asked: Asked) => JsonObject;
  /** Around the contract's operation; the call is in the contract's form. */
  readonly around?: (core: Operation, call: Call, asked: Asked) => Reply;
  readonly after?: (answer: JsonObject, asked: Asked) => JsonObject;
}

export type Hooks = Readonly<Record<string, Hook>>;

const repliesOf = (world: World): Collection<JsonObject> => world.collection("dialect.idempotency");

/** The answer to an earlier request with the same token, in place of doing it again. */
export function once(core: Operation, call: Call, { world, input }: Asked): Reply {
  const token = input.idempotency_token;
  if (token === undefined) return core(call, world);
  const key = `${call.operation} ${String(token)}`;
  const earlier = repliesOf(world).get(key);
  if (earlier !== undefined) return { json: earlier };
  const reply = core(call, world);
  if ("json" in reply) repliesOf(world).set(key, reply.json);
  return reply;
}

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

/** One page of each list of an object, with one token for all: a list that has ended is empty on later pages. */
export function pageInside(
  object: JsonObject,
  lists: readonly string[],
  size: number,
  token: Json | undefined,
): { readonly shown: JsonObject; readonly more: JsonObject } {
  const from = token === undefined ? 0 : offsetIn(token);
  const inside = lists.filter((name) => object[name] !== undefined);
  const shown = Object.fromEntries(
    inside.map((name) => [name, listIn(object[name]).slice(from, from + size)]),
  );
  const hasMore = inside.some((name) => listIn(object[name]).length > from + size);
  return {
    shown: { ...object, ...shown },
    more: hasMore ? { has_more: true, next_page_token: tokenOf(from + size) } : {},
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
