// A request and a response as plain data, and answers and refusals in the general form and in SCIM's.

import { stringifyJson } from "../../core/exact-json.ts";
import { defined, type Json } from "../../core/json.ts";
import { utf8Text } from "../../core/utf8.ts";
import { ApiError, malformed, ScimError } from "../world/errors.ts";
import type { Reply } from "../world/world.ts";

/** One HTTP request. `path` carries its query string; header names are lower case. */
export interface AppRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Address of the peer; absent inside the process. Only loopback is served. */
  readonly remote?: string;
}

export interface AppResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** The service. Rejects with `ConnectionLost` where a fault closes the connection. */
export type App = (request: AppRequest) => Promise<AppResponse>;

/** The connection ended before the answer was complete. `partial` contains the bytes sent before the end. */
export class ConnectionLost extends Error {
  readonly code = "ECONNRESET";
  readonly partial: AppResponse | undefined;
  constructor(message: string, partial?: AppResponse) {
    super(message);
    this.name = "ConnectionLost";
    this.partial = partial;
  }
}

export function pathOf(request: Pick<AppRequest, "path">): string {
  return request.path.split("?", 1)[0] ?? "";
}

/** The query of a request without its question mark; "" when there is none. */
export function queryOf(request: AppRequest): string {
  return request.path.slice(pathOf(request).length + 1);
}

const encoder = new TextEncoder();

/** The body as text; undefined if its bytes are not UTF-8. */
export function bodyText(body: string | Uint8Array | undefined): string | undefined {
  if (body === undefined) return "";
  return typeof body === "string" ? body : utf8Text(body);
}

export function bytesOf(body: string | Uint8Array | undefined): Uint8Array {
  if (body === undefined) return new Uint8Array(0);
  return typeof body === "string" ? encoder.encode(body) : body;
}

const COMMON = {
  "cache-control": "no-cache, no-store, must-revalidate",
  server: "workspace-emulator",
  vary: "Accept-Encoding",
};
const JSON_HEADERS = { ...COMMON, "content-type": "application/json; charset=utf-8" };
const SCIM_HEADERS = { ...COMMON, "content-type": "application/scim+json; charset=utf-8" };

/** The error code that the request log notes. */
export interface EmulatorAnswer {
  readonly response: AppResponse;
  readonly errorCode?: string | number;
}

export function jsonAnswer(
  status: number,
  json: Json,
  headers: Readonly<Record<string, string>> = {},
): AppResponse {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: stringifyJson(json) };
}

export function renderAnswer(reply: Reply, scim: boolean): EmulatorAnswer {
  const status = reply.status ?? 200;
  if ("bytes" in reply) {
    const headers = { ...COMMON, "content-type": reply.contentType, ...reply.headers };
    return { response: { status, headers, body: reply.bytes } };
  }
  const headers = { ...(scim ? SCIM_HEADERS : JSON_HEADERS), ...reply.headers };
  return { response: { status, headers, body: status === 204 ? "" : stringifyJson(reply.json) } };
}

/** `{error_code, message}`; the gateway in front of the service uses a number as its code (facts 4.1). */
export function refusal(
  status: number,
  code: string | number,
  message: string,
  retryAfter?: string,
): EmulatorAnswer {
  const headers: Record<string, string> = defined({ "retry-after": retryAfter });
  return { response: jsonAnswer(status, { error_code: code, message }, headers), errorCode: code };
}

const SCIM_ERROR = "urn:ietf:params:scim:api:messages:2.0:Error";

function scimRefusal(
  status: number,
  detail: string,
  code: string | number,
  scimType?: string,
): EmulatorAnswer {
  const type = defined({ scimType });
  const body = { schemas: [SCIM_ERROR], detail, status: String(status), ...type };
  return { response: { status, headers: SCIM_HEADERS, body: stringifyJson(body) }, errorCode: code };
}

/** The answer to a thrown error. A bug answers 500; its message goes to the client, since this service is for developers. */
export function errorAnswer(error: unknown, scim: boolean): EmulatorAnswer {
  if (error instanceof ScimError)
    return scimRefusal(error.status, error.message, error.status, error.scimType);
  if (error instanceof ApiError) {
    if (!scim) return refusal(error.status, error.code, error.message);
    return scimRefusal(error.status, error.message, error.code, scimTypeOf(error));
  }
  if (error instanceof RangeError && /call stack/i.test(error.message))
    return errorAnswer(malformed("Could not parse request object: it is nested too deeply"), scim);
  const message = error instanceof Error ? error.message : String(error);
  return errorAnswer(new ApiError("INTERNAL_ERROR", message), scim);
}

function scimTypeOf(error: ApiError): string | undefined {
  if (error.code === "MALFORMED_REQUEST") return "invalidSyntax";
  return error.code === "INVALID_PARAMETER_VALUE" ? "invalidValue" : undefined;
}

/** The answer to a version or place that there is not (facts 4.1). */
export function badTarget(path: string): EmulatorAnswer {
  return { response: jsonAnswer(404, { error: `Bad Target: ${path}` }), errorCode: "ENDPOINT_NOT_FOUND" };
}
