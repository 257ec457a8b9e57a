// One attempt against nock: headers, the place in the line, and what the attempt ended with.

import { describe, expect, test } from "vitest";
import { OPERATIONS } from "../../../src/api/contract/operations.ts";
import type { HttpRequest, HttpResponse } from "../../../src/api/http/transport.ts";
import { authorization, createHostConnection } from "../../../src/api/retry/connection.ts";
import type { Failure } from "../../../src/core/diagnostic.ts";
import { nockedTransport } from "../../nocked.ts";
import { apiError, json, refused, thrown } from "../answers.ts";
import { HOST, START, timeline } from "../scripted.ts";

const TIMEOUT_MS = 60_000;
const shared = { accept: "application/json", "user-agent": "workspace" };

function connected(
  answer: HttpResponse | Error,
  over: Partial<Parameters<typeof createHostConnection>[0]> = {},
) {
  const time = timeline();
  const calls: unknown[][] = [];
  const connection = createHostConnection({
    transport: nockedTransport(() => {
      calls.push(["sent"]);
      time.advance(40);
      if (answer instanceof Error) throw answer;
      return answer;
    }),
    host: HOST,
    token: "abc",
    auth: "bearer",
    timeoutMs: TIMEOUT_MS,
    clock: time.clock,
    rateLimit: {
      enter: (endpoint) => void calls.push(["enter", endpoint]),
      leave: () => void calls.push(["leave"]),
      answered: (...rest) => void calls.push(["answered", ...rest]),
      hold: () => undefined,
    },
    ...over,
  });
  return { connection, calls };
}

const request: HttpRequest = {
  method: "GET",
  origin: HOST,
  path: "/",
  headers: { a: "b" },
  timeoutMs: TIMEOUT_MS,
};

describe("a request", () => {
  const { connection } = connected(json({}), { host: `${HOST}/base` });
  const authorized = { authorization: "Bearer abc", ...shared };
  const prepared = { method: "POST", path: "/api", secrets: [] };

  test("without a body has no content type", () => {
    expect(connection.requestOf(OPERATIONS["clusters/list"], prepared)).toEqual({
      method: "POST",
      origin: HOST,
      path: "/base/api",
      timeoutMs: TIMEOUT_MS,
      headers: authorized,
    });
  });

  test("with a body has the content type of its operation, or its own", () => {
    const of = (contentType?: string) =>
      connection.requestOf(OPERATIONS["clusters/list"], {
        ...prepared,
        body: "{}",
        ...(contentType === undefined ? {} : { contentType }),
      });
    expect(of()).toMatchObject({
      body: "{}",
      headers: { ...authorized, "content-type": "application/json" },
    });
    expect(of("multipart/form-data")).toMatchObject({
      body: "{}",
      headers: { ...authorized, "content-type": "multipart/form-data" },
    });
  });
});

describe("an attempt", () => {
  test("that is answered leaves the line, with the time of its begin and whether it was throttled", async () => {
    for (const [answer, throttled] of [
      [json({ a: 1 }), false],
      [apiError(429, "X"), true],
    ] as const) {
      const { connection, calls } = connected(answer);
      expect(connection.contacted).toBe(false);
      await connection.attempt(request, "clusters/list");
      expect(calls).toEqual([
        ["enter", "clusters/list"],
        ["sent"],
        ["leave"],
        ["answered", "clusters/list", START, throttled],
      ]);
      expect(connection.contacted).toBe(true);
    }
  });

  test("that breaks leaves the line, and the host has not answered", async () => {
    const { connection, calls } = connected(refused());
    expect(await connection.attempt(request, "clusters/list")).toMatchObject({
      end: "broken",
      broken: { why: "refused" },
    });
    expect(calls).toEqual([["enter", "clusters/list"], ["sent"], ["leave"]]);
    expect(connection.contacted).toBe(false);
  });

  test("that is not permitted leaves the line without being sent", async () => {
    const { connection, calls } = connected(json({}));
    const withheld = new Error("the lock is lost");
    const attempt = connection.attempt(request, "clusters/list", () => {
      throw withheld;
    });
    expect(await thrown(attempt)).toBe(withheld);
    expect(calls).toEqual([["enter", "clusters/list"], ["leave"]]);
  });

  test("waits for its place in the line before it is permitted", async () => {
    const order: string[] = [];
    const { connection } = connected(json({}), {
      rateLimit: {
        enter: async () => void order.push("place"),
        leave: () => undefined,
        answered: () => undefined,
        hold: () => undefined,
      },
    });
    await connection.attempt(request, "clusters/list", () => order.push("permit"));
    expect(order).toEqual(["place", "permit"]);
  });
});

describe("the credential", () => {
  test("of a sign-in is added to each request", async () => {
    const renewed: unknown[] = [];
    const { connection } = connected(json({}), {
      token: {
        headers: async () => ({ authorization: "Bearer one" }),
        renew: async (headers) => void renewed.push(headers),
        secrets: () => [],
      },
    });
    expect(connection.requestOf(OPERATIONS["clusters/list"], { ...request, secrets: [] }).headers).toEqual(
      shared,
    );
    expect(await connection.signed?.(request)).toEqual({
      ...request,
      headers: { a: "b", authorization: "Bearer one" },
    });
    await connection.renew?.(request);
    expect(renewed).toEqual([request.headers]);
  });

  test("that is the only one is in every request", () => {
    expect(connected(json({})).connection).not.toHaveProperty("signed");
    expect(connected(json({})).connection).not.toHaveProperty("renew");
  });

  test("is the bearer form, or Basic with the user token", () => {
    expect(authorization("abc", "bearer")).toBe("Bearer abc");
    expect(authorization("abc", "basic")).toBe(`Basic ${btoa("token:abc")}`);
  });

  test.each([
    ["", "no token is set", "set WORKSPACE_TOKEN, or a token in the profile"],
    ...["a\nb", "a b", "é", "a\0", "a ", " a", "\x7f"].map((token) => [
      token,
      "the token contains spaces, line breaks, or characters outside ASCII",
      "copy the token again without surrounding characters",
    ]),
  ])("%j is refused without being repeated", async (token = "", message, hint) => {
    const problem = await thrown(Promise.resolve().then(() => authorization(token, "bearer")));
    expect((problem as Failure).diagnostics).toMatchObject([{ code: "API_UNAUTHENTICATED", message, hint }]);
  });

  test.each(["!", "~", "a~!b"])("%j may be in a header", (token) => {
    expect(authorization(token, "bearer")).toBe(`Bearer ${token}`);
  });
});
