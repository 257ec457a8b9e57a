// How many runs there may be, and what happens to the others: skips, refusals, retries, schedules
// (contract B 2.2, contract B 4.2, contract B 8).

import { beforeEach, describe, expect, test } from "vitest";
import { compute, DAY, HOUR, JOB, MINUTE, refused, SECOND } from "../../compute.ts";
import { type Body, START, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
let c: ReturnType<typeof compute>;
beforeEach(async () => {
  w = await startWorld();
  c = compute(w);
});

const EVERY_MINUTE = { quartz_cron_expression: "0 * * * * ?", timezone_id: "UTC" };
const tooMany = refused(429, "REQUEST_LIMIT_EXCEEDED");
const states = async (job_id: number): Promise<string[]> =>
  (await c.runs({ job_id, limit: 999 })).map((run: Body) => run.state.life_cycle_state).reverse();
/** A job whose runs fail as soon as they work. */
const failing = async (job: number): Promise<number> => {
  const run = await c.runNow(job);
  await c.finish(run, "FAILED");
  return run;
};
/** Lets every active run fail, as often as asked, with time between. */
const failAll = async (rounds: number, ms: number): Promise<void> => {
  for (let round = 0; round < rounds; round++) {
    for (const run of await c.runs({ active_only: true })) await c.finish(run.run_id, "FAILED");
    await w.advance(ms);
  }
};

describe("concurrent runs of a job", () => {
  test("B2.2 max_concurrent_runs, B2.3 result_state: one by default, the next is SKIPPED with a message", async () => {
    const job = await c.newJob();
    await c.runNow(job);
    const second = await c.run(await c.runNow(job));
    expect(second.state).toMatchObject({ life_cycle_state: "SKIPPED", result_state: "SKIPPED" });
    expect(second.state.state_message).toContain("limit of 1 concurrent runs");
    expect(second.number_in_job).toBe(2);
    expect(second).not.toHaveProperty("cluster_instance");
  });

  test("B2.2 max_concurrent_runs: as many as it says", async () => {
    const job = await c.newJob({ max_concurrent_runs: 2 });
    for (let count = 0; count < 4; count++) await c.runNow(job);
    expect(await states(job)).toEqual(["PENDING", "PENDING", "SKIPPED", "SKIPPED"]);
    await w.advance(5 * SECOND);
    await c.runNow(job);
    expect((await states(job)).at(-1)).toBe("PENDING");
  });

  test("B2.2 max_concurrent_runs: 0 skips all new runs", async () => {
    const job = await c.newJob({ max_concurrent_runs: 0 });
    await c.runNow(job);
    await c.runNow(job);
    expect(await states(job)).toEqual(["SKIPPED", "SKIPPED"]);
  });

  test("B2.2 max_concurrent_runs: lowering it kills no active run, but skips until fewer are active", async () => {
    const job = await c.newJob({ max_concurrent_runs: 3 });
    for (let count = 0; count < 3; count++) await c.runNow(job);
    await w.post("jobs/reset", { job_id: job, new_settings: { ...JOB, max_concurrent_runs: 1 } });
    await c.runNow(job);
    expect(await states(job)).toEqual(["PENDING", "PENDING", "PENDING", "SKIPPED"]);
    await w.advance(5 * SECOND);
    await c.runNow(job);
    expect((await states(job)).slice(0, 3)).toEqual(["TERMINATED", "TERMINATED", "TERMINATED"]);
    expect((await states(job)).at(-1)).toBe("PENDING");
  });

  test("B2.2 max_concurrent_runs: each job has its own", async () => {
    const a = await c.newJob();
    const b = await c.newJob();
    await c.runNow(a);
    await c.runNow(b);
    expect([await states(a), await states(b)]).toEqual([["PENDING"], ["PENDING"]]);
  });
});

describe("limits of the workspace", () => {
  test("B4.2 rule 4, B8 limit, B7 run-now: at most 150 active runs; one that ends makes room", async () => {
    const job = await c.newJob({ max_concurrent_runs: 1000 });
    for (let count = 0; count < 150; count++) await c.runNow(job);
    expect(await w.post("jobs/run-now", { job_id: job })).toMatchObject(tooMany);
    expect(await w.post("jobs/runs/submit", JOB)).toMatchObject(tooMany);
    await w.advance(5 * SECOND);
    expect(await w.post("jobs/run-now", { job_id: job })).toMatchObject({ status: 200 });
  });

  test("B4.2 rule 4, B8 limit, B7 run-now: at most 1000 starts in any hour, submitted runs included", async () => {
    const job = await c.newJob({ max_concurrent_runs: 1000 });
    for (let count = 0; count < 1000; count++) {
      if (count % 100 === 0) await w.advance(5 * MINUTE);
      if (count % 2 === 0) await c.runNow(job);
      else expect(await w.post("jobs/runs/submit", JOB)).toMatchObject({ status: 200 });
    }
    expect(await w.post("jobs/run-now", { job_id: job })).toMatchObject(tooMany);
    expect(await w.post("jobs/runs/submit", JOB)).toMatchObject(tooMany);
    // The first hundred were started 45 minutes ago.
    await w.advance(15 * MINUTE);
    for (let count = 0; count < 100; count++) await c.runNow(job);
    expect(await w.post("jobs/run-now", { job_id: job })).toMatchObject(tooMany);
  });

  /** So many starts in the first minutes of the present hour. */
  const startMany = async (count: number): Promise<void> => {
    for (let index = 1; index <= count; index++) {
      expect(await w.post("jobs/runs/submit", JOB)).toMatchObject({ status: 200 });
      if (index % 100 === 0) await w.advance(5 * SECOND);
    }
  };

  test("B4.2 starts, limits and schedules: a scheduled run is a start, and is skipped when an hour has had its 1000", async () => {
    const job = await c.newJob({ schedule: { ...EVERY_MINUTE, quartz_cron_expression: "0 0/20 * * * ?" } });
    await startMany(999);
    await w.advance(20 * MINUTE);
    expect(await w.post("jobs/run-now", { job_id: job })).toMatchObject(tooMany);
    await w.advance(20 * MINUTE);
    expect(await states(job)).toEqual(["TERMINATED", "SKIPPED"]);
    expect((await c.runs({ job_id: job }))[0].state.state_message).toContain("1000 runs within an hour");
  });

  test("B4.2 starts: a retry is part of a start that was counted", async () => {
    const job = await c.newJob({ max_retries: 1 });
    await failing(job);
    await startMany(998);
    expect(await states(job)).toEqual(["TERMINATED", "TERMINATED"]);
    expect(await w.post("jobs/run-now", { job_id: job })).toMatchObject({ status: 200 });
    expect(await w.post("jobs/run-now", { job_id: job })).toMatchObject(tooMany);
  });

  test("B4.2 starts: a skipped run does not count as a start", async () => {
    const job = await c.newJob({ max_concurrent_runs: 0 });
    for (let count = 0; count < 1001; count++) await c.runNow(job);
    expect(await w.post("jobs/run-now", { job_id: job })).toMatchObject({ status: 200 });
  });

  test("B4.2 limits and schedules: a schedule that meets the limit skips its run", async () => {
    const job = await c.newJob({ max_concurrent_runs: 1000 });
    const scheduled = await c.newJob({ schedule: EVERY_MINUTE });
    await w.advance(MINUTE - SECOND);
    for (let count = 0; count < 150; count++) await c.runNow(job);
    await w.advance(SECOND);
    const [run] = await c.runs({ job_id: scheduled });
    expect(run.state.life_cycle_state).toBe("SKIPPED");
    expect(run.state.state_message).toContain("150 active runs");
  });
});

describe("retries", () => {
  test("B2.2 max_retries: never by default", async () => {
    const job = await c.newJob();
    await failing(job);
    await w.advance(MINUTE);
    expect(await c.runs({ job_id: job })).toHaveLength(1);
  });

  test("B2.2 max_retries, B2.3 original_attempt_run_id, other values: a FAILED run is tried again so many times, each naming the first attempt", async () => {
    const job = await c.newJob({ max_retries: 2 });
    const first = await c.runNow(job, { notebook_params: { a: "1" } });
    await failAll(20, SECOND / 2);
    const runs = (await c.runs({ job_id: job })).reverse();
    expect(runs.map((run) => [run.trigger, run.number_in_job, run.original_attempt_run_id])).toEqual([
      ["ONE_TIME", 1, first],
      ["RETRY", 2, first],
      ["RETRY", 3, first],
    ]);
    expect(runs.every((run) => run.overriding_parameters.notebook_params.a === "1")).toBe(true);
  });

  test("B2.2 max_retries: a retry that succeeds is the last", async () => {
    const job = await c.newJob({ max_retries: 5 });
    await failing(job);
    await w.advance(MINUTE);
    const results = (await c.runs({ job_id: job })).map((run) => run.state.result_state);
    expect(results).toEqual(["SUCCESS", "FAILED"]);
  });

  test("B2.2 max_retries: INTERNAL_ERROR is unsuccessful too", async () => {
    const cluster = await c.terminatedCluster();
    const job = await c.newJob({ new_cluster: undefined, existing_cluster_id: cluster, max_retries: 1 });
    await w.post("clusters/permanent-delete", { cluster_id: cluster });
    await c.runNow(job);
    await w.advance(MINUTE);
    expect(await states(job)).toEqual(["INTERNAL_ERROR", "INTERNAL_ERROR"]);
  });

  test("B2.2 max_retries: -1 retries without end", async () => {
    const job = await c.newJob({ max_retries: -1 });
    await c.runNow(job);
    await failAll(60, SECOND / 2);
    expect((await c.runs({ job_id: job, limit: 999 })).length).toBeGreaterThan(20);
  });

  test("B2.2 retries of others: a run that was canceled is not retried", async () => {
    const job = await c.newJob({ max_retries: 5 });
    await w.post("jobs/runs/cancel", { run_id: await c.runNow(job) });
    await w.advance(MINUTE);
    expect(await c.runs({ job_id: job })).toHaveLength(1);
  });

  test("B2.2 min_retry_interval_millis: lies between an attempt's end and the next", async () => {
    const job = await c.newJob({ max_retries: 1, min_retry_interval_millis: 60_000 });
    const first = await failing(job);
    await w.advance(2 * MINUTE);
    const run = await c.run(first);
    const ended = run.start_time + run.setup_duration + run.execution_duration + run.cleanup_duration;
    const [retry] = await c.runs({ job_id: job });
    expect(retry.start_time - ended).toBe(60_000);
  });

  test("B2.2 min_retry_interval_millis: by default the retry begins at once", async () => {
    const job = await c.newJob({ max_retries: 1 });
    const first = await c.runNow(job);
    await w.advance(1300);
    await c.finish(first, "FAILED");
    await w.advance(MINUTE);
    const run = await c.run(first);
    const ended = run.start_time + run.setup_duration + run.execution_duration + run.cleanup_duration;
    const [retry] = await c.runs({ job_id: job });
    expect(retry.start_time).toBe(ended);
  });

  test("B2.2 retry_on_timeout: false by default, true retries", async () => {
    const no = await c.newJob({ max_retries: 1, timeout_seconds: 1 });
    const yes = await c.newJob({ max_retries: 1, timeout_seconds: 1, retry_on_timeout: true });
    await c.runNow(no);
    await c.runNow(yes);
    await w.advance(MINUTE);
    expect([(await c.runs({ job_id: no })).length, (await c.runs({ job_id: yes })).length]).toEqual([1, 2]);
  });

  test("B4.2 rule 2: a deleted job is not retried", async () => {
    const job = await c.newJob({ max_retries: 3, min_retry_interval_millis: 5000 });
    await failing(job);
    await w.advance(2 * SECOND);
    await w.post("jobs/delete", { job_id: job });
    const before = (await c.clusters()).length;
    await w.advance(MINUTE);
    expect(await c.clusters()).toHaveLength(before);
  });
});

describe("schedules", () => {
  const fired = async (job_id: number): Promise<string[]> =>
    (await c.runs({ job_id, limit: 999 }))
      .map((run: Body) => new Date(run.start_time).toISOString().slice(0, 16))
      .reverse();

  test("B2.2 schedule, B2.3 schedule, trigger: fires at its times with the trigger PERIODIC, and the run names the schedule", async () => {
    const job = await c.newJob({ schedule: EVERY_MINUTE });
    await w.advance(3 * MINUTE);
    expect(await fired(job)).toEqual(["2020-03-01T00:01", "2020-03-01T00:02", "2020-03-01T00:03"]);
    expect((await c.runs({ job_id: job }))[0]).toMatchObject({
      trigger: "PERIODIC",
      schedule: { ...EVERY_MINUTE, pause_status: "UNPAUSED" },
      run_type: "JOB_RUN",
    });
  });

  test("B2.2 schedule: without one a job runs only when triggered", async () => {
    const job = await c.newJob();
    await w.advance(DAY);
    expect(await fired(job)).toEqual([]);
    expect(await c.run(await c.runNow(job))).not.toHaveProperty("schedule");
  });

  test("B2.2 pause_status: a paused one does not fire", async () => {
    const job = await c.newJob({ schedule: { ...EVERY_MINUTE, pause_status: "PAUSED" } });
    await w.advance(HOUR);
    expect(await fired(job)).toEqual([]);
  });

  test("B4.2 rule 3: reset changes, adds and removes schedules", async () => {
    const job = await c.newJob();
    const change = (fields: object) =>
      w.post("jobs/reset", { job_id: job, new_settings: { ...JOB, ...fields } });
    await change({ schedule: { ...EVERY_MINUTE, quartz_cron_expression: "0 30 * * * ?" } });
    await w.advance(HOUR);
    await change({ schedule: { ...EVERY_MINUTE, quartz_cron_expression: "0 45 * * * ?" } });
    await w.advance(HOUR);
    await change({});
    await w.advance(DAY);
    expect(await fired(job)).toEqual(["2020-03-01T00:30", "2020-03-01T01:45"]);
  });

  test("B2.2 daylight saving: across the change to summer time and back", async () => {
    const job = await c.newJob({
      schedule: { quartz_cron_expression: "0 30 7 28-30 3 ?", timezone_id: "Europe/Paris" },
    });
    const autumn = await c.newJob({
      schedule: { quartz_cron_expression: "0 30 2 24-26 10 ?", timezone_id: "Europe/Paris" },
    });
    await w.advance(Date.UTC(2020, 2, 31) - START);
    expect(await fired(job)).toEqual(["2020-03-28T06:30", "2020-03-29T05:30", "2020-03-30T05:30"]);
    await w.advance(Date.UTC(2020, 9, 27) - Date.UTC(2020, 2, 31));
    expect(await fired(autumn)).toEqual(["2020-10-24T00:30", "2020-10-25T00:30", "2020-10-26T01:30"]);
  });

  test("B2.2 max_concurrent_runs: a scheduled run that meets the limit is SKIPPED", async () => {
    const cluster = await c.runningCluster();
    const job = await c.newJob({
      new_cluster: undefined,
      existing_cluster_id: cluster,
      schedule: { ...EVERY_MINUTE, quartz_cron_expression: "0/1 * * * * ?" },
    });
    await w.advance(10 * SECOND);
    expect((await states(job)).slice(0, 4)).toEqual(["TERMINATED", "SKIPPED", "TERMINATED", "SKIPPED"]);
  });
});
