// Two machines whose clocks are 5 hours apart, as real processes: libfaketime sets the clock of the second one.

import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { folderWith, type Running, start } from "../../cli/program.ts";

const TOKEN = "skewed-token";
const NAMES = Array.from({ length: 6 }, (_, at) => `p${at}`);
const SPEC = `pools:\n${NAMES.map((name) => `  ${name}: { node_type_id: Standard_DS3_v2 }\n`).join("")}`;
const APPLY = ["apply", "--auto-approve", "--parallelism", "1"];
const isInstalled = spawnSync("faketime", ["--version"]).status === 0;

/** Each test has a workspace, because the tests wait for leases and so run at once. */
async function openWorkspace() {
  const server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  const control = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${server.url}/__emulator/${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return answer.json();
  };
  return {
    server,
    /** The number of pools that were created. */
    async creates(): Promise<number> {
      const { requests } = (await control("GET", "requests")) as {
        requests: { path: string; status: number }[];
      };
      return requests.filter((sent) => sent.path.endsWith("/instance-pools/create") && sent.status === 200)
        .length;
    },
    slow: (delay_ms: number) =>
      control("PUT", "faults", {
        rules: [{ path: "/api/2.0/instance-pools/create", fate: "slow", delay_ms }],
      }),
    fast: () => control("DELETE", "faults"),
  };
}

const PLACES = [
  ["a folder", "+5h", () => mkdtempSync(join(tmpdir(), "skewed-"))],
  ["the workspace", "-5h", () => "workspace:/Shared/states/skewed"],
] as const;

for (const [where, offset, place] of PLACES)
  describe.skipIf(!isInstalled).concurrent(`a state in ${where}`, { timeout: 60_000 }, () => {
    const runsOn = (server: RunningServer) => {
      const env = { WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN, WORKSPACE_STATE: place() };
      return (more: readonly string[], lease: string, offset?: string): Running =>
        start([...APPLY, ...more], {
          cwd: folderWith(SPEC),
          env: { ...env, WORKSPACE_LEASE: lease },
          ...(offset === undefined ? {} : { under: ["faketime", "-f", offset] }),
        });
    };

    test.each(["+5h", "-5h"])("a live run keeps its lock from a run at %s", async (offset) => {
      const { server, creates, slow, fast } = await openWorkspace();
      const begin = runsOn(server);
      await slow(4_000);
      const first = begin([], "60s");
      await expect.poll(creates, { timeout: 20_000 }).toBeGreaterThan(0);
      const atOnce = await begin([], "60s", offset).ended;
      const waited = await begin(["--lock-timeout", "2s"], "60s", offset).ended;
      await fast();
      expect([atOnce.code, waited.code]).toEqual([5, 5]);
      expect(atOnce.stderr).toMatch(/STATE_LOCKED.* has been locked by .*state unlock [0-9a-f]{16}/s);
      expect(waited.stderr).toMatch(
        /^Waiting up to 2 s for the state lock of .*\. The lock expires after 120 s without a heartbeat\.$/m,
      );
      expect((await first.ended).code).toBe(0);
      expect(await creates()).toBe(NAMES.length);
      await server.close();
    });

    test(`a frozen run loses its lock to a run at ${offset} that watched it for the whole lease, and sends nothing afterwards`, async ({
      expect,
    }) => {
      const { server, creates, slow, fast } = await openWorkspace();
      const begin = runsOn(server);
      await slow(500);
      const first = begin([], "4s");
      await expect.poll(creates, { timeout: 20_000 }).toBeGreaterThan(0);
      first.child.kill("SIGSTOP");
      await fast();
      const short = await begin(["--lock-timeout", "1s"], "4s", offset).ended;
      expect(short.code).toBe(5);
      expect(short.stderr).toMatch(
        /no heartbeat for 1 s.*which acquires the lock after 8 s without a heartbeat/s,
      );
      const second = await begin(["--lock-timeout", "60s"], "4s", offset).ended;
      expect([second.code, second.stdout]).toEqual([0, expect.stringContaining("Applied")]);
      expect(await creates()).toBe(NAMES.length);
      first.child.kill("SIGCONT");
      const woken = await first.ended;
      expect(woken.code).not.toBe(0);
      expect(woken.stderr).toMatch(
        /the lock on the state was lost: (another run acquired it|it was not renewed in time)/,
      );
      expect(await creates()).toBe(NAMES.length);
      await server.close();
    });
  });

test.skipIf(isInstalled)("NOT TRIED WITHOUT FAKETIME: two processes with different clocks", () => {
  expect(isInstalled).toBe(false);
});
