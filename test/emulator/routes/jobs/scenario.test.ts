// A month of a workspace on a simulated clock: hundreds of scheduled runs on pools, job clusters and a shared cluster.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { CLUSTER, compute, DAY, HOUR, MINUTE, RUNTIME } from "../../compute.ts";
import { type Body, startWorld, type TestWorld } from "../../harness.ts";

let folder: string | undefined;
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true });
  folder = undefined;
});

/** Before clocks go forward in New York (8 March) and in Paris (29 March 2020). */
const FROM = Date.UTC(2020, 2, 5, 0, 10);
const DAYS = 30;

interface Workspace {
  readonly pool: string;
  readonly shared: string;
  readonly hourly: number;
  readonly nightly: number;
  readonly weekdays: number;
  readonly busy: number;
}

async function build(w: TestWorld): Promise<Workspace> {
  const c = compute(w);
  const pool = await c.newPool({
    min_idle_instances: 2,
    max_capacity: 6,
    idle_instance_autotermination_minutes: 5,
  });
  const shared = await c.newCluster({
    num_workers: undefined,
    autoscale: { min_workers: 1, max_workers: 4 },
    autotermination_minutes: 10,
  });
  const schedule = (quartz_cron_expression: string, timezone_id: string) => ({
    schedule: { quartz_cron_expression, timezone_id },
  });
  const onShared = { new_cluster: undefined, existing_cluster_id: shared };
  const new_cluster = { spark_version: RUNTIME, instance_pool_id: pool, num_workers: 2 };
  const email_notifications = { on_success: ["ops@example.com"] };
  return {
    pool,
    shared,
    hourly: await c.newJob({ name: "hourly", new_cluster, ...schedule("0 0 * * * ?", "Europe/Paris") }),
    nightly: await c.newJob({
      name: "nightly",
      ...schedule("0 30 2 * * ?", "America/New_York"),
      email_notifications,
    }),
    weekdays: await c.newJob({
      name: "weekdays",
      ...onShared,
      ...schedule("0 0 9 ? * MON-FRI", "Asia/Kolkata"),
    }),
    busy: await c.newJob({ name: "busy", new_cluster: CLUSTER, ...schedule("0 0/30 8-17 * * ?", "UTC") }),
  };
}

async function runsOf(w: TestWorld, job_id: number): Promise<Body[]> {
  const out: Body[] = [];
  for (let more = true; more; ) {
    const { body } = await w.get("jobs/runs/list", { job_id, limit: 100, offset: out.length });
    out.push(...(body.runs ?? []));
    more = body.has_more;
  }
  return out.reverse();
}

async function check(w: TestWorld, made: Workspace): Promise<void> {
  const c = compute(w);
  const counts: Record<string, number> = {};
  for (const [name, job] of Object.entries(made)) {
    if (typeof job !== "number") continue;
    const runs = await runsOf(w, job);
    counts[name] = runs.length;
    expect(runs.map((run) => run.number_in_job)).toEqual(runs.map((_, index) => index + 1));
    for (const run of runs) {
      expect(run).toMatchObject({
        trigger: "PERIODIC",
        state: { life_cycle_state: "TERMINATED", result_state: "SUCCESS" },
      });
    }
    const starts = runs.map((run) => run.start_time);
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
  }
  // Every hour of real time, once a night, on 22 weekdays, 20 times a day: summer time adds and drops none.
  expect(counts).toEqual({ hourly: DAYS * 24, nightly: DAYS, weekdays: 22, busy: DAYS * 20 });

  expect(await c.runs({ active_only: true })).toEqual([]);
  expect(await c.stats(made.pool)).toEqual([0, 2, 0, 0]);
  expect(await c.state(made.shared)).toBe("TERMINATED");
  const listed = await c.clusters();
  expect(listed.filter((cluster) => cluster.cluster_source === "JOB")).toHaveLength(30);
  expect(listed.every((cluster) => cluster.state === "TERMINATED")).toBe(true);
  const mails = await c.mails();
  expect(mails).toHaveLength(DAYS);

  const nights = (await runsOf(w, made.nightly)).map((run) => new Date(run.start_time).getUTCHours());
  // 2:30 in New York is 7:30 UTC in winter, 6:30 in summer, and 3:00 (7:00 UTC) in the night without a 2:30.
  expect(nights).toEqual([...Array(4).fill(7), ...Array(DAYS - 4).fill(6)]);
}

test("B2.2 schedule: a month in one jump of the clock misses, doubles and leaves nothing", async () => {
  const w = await startWorld({ now: FROM });
  const made = await build(w);
  await w.advance(DAYS * DAY);
  await check(w, made);
});

test("B2.2 schedule: a month in uneven steps is the same month", async () => {
  const w = await startWorld({ now: FROM });
  const made = await build(w);
  let left = DAYS * DAY;
  for (let step = 1; left > 0; step++) {
    const ms = Math.min(left, (step % 7) * 5 * HOUR + (step % 11) * 7 * MINUTE + 333);
    await w.advance(ms);
    left -= ms;
  }
  await check(w, made);
});

test("B2.2 schedule: a month over three restarts of the emulator, on disk, is the same month", async () => {
  folder = mkdtempSync(join(tmpdir(), "workspace-month-"));
  let w = await startWorld({ now: FROM, dataDir: folder });
  const made = await build(w);
  // The third restart comes while a run is active.
  for (const ms of [3 * DAY, 7 * DAY + 13 * HOUR, 4 * DAY + 2 * HOUR - 5 * MINUTE + 500]) {
    await w.advance(ms);
    const now = w.clock.now();
    w.close();
    w = await startWorld({ now, dataDir: folder });
  }
  await w.advance(FROM + DAYS * DAY - w.clock.now());
  await check(w, made);
  w.close();
}, 120_000);
