// What a plan requests, and when: each list once, and nothing for a wrong spec or a state of another host.

import { rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith, type TestContext } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

const TOKEN = "plan-token";
const BEARER = { authorization: `Bearer ${TOKEN}` };
const SPEC = `
users: { ada@example.com: {} }
pools: { a: { node_type_id: Standard_DS3_v2 } }
scopes: { s: { acls: { users: READ } }, t: {} }
`;

let emulator: RunningServer;
let folder: string;
beforeEach(async () => {
  emulator = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  folder = folderWith(SPEC);
  expect((await run(["apply", "--auto-approve"])).code).toBe(0);
  await fetch(`${emulator.url}/__emulator/requests`, { method: "DELETE", headers: BEARER });
});
afterEach(async () => {
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<{ readonly code: number; readonly context: TestContext }> {
  const context = contextWith({ WORKSPACE_HOST: emulator.url, WORKSPACE_TOKEN: TOKEN, ...env }, folder);
  return { code: await runProgram(context, words), context };
}

async function requests(): Promise<readonly string[]> {
  const answer = await fetch(`${emulator.url}/__emulator/requests`, { headers: BEARER });
  const { requests: all } = (await answer.json()) as { requests: { path: string; query?: unknown }[] };
  return all.map(({ path, query }) => `${path} ${JSON.stringify(query ?? "")}`).sort();
}

const spoiled = (): void => writeFileSync(join(folder, "workspace.yaml"), `${SPEC}poolz: {}\n`);

test.each(["plan", "drift"])("%s requests each list once", async (command) => {
  const { code } = await run([command]);
  expect(code).toBe(0);
  const asked = await requests();
  // Users, pools, scopes, and two lists for each scope.
  expect(asked).toHaveLength(3 + 2 * 2);
});

test("a spec without what the state manages plans its deletion", async () => {
  writeFileSync(join(folder, "workspace.yaml"), "policy: { max_deletes: 100% }\npools: {}\n");
  const { context } = await run(["plan"]);
  expect(context.out()).toContain("pools.a");
  expect(context.out()).toContain("users.ada@example.com");
});

test("a wrong spec is reported at once, whether or not the host answers", async () => {
  spoiled();
  const told = await run(["plan"]);
  const port = Number(new URL(emulator.url).port);
  await emulator.close();
  const silent = new Silent();
  await silent.listen(port);
  try {
    const { code, context } = await run(["plan"]);
    expect(code).toBe(1);
    expect(context.err()).toBe(told.context.err());
    expect(context.err()).toContain("SPEC_UNKNOWN_KIND");
  } finally {
    await silent.close();
  }
});

test("a state of another host causes no request, and is reported only if the spec is valid", async () => {
  const other = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  try {
    expect((await run(["plan"], { WORKSPACE_HOST: other.url })).context.err()).toContain("STATE_OTHER_HOST");
    spoiled();
    const { context } = await run(["plan"], { WORKSPACE_HOST: other.url });
    expect(context.err()).not.toContain("STATE_OTHER_HOST");
    const answer = await fetch(`${other.url}/__emulator/requests`, { headers: BEARER });
    expect(await answer.json()).toEqual({ requests: [] });
  } finally {
    await other.close();
  }
});

/** A host that takes connections and never says a word. */
class Silent {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server = createServer((socket) => this.#sockets.add(socket.on("error", () => undefined)));

  listen(port: number): Promise<void> {
    return new Promise((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
