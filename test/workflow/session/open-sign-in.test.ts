// A sign-in that two runs share: each waits as the service asks, however the other ends.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { openSignIn } from "../../../src/workflow/session/open-sign-in.ts";

let server: Server | undefined;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

/** A host whose token endpoint is busy for a time from its first request on, and asks to wait for a second. */
async function busyHost(busyMs: number): Promise<{ readonly origin: string; readonly asked: () => number }> {
  let asked = 0;
  let since: number | undefined;
  server = createServer((request, response) => {
    const { host } = request.headers;
    const send = (status: number, body: object, headers = {}): void => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    };
    if (request.url?.includes("well-known") === true)
      return send(200, { token_endpoint: `http://${host}/oidc/v1/token` });
    asked += 1;
    since ??= performance.now();
    return performance.now() - since < busyMs
      ? send(503, {}, { "retry-after": "1" })
      : send(200, { access_token: "token", token_type: "Bearer", expires_in: 3600 });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", () => resolve()));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}

const openAt = (origin: string, signal: AbortSignal) =>
  openSignIn(
    {
      identity: origin,
      origin,
      credential: { method: "oauth-m2m", clientId: "app", clientSecret: "secret" },
      networkTo: () => ({}),
    } as never,
    signal,
  );

test("a run keeps its waits at a shared sign-in when the other run ends", async () => {
  const { origin, asked } = await busyHost(1500);
  const [ended, other] = [new AbortController(), new AbortController()];
  const first = openAt(origin, ended.signal);
  ended.abort();
  const second = openAt(origin, other.signal);
  expect(await second.headers()).toMatchObject({ authorization: "Bearer token" });
  expect(asked()).toBe(3);
  await Promise.all([first.close(), second.close()]);
});

test("a sign-in whose runs have all ended fails without its waits", async () => {
  const { origin, asked } = await busyHost(60_000);
  const ended = new AbortController();
  const signIn = openAt(origin, ended.signal);
  ended.abort();
  await expect(signIn.headers()).rejects.toThrow();
  expect(asked()).toBeLessThan(10);
  await signIn.close();
});
