// Steering the queue: priorities, cancellation, pauses, maintenance, limits, waves, and what is tried again.

import { afterAll, describe, expect, test } from "vitest";
import { error } from "../../../src/core/diagnostic.ts";
import type { FleetWorkspace } from "../../../src/fleet/model/fleet.ts";
import type { WorkspaceResult } from "../../../src/fleet/model/result.ts";
import { isTriedAgain } from "../../../src/fleet/queue/worker.ts";
import { openFleet, server } from "./fleet-server.ts";
import { startWorker } from "./fleet-worker.ts";
import { jobsOf, resultOf, workspaceNamed } from "./workspaces.ts";

afterAll(() => server?.stop());

async function openSender(schema: string) {
  const fleet = await openFleet(schema);
  const queue = await fleet.openQueue("send");
  return {
    ...fleet,
    queue,
    async end() {
      await queue.close();
      await fleet.database.close();
    },
  };
}

const untilAborted = (name: string, signal: AbortSignal): Promise<WorkspaceResult> =>
  new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(resultOf(name, "interrupted", { command: "apply" }))),
  );

const LOOKS = 400;

async function until(holds: () => Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

describe.skipIf(server === undefined).concurrent("the queue of a fleet", () => {
  test("starts an apply before the drifts that were queued earlier", async ({ expect }) => {
    const sender = await openSender("priority");
    const workspaces = ["a", "b", "urgent"].map((name) => workspaceNamed(name));
    await sender.queue.enqueue(jobsOf(workspaces.slice(0, 2), "drift"));
    await sender.queue.enqueue(jobsOf(workspaces.slice(2), "apply"));
    const worker = await startWorker("priority", workspaces, async ({ name }) => resultOf(name), {
      parallelism: 1,
    });
    await Promise.all(["a ok", "b ok", "urgent ok"].map((text) => worker.saw(text)));
    expect(worker.seen[0]).toBe("started urgent");
    await worker.end();
    await sender.end();
  });

  test("ends a running apply that is canceled, records that, and does not start it again", async ({
    expect,
  }) => {
    const sender = await openSender("cancel");
    const [ads] = [workspaceNamed("ads")];
    await sender.queue.enqueue(jobsOf([ads, workspaceNamed("web")], "apply"));
    const worker = await startWorker("cancel", [ads], ({ name }, signal) => untilAborted(name, signal), {
      parallelism: 1,
    });
    await worker.saw("started ads");
    const jobs = await sender.queue.jobs();
    expect(jobs.map(({ workspace, state }) => `${workspace} ${state}`).sort()).toEqual([
      "ads running",
      "web queued",
    ]);
    expect(await sender.queue.cancel(jobs)).toBe(2);
    await worker.saw("ads interrupted");
    await worker.end();
    expect(await sender.queue.jobs()).toEqual([]);
    const [result] = (await sender.results.recent(1, ["ads"])).get("ads") ?? [];
    expect(result?.diagnostics[0]).toMatchObject({
      code: "FLEET_CANCELLED",
      message: "the apply of ads was canceled",
    });
    expect(await sender.queue.dead()).toEqual([]);
    await sender.end();
  }, 40_000);

  test("holds the jobs of a pause back until it is resumed, and counts no attempt for that", async ({
    expect,
  }) => {
    const sender = await openSender("pause");
    const workspaces = [workspaceNamed("ads", { labels: { env: "prod" } }), workspaceNamed("web")];
    const pause = await sender.pauses.add({
      workspaces: [],
      select: ["env=prod"],
      reason: "migration",
      by: "ann",
    });
    await sender.queue.enqueue(jobsOf(workspaces, "drift"));
    const attempts: number[] = [];
    const worker = await startWorker("pause", workspaces, async ({ name }, _signal, { attempt }) => {
      attempts.push(attempt);
      return resultOf(name);
    });
    await worker.saw("web ok");
    const onlyTheWaiting = async () => {
      const jobs = await sender.queue.jobs();
      return jobs.length === 1 && jobs[0]?.state === "waiting";
    };
    expect(await until(onlyTheWaiting)).toBe(true);
    expect(await sender.queue.jobs()).toMatchObject([
      { workspace: "ads", state: "waiting", paused: pause.id },
    ]);
    expect(await sender.queue.enqueue(jobsOf([workspaceNamed("ads")], "drift"))).toHaveLength(1);
    await sender.pauses.remove([pause.id]);
    expect(await sender.queue.release([pause.id])).toBe(1);
    await worker.saw("ads ok");
    expect(attempts).toEqual([1, 1]);
    await worker.end();
    await sender.end();
  }, 40_000);

  test("lets a job wait for the end of a pause at its last attempt, too", async ({ expect }) => {
    const sender = await openSender("last");
    const pause = await sender.pauses.add({ workspaces: [], select: [], reason: "", by: "ann" });
    await sender.queue.enqueue(jobsOf([workspaceNamed("ads")], "drift"));
    await sender.database.query("update last_jobs.job set retry_limit = 0", []);
    const worker = await startWorker("last", [workspaceNamed("ads")], async ({ name }) => resultOf(name));
    expect(await until(async () => (await sender.queue.jobs())[0]?.paused === pause.id)).toBe(true);
    expect(await sender.queue.dead()).toEqual([]);
    await sender.pauses.remove([pause.id]);
    expect(await sender.queue.release([pause.id])).toBe(1);
    await worker.saw("ads ok");
    await worker.end();
    await sender.end();
  }, 40_000);

  test("starts no run of a workspace in its maintenance window", async ({ expect }) => {
    const sender = await openSender("windows");
    const maintenance = [{ cron: "* * * * *", timezone: "UTC", durationMs: 3_600_000 }];
    const workspaces = [workspaceNamed("closed", { maintenance }), workspaceNamed("open")];
    await sender.queue.enqueue(jobsOf(workspaces, "drift"));
    const worker = await startWorker("windows", workspaces, async ({ name }) => resultOf(name));
    await worker.saw("open ok");
    expect(await until(async () => (await sender.queue.jobs())[0]?.state === "waiting")).toBe(true);
    const [job] = await sender.queue.jobs();
    expect(job?.startAfter).toBeGreaterThan(Date.now() + 3_000_000);
    expect(worker.seen).not.toContain("started closed");
    await worker.end();
    await sender.end();
  }, 40_000);

  test("runs at most so many workspaces of a host and of a label at once, over all workers", async ({
    expect,
  }) => {
    const limits = [
      { of: "per_host" as const, runs: 2 },
      { of: { label: "env", value: "prod" }, runs: 1 },
    ];
    const fleet = await openFleet("limits");
    const queue = await fleet.openQueue("send", { limits });
    const workspaces = Array.from({ length: 6 }, (_, at) =>
      workspaceNamed(`w${at}`, {
        host: "https://one.example",
        labels: { env: at % 2 === 0 ? "prod" : "test" },
      }),
    );
    await queue.enqueue(jobsOf(workspaces, "drift"));
    const running = new Set<FleetWorkspace>();
    const most = { host: 0, prod: 0 };
    const execute = async (workspace: FleetWorkspace) => {
      running.add(workspace);
      most.host = Math.max(most.host, running.size);
      const prod = [...running].filter(({ labels }) => labels.env === "prod");
      most.prod = Math.max(most.prod, prod.length);
      await new Promise((resolve) => setTimeout(resolve, 60));
      running.delete(workspace);
      return resultOf(workspace.name);
    };
    const workers = await Promise.all(
      [1, 2].map(() => startWorker("limits", workspaces, execute, { parallelism: 3, limits: { limits } })),
    );
    const names = workspaces.map(({ name }) => name);
    expect(await until(async () => (await fleet.results.recent(1, names)).size === 6)).toBe(true);
    expect(most.host).toBeLessThanOrEqual(2);
    expect(most.prod).toBe(1);
    for (const worker of workers) await worker.end();
    await queue.close();
    await fleet.database.close();
  }, 60_000);

  test("starts a wave after the one before, and none after a wave that failed, which each result says", async ({
    expect,
  }) => {
    const sender = await openSender("waves");
    const workspaces = ["dev", "test", "prod1", "prod2"].map((name) => workspaceNamed(name));
    const waves = [["dev"], ["test"], ["prod1", "prod2"]].map((names, at) => ({
      name: `wave ${at + 1}`,
      jobs: jobsOf(
        workspaces.filter(({ name }) => names.includes(name)),
        "apply",
      ),
    }));
    expect(await sender.queue.enqueueWaves("r1", waves)).toEqual([]);
    expect(await sender.queue.enqueueWaves("r2", waves)).toHaveLength(4);
    expect((await sender.queue.jobs()).filter(({ state }) => state === "waiting")).toHaveLength(3);
    const worker = await startWorker("waves", workspaces, async ({ name }) =>
      resultOf(name, name === "test" ? "blocked" : "changes", { command: "apply" }),
    );
    await worker.saw("test blocked");
    expect(worker.seen.indexOf("dev changes")).toBeLessThan(worker.seen.indexOf("started test"));
    expect(await until(async () => (await sender.results.recent(1, ["prod2"])).size === 1)).toBe(true);
    await worker.end();
    const stopped = (await sender.results.recent(1, ["prod1"])).get("prod1")?.[0];
    expect(stopped).toMatchObject({
      status: "interrupted",
      diagnostics: [{ code: "FLEET_CANCELLED", message: 'not started, because wave "wave 2" failed (test)' }],
    });
    expect(worker.seen).not.toContain("started prod1");
    expect(await sender.queue.jobs()).toEqual([]);
    await sender.end();
  }, 60_000);

  test("passes through all waves of a queued apply that succeed", async ({ expect }) => {
    const sender = await openSender("rollout");
    const workspaces = ["dev", "prod"].map((name) => workspaceNamed(name));
    const waves = workspaces.map((workspace) => ({
      name: workspace.name,
      jobs: jobsOf([workspace], "apply"),
    }));
    await sender.queue.enqueueWaves("r1", waves);
    const worker = await startWorker("rollout", workspaces, async ({ name }) =>
      resultOf(name, "changes", { command: "apply" }),
    );
    await worker.saw("prod changes");
    expect(worker.seen).toEqual(["started dev", "dev changes", "started prod", "prod changes"]);
    await worker.end();
    await sender.end();
  }, 60_000);

  test("tries a run that crashed once more, and then leaves it to people", async ({ expect }) => {
    const sender = await openSender("poison");
    await sender.queue.enqueue(jobsOf([workspaceNamed("big")], "drift"));
    const attempts: number[] = [];
    const diagnostics = [error("FLEET_CRASH", "the run needs more than its memory limit of 512 MB")];
    const worker = await startWorker(
      "poison",
      [workspaceNamed("big")],
      async ({ name }, _signal, { attempt }) => {
        attempts.push(attempt);
        return resultOf(name, "crashed", { diagnostics, attempt });
      },
    );
    expect(await until(async () => (await sender.queue.dead()).length === 1)).toBe(true);
    await worker.end();
    expect(attempts).toEqual([1, 2]);
    expect(await sender.queue.dead()).toMatchObject([
      { workspace: "big", attempts: 2, failure: { status: "crashed", diagnostics } },
    ]);
    await sender.end();
  }, 60_000);

  test("shows a worker with its version, and who runs what since when", async ({ expect }) => {
    const sender = await openSender("shown");
    await sender.queue.enqueue(jobsOf([workspaceNamed("ads")], "drift"));
    const worker = await startWorker(
      "shown",
      [workspaceNamed("ads")],
      async ({ name }, signal, _job, logged) => {
        logged("line one\n");
        return untilAborted(name, signal);
      },
      { drainMs: 1 },
    );
    await worker.saw("started ads");
    expect(await until(async () => (await sender.queue.workers()).some(({ running }) => running > 0))).toBe(
      true,
    );
    expect(await sender.queue.workers()).toMatchObject([
      { name: "tester", version: "0.1.0", live: true, running: 1, parallelism: 2 },
    ]);
    expect(await until(async () => (await sender.leases.active("ads"))[0]?.log === "line one\n")).toBe(true);
    expect(await sender.leases.active()).toMatchObject([
      { workspace: "ads", worker: "tester", version: "0.1.0", command: "drift", attempt: 1, isLost: false },
    ]);
    await worker.end();
    await sender.end();
  }, 60_000);
});

describe("a failed run", () => {
  const failed = (code: Parameters<typeof error>[0], message: string, more: Partial<WorkspaceResult> = {}) =>
    resultOf("ads", "failed", { diagnostics: [error(code, message)], ...more });
  const first = { command: "drift", attempt: 1 } as const;

  test.each([
    [
      "an unreachable host",
      failed("API_UNREACHABLE", "https://a.example cannot be reached, 4 attempts in 2 s"),
      true,
    ],
    ["a time-out of the service", failed("API_TIMEOUT", "https://a.example did not answer in time"), true],
    ["a locked state", failed("STATE_LOCKED", "the state has been locked by root@other"), true],
    ["an unreachable state", failed("STATE_IO", "the database cannot be reached"), true],
    [
      "429",
      failed("API_REFUSED", "too many requests", { requests: { sent: 9, retried: 8, lastStatus: 429 } }),
      true,
    ],
    [
      "503",
      failed("API_REFUSED", "unavailable", { requests: { sent: 9, retried: 8, lastStatus: 503 } }),
      true,
    ],
    [
      "403",
      failed("API_FORBIDDEN", "no permission", { requests: { sent: 1, retried: 0, lastStatus: 403 } }),
      false,
    ],
    ["broken YAML", failed("SPEC_YAML", "the document is not valid"), false],
    ["a missing spec", failed("CLI_FILE", "the spec cannot be read"), false],
    ["an unset variable", failed("FLEET_VARIABLE", "the environment variable ADS is not set"), false],
    [
      "an untrusted certificate",
      failed("API_UNREACHABLE", "the certificate of https://a.example is not trusted"),
      false,
    ],
    [
      "an unknown host name",
      failed("API_UNREACHABLE", "the host name of a.example cannot be resolved"),
      false,
    ],
    ["a time limit", resultOf("ads", "timeout"), false],
    ["a second crash in its worker", resultOf("ads", "crashed", { isRepeated: true }), false],
    ["an apply that wrote", failed("API_UNREACHABLE", "cannot be reached", { wrote: true }), false],
  ])("by %s is tried again: %#", (_name, result, isExpected) => {
    expect(isTriedAgain(first, result)).toBe(isExpected);
    expect(isTriedAgain({ command: "apply", attempt: 1 }, result)).toBe(isExpected);
  });
});
