// The client over undici, against nock and against real sockets that misbehave.

import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import nock from "nock";
import { afterEach, expect, test } from "vitest";
import { type ClientOptions, createClient } from "../../../src/api/client.ts";
import { type HttpOptions, httpTransport } from "../../../src/api/http/transport.ts";
import { Refused, UnknownOutcome } from "../../../src/core/request-failure.ts";
import { thrown } from "../answers.ts";
import { HOST, TOKEN, timeline } from "../scripted.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function connect(host: string, options: Partial<ClientOptions> = {}, http: Partial<HttpOptions> = {}) {
  const { transport, close } = httpTransport({ connections: 10, ...http });
  cleanups.push(close);
  const time = timeline();
  const { clock, sleep } = time;
  return {
    time,
    ...createClient({ transport, host, token: TOKEN, clock, sleep, random: () => 0, ...options }),
  };
}

function nocked(options: Partial<ClientOptions> = {}) {
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
  cleanups.push(() => {
    nock.cleanAll();
    nock.restore();
    nock.enableNetConnect();
  });
  return { scope: nock(HOST), ...connect(HOST, options) };
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  cleanups.push(() => new Promise((done) => server.close(done)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function served(listener: RequestListener) {
  const server = createServer(listener);
  const sockets = { count: 0 };
  server.on("connection", () => {
    sockets.count += 1;
  });
  const url = await listening(server);
  cleanups.push(() => server.closeAllConnections());
  return { url, sockets };
}

test("a request reaches the service with its method, path, headers and body", async () => {
  const { scope, writer } = nocked();
  scope
    .post("/api/2.0/jobs/delete", '{"job_id":4020997813441462789}')
    .matchHeader("authorization", `Bearer ${TOKEN}`)
    .matchHeader("content-type", "application/json")
    .reply(200, {});
  expect(await writer.write("jobs/delete", { job_id: 4020997813441462789n })).toEqual({});
});

test("numbers beyond 2^53 come back exact", async () => {
  const { scope, reader } = nocked();
  scope.get("/api/2.0/clusters/get?cluster_id=a").reply(200, '{"spark_context_id":5558306221970383001}');
  expect(await reader.read("clusters/get", { cluster_id: "a" })).toEqual({
    spark_context_id: 5558306221970383001n,
  });
});

test("Retry-After in seconds and as a date is waited for", async () => {
  const { scope, reader, time } = nocked();
  const path = "/api/2.0/clusters/list";
  scope.get(path).reply(429, { error_code: "REQUEST_LIMIT_EXCEEDED", message: "" }, { "Retry-After": "3" });
  scope.get(path).reply(503, "", { "Retry-After": "Sun, 01 Mar 2020 00:00:13 GMT" });
  scope.get(path).reply(200, { clusters: [] });
  expect(await reader.read("clusters/list")).toEqual({ clusters: [] });
  expect(time.waits.filter((wait) => wait > 0)).toEqual([3_000, 10_000]);
});

test("a reset is repeated for a read and leaves a create unknown after one POST", async () => {
  const { scope, reader, writer } = nocked();
  const lost = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
  scope.get("/api/2.0/jobs/list").replyWithError(lost);
  scope.get("/api/2.0/jobs/list").reply(200, { jobs: [] });
  expect(await reader.read("jobs/list")).toEqual({ jobs: [] });
  let posts = 0;
  scope
    .post("/api/2.0/jobs/create")
    .times(5)
    .reply(() => {
      posts += 1;
      throw lost;
    });
  expect(await thrown(writer.write("jobs/create", { name: "a" }))).toBeInstanceOf(UnknownOutcome);
  expect(posts).toBeLessThanOrEqual(1);
});

test("a redirect to another host is not followed", async () => {
  const { scope, reader } = nocked();
  scope.get("/api/2.0/jobs/list").reply(302, "", { location: "https://evil.example.com/api/2.0/jobs/list" });
  const evil = nock("https://evil.example.com").get("/api/2.0/jobs/list").reply(200, {});
  expect(await thrown(reader.read("jobs/list"))).toMatchObject({ diagnostic: { code: "API_REDIRECT" } });
  expect(evil.isDone()).toBe(false);
});

test("an answer that comes too late is a timeout", async () => {
  const { scope, writer } = nocked({ timeoutMs: 40 });
  scope.post("/api/2.0/clusters/create").reply(200, async () => {
    await new Promise((resolve) => setTimeout(resolve, 150));
    return { cluster_id: "a" };
  });
  const problem = await thrown(writer.write("clusters/create", {}));
  expect(problem).toBeInstanceOf(UnknownOutcome);
  expect(problem).toMatchObject({ diagnostic: { cause: expect.stringContaining("did not answer in time") } });
});

test("one connection serves many requests, and no more than allowed are open", async () => {
  const { url, sockets } = await served((_request, response) => {
    setTimeout(() => response.end("{}"), 5);
  });
  const { reader } = connect(url, { parallelism: 3 }, { connections: 3 });
  await Promise.all(Array.from({ length: 30 }, () => reader.read("jobs/list")));
  expect(sockets.count).toBeLessThanOrEqual(3);
});

test("the number of concurrent requests is limited", async () => {
  let now = 0;
  let most = 0;
  const { url } = await served((_request, response) => {
    now += 1;
    most = Math.max(most, now);
    setTimeout(() => {
      now -= 1;
      response.end("{}");
    }, 2);
  });
  const { reader } = connect(url, { parallelism: 4 });
  await Promise.all(Array.from({ length: 40 }, () => reader.read("jobs/list")));
  expect(most).toBe(4);
});

test("a body that ends before its announced length is not taken for whole", async () => {
  let count = 0;
  const { url } = await served((_request, response) => {
    count += 1;
    if (count > 1) return response.end('{"jobs":[]}');
    response.writeHead(200, { "content-length": 1_000 });
    return response.write('{"jobs":[]}', () => response.destroy());
  });
  const { reader } = connect(url);
  expect(await reader.read("jobs/list")).toEqual({ jobs: [] });
  expect(count).toBe(2);
});

test("an endless body ends with an error", async () => {
  const { url } = await served((_request, response) => {
    const more = (): void => {
      if (!response.destroyed) response.write(" ".repeat(65_536), more);
    };
    more();
  });
  const { reader } = connect(url, {}, { maxBytes: 1_000_000 });
  expect(await thrown(reader.read("jobs/list"))).toMatchObject({ diagnostic: { code: "API_PROTOCOL" } });
});

test("a body that trickles without end is a timeout", async () => {
  const { url } = await served((_request, response) => {
    const timer = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(timer));
  });
  const { writer } = connect(url, { timeoutMs: 60 });
  expect(await thrown(writer.write("clusters/create", {}))).toBeInstanceOf(UnknownOutcome);
});

test("a connection that is closed after the request was read leaves a create unknown, sent once", async () => {
  let posts = 0;
  const { url } = await served((request) => {
    posts += 1;
    request.resume().on("end", () => request.socket.destroy());
  });
  const { writer } = connect(url);
  expect(await thrown(writer.write("jobs/create", { name: "a" }))).toBeInstanceOf(UnknownOutcome);
  expect(posts).toBe(1);
});

test("a connection that is closed in the middle of a large request leaves it unknown, sent once", async () => {
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections += 1;
    socket.once("data", () => socket.resetAndDestroy()).on("error", () => undefined);
  });
  const { writer } = connect(await listening(server));
  const content = new Uint8Array(4_000_000);
  expect(await thrown(writer.write("workspace/import", { path: "/a", content }))).toBeInstanceOf(
    UnknownOutcome,
  );
  expect(connections).toBe(1);
});

test("a closed port certainly refuses even a create", async () => {
  const server = createTcpServer();
  const url = await listening(server);
  await cleanups.pop()?.();
  const problem = await thrown(connect(url).writer.write("jobs/create", {}));
  expect(problem).toBeInstanceOf(Refused);
  expect(problem).toMatchObject({ status: 0, diagnostic: { code: "API_UNREACHABLE" } });
});

test.each([
  ["http://ada:hunter2@localhost:PORT", "the proxy localhost:PORT cannot be reached"],
  ["http://no.invalid:PORT", "the host name of the proxy no.invalid:PORT cannot be resolved"],
])("a proxy that cannot be reached is named, without its password (%s)", async (address, message) => {
  const { port } = new URL(await listening(createTcpServer()));
  await cleanups.pop()?.();
  const proxy = { address: address.replace("PORT", port), except: "" };
  const { reader } = connect("https://workspace.example", {}, { proxy });
  const { diagnostic } = (await thrown(reader.read("jobs/list"))) as Refused;
  expect(diagnostic.message).toContain(
    `${message.replace("PORT", port)}, which is used for https://workspace.example`,
  );
  expect(diagnostic.hint).toMatch(/^check HTTPS_PROXY/);
  expect(JSON.stringify(diagnostic)).not.toContain("hunter2");
});

test("a host of NO_PROXY that cannot be reached is not reported as the proxy", async () => {
  const url = await listening(createTcpServer());
  await cleanups.pop()?.();
  const proxy = { address: "http://localhost:1", except: "127.0.0.1" };
  const { diagnostic } = (await thrown(connect(url, {}, { proxy }).reader.read("jobs/list"))) as Refused;
  expect(diagnostic.message).toContain(`${url} cannot be reached`);
});

test("a host name that does not exist is reported at once", async () => {
  const { reader, time } = connect("https://no-such-host.invalid");
  expect(await thrown(reader.read("jobs/list"))).toMatchObject({ diagnostic: { code: "API_UNREACHABLE" } });
  expect(time.waits).toEqual([]);
});

test("a server that does not speak HTTP or TLS is reported as such", async () => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined).once("data", () => socket.end("220 mail.example.com ESMTP\r\n"));
  });
  const url = await listening(server);
  for (const host of [url, url.replace("http:", "https:")])
    expect(await thrown(connect(host).reader.read("jobs/list"))).toMatchObject({
      diagnostic: { code: "API_PROTOCOL", hint: expect.stringContaining("http://") },
    });
});

test("the bytes of an answer can be collected before the event loop turns again", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const mebibyte = Buffer.alloc(1 << 20, " ");
  const { url } = await served((_request, response) => {
    for (let at = 0; at < 32; at++) response.write(mebibyte);
    response.end("{}");
  });
  const { reader } = connect(url);
  let kept = Number.POSITIVE_INFINITY;
  // The interpreter can still hold the answer in a register; code that keeps it does so each time.
  for (let reads = 0; reads < 8 && kept >= 16; reads += 1) {
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    expect(await reader.read("clusters/list")).toEqual({});
    collectGarbage();
    kept = (process.memoryUsage().arrayBuffers - before) / mebibyte.length;
  }
  expect(kept).toBeLessThan(16);
});
