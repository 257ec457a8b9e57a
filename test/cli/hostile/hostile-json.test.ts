// JSON from outside that is nested millions deep or hundreds of megabytes large: refused before it is parsed, with a diagnostic.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { JSON_DEPTH } from "../../../src/core/exact-json.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { FORMAT_VERSION, STATE_BYTES } from "../../../src/state/model/backend.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const TOKEN = "hostile-json-token";
const DEEP = "[".repeat(5_000_000) + "]".repeat(5_000_000);
const HUGE = 400 * 1024 * 1024;

let emulator: RunningServer;
let hostile: Server;
let folder: string;
/** What the hostile host answers. */
let answer: { status: number; body: string };

beforeAll(async () => {
  emulator = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  hostile = createServer((_request, response) => {
    response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
  });
  await new Promise<void>((ready) => hostile.listen(0, "127.0.0.1", ready));
});
afterAll(async () => {
  await emulator.close();
  hostile.closeAllConnections();
  hostile.close();
});
beforeEach(async () => {
  folder = folderWith("groups: {eng: {}}\n");
  await fetch(`${emulator.url}/__emulator/reset`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  return () => rmSync(folder, { recursive: true, force: true });
});

async function run(words: readonly string[], host = emulator.url, stdin?: Iterable<Buffer>) {
  const context = contextWith({ WORKSPACE_HOST: host, WORKSPACE_TOKEN: TOKEN }, folder);
  const code = await runProgram(
    stdin === undefined ? context : { ...context, stdin: PassThrough.from(stdin) },
    words,
  );
  return { code, text: context.err() + context.out() };
}

const state = (): string => join(folder, ".workspace/default");

/** A file of zeros that takes no room on the disk. */
function plant(path: string, bytes: number): void {
  writeFileSync(path, "");
  truncateSync(path, bytes);
}

test.each([
  ["an answer", 200, DEEP, "nested too deeply"],
  ["an answer's member", 200, `{"jobs":${DEEP}}`, "nested too deeply"],
  ["a refusal", 400, `{"error_code":"X","message":${DEEP}}`, "nested too deeply"],
])(
  "%s that is nested five million deep is API_PROTOCOL",
  async (_what, status, body, message) => {
    answer = { status, body };
    const host = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`;
    const { code, text } = await run(["api", "jobs/list"], host);
    expect(text).toContain("API_PROTOCOL");
    expect(text).toContain(message);
    expect(code).toBe(1);
  },
  60_000,
);

test.each(["state.json", "journal.jsonl"])(
  "a planted %s of 400 MB is STATE_CORRUPT with its size",
  async (name) => {
    mkdirSync(state(), { recursive: true });
    plant(join(state(), name), HUGE);
    const { code, text } = await run(["plan"]);
    expect(text).toContain("STATE_CORRUPT");
    expect(text).toContain(`${name} has ${HUGE} bytes; the limit is ${STATE_BYTES}`);
    expect(code).toBe(1);
  },
);

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");

test("a state that is nested too deeply under a right digest is STATE_CORRUPT", async () => {
  expect((await run(["apply", "--auto-approve"])).code).toBe(0);
  const path = join(state(), "state.json");
  const [first = "", ...rest] = readFileSync(path, "utf8").split("\n");
  const body = rest.join("\n").replace('"nonces":[', `"nonces":[${DEEP},`);
  expect(body).toContain(DEEP);
  writeFileSync(path, `${first.replace(/[0-9a-f]{64}/, sha(`${FORMAT_VERSION}\n${body}`))}\n${body}`);
  const { code, text } = await run(["plan"]);
  expect(text).toContain("STATE_CORRUPT");
  expect(text).toContain(`nested deeper than ${JSON_DEPTH} levels`);
  expect(code).toBe(1);
});

test("a journal whose line is nested too deeply under a right digest is STATE_CORRUPT", async () => {
  mkdirSync(state(), { recursive: true });
  const begin = { format_version: 1, lineage: "l", serial: 0, state: "", fence: 1, seq: 0 };
  const line = (previous: string, body: string) => {
    const rest = body.slice(1);
    const hash = sha(`${previous}\n${rest}`);
    return { hash, text: `{"hash":"${hash}",${rest}\n` };
  };
  const head = line("", JSON.stringify({ begin }));
  const deep = line(head.hash, `{"seq":1,"at":1,"entry":${DEEP}}`);
  writeFileSync(join(state(), "journal.jsonl"), head.text + deep.text);
  const { code, text } = await run(["plan"]);
  expect(text).toContain("STATE_CORRUPT");
  expect(text).toContain(`nested deeper than ${JSON_DEPTH} levels`);
  expect(code).toBe(1);
});

test("state push refuses JSON that is nested too deeply and a file that is too large", async () => {
  writeFileSync(join(folder, "deep.json"), `{"format_version":1,"records":${DEEP}}`);
  const deep = await run(["state", "push", "deep.json"]);
  expect(deep.text).toContain(`nested deeper than ${JSON_DEPTH} levels`);
  expect(deep.code).toBe(1);
  plant(join(folder, "huge.json"), HUGE);
  const huge = await run(["state", "push", "huge.json"]);
  expect(huge.text).toContain("CLI_FILE");
  expect(huge.text).toContain(`it has ${HUGE} bytes; the limit is ${STATE_BYTES}`);
  expect(huge.code).toBe(1);
});

test("state push stops reading stdin at the limit", async () => {
  let sent = 0;
  const endless = (function* () {
    for (; sent < HUGE; sent += 1 << 20) yield Buffer.alloc(1 << 20, " ");
  })();
  const { code, text } = await run(["state", "push", "-"], emulator.url, endless);
  expect(text).toContain("STATE_CORRUPT");
  expect(text).toContain(`the limit is ${STATE_BYTES}`);
  expect(code).toBe(1);
  expect(sent).toBeLessThan(HUGE);
});

test("a plan file that is nested too deeply is PLAN_FILE, one that is too large CLI_FILE", async () => {
  writeFileSync(join(folder, "deep.plan"), `{"format":"workspace-plan/3","plan":${DEEP}}`);
  const deep = await run(["apply", "deep.plan", "--auto-approve"]);
  expect(deep.text).toContain("PLAN_FILE");
  expect(deep.text).toContain(`nested deeper than ${JSON_DEPTH} levels`);
  expect(deep.code).toBe(1);
  plant(join(folder, "huge.plan"), HUGE);
  const huge = await run(["apply", "huge.plan", "--auto-approve"]);
  expect(huge.text).toContain("CLI_FILE");
  expect(huge.text).toContain(`it has ${HUGE} bytes`);
  expect(huge.code).toBe(1);
});

test("the emulator refuses API and control bodies that are nested too deeply", async () => {
  const body = "[".repeat(4_000_000);
  for (const path of ["/api/2.0/groups/create", "/__emulator/faults", "/__emulator/snapshot"]) {
    const response = await fetch(emulator.url + path, {
      method: path.startsWith("/api") ? "POST" : "PUT",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error_code: "MALFORMED_REQUEST",
      message: expect.stringContaining("nested too deeply"),
    });
  }
});
