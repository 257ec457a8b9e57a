// Waves whose job ends without success: what becomes of the later waves, and how a retry continues them.

import { afterAll, describe, test } from "vitest";
import type { WorkspaceResult } from "../../../src/fleet/model/result.ts";
import { cancelJobs } from "../../../src/fleet/queue/ended-jobs.ts";
import { nodeClock } from "../../../src/state/backends/file/node-ports.ts";
import { openFleet, server } from "./fleet-server.ts";
import { startWorker } from "./fleet-worker.ts";
import { jobsOf, resultOf, workspaceNamed } from "./workspaces.ts";

afterAll(() => server?.stop());

const WAVES = [["dev1", "dev2"], ["test"], ["prod"]];
const NAMES = WAVES.flat();
const WORKSPACES = NAMES.map((name) => workspaceNamed(name));

let schemas = 0;
/** A repeated test finds nothing of the attempt before it. */
const fresh = (name: string): string => `${name}_${schemas++}`;

/** A fleet whose three waves are in the queue: `dev1` and `dev2`, `test`, `prod`. */
async function openRollout(schema: string) {
  const fleet = await openFleet(schema);
  const queue = await fleet.openQueue("send");
  await queue.enqueueWaves(
    "r1",
    WAVES.map((names, at) => ({
      name: `wave ${at + 1}`,
      jobs: jobsOf(
        WORKSPACES.filter(({ name }) => names.includes(name)),
        "apply",
      ),
    })),
  );
  const jobOf = async (name: string) => (await queue.jobs()).filter(({ workspace }) => workspace === name);
  return {
    ...fleet,
    queue,
    jobOf,
    async reasons() {
      const results = await fleet.results.recent(1, NAMES);
      return Object.fromEntries(
        [...results].map(([name, [result]]) => [name, result?.diagnostics[0]?.message ?? result?.status]),
      );
    },
    /** Bounded: resolves when no job is left, or after 50 s. */
    async untilEmpty() {
      for (let look = 0; look < 1000 && (await queue.jobs()).length > 0; look++)
        await new Promise((resolve) => setTimeout(resolve, 50));
      return (await queue.jobs()).map(({ workspace, state }) => `${workspace} ${state}`);
    },
    async end() {
      await queue.close();
      await fleet.database.close();
    },
  };
}

const applied = async ({ name }: { readonly name: string }): Promise<WorkspaceResult> =>
  resultOf(name, "changes", { command: "apply" });

describe.skipIf(server === undefined).concurrent("the later waves of a queued apply", () => {
  test("are canceled with a result when a job that waits in the first wave is canceled", async ({
    expect,
  }) => {
    const rollout = await openRollout("first");
    await rollout.queue.cancel(await rollout.jobOf("dev1"));
    const worker = await startWorker("first", WORKSPACES, applied);
    expect(await rollout.untilEmpty()).toEqual([]);
    await worker.end();
    expect(await rollout.reasons()).toMatchObject({
      dev2: "changes",
      test: 'not started, because wave "wave 1" was canceled (dev1)',
      prod: 'not started, because wave "wave 1" was canceled (dev1)',
    });
    expect(await rollout.queue.enqueue(jobsOf(WORKSPACES, "drift"))).toEqual([]);
    await rollout.end();
  }, 90_000);

  test("are canceled without a worker by the command that cancels a job, and each job has a result", async ({
    expect,
  }) => {
    const rollout = await openRollout("command");
    const jobs = await rollout.jobOf("dev1");
    const cancelled = await cancelJobs({ ...rollout, clock: nodeClock, program: "0.1.0" }, jobs);
    expect(cancelled.cancelled).toBe(3);
    expect(cancelled.jobs.map(({ workspace, state }) => `${workspace} ${state}`).sort()).toEqual([
      "dev1 queued",
      "prod waiting",
      "test waiting",
    ]);
    expect((await rollout.queue.jobs()).map(({ workspace }) => workspace)).toEqual(["dev2"]);
    expect(await rollout.reasons()).toEqual({
      dev1: "the apply of dev1 was canceled",
      test: 'not started, because wave "wave 1" was canceled (dev1)',
      prod: 'not started, because wave "wave 1" was canceled (dev1)',
    });
    await rollout.end();
  });

  test("of a middle wave keep no former result when the command that cancels one is killed", async ({
    expect,
  }) => {
    const rollout = await openRollout("killed");
    await rollout.results.add(
      resultOf("test", "changes", { command: "apply", startedAt: Date.now() - 1000 }),
    );
    const queue = {
      ...rollout.queue,
      async cancel(jobs: Parameters<typeof rollout.queue.cancel>[0]) {
        await rollout.queue.cancel(jobs);
        throw new Error("killed");
      },
    };
    const options = { ...rollout, queue, clock: nodeClock, program: "0.1.0" };
    await expect(cancelJobs(options, await rollout.jobOf("test"))).rejects.toThrow("killed");
    const worker = await startWorker("killed", WORKSPACES, applied);
    expect(await rollout.untilEmpty()).toEqual([]);
    await worker.end();
    expect(await rollout.reasons()).toEqual({
      dev1: "changes",
      dev2: "changes",
      test: "the apply of test was canceled",
      prod: 'not started, because wave "wave 2" was canceled (test)',
    });
    await rollout.end();
  }, 90_000);

  test("start up to a wave that is canceled while it waits", async ({ expect }) => {
    const rollout = await openRollout("middle");
    await rollout.queue.cancel(await rollout.jobOf("test"));
    const worker = await startWorker("middle", WORKSPACES, applied);
    expect(await rollout.untilEmpty()).toEqual([]);
    await worker.end();
    expect(await rollout.reasons()).toMatchObject({
      dev1: "changes",
      dev2: "changes",
      prod: 'not started, because wave "wave 2" was canceled (test)',
    });
    await rollout.end();
  }, 90_000);

  test("are canceled with a result when a job becomes a dead letter of the queue itself, as of a workspace that left the fleet file", async ({
    expect,
  }) => {
    const rollout = await openRollout("unknown");
    await rollout.database.query("update unknown_jobs.job set retry_limit = 0 where name = 'fleet'", []);
    const rest = WORKSPACES.filter(({ name }) => name !== "dev1");
    const worker = await startWorker("unknown", rest, applied);
    expect(await rollout.untilEmpty()).toEqual([]);
    await worker.end();
    expect(await rollout.queue.dead()).toMatchObject([{ workspace: "dev1" }]);
    expect(await rollout.reasons()).toMatchObject({
      test: 'not started, because wave "wave 1" failed (dev1)',
      prod: 'not started, because wave "wave 1" failed (dev1)',
    });
    await rollout.end();
  }, 90_000);

  test("continue when the dead letter that stopped them is retried with success", async ({ expect }) => {
    const schema = fresh("continued");
    const rollout = await openRollout(schema);
    const failing = await startWorker(schema, WORKSPACES, async ({ name }) =>
      resultOf(name, name === "dev1" ? "failed" : "changes", { command: "apply" }),
    );
    expect(await rollout.untilEmpty()).toEqual([]);
    await failing.end();
    expect(await rollout.queue.retryDead(await rollout.queue.dead())).toBe(1);
    const attempts: number[] = [];
    const worker = await startWorker(schema, WORKSPACES, async ({ name }, _signal, { attempt }) => {
      attempts.push(attempt);
      return resultOf(name, "changes", { command: "apply" });
    });
    expect(await rollout.untilEmpty()).toEqual([]);
    await worker.end();
    expect(worker.seen).toEqual(
      ["dev1", "test", "prod"].flatMap((name) => [`started ${name}`, `${name} changes`]),
    );
    expect(attempts).toEqual([1, 1, 1]);
    expect(await rollout.reasons()).toEqual({
      dev1: "changes",
      dev2: "changes",
      test: "changes",
      prod: "changes",
    });
    await rollout.end();
  }, 150_000);

  test("stay canceled when another job of the wave has failed, and one that a person canceled does not start on a retry", async ({
    expect,
  }) => {
    const schema = fresh("two");
    const rollout = await openRollout(schema);
    await rollout.queue.cancel(await rollout.jobOf("prod"));
    const failing = await startWorker(schema, WORKSPACES, async ({ name }) =>
      resultOf(name, "failed", { command: "apply" }),
    );
    expect(await rollout.untilEmpty()).toEqual([]);
    await failing.end();
    const dead = await rollout.queue.dead();
    expect(await rollout.queue.retryDead(dead.filter(({ workspace }) => workspace === "dev1"))).toBe(1);
    const worker = await startWorker(schema, WORKSPACES, applied);
    expect(await rollout.untilEmpty()).toEqual([]);
    expect(await rollout.reasons()).toMatchObject({
      dev1: "changes",
      test: 'not started, because wave "wave 1" failed (dev2)',
    });
    expect(await rollout.queue.retryDead(await rollout.queue.dead())).toBe(1);
    expect(await rollout.untilEmpty()).toEqual([]);
    await worker.end();
    expect(worker.seen).toContain("test changes");
    expect(worker.seen).not.toContain("started prod");
    await rollout.end();
  }, 150_000);
});
