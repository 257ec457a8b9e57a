// A service that answers slowly, without an end, or with a request to wait: it delays a plan no longer than --read-timeout.

import { rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const TOKEN = "hostile-service-token";
const CLUSTER =
  "clusters: {c: {spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, num_workers: 1}}\n";
const LIMIT = ["--read-timeout", "400ms"];
const WITHIN = "error API_TIMEOUT: the workspace was not read within 0.4 s: GET";

type Answering = (request: IncomingMessage, response: ServerResponse) => unknown;

let emulator: RunningServer;
let service: Server;
let host: string;
let folder: string;
let answer: Answering;
/** Requests to the service, such as `GET /api/2.0/instance-pools/list`. */
let requests: string[];

beforeAll(async () => {
  emulator = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  service = createServer((request, response) => {
    requests.push(`${request.method} ${(request.url ?? "").split("?")[0]}`);
    response.on("error", () => undefined);
    void answer(request, response);
  });
  await new Promise<void>((ready) => service.listen(0, "127.0.0.1", ready));
  host = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(async () => {
  service.closeAllConnections();
  service.close();
  await emulator.close();
});
beforeEach(async () => {
  folder = folderWith("pools: {shared: {node_type_id: Standard_DS3_v2}}\n");
  requests = [];
  await fetch(`${emulator.url}/__emulator/reset`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  return () => rmSync(folder, { recursive: true, force: true });
});

async function run(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const context = contextWith({ WORKSPACE_HOST: host, WORKSPACE_TOKEN: TOKEN, ...env }, folder);
  const code = await runProgram(context, words);
  return { code, err: context.err(), out: context.out() };
}

/** Answers as the emulator does. */
async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body: Buffer[] = [];
  for await (const piece of request) body.push(piece as Buffer);
  const { method = "GET", url = "", headers } = request;
  const { authorization = "", accept = "", "content-type": type = "application/json" } = headers;
  const upstream = await fetch(emulator.url + url, {
    method,
    headers: { authorization, accept, ...(method === "GET" ? {} : { "content-type": type }) },
    ...(method === "GET" ? {} : { body: Buffer.concat(body) }),
  });
  const text = await upstream.text();
  response.writeHead(upstream.status, { "content-type": "application/json" }).end(text);
}

const isList = ({ url = "" }: IncomingMessage): boolean => url.includes("/instance-pools/list");

/** As the emulator, apart from lists of pools. */
const except =
  (pools: Answering): Answering =>
  (request, response) =>
    isList(request) ? pools(request, response) : forward(request, response);

const busy =
  (retryAfter: string): Answering =>
  (_request, response) =>
    response.writeHead(429, { "retry-after": retryAfter }).end('{"error_code":"BUSY","message":""}');

function drip(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(timer));
}

function dripHeader(_request: IncomingMessage, response: ServerResponse): void {
  const { socket } = response;
  socket?.write("HTTP/1.1 200 OK\r\n");
  const timer = setInterval(() => socket?.write("x-pad: a\r\n"), 20);
  socket?.on("close", () => clearInterval(timer));
}

let page = 0;
function endless(_request: IncomingMessage, response: ServerResponse): void {
  page += 1;
  const text = JSON.stringify({ clusters: [], next_page_token: `page-${page}` });
  setTimeout(() => response.writeHead(200, { "content-type": "application/json" }).end(text), 5);
}

const SLOW: readonly (readonly [string, Answering, RegExp])[] = [
  ["asks to wait for 30 years", busy("999999999"), /\(\d+ attempts?, last status 429\)/],
  ["asks to wait for 5 minutes", busy("300"), /\(1 attempt, last status 429\)/],
  ["asks to wait for a negative time", busy("-5"), /\(\d+ attempts?, last status 429\)/],
  ["sends a body without an end", drip, /\(1 attempt, no answer\)/],
  ["sends headers without an end", dripHeader, /\(1 attempt, no answer\)/],
  ["does not answer", () => undefined, /\(1 attempt, no answer\)/],
];

describe("a plan ends at its limit and names the request, the attempts, and the last status if the service", () => {
  test.each(SLOW)("%s", async (_name, behavior, course) => {
    answer = except(behavior);
    const { code, err, out } = await run(["plan", ...LIMIT]);
    expect(err).toContain(`${WITHIN} /api/2.0/instance-pools/list (`);
    expect(err).toMatch(course);
    expect(err).toContain("hint: try again later, or allow more time with --read-timeout\n");
    expect(code).toBe(1);
    expect(out).toBe("");
  });

  test("has pages without an end", async () => {
    writeFileSync(join(folder, "workspace.yaml"), CLUSTER);
    answer = endless;
    const { code, err } = await run(["plan", "--dialect", "databricks", "--cloud", "azure", ...LIMIT]);
    expect(err).toMatch(/ GET \/api\/2\.1\/clusters\/list \(1 attempt, no answer\)\n/);
    expect(err).toMatch(/cause: \d+ earlier reads were answered\n/);
    expect(code).toBe(1);
  });
});

test("a sign-in that gets no answer ends at the limit, and the run does not wait for it", async () => {
  const hanging: string[] = [];
  answer = ({ url = "" }) => hanging.push(url);
  const credential = { WORKSPACE_TOKEN: "", WORKSPACE_CLIENT_ID: "id", WORKSPACE_CLIENT_SECRET: "secret" };
  const { code, err } = await run(["plan", ...LIMIT], credential);
  expect(hanging).toEqual(["/oidc/.well-known/oauth-authorization-server"]);
  expect(err).toContain(`${WITHIN} /api/2.0/instance-pools/list (1 attempt, no answer)`);
  expect(code).toBe(1);
});

test("an absurd Retry-After is not waited for: the next attempt follows after the ordinary pause", async () => {
  let refused = 0;
  answer = except((request, response) => {
    refused += 1;
    return refused === 1 ? busy("999999999")(request, response) : forward(request, response);
  });
  const { code, out } = await run(["plan", "--read-timeout", "20s"]);
  expect(out).toContain("Plan: 1 to create");
  expect(code).toBe(0);
});

test("a compressed answer is refused at the first attempt, and its body is not read", async () => {
  let closed: (() => void) | undefined;
  const ended = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const bomb = gzipSync(Buffer.alloc(1024 * 1024, " "), { level: constants.Z_BEST_COMPRESSION });
  answer = except((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    // The body has no end: only a client that does not read it closes the connection.
    const more = (): void => void response.write(bomb);
    response.on("drain", more);
    response.on("close", () => closed?.());
    more();
  });
  const { code, err } = await run(["plan"]);
  await ended;
  expect(err).toContain("instance-pools/list was answered 200 with a body that is compressed");
  expect(requests.filter((request) => request === "GET /api/2.0/instance-pools/list")).toHaveLength(1);
  expect(code).toBe(1);
});

describe("the limit is the one", () => {
  test.each([
    ["of WORKSPACE_READ_TIMEOUT", ["plan"], { WORKSPACE_READ_TIMEOUT: "400ms" }],
    ["of --untrusted with the option", ["plan", "--untrusted", ...LIMIT], {}],
    ["of apply", ["apply", "--auto-approve", ...LIMIT], {}],
    ["of export", ["export", ...LIMIT], {}],
    ["of export to a folder", ["export", "--out", "there", ...LIMIT], {}],
    ["of import", ["import", "pools.shared", "1", ...LIMIT], {}],
    ["of a plan of deletions", ["plan", "--destroy", ...LIMIT], {}],
  ])("%s", async (name, words, env) => {
    if (name.endsWith("deletions")) {
      answer = forward;
      expect((await run(["apply", "--auto-approve"])).code).toBe(0);
    }
    answer = except(() => undefined);
    const { code, err, out } = await run(words, env);
    expect(err).toContain(`${WITHIN} /api/2.0/instance-pools/list (1 attempt, no answer)`);
    expect(code).toBe(1);
    expect(out).toBe("");
  });

  test.each(["50ms", "25h", "soon"])("but not %s", async (text) => {
    answer = forward;
    expect((await run(["plan", "--read-timeout", text])).err).toContain("error CLI_USAGE: ");
    const env = { WORKSPACE_READ_TIMEOUT: text };
    expect((await run(["plan"], env)).err).toContain("error CLI_USAGE: WORKSPACE_READ_TIMEOUT is not ");
    expect(requests).toEqual([]);
  });
});

test("drift and its acknowledgement end at the limit", async () => {
  answer = forward;
  expect((await run(["apply", "--auto-approve"])).code).toBe(0);
  answer = except(() => undefined);
  for (const words of [["drift"], ["drift", "acknowledge", "pools.shared", "--until", "2999-01-01"]]) {
    const reason = words.length > 1 ? ["--reason", "maintenance"] : [];
    const { code, err } = await run([...words, ...reason, ...LIMIT]);
    expect(err).toContain(`${WITHIN} /api/2.0/instance-pools/list (1 attempt, no answer)`);
    expect(code).toBe(1);
  }
});

test("the writes of an apply take as long as they need", async () => {
  answer = (request, response) =>
    request.method === "POST"
      ? setTimeout(() => void forward(request, response), 600)
      : forward(request, response);
  const { code, out } = await run(["apply", "--auto-approve", ...LIMIT]);
  expect(out).toContain("Applied");
  expect(code).toBe(0);
});

describe("with the state in the workspace", () => {
  const STATE = { WORKSPACE_STATE: "workspace:/state" };

  test("reading it ends at the limit, too", async () => {
    answer = forward;
    expect((await run(["apply", "--auto-approve"], STATE)).code).toBe(0);
    answer = (request, response) =>
      (request.url ?? "").includes("/fs/") && request.method === "GET"
        ? undefined
        : forward(request, response);
    const { code, err } = await run(["plan", ...LIMIT], STATE);
    expect(err).toMatch(/not read within 0\.4 s: GET \/api\/2\.0\/fs\/[\w-]+ \(1 attempt, no answer\)/);
    expect(code).toBe(1);
  });

  test("an apply whose planning reached the limit releases the lock", async () => {
    answer = except(() => undefined);
    const { code, err } = await run(["apply", "--auto-approve", ...LIMIT], STATE);
    expect(err).toContain(`${WITHIN} /api/2.0/instance-pools/list (`);
    expect(code).toBe(1);
    answer = forward;
    expect((await run(["apply", "--auto-approve"], STATE)).code).toBe(0);
  });
});
