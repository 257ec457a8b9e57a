// Faulty responses: each replaces the exchange of one request.

import type { HttpRequest, HttpResponse } from "../../../src/api/http/transport.ts";
import { parseJson, stringifyJson } from "../../../src/core/exact-json.ts";
import type { Json } from "../../../src/core/json.ts";
import type { Send } from "../../engine/site.ts";

/** `now`: epoch milliseconds. */
export type FaultyResponse = (request: HttpRequest, send: Send, now: number) => Promise<HttpResponse>;

const JSON_TYPE = { "content-type": "application/json" };
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function answer(
  status: number,
  code: string | number,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const body = encode(JSON.stringify({ error_code: code, message: "Fault injected" }));
  return { status, headers: { ...JSON_TYPE, ...headers }, body };
}

const page = (status: number, headers: Readonly<Record<string, string>> = {}): HttpResponse => ({
  status,
  headers: { "content-type": "text/html", ...headers },
  body: encode("<html><body><h1>It works</h1></body></html>"),
});

const broken = (name: string, code: string): Error =>
  Object.assign(new Error("no whole answer"), { name, code });
const timeout = (): Error => broken("TimeoutError", "ETIMEDOUT");
const reset = (): Error => broken("Error", "ECONNRESET");

const instead =
  (response: HttpResponse): FaultyResponse =>
  async () =>
    response;

const throttled =
  (retryAfter: (now: number) => string | undefined): FaultyResponse =>
  async (_request, _send, now) => {
    const value = retryAfter(now);
    return answer(429, "REQUEST_LIMIT_EXCEEDED", value === undefined ? {} : { "retry-after": value });
  };

/** The request is executed; `spoil` changes its response. */
const after =
  (spoil: (healthy: HttpResponse) => HttpResponse): FaultyResponse =>
  async (request, send) =>
    spoil(await send(request));

const afterThrow =
  (failure: () => Error): FaultyResponse =>
  async (request, send) => {
    await send(request);
    throw failure();
  };

const beforeThrow =
  (failure: () => Error): FaultyResponse =>
  async () => {
    throw failure();
  };

const textOf = ({ body }: HttpResponse): string =>
  typeof body === "string" ? body : new TextDecoder().decode(body);

/** Every value with a wrong type: lists become objects, objects lists, strings and numbers objects. */
function mistyped(value: Json, depth = 0): Json {
  if (Array.isArray(value)) return { "0": value[0] ?? null };
  if (value !== null && typeof value === "object")
    return depth > 0
      ? [value as Json]
      : Object.fromEntries(
          Object.entries(value).map(([key, item]) => [key, mistyped(item as Json, depth + 1)]),
        );
  return { value };
}

function wrongTypes(healthy: HttpResponse): HttpResponse {
  if (healthy.status >= 300) return healthy;
  const json = parseJson(textOf(healthy));
  return { ...healthy, body: encode(stringifyJson(mistyped(json))) };
}

export const FAULTY_RESPONSES: Readonly<Record<string, FaultyResponse>> = {
  "429 seconds": throttled(() => "2"),
  "429 date": throttled((now) => new Date(now + 3000).toUTCString()),
  "429 absent": throttled(() => undefined),
  "429 garbage": throttled(() => "soon, perhaps"),
  "500": instead(answer(500, "INTERNAL_ERROR")),
  "502": instead(page(502)),
  "503": instead(answer(503, "TEMPORARILY_UNAVAILABLE")),
  "500 after commit": after(() => answer(500, "INTERNAL_ERROR")),
  "timeout before": beforeThrow(timeout),
  "timeout after": afterThrow(timeout),
  "reset before": beforeThrow(reset),
  "reset in the body": afterThrow(reset),
  "truncated JSON": after((healthy) => ({ ...healthy, body: encode(textOf(healthy).slice(0, -2)) })),
  HTML: after(() => page(200)),
  empty: after((healthy) => ({ ...healthy, body: encode("") })),
  "wrong types": after(wrongTypes),
  "401": instead(answer(401, 401)),
  "403": instead(answer(403, "PERMISSION_DENIED")),
  redirect: instead(page(307, { location: "https://elsewhere.example/api" })),
  "endless body": afterThrow(() => broken("ResponseExceededMaxSizeError", "UND_ERR_RES_EXCEEDED_MAX_SIZE")),
};
