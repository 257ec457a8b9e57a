// States that a team shares, with the program as real processes: at once, and killed in the middle.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { folderWith, start } from "../../cli/program.ts";
import { sampleFrom } from "../../sample-size.ts";
import { startPostgres } from "../../state/backends/postgres/server.ts";

const TOKEN = "shared-token";
const NAMES = Array.from({ length: 10 }, (_, at) => `p${at}`);
const SPEC = `pools:\n${NAMES.map((name) => `  ${name}: { node_type_id: Standard_DS3_v2 }\n`).join("")}`;
const postgres = startPostgres();
let workspace: RunningServer;

beforeAll(async () => {
  workspace = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
});
afterAll(async () => {
  await workspace.close();
  postgres?.stop();
});
beforeEach(() => control("POST", "reset"));

async function control(method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${workspace.url}/__emulator/${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return answer.json();
}

async function creates(): Promise<number> {
  const { requests } = (await control("GET", "requests")) as { requests: { path: string; status: number }[] };
  return requests.filter((one) => one.path.endsWith("/instance-pools/create") && one.status === 200).length;
}

const slow = (delay_ms: number) =>
  control("PUT", "faults", { rules: [{ path: "/api/2.0/instance-pools/create", fate: "slow", delay_ms }] });

let states = 0;
const FORMS: readonly (readonly [string, boolean, () => string])[] = [
  ["in PostgreSQL", postgres !== undefined, () => postgres?.url(`s${states}`) ?? ""],
  ["in the workspace", true, () => `workspace:/Shared/states/s${states}`],
];

for (const [where, possible, urlOf] of FORMS)
  describe.skipIf(!possible)(`a state ${where}`, () => {
    const apply = ["apply", "--auto-approve", "--parallelism", "2"];
    let env: Record<string, string>;
    beforeEach(() => {
      states += 1;
      env = { WORKSPACE_HOST: workspace.url, WORKSPACE_TOKEN: TOKEN, WORKSPACE_STATE: urlOf() };
    });

    test("two machines apply at once: one waits for the other, and nothing is made twice", async () => {
      const runs = [1, 2].map(
        () => start([...apply, "--lock-timeout", "60s"], { cwd: folderWith(SPEC), env }).ended,
      );
      const ended = await Promise.all(runs);
      expect(ended.map(({ code, stderr }) => [code, /error/.test(stderr)])).toEqual([
        [0, false],
        [0, false],
      ]);
      expect(await creates()).toBe(NAMES.length);
    });

    test("drift fails when the state does not exist, and succeeds once something was applied", async () => {
      const cwd = folderWith(SPEC);
      const before = await start(["drift"], { cwd, env }).ended;
      expect([before.code, before.stderr]).toEqual([1, expect.stringContaining("STATE_NOT_FOUND")]);
      expect(before.stderr).toContain(`s${states}`);
      expect((await start(apply, { cwd, env }).ended).code).toBe(0);
      expect((await start(["drift"], { cwd, env }).ended).code).toBe(0);
    });

    test("without a time to wait, the second one says who holds the lock and exits 5", async () => {
      // Longer than any second run takes to start, and only until it ends.
      await slow(2_000);
      const first = start(apply, { cwd: folderWith(SPEC), env });
      await expect.poll(creates, { timeout: 20_000 }).toBeGreaterThan(0);
      const second = await start(apply, { cwd: folderWith(SPEC), env }).ended;
      await control("DELETE", "faults");
      expect(second.code).toBe(5);
      expect(second.stderr).toMatch(/has been locked by .*state unlock [0-9a-f]{16}/s);
      expect((await first.ended).code).toBe(0);
    });

    test("a run that is killed is continued from another folder, without duplicates", async () => {
      for (const after of sampleFrom([4, 1, 7])) {
        await control("POST", "reset");
        states += 1;
        env = { ...env, WORKSPACE_STATE: urlOf() };
        await slow(60);
        const run = start(apply, { cwd: folderWith(SPEC), env });
        await expect.poll(creates, { timeout: 60_000, interval: 15 }).toBeGreaterThanOrEqual(after);
        run.child.kill("SIGKILL");
        await run.ended;
        await control("DELETE", "faults");
        const cwd = folderWith(SPEC);
        const next = await start(apply, { cwd, env }).ended;
        expect([after, next.code, next.stderr]).toEqual([after, 0, expect.any(String)]);
        expect(await creates()).toBe(NAMES.length);
        expect((await start(["plan", "--detailed-exitcode"], { cwd, env }).ended).code).toBe(0);
        const listed = await start(["state", "list"], { cwd, env }).ended;
        expect(listed.stdout.trim().split("\n")).toEqual(NAMES.map((name) => `pools.${name}`));
      }
    }, 180_000);
  });
