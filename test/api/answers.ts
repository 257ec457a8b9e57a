// What a service answers, and how a connection ends, for tests.

import type { HttpResponse } from "../../src/api/http/transport.ts";

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): HttpResponse {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

export function apiError(
  status: number,
  error_code: string | number,
  message = "",
  headers?: Record<string, string>,
) {
  return json({ error_code, message }, status, headers);
}

export function scimError(status: number, detail: string, scimType?: string): HttpResponse {
  const schemas = ["urn:ietf:params:scim:api:messages:2.0:Error"];
  return json(
    {
      schemas,
      detail,
      status: String(status),
      ...(scimType === undefined ? {} : { scimType }),
    },
    status,
  );
}

export function raw(
  status: number,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): HttpResponse {
  return { status, headers, body };
}

/** The connection ended after the request was sent. */
export function reset(): Error {
  return Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });
}

export function refused(): Error {
  return Object.assign(new Error("connect ECONNREFUSED 192.0.2.1:443"), {
    code: "ECONNREFUSED",
    syscall: "connect",
  });
}

export function timedOut(): Error {
  return new DOMException("no complete answer in time", "TimeoutError");
}

/** What a promise rejects with. */
export async function thrown(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (problem) {
    return problem;
  }
  throw new Error("nothing was thrown");
}
