// Runs of a fleet as child processes: each with its own memory limit, time limit, cancellation, and log.

import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { afterSilence } from "../../../src/cli/fleet/child-main.ts";
import { ChildPool, type ChildRun } from "../../../src/cli/fleet/child-pool.ts";
import { openFleet } from "../../../src/cli/fleet/fleet-options.ts";
import { runWorkspace } from "../../../src/cli/fleet/run-workspace.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";

let emulator: RunningServer;
let folder: string;
const pools: ChildPool[] = [];

beforeAll(async () => {
  emulator = await startEmulator({ port: 0, dataDir: ":memory:", token: "the-token-of-ads" });
  folder = mkdtempSync(join(tmpdir(), "fleet-children-"));
  mkdirSync(join(folder, "small"));
  mkdirSync(join(folder, "huge"));
  writeFileSync(join(folder, "small/workspace.yaml"), "groups: { eng: {} }\n");
  const groups = Array.from({ length: 30_000 }, (_, at) => `  g${at}: {}`).join("\n");
  writeFileSync(join(folder, "huge/workspace.yaml"), `groups:\n${groups}\n`);
});
afterAll(async () => {
  for (const pool of pools) pool.close();
  await emulator.close();
});

function newPool(): ChildPool {
  const pool = new ChildPool(process.env);
  pools.push(pool);
  return pool;
}

function runOf(spec: string, more: Partial<ChildRun> = {}, host = emulator.url): ChildRun {
  return {
    request: {
      command: "plan",
      workspace: spec,
      env: { WORKSPACE_TOKEN: "the-token-of-ads" },
      cwd: folder,
      home: folder,
      file: join(folder, spec, "workspace.yaml"),
      host,
      state: `states/${spec}`,
      variables: [],
      adopt: false,
    },
    memoryMb: 512,
    alone: false,
    timeoutMs: 600_000,
    signal: undefined,
    graceMs: 15_000,
    logged: () => undefined,
    ...more,
  };
}

async function fleet(line: string, file: string, env: Readonly<Record<string, string>> = {}) {
  const context = contextWith({ ADS_TOKEN: "the-token-of-ads", ...env }, folder);
  const code = await runProgram(context, ["fleet", ...line.split(" "), "--fleet", file]);
  return { code, out: context.out(), err: context.err() };
}

function writeFleet(name: string, workspaces: Readonly<Record<string, object>>): string {
  const common = { host: emulator.url, environment: { WORKSPACE_TOKEN: "ADS_TOKEN" }, spec: "small" };
  const all = Object.entries(workspaces).map(([key, own]) => [key, { ...common, ...own }]);
  writeFileSync(join(folder, name), JSON.stringify({ workspaces: Object.fromEntries(all) }));
  return name;
}

describe("the silence of a worker", () => {
  test("does not end a run that computed for longer than the limit while the worker sent messages", async () => {
    const ends: string[] = [];
    const { port1: worker, port2: child } = new MessageChannel();
    child.on(
      "message",
      afterSilence(50, () => ends.push("ended")),
    );
    worker.postMessage("alive");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(ends).toEqual([]);
    await expect.poll(() => ends).toEqual(["ended"]);
    child.close();
  });
});

describe("a run as a child process", () => {
  test("that needs more memory than its limit ends alone, and the result names the limit", async () => {
    const pool = newPool();
    const [huge, small] = await Promise.all([
      pool.run(runOf("huge", { memoryMb: 48 })),
      pool.run(runOf("small", { memoryMb: 128 })),
    ]);
    expect(huge).toMatchObject({
      type: "crashed",
      answer: {
        status: "crashed",
        diagnostics: [{ code: "FLEET_CRASH", message: "the run needs more than its memory limit of 48 MB" }],
      },
    });
    expect(small).toMatchObject({ type: "answer", answer: { status: "changes", counts: { create: 1 } } });
  }, 60_000);

  test("is reused for the next workspace, which learns nothing of the one before", async () => {
    const pool = newPool();
    expect(await pool.run(runOf("small"))).toMatchObject({ answer: { status: "changes" } });
    const [child] = pool.processIds;
    const logged: string[] = [];
    const run = runOf("small", { logged: (text) => logged.push(text) });
    const env = { WORKSPACE_TOKEN: "another-token" };
    const refused = await pool.run({ ...run, request: { ...run.request, env } });
    expect(refused).toMatchObject({
      answer: { status: "failed", diagnostics: [{ code: "API_UNAUTHENTICATED" }] },
    });
    expect(pool.processIds).toEqual([child]);
    expect(logged[0]).toMatch(/^\S+ plan of small by \S+\n$/);
    expect(logged.join("")).not.toContain("the-token-of-ads");
  }, 60_000);

  test("shares its process with other checks, and an apply shares none", async () => {
    const pool = newPool();
    const checks = await Promise.all(Array.from({ length: 4 }, () => pool.run(runOf("small"))));
    expect(checks.map(({ answer }) => answer.status)).toEqual(Array(4).fill("changes"));
    expect(pool.processIds).toHaveLength(1);
    const check = pool.run(runOf("small"));
    const apply = pool.run(runOf("small", { alone: true }));
    expect(pool.processIds).toHaveLength(2);
    await Promise.all([check, apply]);
    expect(pool.processIds).toHaveLength(2);
  }, 60_000);

  test("whose process ends with other checks is tried again alone, and the one that ended it shares none again", async () => {
    const pool = newPool();
    const logged: string[] = [];
    const run = (spec: string) =>
      pool.run(runOf(spec, { memoryMb: 48, logged: (text) => logged.push(text) }));
    const [huge, small] = await Promise.all([run("huge"), run("small")]);
    expect(huge).toMatchObject({ type: "crashed", answer: { status: "crashed", isRepeated: true } });
    expect(small).toMatchObject({ type: "answer", answer: { status: "changes", isRepeated: true } });
    const line = /^\S+ the process ended with this and 1 other check; tried again alone$/gm;
    expect(logged.join("").match(line)).toHaveLength(2);
    const [hugeAgain, smallAgain] = await Promise.all([run("huge"), run("small")]);
    expect([hugeAgain.type, hugeAgain.answer.isRepeated]).toEqual(["crashed", undefined]);
    expect([smallAgain.type, smallAgain.answer.isRepeated]).toEqual(["answer", undefined]);
  }, 120_000);

  test("that is killed by the system is a crash with its cause, and the next run gets a new process", async () => {
    const pool = newPool();
    const silent = createServer(() => undefined);
    await once(silent.listen(0, "127.0.0.1"), "listening");
    const { port } = silent.address() as AddressInfo;
    const ending = pool.run(runOf("small", {}, `http://127.0.0.1:${port}`));
    await once(silent, "connection");
    for (const pid of pool.processIds) process.kill(pid, "SIGKILL");
    expect(await ending).toMatchObject({
      type: "crashed",
      answer: {
        diagnostics: [
          { message: "the system killed the process of the run, usually because memory ran out" },
        ],
      },
    });
    expect(await pool.run(runOf("small"))).toMatchObject({ answer: { status: "changes" } });
    silent.closeAllConnections();
    silent.close();
  }, 60_000);

  test("that does not stop within its grace time is ended with its requests", async () => {
    const pool = newPool();
    const silent = createServer(() => undefined);
    await once(silent.listen(0, "127.0.0.1"), "listening");
    const { port } = silent.address() as AddressInfo;
    const stop = new AbortController();
    const ending = pool.run({
      ...runOf("small", {}, `http://127.0.0.1:${port}`),
      signal: stop.signal,
      graceMs: 0,
    });
    const [socket] = await once(silent, "connection");
    stop.abort();
    await Promise.all([once(socket, "close"), ending]);
    expect((await ending).answer.status).toMatch(/crashed|failed/);
    silent.close();
  }, 60_000);

  test("that timed out on a host that answers 429 names the status, the host, and the number of requests", async () => {
    const busy = createServer((_request, response) =>
      response.writeHead(429, { "retry-after": "1" }).end("{}"),
    );
    await once(busy.listen(0, "127.0.0.1"), "listening");
    const { port } = busy.address() as AddressInfo;
    const host = `http://127.0.0.1:${port}`;
    const file = writeFleet("busy.yaml", { busy: { host, timeout: "4s" } });
    const { code, out } = await fleet("plan", file);
    expect(code).toBe(1);
    expect(out).toMatch(
      new RegExp(
        `^busy: timed out in 4\\.\\d s: the run did not end within 4 s: 429 from ${host}, \\d+ requests? in 4 s`,
      ),
    );
    const log = (await fleet("logs busy", file)).out;
    expect(log).toContain(" stopped before its end\n");
    expect(log).not.toMatch(/ error | plan: /);
    busy.closeAllConnections();
    busy.close();
  }, 60_000);

  test.each([
    ["plan", "GET", /: no answer from HOST, (\d+) requests? in 3 s, \1 without an answer$/, undefined],
    ["apply", "POST", /: 200 from HOST, \d+ requests in 3 s, 1 without an answer$/, true],
  ] as const)(
    "of %s that timed out on a host that does not answer a %s counts the request, and says whether it wrote",
    async (command, method, message, wrote) => {
      const hanging = createServer((request, response) => {
        if (request.method === method) return;
        response.setHeader("content-type", "application/json").end('{"totalResults":0}');
      });
      await once(hanging.listen(0, "127.0.0.1"), "listening");
      const { port } = hanging.address() as AddressInfo;
      const host = `http://127.0.0.1:${port}`;
      const file = writeFleet("hanging.yaml", { [`hangs-${command}`]: { host, timeout: "3s" } });
      const approved = command === "apply" ? " --auto-approve" : "";
      const { out } = await fleet(`${command}${approved} -o json`, file);
      const result = JSON.parse(out);
      expect(result.diagnostics[0].message.replace(host, "HOST")).toMatch(message);
      expect(result.wrote).toBe(wrote);
      hanging.closeAllConnections();
      hanging.close();
    },
    60_000,
  );

  test("that timed out before its first request says so, and does not send the reader to the host", async () => {
    const file = writeFleet("stuck.yaml", { stuck: { timeout: "1s" } });
    const context = contextWith({ ADS_TOKEN: "the-token-of-ads" }, folder);
    const { fleet: declared, selected } = openFleet(context, { fleet: file, select: [] }, []);
    const [workspace] = selected;
    if (workspace === undefined) throw new Error("the fleet file has no workspace");
    const answer = { status: "interrupted", counts: {}, drift: {}, diagnostics: [] };
    const children = {
      run: async () => ({ type: "answer", answer, timedOut: true }),
    } as unknown as ChildPool;
    const run = { context, fleet: declared, command: "plan", children, memoryMb: 512 } as const;
    const { status, diagnostics } = await runWorkspace(run, workspace, undefined);
    expect([status, diagnostics[0]?.message]).toEqual([
      "timeout",
      "the run did not end within 1 s, and sent no request",
    ]);
    expect(diagnostics[0]?.hint).toMatch(/^check the load of the machine/);
  });

  test("that timed out while its process computed, with another check in it, is tried again alone", async () => {
    const pool = newPool();
    const logged: string[] = [];
    const other = pool.run(runOf("small"));
    const limits = { timeoutMs: 1, graceMs: 0, logged: (text: string) => logged.push(text) };
    const checked = await pool.run(runOf("small", limits));
    expect(checked).toMatchObject({ type: "stopped", timedOut: true, answer: { isRepeated: true } });
    expect(logged.join("")).toMatch(
      /^\S+ timed out while its process computed, with other checks in it; tried again alone\n$/,
    );
    expect(await other).toMatchObject({ type: "answer", answer: { isRepeated: true } });
    const alone = await pool.run(runOf("small", limits));
    expect([alone.timedOut, alone.answer.isRepeated]).toEqual([true, undefined]);
  }, 60_000);

  test("keeps its log with its result, without the value of a credential", async () => {
    const file = writeFleet("logs.yaml", { ads: {}, broken: { spec: "broken" } });
    mkdirSync(join(folder, "broken"), { recursive: true });
    writeFileSync(join(folder, "broken/workspace.yaml"), "groups:\n  eng: {\n");
    const planned = await fleet("plan", file);
    expect(planned.code).toBe(1);
    expect(planned.out).toMatch(/^broken: failed in \d\.\d s: \S*broken\/workspace\.yaml:\d+:\d+: /m);
    const logs = await fleet("logs ads", file);
    expect(logs).toMatchObject({ code: 0 });
    expect(logs.out).toMatch(/^plan at \S+ on \S+ \(workspace 0\.1\.0\), attempt 1\n/);
    expect(logs.out).toContain(" plan: 1 create\n");
    expect(logs.out).not.toContain("the-token-of-ads");
    expect((await fleet("logs ads --run 2", file)).code).toBe(1);
    const broken = await fleet("status broken --detailed-exitcode", file);
    expect(broken.code).toBe(1);
    expect(broken.out).toMatch(/^broken: plan: SPEC_YAML: \S*workspace\.yaml:\d+:\d+: /m);
    expect(readFileSync(join(folder, ".workspace/fleet/results.jsonl"), "utf8")).not.toContain(
      "the-token-of-ads",
    );
  }, 60_000);
});
