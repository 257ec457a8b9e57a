// Who the emulator serves over a socket: programs of this machine; its control requests only with the token of its start.

import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request as httpRequest, type OutgoingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { REQUESTS } from "../../../src/emulator/world/limits.ts";

const TOKEN = "door-token";
const BEARER = { authorization: `Bearer ${TOKEN}` };
const API = "/api/2.0/groups/list";
const CONTROL = "/__emulator/clock";

let server: RunningServer;
beforeEach(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
});
afterEach(() => server.close());

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** A request with exactly these headers; `sendsBody: false` announces a body and waits for the answer before sending any. */
function ask(
  path: string,
  headers: OutgoingHttpHeaders,
  { method = "GET", body }: { readonly method?: string; readonly body?: string | "withheld" } = {},
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(server.url + path, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        asked.destroy();
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    asked.on("error", reject);
    if (body === "withheld") asked.flushHeaders();
    else asked.end(body);
  });
}

const port = (): string => new URL(server.url).port;

describe("an emulator", () => {
  test.each([
    ["127.0.0.1", () => `127.0.0.1:${port()}`],
    ["localhost", () => `localhost:${port()}`],
    ["[::1]", () => `[::1]:${port()}`],
    ["LOCALHOST", () => `LOCALHOST:${port()}`],
  ])("answers API and control requests to the host %s", async (_name, host) => {
    for (const path of [API, CONTROL])
      expect((await ask(path, { ...BEARER, host: host() })).status).toBe(200);
  });

  test.each([
    ["a foreign Host (a rebound name)", { host: "evil.example:8080" }],
    ["a Host that begins like loopback", { host: "127.0.0.1.evil.example" }],
    ["a Host that ends like loopback", { host: "evil-localhost" }],
    ["an Origin", { origin: "https://evil.example" }],
    ["an Origin of a sandboxed page", { origin: "null" }],
    ["an Origin on another port of this machine", { origin: "http://127.0.0.1:3000" }],
    ["Sec-Fetch-Site: cross-site", { "sec-fetch-site": "cross-site" }],
    ["Sec-Fetch-Site: same-site", { "sec-fetch-site": "same-site" }],
  ])("refuses API and control requests with %s", async (_name, headers) => {
    for (const path of [API, CONTROL, "/", "/api/2.0/preview/scim/v2/Me"]) {
      const answer = await ask(path, { ...BEARER, ...headers });
      expect({ path, ...answer }).toMatchObject({ status: 403 });
      expect(JSON.parse(answer.text)).toMatchObject({ error_code: "PERMISSION_DENIED" });
    }
    const log = await ask("/__emulator/requests", BEARER);
    expect(JSON.parse(log.text)).toEqual({ requests: [] });
  });

  test("refuses a preflight of a browser and grants it nothing", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
    expect((await ask(API, headers, { method: "OPTIONS" })).status).toBe(403);
  });

  test("answers a page that a person opens", async () => {
    expect((await ask(API, { ...BEARER, "sec-fetch-site": "none" })).status).toBe(200);
  });
});

describe("a control request", () => {
  test.each([
    ["no token", {}, 401],
    ["another token", { authorization: "Bearer door-tokem" }, 403],
    ["a part of the token", { authorization: "Bearer door" }, 403],
    ["the token as a Basic user", { authorization: `Basic ${btoa(`${TOKEN}:x`)}` }, 401],
    ["the token as Bearer", BEARER, 200],
    ["the token as Basic password", { authorization: `Basic ${btoa(`token:${TOKEN}`)}` }, 200],
  ])("with %s is answered %#", async (_name, headers, status) => {
    expect((await ask(CONTROL, headers)).status).toBe(status);
    expect((await ask("/__emulator/reset", headers, { method: "POST" })).status).toBe(status);
  });

  test("needs the token of the start, not that of another administrator", async () => {
    const body = JSON.stringify({ user_name: "admin@example.com" });
    const made = await ask("/__emulator/tokens", BEARER, { method: "POST", body });
    const { token } = JSON.parse(made.text);
    expect((await ask(API, { authorization: `Bearer ${token}` })).status).toBe(200);
    expect((await ask(CONTROL, { authorization: `Bearer ${token}` })).status).toBe(403);
  });
});

describe("a body", () => {
  const announced = (bytes: number, headers: OutgoingHttpHeaders) => ({
    headers: { ...headers, "content-type": "application/json", "content-length": bytes },
    how: { method: "POST", body: "withheld" },
  });

  test.each([
    ["an API request", "/api/2.0/groups/create", REQUESTS.body_bytes, BEARER, 413],
    ["an unknown API request", "/api/2.0/nosuch", REQUESTS.any_body_bytes, BEARER, 413],
    ["a control request", "/__emulator/faults", REQUESTS.control_body_bytes, BEARER, 413],
    ["a snapshot", "/__emulator/snapshot", REQUESTS.snapshot_body_bytes, BEARER, 413],
    ["a control request without a token", "/__emulator/snapshot", 1, {}, 401],
  ])("of %s that is announced too large is refused before any of it is sent", async (...row) => {
    const [, path, limit, given, status] = row;
    const { headers, how } = announced(limit + 1, given);
    expect((await ask(path, headers, how)).status).toBe(status);
  });

  test("of a control request without a length ends at the limit", async () => {
    const answer = new Promise<number | string | undefined>((resolve) => {
      const asked = httpRequest(
        `${server.url}/__emulator/faults`,
        { method: "PUT", headers: BEARER, agent: false },
        (response) => resolve(response.resume().statusCode),
      );
      asked.on("error", (problem: NodeJS.ErrnoException) => resolve(problem.code));
      const chunk = Buffer.alloc(1024 * 1024, " ");
      for (let sent = 0; sent <= REQUESTS.control_body_bytes; sent += chunk.length) asked.write(chunk);
      asked.end();
    });
    expect([413, "EPIPE", "ECONNRESET"]).toContain(await answer);
    expect((await ask(CONTROL, BEARER)).status).toBe(200);
  });
});

test.skipIf(process.platform === "win32")(
  "the files of the world are private in a folder that is open to others",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "door-test-"));
    const before = process.umask(0o022);
    try {
      chmodSync(folder, 0o755);
      for (const name of ["world.sqlite", "world.sqlite-wal", "world.sqlite-shm"])
        writeFileSync(join(folder, name), "", { mode: 0o644 });
      const kept = await startEmulator({ port: 0, dataDir: folder, token: TOKEN });
      try {
        const made = await fetch(`${kept.url}/api/2.0/groups/create`, {
          method: "POST",
          headers: { ...BEARER, "content-type": "application/json" },
          body: JSON.stringify({ group_name: "eng" }),
        });
        expect(made.status).toBe(200);
        const modes = ["world.sqlite", "world.sqlite-wal"].map((name) =>
          (statSync(join(folder, name)).mode & 0o777).toString(8),
        );
        expect(modes).toEqual(["600", "600"]);
      } finally {
        await kept.close();
      }
    } finally {
      process.umask(before);
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
