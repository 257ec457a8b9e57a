// The client against the emulator over HTTP, misbehaving on demand: what really happened there, and what the client says.

import { afterEach, beforeEach, expect, test } from "vitest";
import { type Client, createClient } from "../../src/api/client.ts";
import { httpTransport } from "../../src/api/http/transport.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { Refused, UnknownOutcome } from "../../src/core/request-failure.ts";
import { Sensitive } from "../../src/core/sensitive/texts.ts";
import { type RunningServer, startEmulator } from "../../src/emulator/server.ts";
import { thrown } from "./answers.ts";
import { TOKEN } from "./scripted.ts";

let server: RunningServer;
let client: Client;
let close: () => Promise<void>;
const waits: number[] = [];
/** Time that was only pretended to pass. */
let skipped = 0;

beforeEach(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  const http = httpTransport({ connections: 4 });
  close = http.close;
  waits.length = 0;
  client = createClient({
    transport: http.transport,
    host: server.url,
    token: TOKEN,
    clock: () => Date.now() + skipped,
    sleep: async (ms) => {
      const real = Math.min(ms, 30);
      waits.push(ms);
      skipped += ms - real;
      await new Promise((wake) => setTimeout(wake, real));
    },
    random: () => 0,
  });
});
afterEach(async () => {
  await close();
  await server.close();
});

async function fault(rule: JsonObject): Promise<void> {
  const response = await fetch(`${server.url}/__emulator/faults`, {
    method: "PUT",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ rules: [{ times: 1, ...rule }] }),
  });
  expect(response.ok).toBe(true);
}

const pool = { instance_pool_name: "shared", node_type_id: "Standard_DS3_v2" };
const createPool = (): Promise<unknown> =>
  client.writer.write("instance-pools/create", pool).catch((problem) => problem);
const path = "/api/2.0/instance-pools/create";
async function pools(): Promise<number> {
  const { instance_pools = [] } = await client.reader.read("instance-pools/list");
  return (instance_pools as unknown[]).length;
}

test("a create and a list travel over HTTP", async () => {
  expect(await createPool()).toMatchObject({ instance_pool_id: expect.any(String) });
  expect(await pools()).toBe(1);
});

test.each([
  ["drop_before", 0],
  ["drop_after", 1],
  ["truncate", 1],
  ["status_after", 1],
])("a create that meets %s is unknown, and happened %i times", async (fate, count) => {
  await fault({ path, fate, status: 500, error_code: "INTERNAL_ERROR" });
  expect(await createPool()).toBeInstanceOf(UnknownOutcome);
  expect(await pools()).toBe(count);
});

test("a create that commits late is unknown, and happens once", async () => {
  await fault({ path, fate: "commit_late", delay_ms: 50 });
  expect(await createPool()).toBeInstanceOf(UnknownOutcome);
  await expect.poll(pools).toBe(1);
});

test("a create that is throttled waits as told, and happens once", async () => {
  await fault({
    path,
    fate: "status",
    status: 429,
    error_code: "REQUEST_LIMIT_EXCEEDED",
    retry_after: 2,
    times: 3,
  });
  expect(await createPool()).toMatchObject({ instance_pool_id: expect.any(String) });
  expect(await pools()).toBe(1);
  expect(waits.filter((wait) => wait >= 2_000).length).toBeGreaterThanOrEqual(3);
});

test.each(["drop_before", "drop_after", "truncate", "status", "status_after"])(
  "a secret that meets %s twice is written all the same",
  async (fate) => {
    await client.writer.write("secrets/scopes/create", { scope: "etl" });
    await fault({ path: "/api/2.0/secrets/put", fate, status: 502, times: 2 });
    const value = new Sensitive(new TextEncoder().encode("hunter2"));
    await client.writer.write("secrets/put", { scope: "etl", key: "k", string_value: value });
    expect(await client.reader.read("secrets/list", { scope: "etl" })).toMatchObject({
      secrets: [{ key: "k" }],
    });
  },
);

test("a delete whose first answer is lost reports the object as missing", async () => {
  await client.writer.write("secrets/scopes/create", { scope: "etl" });
  await fault({ path: "/api/2.0/secrets/scopes/delete", fate: "drop_after" });
  const problem = await thrown(client.writer.write("secrets/scopes/delete", { scope: "etl" }));
  expect(problem).toBeInstanceOf(Refused);
  expect(problem).toMatchObject({ code: "RESOURCE_DOES_NOT_EXIST" });
});

test("a wrong token is not accepted and not repeated", async () => {
  const { transport, close: end } = httpTransport({ connections: 1 });
  const other = createClient({
    transport,
    host: server.url,
    token: "wat-wrong-wrong",
    clock: Date.now,
    sleep: async () => undefined,
    random: () => 0,
  });
  const problem = await thrown(other.reader.read("jobs/list"));
  await end();
  expect(problem).toMatchObject({ diagnostic: { code: "API_UNAUTHENTICATED" } });
  expect(JSON.stringify(problem)).not.toContain("wat-wrong-wrong");
});

test("a notebook of nine megabytes is imported, although base64 would make it too large", async () => {
  const content = new Uint8Array(9_000_000).fill(0x23);
  const input = { path: "/Shared/big", format: "SOURCE", language: "PYTHON", content };
  await client.writer.write("workspace/import", input);
  const status = await client.reader.read("workspace/get-status", { path: "/Shared/big" });
  expect(status).toMatchObject({ object_type: "NOTEBOOK", language: "PYTHON" });
});

test("the whole of a SCIM list is read", async () => {
  for (let n = 0; n < 5; n++)
    await client.writer.write("scim/users/create", {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
      userName: `u${n}@example.com`,
    });
  const { Resources, totalResults } = await client.reader.read("scim/users/list");
  expect((Resources as unknown[]).length).toBe(totalResults);
});
