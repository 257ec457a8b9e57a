// The service over HTTP: real sockets, real closed connections, a real process that is killed.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_ADMIN } from "../../src/emulator/embedded.ts";
import { type RunningServer, startEmulator } from "../../src/emulator/server.ts";
import type { Body } from "./harness.ts";

const TOKEN = "server-token";
const agents: Agent[] = [];

interface Client {
  send(method: "GET" | "POST" | "PUT", path: string, body?: unknown): Promise<{ status: number; body: Body }>;
}

/** Returns a client with separate connections, so that a test does not see the closed sockets of another. */
function clientOf(url: string): Client {
  const agent = new Agent({ connections: 8 });
  agents.push(agent);
  return {
    async send(method, path, body) {
      const response = await request(url + path, {
        method,
        dispatcher: agent,
        headers: { authorization: `Bearer ${TOKEN}`, accept: "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.body.text();
      return { status: response.statusCode, body: text === "" ? undefined : JSON.parse(text) };
    },
  };
}

afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.destroy()));
});

describe("a server in memory", () => {
  let server: RunningServer;
  let client: Client;
  beforeEach(async () => {
    server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
    client = clientOf(server.url);
  });
  afterEach(() => server.close());

  const groups = async () => (await client.send("GET", "/api/2.0/groups/list")).body.group_names.slice(2);
  const create = (group_name: string) => client.send("POST", "/api/2.0/groups/create", { group_name });
  const faults = (...rules: object[]) => client.send("PUT", "/__emulator/faults", { rules });
  const CREATE = "/api/2.0/groups/create";

  test("serves the contract on loopback to the token it was given", async () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await create("eng")).toEqual({ status: 200, body: { group_name: "eng" } });
    expect((await client.send("GET", "/api/2.0/preview/scim/v2/Me")).body.userName).toBe(DEFAULT_ADMIN);
    expect((await client.send("GET", "/api/2.0/nosuch")).status).toBe(404);
  });

  test("a taken port rejects", async () => {
    const port = Number(new URL(server.url).port);
    await expect(startEmulator({ port, dataDir: ":memory:", token: TOKEN })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
  });

  test.each([
    ["drop_before", []],
    ["drop_after", ["eng"]],
    ["truncate", ["eng"]],
  ])("%s really closes the connection", async (fate, after) => {
    await faults({ path: CREATE, fate, times: 1 });
    await expect(create("eng")).rejects.toThrow();
    expect(await groups()).toEqual(after);
  });

  test("truncate sends the head and half of what the head announces", async () => {
    await create("a-group-with-a-name");
    await faults({ path: "/api/2.0/groups/list", fate: "truncate", times: 1 });
    const seen = await new Promise<{ length: number; announced: number; complete: boolean }>(
      (resolve, reject) => {
        const asked = httpRequest(
          `${server.url}/api/2.0/groups/list`,
          { headers: { authorization: `Bearer ${TOKEN}` } },
          (response) => {
            let length = 0;
            response.on("data", (chunk: Buffer) => {
              length += chunk.length;
            });
            response.on("error", () => undefined);
            response.on("close", () =>
              resolve({
                length,
                announced: Number(response.headers["content-length"]),
                complete: response.complete,
              }),
            );
          },
        );
        asked.on("error", reject);
        asked.end();
      },
    );
    expect(seen.length).toBe(Math.floor(seen.announced / 2));
    expect(seen.complete).toBe(false);
  });

  test("commit_late: closes at once; the request is done later, without another request", async () => {
    await faults({ path: CREATE, fate: "commit_late", delay_ms: 150, times: 1 });
    await expect(create("eng")).rejects.toThrow();
    expect(await groups()).toEqual([]);
    await expect.poll(groups, { timeout: 5000, interval: 50 }).toEqual(["eng"]);
  });

  test("commit_late on a manual clock waits for the clock", async () => {
    await client.send("POST", "/__emulator/clock", { mode: "manual" });
    await faults({ path: CREATE, fate: "commit_late", delay_ms: 150, times: 1 });
    await expect(create("eng")).rejects.toThrow();
    await client.send("POST", "/__emulator/clock", { advance_ms: 149 });
    expect(await groups()).toEqual([]);
    await client.send("POST", "/__emulator/clock", { advance_ms: 1 });
    expect(await groups()).toEqual(["eng"]);
  });

  test("slow: the answer waits, other requests do not", async () => {
    await faults({ path: CREATE, fate: "slow", delay_ms: 300, times: 1 });
    const order: string[] = [];
    await Promise.all([
      create("slow").then(() => order.push("slow")),
      create("quick").then(() => order.push("quick")),
    ]);
    expect(order).toEqual(["quick", "slow"]);
  });

  test("the log has requests in the order of their arrival, whenever they are answered", async () => {
    await faults({ path: CREATE, fate: "slow", delay_ms: 300, times: 1 });
    const slow = create("slow");
    await expect.poll(groups, { timeout: 5000, interval: 5 }).toEqual(["slow"]);
    await create("quick");
    const { body: early } = await client.send("GET", "/__emulator/requests");
    await slow;
    const { body: late } = await client.send("GET", "/__emulator/requests");
    const writes = (log: Body) =>
      log.requests
        .filter((one: { write: boolean }) => one.write)
        .map((one: { status: number }) => one.status);
    expect(writes(early)).toEqual([0, 200]);
    expect(writes(late)).toEqual([200, 200]);
    const seqs = late.requests.map((one: { seq: number }) => one.seq);
    expect(seqs).toEqual(seqs.toSorted((a: number, b: number) => a - b));
  });

  test("status with Retry-After reaches the client as header and body", async () => {
    await faults({ path: CREATE, fate: "status", status: 429, retry_after: 3, times: 1 });
    const response = await request(server.url + CREATE, { method: "POST" });
    expect(response.statusCode).toBe(429);
    expect(response.headers["retry-after"]).toBe("3");
    expect(await response.body.json()).toMatchObject({ error_code: "REQUEST_LIMIT_EXCEEDED" });
  });

  test("the clock is real unless told otherwise", async () => {
    const { body } = await client.send("GET", "/__emulator/clock");
    expect(body.mode).toBe("real");
    expect(Math.abs(body.now - Date.now())).toBeLessThan(60_000);
  });

  test("a body beyond any limit is refused with 413, and the server continues", async () => {
    const chunk = Buffer.alloc(1024 * 1024, "x");
    const status = await new Promise<number>((resolve, reject) => {
      const asked = httpRequest(
        server.url + CREATE,
        { method: "POST", headers: { authorization: `Bearer ${TOKEN}` } },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      asked.on("error", reject);
      let sent = 0;
      const more = () => {
        while (sent++ < 70) if (!asked.write(chunk)) return void asked.once("drain", more);
        asked.end();
      };
      more();
    }).catch((error: NodeJS.ErrnoException) => error.code);
    expect([413, "EPIPE", "ECONNRESET"]).toContain(status);
    expect(await groups()).toEqual([]);
  });

  test("garbage on the socket, and a client that leaves inside its body, do not end the server", async () => {
    const port = Number(new URL(server.url).port);
    for (const text of [
      "\x00\x01garbage\r\n\r\n",
      "POST /api/2.0/groups/create HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{",
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(port, "127.0.0.1", () => {
          socket.write(text);
          setTimeout(() => socket.destroy(), 20);
        });
        socket.on("close", () => resolve());
        socket.on("error", () => undefined);
      });
    }
    expect(await groups()).toEqual([]);
  });
});

describe("a server over a folder", () => {
  let folder: string;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "server-test-"));
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  /** A real process; resolves with its URL when it is ready, rejects with what it said when it ends before. */
  function startProcess(): Promise<{ url: string; kill: () => Promise<void> }> {
    const child = spawn(process.execPath, [join(import.meta.dirname, "serve.ts"), "0", folder, TOKEN]);
    children.push(child);
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    return new Promise((resolve, reject) => {
      let said = "";
      child.stderr.on("data", (chunk: Buffer) => {
        said += chunk.toString();
      });
      child.stdout.once("data", (chunk: Buffer) =>
        resolve({
          url: chunk.toString().trim(),
          kill: () => {
            child.kill("SIGKILL");
            return ended;
          },
        }),
      );
      void ended.then(() => reject(new Error(said)));
    });
  }

  test("kill -9 loses nothing that was answered", async () => {
    const answered = { groups: new Set<string>(["admins", "users"]), secrets: new Set<string>() };
    for (let round = 0; round < 4; round++) {
      const server = await startProcess();
      const client = clientOf(server.url);
      await client.send("POST", "/api/2.0/secrets/scopes/create", { scope: "etl" });
      let left = 25 + 20 * round;
      let killed: Promise<void> | undefined;
      // Three writers at once, so that the kill meets requests in every stage.
      const writer = async (name: string) => {
        for (let i = 0; killed === undefined; i++) {
          const key = `${name}-${round}-${i}`;
          const made = await client.send("POST", "/api/2.0/groups/create", { group_name: key });
          if (made.status === 200) answered.groups.add(key);
          const put = await client.send("POST", "/api/2.0/secrets/put", {
            scope: "etl",
            key,
            string_value: "v",
          });
          if (put.status === 200) answered.secrets.add(key);
          if (left-- === 0) killed = server.kill();
        }
      };
      await Promise.all(["a", "b", "c"].map((name) => writer(name).catch(() => undefined)));
      await killed;
    }
    const client = clientOf((await startProcess()).url);
    const groups = new Set((await client.send("GET", "/api/2.0/groups/list")).body.group_names);
    const secrets = new Set(
      (await client.send("GET", "/api/2.0/secrets/list?scope=etl")).body.secrets.map(
        (secret: { key: string }) => secret.key,
      ),
    );
    expect(answered.groups.size).toBeGreaterThan(100);
    expect([...answered.groups].filter((name) => !groups.has(name))).toEqual([]);
    expect([...answered.secrets].filter((key) => !secrets.has(key))).toEqual([]);
  });

  test("a second process on the same folder ends with a clear error", async () => {
    await startProcess();
    await expect(startProcess()).rejects.toThrow("in use by another process");
  });

  test("a clock that was moved keeps its time after a restart", async () => {
    const first = await startEmulator({ port: 0, dataDir: folder, token: TOKEN });
    await clientOf(first.url).send("POST", "/__emulator/clock", { mode: "manual" });
    const { body } = await clientOf(first.url).send("POST", "/__emulator/clock", { advance_ms: 3_600_000 });
    await first.close();
    const second = await startEmulator({ port: 0, dataDir: folder, token: TOKEN });
    expect((await clientOf(second.url).send("GET", "/__emulator/clock")).body).toEqual(body);
    await second.close();
  });

  test("another administrator may be named at a later start", async () => {
    const first = await startEmulator({ port: 0, dataDir: folder, token: TOKEN });
    await first.close();
    const second = await startEmulator({ port: 0, dataDir: folder, token: TOKEN, admin: "root@example.com" });
    const me = await clientOf(second.url).send("GET", "/api/2.0/preview/scim/v2/Me");
    expect(me.body).toMatchObject({ userName: "root@example.com", groups: [{ display: "admins" }] });
    await second.close();
  });
});
