// A run without the lock reads the workspace and the state; another run that writes both meanwhile is not taken for changes from outside.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type Address, parseAddress } from "../../../src/core/address.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { openFileStore } from "../../../src/state/backends/file/file-backend.ts";
import {
  nodeClock,
  nodeFiles,
  nodeRandom,
  thisProcess,
} from "../../../src/state/backends/file/node-ports.ts";
import type { Lease } from "../../../src/state/model/store.ts";
import { contextWith } from "../../cli/context.ts";
import { forwarded } from "../../cli/forwarding.ts";
import { folderWith } from "../../cli/program.ts";

const TOKEN = "settled-token";
const spec = (capacity: number): string =>
  `pools:\n  a: { node_type_id: Standard_DS3_v2, max_capacity: ${capacity} }\n`;

let emulator: RunningServer;
let proxy: Server;
let folder: string;
/** Runs before each list of the workspace is read: after the state was read. */
let beforeList = (): Promise<void> => Promise.resolve();

beforeEach(async () => {
  emulator = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  folder = folderWith(spec(10));
  proxy = createServer((request, response) => {
    void answer(request).then(({ status, text }) => {
      response.writeHead(status, { "content-type": "application/json" }).end(text);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  expect((await run("apply", "--auto-approve")).code).toBe(0);
});
afterEach(async () => {
  beforeList = () => Promise.resolve();
  await new Promise((resolve) => proxy.close(resolve));
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

async function answer(request: IncomingMessage) {
  if (request.url?.includes("instance-pools/list")) await beforeList();
  return forwarded(request, emulator.url, TOKEN);
}

async function run(...words: string[]) {
  const host = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const context = contextWith({ WORKSPACE_HOST: host, WORKSPACE_TOKEN: TOKEN }, folder);
  const code = await runProgram(context, words);
  return { code, text: context.out() + context.err() };
}

const specText = (): string => readFileSync(join(folder, "workspace.yaml"), "utf8");

/** Another run, which acquires the lock now. */
async function otherRun(): Promise<{ readonly lease: Lease; end(): Promise<void> }> {
  const store = openFileStore({
    folder: join(folder, ".workspace/default"),
    fs: nodeFiles,
    clock: nodeClock,
    random: nodeRandom,
    owner: { ...thisProcess(), user: "ada", host: "ci-7" },
  });
  const lease = await store.lock({ timeoutMs: 0 });
  return {
    lease,
    async end() {
      await lease.release();
      await store.close();
    },
  };
}

let written = 0;

function write(lease: Lease): Promise<number> {
  written += 1;
  const address = parseAddress("pools.a") as Address;
  return lease.append({ type: "reported", reported: [{ address, differences: [`${written}`] }] });
}

test("drift that is read while an apply begins and ends does not have its changes", async () => {
  beforeList = async () => {
    beforeList = () => Promise.resolve();
    writeFileSync(join(folder, "other.yaml"), spec(20));
    const applied = await run("apply", "-f", "other.yaml", "--state", ".workspace/default", "--auto-approve");
    expect(applied.code, applied.text).toBe(0);
  };
  const { code, text } = await run("drift");
  expect(text).toContain("No drift");
  expect(code).toBe(0);
});

test.each([{ command: ["drift"] }, { command: ["drift", "accept", "*"] }])(
  "$command ends with exit code 5 while another run writes",
  async ({ command }) => {
    const { lease, end } = await otherRun();
    beforeList = async () => {
      await write(lease);
    };
    const { code, text } = await run(...command);
    await end();
    expect(text).toMatch(
      /error STATE_LOCKED: ada@ci-7 \(process \d+\) wrote the state while the workspace was read/,
    );
    expect(text).toContain("wait with --lock-timeout 10m");
    expect(code).toBe(5);
    expect(specText()).toBe(spec(10));
  },
);

test("a plan says that another run writes", async () => {
  const { lease, end } = await otherRun();
  beforeList = async () => {
    await write(lease);
  };
  const { code, text } = await run("plan");
  await end();
  expect(text).toContain("warning STATE_LOCKED: ada@ci-7");
  expect(text).toContain("No changes");
  expect(code).toBe(0);
});

test("drift is read under the lock of a lost machine", async () => {
  const { end } = await otherRun();
  const { code, text } = await run("drift");
  await end();
  expect(text).toContain("No drift");
  expect(code).toBe(0);
});

test("with a lock timeout, drift waits until the other run has ended", async () => {
  const { lease, end } = await otherRun();
  let ended: Promise<void> | undefined;
  beforeList = async () => {
    if (ended !== undefined) return;
    await write(lease);
    ended = nodeClock.sleep(50).then(end);
  };
  const { code, text } = await run("drift", "--lock-timeout", "1m");
  await ended;
  expect(text).toMatch(/Waiting up to 60 s for the state lock of ada@ci-7/);
  expect(text).toContain("No drift");
  expect(code).toBe(0);
});
