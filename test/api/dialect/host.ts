// A host of the dialect for tests of the client: answers by method and path, written from the facts about the service.

import { type Client, createClient } from "../../../src/api/client.ts";
import { DATABRICKS_TABLE } from "../../../src/api/dialect/databricks.ts";
import type { HttpResponse, Transport } from "../../../src/api/http/transport.ts";
import { isObject, type JsonObject } from "../../../src/core/json.ts";
import { type ArrivedRequest, nockedTransport } from "../../nocked.ts";
import { apiError, json } from "../answers.ts";
import { HOST, TOKEN, timeline } from "../scripted.ts";

/** One answer, or answers in turn of which the last one stays; `POST 2.1/jobs/reset` is the name of a route. */
export type Routes = Readonly<Record<string, Given | readonly Given[]>>;

type Given = JsonObject | HttpResponse;

export interface Asked {
  readonly route: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: JsonObject | undefined;
}

/** `otherwise`: answers routes that `routes` does not have. */
export function hostWith(
  routes: Routes,
  otherwise = ({ route }: Asked) => apiError(404, "ENDPOINT_NOT_FOUND", `No API found for ${route}`),
): { readonly client: Client; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const transport = nockedTransport((request) => {
    const one = askedIn(request);
    asked.push(one);
    const found = routes[one.route];
    if (found === undefined) return otherwise(one);
    const all = Array.isArray(found) ? (found as readonly Given[]) : [found as Given];
    const before = asked.filter(({ route }) => route === one.route).length - 1;
    const answer = all[Math.min(before, all.length - 1)] ?? {};
    return isAnswer(answer) ? answer : json(answer);
  });
  return { client: dialectClient(transport), asked };
}

function dialectClient(transport: Transport): Client {
  const { clock, sleep } = timeline();
  const options = { transport, host: HOST, token: TOKEN, clock, sleep, random: () => 0 };
  return createClient({ ...options, dialect: DATABRICKS_TABLE });
}

const isAnswer = (found: Given): found is HttpResponse => "status" in found && "headers" in found;

function askedIn({ method, path, body }: ArrivedRequest): Asked {
  const url = new URL(`${HOST}${path}`);
  const parsed: unknown = body.length > 0 ? JSON.parse(new TextDecoder().decode(body)) : undefined;
  return {
    route: `${method} ${url.pathname.replace("/api/", "")}`,
    query: Object.fromEntries(url.searchParams),
    body: isObject(parsed as JsonObject) ? (parsed as JsonObject) : undefined,
  };
}
