// One request from its first attempt to its end, over a scripted connection: what is logged, held, followed and reported.

import { describe, expect, test } from "vitest";
import { OPERATIONS, type OperationName } from "../../../src/api/contract/operations.ts";
import type { HttpRequest } from "../../../src/api/http/transport.ts";
import type { Attempt, HostConnection } from "../../../src/api/retry/connection.ts";
import { createSend, type RequestEvent, type SendOptions } from "../../../src/api/retry/send.ts";
import { Refused, UnknownOutcome } from "../../../src/core/request-failure.ts";
import { thrown } from "../answers.ts";
import { HOST, START, timeline } from "../scripted.ts";

const ok: Attempt = { end: "ok", json: { a: 1 } };
const failed = (status: number, code = "X", retryAfterMs?: number): Attempt => ({
  end: "error",
  status,
  form: "api",
  code,
  message: "words",
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
const lost: Attempt = { end: "broken", broken: { why: "lost", sent: true, text: "reset" } };
const redirect = (location: string): Attempt => ({ end: "redirect", status: 302, location });

function sending(ends: readonly Attempt[], over: Partial<SendOptions> = {}) {
  const time = timeline();
  const sent: HttpRequest[] = [];
  const events: RequestEvent[] = [];
  const holds: [endpoint: string, until: number][] = [];
  const connection: HostConnection = {
    origin: HOST,
    contacted: true,
    requestOf: (_facts, { method, path }) => ({ method, origin: HOST, path, headers: {}, timeoutMs: 1 }),
    attempt: async (request, _endpoint, permit) => {
      permit?.();
      sent.push(request);
      time.advance(10);
      return ends[Math.min(sent.length, ends.length) - 1] ?? ok;
    },
  };
  const send = createSend({
    connection,
    rateLimit: {
      enter: () => undefined,
      leave: () => undefined,
      answered: () => undefined,
      hold: (endpoint, until) => holds.push([endpoint, until]),
    },
    clock: time.clock,
    random: () => 0,
    pause: time.sleep,
    stopped: () => false,
    redact: (text) => text,
    log: (event) => events.push(event),
    tokenHint: undefined,
    ...over,
  });
  return { send, time, sent, events, holds };
}

const steps = (events: readonly RequestEvent[]) =>
  events.map(({ attempt, status, ms, waitMs }) => [attempt, status, ms, waitMs]);

describe("the log", () => {
  test("has an event for each attempt, without the query, and a wait only if another one follows", async () => {
    const { send, events } = sending([lost, failed(500), ok]);
    await send("secrets/list", { scope: "etl" });
    expect(events[2]).toEqual({
      operation: "secrets/list",
      method: "GET",
      path: "/api/2.0/secrets/list",
      attempt: 3,
      status: 200,
      ms: 10,
    });
    expect(steps(events)).toEqual([
      [1, 0, 10, 250],
      [2, 500, 10, 500],
      [3, 200, 10, undefined],
    ]);
  });

  test("has an event for an attempt that ends the request", async () => {
    const { send, events } = sending([failed(500), failed(400)]);
    await thrown(send("clusters/list", {}));
    expect(steps(events)).toEqual([
      [1, 500, 10, 250],
      [2, 400, 10, undefined],
    ]);
    expect(events[1]).not.toHaveProperty("waitMs");
  });

  test("has an event for a redirect, which is followed at once", async () => {
    const { send, events, time } = sending([redirect("/b?c=1"), ok]);
    await send("clusters/list", {});
    expect(steps(events)).toEqual([
      [1, 302, 10, 0],
      [2, 200, 10, undefined],
    ]);
    expect(events[1]?.path).toBe("/b");
    expect(time.waits).toEqual([]);
  });

  test("may be absent", async () => {
    expect(await sending([ok], { log: undefined }).send("clusters/list", {})).toEqual({ a: 1 });
  });
});

describe("other requests to the endpoint", () => {
  test("wait as well after a 429", async () => {
    const { send, holds } = sending([failed(429, "X", 7_000), ok]);
    await send("clusters/list", {});
    expect(holds).toEqual([["clusters/list", START + 10 + 7_000]]);
  });

  test("do not wait after another failure", async () => {
    const { send, holds } = sending([failed(500), lost, ok]);
    await send("clusters/list", {});
    expect(holds).toEqual([]);
  });
});

describe("a redirect", () => {
  test.each(["http://[", "https://other.example.com/", "http://ws.example.com/x"])(
    "to %s is not followed",
    async (location) => {
      const { send, sent } = sending([redirect(location), ok]);
      expect(await thrown(send("clusters/list", {}))).toMatchObject({ diagnostic: { code: "API_REDIRECT" } });
      expect(sent).toHaveLength(1);
    },
  );

  test("is followed with the path and query of its target, below the path of the request", async () => {
    const { send, sent } = sending([redirect("next?x=1"), redirect(`${HOST}/y?z=2#f`), ok]);
    await send("clusters/list", {});
    expect(sent.map(({ path }) => path)).toEqual([
      "/api/2.0/clusters/list",
      "/api/2.0/clusters/next?x=1",
      "/y?z=2",
    ]);
  });

  test("is not followed with another method than GET, whether the request reads or writes", async () => {
    for (const name of ["jobs/delete", "clusters/events"] as const satisfies OperationName[]) {
      const { send, sent } = sending([redirect("/x"), ok]);
      expect(await thrown(send(name, {})), name).toBeInstanceOf(Refused);
      expect(sent).toHaveLength(1);
    }
    expect(OPERATIONS["clusters/events"]).toMatchObject({ kind: "read", method: "POST" });
  });

  test("is followed three times, also if other attempts failed between", async () => {
    const to = (path: string) => redirect(path);
    const three = sending([to("/1"), failed(500), to("/2"), to("/3"), ok]);
    expect(await three.send("clusters/list", {})).toEqual({ a: 1 });
    const four = sending([to("/1"), to("/2"), to("/3"), to("/4"), ok]);
    expect(await thrown(four.send("clusters/list", {}))).toBeInstanceOf(Refused);
  });
});

describe("a write that lost its permission", () => {
  const gone = new Error("the lock is lost");
  const permitted = (times: number) => {
    let asked = 0;
    return () => {
      asked += 1;
      if (asked > times) throw gone;
    };
  };
  const edit = (ends: readonly Attempt[], times: number) => {
    const script = sending(ends);
    return { ...script, result: script.send("clusters/edit", { cluster_id: "1" }, permitted(times)) };
  };

  test("after an attempt that may have acted has an unknown outcome, with the attempts that were made", async () => {
    const problem = await thrown(edit([failed(500), failed(500), ok], 2).result);
    expect(problem).toBeInstanceOf(UnknownOutcome);
    expect(problem).toMatchObject({
      diagnostic: { cause: "clusters/edit failed in the service (500 X), 2 attempts in 1 s: words" },
    });
  });

  test("after attempts that had no effect fails for the lost permission", async () => {
    expect(await thrown(edit([failed(429), ok], 1).result)).toBe(gone);
    expect(await thrown(edit([ok], 0).result)).toBe(gone);
  });
});

test("an early attempt that may have acted counts, also if a later one did not", async () => {
  const { send } = sending([lost, failed(429), failed(400)]);
  expect(await thrown(send("clusters/edit", { cluster_id: "1" }))).toBeInstanceOf(UnknownOutcome);
  const throttled = sending([failed(429), failed(400)]);
  expect(await thrown(throttled.send("clusters/edit", { cluster_id: "1" }))).toBeInstanceOf(Refused);
});

test("once waiting is called off, no attempt is made, before or after the wait", async () => {
  const before = sending([failed(500), ok], { stopped: () => true });
  expect(await thrown(before.send("clusters/list", {}))).toMatchObject({ status: 500 });
  expect(before.time.waits).toEqual([]);
  let stopped = false;
  const during = sending([failed(500), ok], {
    stopped: () => stopped,
    pause: async () => {
      stopped = true;
    },
  });
  expect(await thrown(during.send("clusters/list", {}))).toMatchObject({ status: 500 });
  expect(during.sent).toHaveLength(1);
});

test("the time that a request takes is what passed, or what it waited if the clock was set back", async () => {
  let now = START;
  const { send } = sending([failed(500), failed(400)], {
    clock: () => now,
    pause: async () => {
      now -= 60_000;
    },
  });
  expect(await thrown(send("clusters/list", {}))).toMatchObject({
    diagnostic: { message: "clusters/list was refused (400 X), 2 attempts in 0 s" },
  });
  const slow = sending([failed(500, "X", 5_000), failed(400)]);
  expect(await thrown(slow.send("clusters/list", {}))).toMatchObject({
    diagnostic: { message: "clusters/list was refused (400 X), 2 attempts in 5 s" },
  });
});

test("a refused token that cannot be replaced ends the request with the hint that was given", async () => {
  const { send, sent } = sending([failed(401)], { tokenHint: "log in again" });
  expect(await thrown(send("clusters/list", {}))).toMatchObject({ diagnostic: { hint: "log in again" } });
  expect(sent).toHaveLength(1);
});
