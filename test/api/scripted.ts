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
