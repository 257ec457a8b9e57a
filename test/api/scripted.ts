// For tests of the client: a clock that moves only by sleeping, and a service behind nock that answers from a list.

import { type Client, type ClientOptions, createClient } from "../../src/api/client.ts";
import type { HttpRequest, HttpResponse } from "../../src/api/http/transport.ts";
import { nockedTransport } from "../nocked.ts";

export const HOST = "https://ws.example.com";
export const TOKEN = "wat0123456789abcdef";
/** 2020-03-01T00:00:00Z. */
export const START = Date.UTC(2020, 2, 1);

export interface Timeline {
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Every wait, in milliseconds. */
  readonly waits: readonly number[];
  advance(ms: number): void;
}

export function timeline(): Timeline {
  let now = START;
  const waits: number[] = [];
  return {
    clock: () => now,
    waits,
    advance: (ms) => {
      now += ms;
    },
    sleep: async (ms) => {
      waits.push(ms);
      now += ms;
    },
  };
}

export interface Scripted {
  readonly client: Client;
  readonly time: Timeline;
  /** Every request that was sent. */
  readonly sent: readonly HttpRequest[];
}

export type Line = HttpResponse | Error;

/** Answers with each line in turn, and repeats the last one. */
export function scripted(lines: readonly Line[], options: Partial<ClientOptions> = {}): Scripted {
  const time = timeline();
  const sent: HttpRequest[] = [];
  let answered = 0;
  const answers = nockedTransport(() => {
    const line = lines[Math.min(answered, lines.length - 1)];
    answered += 1;
    if (line === undefined) throw new Error("the script is empty");
    if (line instanceof Error) throw line;
    return line;
  });
  const transport = (request: HttpRequest): Promise<HttpResponse> => {
    sent.push(request);
    return answers(request);
  };
  const { clock, sleep } = time;
  const client = createClient({
    transport,
    host: HOST,
    token: TOKEN,
    clock,
    sleep,
    random: () => 0,
    ...options,
  });
  return { client, time, sent };
}

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
