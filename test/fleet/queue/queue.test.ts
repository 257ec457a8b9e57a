// The queue with real workers: one job a workspace, dead letters, schedules, draining, and no secret in any table.

import { afterAll, describe, test } from "vitest";
import boss from "../../../node_modules/pg-boss/package.json" with { type: "json" };
import { error } from "../../../src/core/diagnostic.ts";
import type { FleetWorkspace } from "../../../src/fleet/model/fleet.ts";
import { QUEUE_VERSION } from "../../../src/fleet/queue/boss-queue.ts";
import { scheduleChanges } from "../../../src/fleet/queue/job-queue.ts";
import { nodeClock } from "../../../src/state/backends/file/node-ports.ts";
import { openFleet, server } from "./fleet-server.ts";
import { startWorker } from "./fleet-worker.ts";
import { holderNamed, jobsOf, resultOf, workspaceNamed } from "./workspaces.ts";

afterAll(() => server?.stop());

describe.skipIf(server === undefined).concurrent("the queue", () => {
  test("has the version that this program knows", ({ expect }) => {
    expect(boss.pgboss.schema).toBe(QUEUE_VERSION);
  });

  test("gives a workspace one job, which a worker runs under its lease and records", async ({ expect }) => {
    const workspaces = [workspaceNamed("ads"), workspaceNamed("web")];
    const sender = await openFleet("one");
    const queue = await sender.openQueue("send");
    expect(await queue.enqueue(jobsOf(workspaces, "drift"))).toEqual([]);
    expect(await queue.enqueue(jobsOf(workspaces, "plan"))).toMatchObject([
      { workspace: "ads" },
      { workspace: "web" },
    ]);
    const worker = await startWorker("one", workspaces, async ({ name }) => {
      const { rows } = await sender.database.query("select worker from one.leases where workspace = $1", [
        name,
      ]);
      return resultOf(name, rows.length === 1 ? "changes" : "failed");
    });
    await Promise.all([worker.saw("ads changes"), worker.saw("web changes")]);
    await worker.end();
    const results = await sender.results.recent(5, ["ads", "web"]);
    expect([...results.values()].map((found) => found.length)).toEqual([1, 1]);
    expect((await sender.database.query("select * from one.leases", [])).rows).toEqual([]);
    expect(await queue.enqueue(jobsOf(workspaces, "drift"))).toEqual([]);
    await queue.close();
    await sender.database.close();
  });

  test("puts a job that always fails into the dead letters with its diagnostics, and back on request", async ({
    expect,
  }) => {
    const workspaces = [workspaceNamed("gone")];
    const sender = await openFleet("dead");
    const queue = await sender.openQueue("send");
    await queue.enqueue(jobsOf(workspaces, "drift"));
    await sender.database.query("update dead_jobs.job set retry_limit = 0", []);
    const diagnostics = [error("API_UNREACHABLE", "cannot connect to https://gone.example\ufffd")];
    const sent = [error("API_UNREACHABLE", "cannot connect to https://gone.example\0")];
    const worker = await startWorker("dead", workspaces, async ({ name }) =>
      resultOf(name, "failed", { diagnostics: sent }),
    );
    await worker.saw("gone failed");
    await worker.end();
    const [dead] = await queue.dead();
    expect(dead).toMatchObject({ workspace: "gone", command: "drift", attempts: 1 });
    expect(dead?.failure).toMatchObject({ status: "failed", worker: "tester", diagnostics });
    expect(await queue.retryDead(dead === undefined ? [] : [dead])).toBe(1);
    expect(await queue.dead()).toEqual([]);
    expect(await queue.enqueue(jobsOf(workspaces, "drift"))).toMatchObject([
      { workspace: "gone", command: "drift" },
    ]);
    await queue.close();
    await sender.database.close();
  });

  test.for([
    {
      state: "heartbeat_on = now() - interval '1 minute'",
      why: "the worker stopped or lost the database before the run ended",
    },
    {
      state: "heartbeat_on = now(), started_on = now() - interval '2 days'",
      why: "the run did not stop at its time limit",
    },
  ])(
    "reports why a job is a dead letter that the queue itself ended: $why",
    async ({ state, why }, { expect }) => {
      const schema = state.includes("started_on") ? "overdue" : "lost";
      const sender = await openFleet(schema);
      const queue = await sender.openQueue("send");
      await queue.enqueue(jobsOf([workspaceNamed("ads")], "drift"));
      const active = `state = 'active', retry_limit = 0, started_on = now(), heartbeat_seconds = 20`;
      await sender.database.query(`update ${schema}_jobs.job set ${active}`, []);
      await sender.database.query(`update ${schema}_jobs.job set ${state}`, []);
      const supervisor = await sender.openQueue("work");
      let dead = await queue.dead();
      for (let look = 0; dead.length === 0 && look < 300; look++) {
        await nodeClock.sleep(100);
        dead = await queue.dead();
      }
      const message = `${why}; check the logs of the workers, then run \`workspace fleet dead-letters --retry\``;
      expect(dead).toMatchObject([{ workspace: "ads", failure: { diagnostics: [], message } }]);
      await supervisor.close();
      await queue.close();
      await sender.database.close();
    },
  );

  test("does not try a run again that exceeded its time, because other jobs would wait for it", async ({
    expect,
  }) => {
    const sender = await openFleet("slow");
    const queue = await sender.openQueue("send");
    await queue.enqueue(jobsOf([workspaceNamed("ads")], "drift"));
    const diagnostics = [error("FLEET_TIMEOUT", "the run did not end within 600 s")];
    const worker = await startWorker("slow", [workspaceNamed("ads")], async ({ name }) =>
      resultOf(name, "timeout", { diagnostics }),
    );
    await worker.saw("ads timeout");
    await worker.end();
    expect(await queue.dead()).toMatchObject([{ workspace: "ads", attempts: 1, failure: { diagnostics } }]);
    await queue.close();
    await sender.database.close();
  });

  test("keeps a dead letter on retry whose workspace already has a job, and lets a retried job run as long as any", async ({
    expect,
  }) => {
    const sender = await openFleet("again");
    const queue = await sender.openQueue("send");
    const fail = async () => {
      await queue.enqueue(jobsOf([workspaceNamed("ads")], "apply"));
      const worker = await startWorker("again", [workspaceNamed("ads")], async ({ name }) =>
        resultOf(name, "failed"),
      );
      await worker.saw("ads failed");
      await worker.end();
    };
    await fail();
    await fail();
    const both = await queue.dead();
    expect(both).toHaveLength(2);
    expect(await queue.retryDead(both)).toBe(1);
    expect(await queue.dead()).toHaveLength(1);
    expect(await queue.retryDead(await queue.dead())).toBe(0);
    expect(await queue.dead()).toMatchObject([{ workspace: "ads", command: "apply" }]);
    const { rows } = await sender.database.query(
      "select expire_seconds::int as s from again_jobs.job where name = 'fleet' and state = 'created'",
      [],
    );
    expect(rows).toEqual([{ s: 23 * 3600 + 60 }]);
    await queue.close();
    await sender.database.close();
  });

  test("tries an apply that failed only once, and a workspace that no fleet file has again", async ({
    expect,
  }) => {
    const sender = await openFleet("once");
    const queue = await sender.openQueue("send");
    await queue.enqueue(jobsOf([workspaceNamed("ads")], "apply"));
    await queue.enqueue(jobsOf([workspaceNamed("unknown")], "drift"));
    const worker = await startWorker("once", [workspaceNamed("ads")], async ({ name }) =>
      resultOf(name, "failed"),
    );
    await Promise.all([worker.saw("ads failed"), worker.saw("unknown released FLEET_UNKNOWN")]);
    await worker.end();
    expect((await queue.dead()).map(({ workspace, command }) => [workspace, command])).toEqual([
      ["ads", "apply"],
    ]);
    const { rows } = await sender.database.query(
      "select data ->> 'workspace' as name, state::text from once_jobs.job where state = 'retry'",
      [],
    );
    expect(rows).toEqual([{ name: "unknown", state: "retry" }]);
    await queue.close();
    await sender.database.close();
  });

  test("tries an apply again whose state was locked by the lost worker of an earlier try", async ({
    expect,
  }) => {
    const sender = await openFleet("locked");
    const queue = await sender.openQueue("send");
    await queue.enqueue(jobsOf([workspaceNamed("ads")], "apply"));
    const diagnostics = [error("STATE_LOCKED", "the state has been locked by root@other")];
    const worker = await startWorker("locked", [workspaceNamed("ads")], async ({ name }) =>
      resultOf(name, worker.seen.includes("ads failed") ? "changes" : "failed", {
        command: "apply",
        diagnostics,
      }),
    );
    await worker.saw("ads changes");
    await worker.end();
    expect(await queue.dead()).toEqual([]);
    expect((await sender.results.recent(5, ["ads"])).get("ads")?.map(({ status }) => status)).toEqual([
      "changes",
    ]);
    await queue.close();
    await sender.database.close();
  });

  test("keeps the schedules of the fleet file: adds, changes, and removes", async ({ expect }) => {
    const fleet = await openFleet("cron");
    const queue = await fleet.openQueue("send");
    const scheduled = (cron: string) => ({ schedule: { cron, timezone: "Europe/Berlin" } });
    const sync = async (workspaces: readonly FleetWorkspace[]) => {
      const changes = scheduleChanges(workspaces, await queue.schedules());
      for (const one of [...changes.added, ...changes.changed]) await queue.putSchedule(one);
      for (const name of changes.removed) await queue.removeSchedule(name);
      const { added, changed, removed, unchanged } = changes;
      return [added.length, changed.length, removed.length, unchanged];
    };
    const [ads, web] = [
      workspaceNamed("ads", scheduled("0 6 * * *")),
      workspaceNamed("web", scheduled("5 6 * * 1-5")),
    ];
    expect(await sync([ads, web, workspaceNamed("none")])).toEqual([2, 0, 0, 0]);
    expect(await sync([ads, web])).toEqual([0, 0, 0, 2]);
    expect(
      await sync([workspaceNamed("ads", scheduled("0 7 * * *")), { ...web, timeoutMs: 60_000 }]),
    ).toEqual([0, 2, 0, 0]);
    expect(await sync([ads])).toEqual([0, 1, 1, 0]);
    expect(
      (await queue.schedules()).map(({ workspace, cron, timezone }) => [workspace, cron, timezone]),
    ).toEqual([["ads", "0 6 * * *", "Europe/Berlin"]]);
    await queue.close();
    await fleet.database.close();
  });

  test("gets a job back that the worker could not finish while it drained", async ({ expect }) => {
    const sender = await openFleet("drain");
    const queue = await sender.openQueue("send");
    await queue.enqueue(jobsOf([workspaceNamed("ads")], "drift"));
    const worker = await startWorker(
      "drain",
      [workspaceNamed("ads")],
      ({ name }, signal) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => resolve(resultOf(name, "interrupted"))),
        ),
      { drainMs: 1 },
    );
    await worker.saw("started ads");
    await worker.end();
    expect(worker.seen.at(-1)).toBe("ads released FLEET_BUSY");
    const { rows } = await sender.database.query("select state::text from drain_jobs.job", []);
    expect(rows).toEqual([{ state: "retry" }]);
    expect(await sender.results.recent(1, ["ads"])).toEqual(new Map());
    await queue.close();
    await sender.database.close();
  });

  test("gets a job back at once when a worker that drains still waits for the lease of another process", async ({
    expect,
  }) => {
    const sender = await openFleet("waits");
    const queue = await sender.openQueue("send");
    await sender.leases.acquire("ads", holderNamed("other"), 0);
    await queue.enqueue(jobsOf([workspaceNamed("ads")], "drift"));
    const worker = await startWorker("waits", [workspaceNamed("ads")], async ({ name }) => resultOf(name));
    const states = async () => {
      const { rows } = await sender.database.query("select state::text from waits_jobs.job", []);
      return rows.map(({ state }) => state);
    };
    for (let look = 0; look < 500 && !(await states()).includes("active"); look++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    await worker.end();
    expect(worker.seen).toEqual(["ads released FLEET_BUSY"]);
    expect(await states()).toEqual(["retry"]);
    await queue.close();
    await sender.database.close();
  }, 30_000);

  test("lets a hanging workspace delay no other", async ({ expect }) => {
    const workspaces = ["a", "hangs", "c", "d"].map((name) => workspaceNamed(name));
    const sender = await openFleet("hang");
    const queue = await sender.openQueue("send");
    await queue.enqueue(jobsOf(workspaces, "drift"));
    const worker = await startWorker(
      "hang",
      workspaces,
      ({ name }, signal) =>
        name === "hangs"
          ? new Promise((resolve) =>
              signal.addEventListener("abort", () => resolve(resultOf(name, "interrupted"))),
            )
          : Promise.resolve(resultOf(name)),
      { drainMs: 1 },
    );
    await Promise.all(["a ok", "c ok", "d ok", "started hangs"].map((text) => worker.saw(text)));
    expect(worker.seen).not.toContain("hangs ok");
    await worker.end();
    await queue.close();
    await sender.database.close();
  });
});
