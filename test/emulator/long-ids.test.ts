// INT64 values beyond 2^53 over a socket: no call that takes one rounds it.

import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningServer, startEmulator } from "../../src/emulator/server.ts";

const TOKEN = "long-ids";
const LONG = "9007199254740993";

let server: RunningServer;
beforeAll(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
});
afterAll(() => server.close());

/** The answer as text, so that no parser of the test rounds what the server did not. */
function send(method: string, path: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}/api/2.0/${path}`,
      { method, headers: { authorization: `Bearer ${TOKEN}`, "content-length": body?.length ?? 0 } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () => resolve(Buffer.concat(chunks).toString()));
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

test.each([
  ["jobs/get", "job_id"],
  ["jobs/runs/get", "run_id"],
  ["jobs/runs/get-output", "run_id"],
  ["jobs/runs/export", "run_id"],
])("%s names the whole %s, from the query string and from a body", async (path, field) => {
  expect(await send("GET", `${path}?${field}=${LONG}`)).toContain(` ${LONG} does not exist`);
  expect(await send("GET", path, `{"${field}":${LONG}}`)).toContain(` ${LONG} does not exist`);
});

test.each([
  ["jobs/delete", "job_id"],
  ["jobs/reset", "job_id"],
  ["jobs/run-now", "job_id"],
  ["jobs/runs/cancel", "run_id"],
  ["jobs/runs/delete", "run_id"],
])("%s names the whole %s", async (path, field) => {
  expect(await send("POST", path, `{"${field}":${LONG},"new_settings":{}}`)).toContain(
    ` ${LONG} does not exist`,
  );
});

test("an upload's handle, and the range of a read, are named whole", async () => {
  await send("POST", "fs/put", '{"path":"/f","contents":"YWJj"}');
  const none = `No such stream with handle: ${LONG}.`;
  expect(await send("POST", "fs/add-block", `{"handle":${LONG},"data":"YQ=="}`)).toContain(none);
  expect(await send("POST", "fs/close", `{"handle":${LONG}}`)).toContain(none);
  expect(await send("GET", `fs/read?path=/f&offset=${LONG}`)).toContain(`offset = ${LONG}`);
  expect(await send("GET", `fs/read?path=/f&offset=-${LONG}`)).toContain(`offset = -${LONG}`);
  expect(await send("GET", `fs/read?path=/f&length=${LONG}`)).toContain(`Request: ${LONG} bytes`);
});

test("the next page of events repeats a long end digit for digit", async () => {
  const made = await send(
    "POST",
    "clusters/create",
    '{"spark_version":"6.4.x-scala2.11","node_type_id":"Standard_DS3_v2","num_workers":1}',
  );
  const { cluster_id } = JSON.parse(made);
  await send("POST", "clusters/pin", made);
  const page = `{"cluster_id":"${cluster_id}","end_time":${LONG},"start_time":-${LONG},"limit":1}`;
  const answer = await send("POST", "clusters/events", page);
  expect(answer).toContain(`"end_time":${LONG},`);
  expect(answer).toContain(`"start_time":-${LONG},`);
});

test("numbers in a configuration stay the digits that they are", async () => {
  const made = await send(
    "POST",
    "clusters/create",
    `{"spark_version":"6.4.x-scala2.11","node_type_id":"Standard_DS3_v2","num_workers":1,"spark_conf":{"a":${LONG}}}`,
  );
  expect(await send("GET", `clusters/get?cluster_id=${JSON.parse(made).cluster_id}`)).toContain(
    `"spark_conf":{"a":"${LONG}"}`,
  );
});
