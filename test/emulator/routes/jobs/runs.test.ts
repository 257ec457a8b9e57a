// Runs: how they are started, live, end and are remembered (contract B 2.3, contract B 3.3, contract B 4.2).

import { beforeEach, describe, expect, test } from "vitest";
import {
  CLUSTER,
  compute,
  DAY,
  done,
  invalid,
  invalidState,
  JOB,
  MINUTE,
  malformed,
  NOTEBOOK,
  SECOND,
} from "../../compute.ts";
import { ADMIN, START, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
let c: ReturnType<typeof compute>;
beforeEach(async () => {
  w = await startWorld();
  c = compute(w);
});

const runNow = (job_id: number, fields: object = {}) => w.post("jobs/run-now", { job_id, ...fields });
const submit = (fields: object = {}) => w.post("jobs/runs/submit", { ...JOB, ...fields });
const cancel = (run_id: number) => w.post("jobs/runs/cancel", { run_id });
const remove = (run_id: number) => w.post("jobs/runs/delete", { run_id });
const onExisting = async (cluster: string, fields: object = {}) =>
  c.newJob({ new_cluster: undefined, existing_cluster_id: cluster, ...fields });
/** The states that a run passes through while the clock moves in small steps. */
const passing = async (run: number, ms: number, step = 100): Promise<string[]> => {
  const seen = [await c.runState(run)];
  for (let at = 0; at < ms; at += step) {
    await w.advance(step);
    const state = await c.runState(run);
    if (state !== seen.at(-1)) seen.push(state);
  }
  return seen;
};

describe("run-now", () => {
  test("B4.2 run-now, B2.3 run_id, number_in_job: answers the id of the run and its number in the job", async () => {
    const job = await c.newJob({ max_concurrent_runs: 5 });
    const first = (await runNow(job)).body;
    const second = (await runNow(job)).body;
    expect([first.number_in_job, second.number_in_job]).toEqual([1, 2]);
    expect(second.run_id).not.toBe(first.run_id);
    const other = (await runNow(await c.newJob())).body;
    expect(other.number_in_job).toBe(1);
    expect(new Set([first.run_id, second.run_id, other.run_id]).size).toBe(3);
  });

  test("B4.2 run-now: a job that does not exist, or no id, gives INVALID_PARAMETER_VALUE", async () => {
    expect(await runNow(5)).toMatchObject(invalid);
    expect(await w.post("jobs/run-now", {})).toMatchObject(invalid);
  });

  test("B2.3 job_id, run_id, number_in_job, original_attempt_run_id, state, task, cluster_spec, start_time, trigger, run_name, run_page_url, run_type: a run tells all about itself", async () => {
    const job = await c.newJob({ name: "nightly", libraries: [{ jar: "fs:/a.jar" }] });
    const run = await c.run(await c.runNow(job));
    expect(run).toEqual({
      job_id: job,
      run_id: expect.any(Number),
      number_in_job: 1,
      original_attempt_run_id: run.run_id,
      state: { life_cycle_state: "PENDING", state_message: expect.any(String) },
      task: NOTEBOOK,
      cluster_spec: { new_cluster: CLUSTER, libraries: [{ jar: "fs:/a.jar" }] },
      cluster_instance: { cluster_id: expect.any(String) },
      start_time: START,
      setup_duration: 0,
      execution_duration: 0,
      cleanup_duration: 0,
      trigger: "ONE_TIME",
      creator_user_name: ADMIN,
      run_name: "nightly",
      run_page_url: expect.stringContaining(`#job/${job}/run/1`),
      run_type: "JOB_RUN",
    });
  });

  test("B2.3 creator_user_name: who started it, omitted once deleted", async () => {
    const as = await w.user("bo@example.com");
    const { body } = await w.post("jobs/run-now", { job_id: await c.newJob() }, { as });
    expect((await c.run(body.run_id)).creator_user_name).toBe("bo@example.com");
    const found = (await w.get("preview/scim/v2/Users", { filter: "userName eq bo@example.com" })).body;
    await w.delete(`preview/scim/v2/Users/${found.Resources[0].id}`);
    expect(await c.run(body.run_id)).not.toHaveProperty("creator_user_name");
  });
});

describe("parameters", () => {
  const parametersOf = async (job: number, fields: object) =>
    (await c.run(await c.runNow(job, fields))).overriding_parameters;

  test("B2.2 base_parameters, B2.3 overriding_parameters: merged with those of run-now, which win on equal keys", async () => {
    const notebook_task = { notebook_path: "/a", base_parameters: { a: "1", b: "2" } };
    const job = await c.newJob({ notebook_task });
    expect(await parametersOf(job, { notebook_params: { b: "3", c: "4" } })).toEqual({
      notebook_params: { a: "1", b: "3", c: "4" },
    });
  });

  test("B4.2 rule 4: notebook_params defaults to the job's base parameters when absent", async () => {
    const notebook_task = { notebook_path: "/a", base_parameters: { a: "1" } };
    const run = await c.run(await c.runNow(await c.newJob({ notebook_task })));
    expect(run).not.toHaveProperty("overriding_parameters");
    expect(run.task).toEqual({ notebook_task });
  });

  test.each([
    ["python_params", { spark_python_task: { python_file: "fs:/a.py", parameters: ["old"] } }],
    ["spark_submit_params", { spark_submit_task: { parameters: ["old"] } }],
    ["jar_params", { spark_jar_task: { main_class_name: "M", parameters: ["old"] } }],
  ])("B4.2 rule 4: %s replace the job's settings when given", async (kind, task) => {
    const job = await c.newJob({ notebook_task: undefined, ...task });
    expect(await parametersOf(job, { [kind]: ["new", "more"] })).toEqual({ [kind]: ["new", "more"] });
  });

  test("B4.2 rule 4: jar_params and notebook_params cannot both be given, nor any other two", async () => {
    const job = await c.newJob();
    expect(await runNow(job, { jar_params: [], notebook_params: {} })).toMatchObject(invalid);
    expect(await runNow(job, { jar_params: [], python_params: [] })).toMatchObject(invalid);
    expect(await runNow(job, { python_params: [], spark_submit_params: [] })).toMatchObject(invalid);
  });

  test.each(["jar_params", "python_params", "spark_submit_params"])(
    "B4.2 rule 4, B8 limit: %s take at most 10,000 bytes as JSON",
    async (kind) => {
      const job = await c.newJob({ max_concurrent_runs: 9 });
      // Two brackets and two quotes make the rest.
      expect(await runNow(job, { [kind]: ["x".repeat(9996)] })).toMatchObject({ status: 200 });
      expect(await runNow(job, { [kind]: ["x".repeat(9997)] })).toMatchObject(invalid);
    },
  );

  test("B4.2 rule 4, B8 limit: notebook_params take at most 10,000 bytes as JSON, counted in UTF-8", async () => {
    const job = await c.newJob({ max_concurrent_runs: 9 });
    expect(await runNow(job, { notebook_params: { k: "é".repeat(4996) } })).toMatchObject({ status: 200 });
    expect(await runNow(job, { notebook_params: { k: "é".repeat(4997) } })).toMatchObject(invalid);
  });

  test("B2.3 RunParameters: those of Python and submit tasks hold ASCII only", async () => {
    const job = await c.newJob();
    expect(await runNow(job, { python_params: ["é"] })).toMatchObject(invalid);
    expect(await runNow(job, { spark_submit_params: ["é"] })).toMatchObject(invalid);
    expect(await runNow(job, { jar_params: ["é"] })).toMatchObject({ status: 200 });
  });

  test("B4.2 run-now: a list where a map belongs, or the reverse, is refused", async () => {
    const job = await c.newJob();
    expect(await runNow(job, { notebook_params: ["a"] })).toMatchObject(malformed);
    expect(await runNow(job, { jar_params: { a: "b" } })).toMatchObject(malformed);
    expect(await runNow(job, { notebook_params: { a: 1 } })).toMatchObject(malformed);
  });
});

describe("life on a new cluster", () => {
  test("B3.3 states, transitions, B2.3 state, life_cycle_state: PENDING, RUNNING, TERMINATING, TERMINATED with the result", async () => {
    const run = await c.runNow(await c.newJob());
    expect(await passing(run, 3 * SECOND)).toEqual([
      "PENDING",
      "RUNNING",
      "TERMINATING SUCCESS",
      "TERMINATED SUCCESS",
    ]);
  });

  test("B2.3 setup_duration, execution_duration, cleanup_duration: the three durations add up to the whole time of the run", async () => {
    const run = await c.runNow(await c.newJob());
    let now = START;
    while ((await c.runState(run)) !== "TERMINATED SUCCESS") {
      await w.advance(100);
      now += 100;
    }
    const { start_time, setup_duration, execution_duration, cleanup_duration } = await c.run(run);
    expect(Math.min(setup_duration, execution_duration, cleanup_duration)).toBeGreaterThan(0);
    expect(start_time + setup_duration + execution_duration + cleanup_duration).toBe(now);
  });

  test("B2.3 cluster_instance: the Spark context comes when the cluster runs, as text, the cluster's own", async () => {
    const run = await c.runNow(await c.newJob());
    expect((await c.run(run)).cluster_instance).not.toHaveProperty("spark_context_id");
    await w.advance(600);
    const { cluster_id, spark_context_id } = (await c.run(run)).cluster_instance;
    expect(spark_context_id).toBe(String((await c.cluster(cluster_id)).spark_context_id));
  });

  test("B2.2 new_cluster: each run has its own cluster, terminated afterwards", async () => {
    const job = await c.newJob({ max_concurrent_runs: 2 });
    const runs = [await c.runNow(job), await c.runNow(job)];
    await w.advance(5 * SECOND);
    const ids: string[] = [];
    for (const run of runs) ids.push((await c.run(run)).cluster_instance.cluster_id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(await c.state(id)).toBe("TERMINATED");
  });

  test("B3.3 with its cluster: a cluster that cannot get its nodes makes the run INTERNAL_ERROR, without a result", async () => {
    const instance_pool_id = await c.newPool({ max_capacity: 1 });
    const new_cluster = { ...CLUSTER, instance_pool_id };
    const run = await c.runNow(await c.newJob({ new_cluster }));
    await w.advance(2 * SECOND);
    expect(await c.runState(run)).toBe("INTERNAL_ERROR");
    expect((await c.run(run)).state.state_message).toContain("1 of 3 nodes");
  });

  test("B3.3 with its cluster: a pool that was deleted since makes the run INTERNAL_ERROR", async () => {
    const instance_pool_id = await c.newPool();
    const job = await c.newJob({ new_cluster: { ...CLUSTER, instance_pool_id } });
    await w.post("instance-pools/delete", { instance_pool_id });
    const run = await c.runNow(job);
    expect(await c.runState(run)).toBe("INTERNAL_ERROR");
    expect((await c.run(run)).state.state_message).toContain(instance_pool_id);
  });

  test("B3.3 with its cluster: a cluster that is terminated during the run makes it INTERNAL_ERROR with the result FAILED", async () => {
    const run = await c.runNow(await c.newJob());
    await w.advance(600);
    await w.post("clusters/delete", { cluster_id: (await c.run(run)).cluster_instance.cluster_id });
    expect(await c.runState(run)).toBe("INTERNAL_ERROR FAILED");
  });

  test("B1 pools: a job's cluster from a pool uses and returns its instances", async () => {
    const instance_pool_id = await c.newPool();
    await c.runNow(await c.newJob({ new_cluster: { ...CLUSTER, instance_pool_id } }));
    await w.advance(600);
    expect(await c.stats(instance_pool_id)).toEqual([3, 0, 0, 0]);
    await w.advance(5 * SECOND);
    expect(await c.stats(instance_pool_id)).toEqual([0, 3, 0, 0]);
  });
});

describe("life on an existing cluster", () => {
  test("B2.2 existing_cluster_id: a RUNNING cluster is used at once, and stays", async () => {
    const cluster = await c.runningCluster();
    const run = await c.runNow(await onExisting(cluster));
    expect(await c.runState(run)).toBe("RUNNING");
    await w.advance(5 * SECOND);
    expect(await c.runState(run)).toBe("TERMINATED SUCCESS");
    expect(await c.state(cluster)).toBe("RUNNING");
    expect(await c.run(run)).toMatchObject({
      cluster_spec: { existing_cluster_id: cluster },
      cluster_instance: { cluster_id: cluster },
    });
  });

  test("B2.2 existing_cluster_id: a TERMINATED cluster is started, by the platform", async () => {
    const cluster = await c.terminatedCluster();
    const run = await c.runNow(await onExisting(cluster));
    await w.advance(5 * SECOND);
    expect(await c.runState(run)).toBe("TERMINATED SUCCESS");
    const start = (await c.events(cluster)).find((event) => event.type === "STARTING");
    expect(start.details.user).toBe("");
  });

  test.each(["PENDING", "RESTARTING", "TERMINATING"])(
    "B2.2 existing_cluster_id: the run waits for a %s cluster",
    async (state) => {
      const cluster = state === "PENDING" ? await c.newCluster() : await c.runningCluster();
      if (state === "RESTARTING") await w.post("clusters/restart", { cluster_id: cluster });
      if (state === "TERMINATING") await w.post("clusters/delete", { cluster_id: cluster });
      const run = await c.runNow(await onExisting(cluster));
      expect([await c.state(cluster), await c.runState(run)]).toEqual([state, "PENDING"]);
      await w.advance(5 * SECOND);
      expect(await c.runState(run)).toBe("TERMINATED SUCCESS");
    },
  );

  test("B2.2 existing_cluster_id: several runs share it", async () => {
    const cluster = await c.runningCluster();
    const job = await onExisting(cluster, { max_concurrent_runs: 3 });
    const runs = [await c.runNow(job), await c.runNow(job), await c.runNow(job)];
    await w.advance(5 * SECOND);
    for (const run of runs) expect(await c.runState(run)).toBe("TERMINATED SUCCESS");
  });

  test.each(["restart", "edit", "delete", "permanent-delete"])(
    "B3.3 with its cluster: %s of the cluster stops its active runs",
    async (call) => {
      const cluster = await c.runningCluster();
      const run = await c.runNow(await onExisting(cluster));
      expect(await c.runState(run)).toBe("RUNNING");
      await w.post(`clusters/${call}`, { cluster_id: cluster, ...(call === "edit" ? CLUSTER : {}) });
      expect(await c.runState(run)).toBe("INTERNAL_ERROR FAILED");
      const how = call === "restart" || call === "edit" ? "restarted" : "terminated";
      expect((await c.run(run)).state.state_message).toBe(`Cluster ${cluster} was ${how} during the run.`);
    },
  );

  test("B3.3 with its cluster: resize of the cluster leaves its active runs alone", async () => {
    const cluster = await c.runningCluster();
    const run = await c.runNow(await onExisting(cluster));
    await w.post("clusters/resize", { cluster_id: cluster, num_workers: 5 });
    await w.advance(5 * SECOND);
    expect(await c.runState(run)).toBe("TERMINATED SUCCESS");
  });

  test("B2.2 existing_cluster_id: another run's cluster may be used, and is not terminated for it", async () => {
    const owner = await c.runNow(await c.newJob());
    await w.advance(600);
    const { cluster_id } = (await c.run(owner)).cluster_instance;
    const guest = await c.runNow(await onExisting(cluster_id));
    await c.finish(guest, "SUCCESS");
    expect([await c.runState(owner), await c.runState(guest)]).toEqual(["RUNNING", "TERMINATING SUCCESS"]);
    await w.advance(5 * SECOND);
    expect(await c.runState(owner)).toBe("TERMINATED SUCCESS");
  });

  test("B3.3 with its cluster: a permanently deleted cluster makes a run INTERNAL_ERROR", async () => {
    const cluster = await c.terminatedCluster();
    const job = await onExisting(cluster);
    await w.post("clusters/permanent-delete", { cluster_id: cluster });
    expect(await c.runState(await c.runNow(job))).toBe("INTERNAL_ERROR");
  });

  test("B3.1 delete: a cluster whose pool was deleted fails to start, and the run with it, once", async () => {
    const instance_pool_id = await c.newPool();
    const cluster = await c.terminatedCluster({ instance_pool_id });
    const run = await c.runNow(await onExisting(cluster));
    await w.post("instance-pools/delete", { instance_pool_id });
    await w.advance(5 * SECOND);
    expect(await c.runState(run)).toBe("TERMINATED SUCCESS");
    await w.post("clusters/delete", { cluster_id: cluster });
    await w.advance(SECOND);
    const late = await c.runNow(await onExisting(cluster));
    await w.advance(5 * SECOND);
    expect(await c.runState(late)).toBe("INTERNAL_ERROR");
    expect((await c.events(cluster)).filter((event) => event.type === "STARTING")).toHaveLength(2);
  });
});

describe("how a run ends", () => {
  const running = async (fields: object = {}): Promise<number> => {
    const run = await c.runNow(await c.newJob(fields));
    await w.advance(600);
    return run;
  };

  test.each(["SUCCESS", "FAILED", "TIMED_OUT", "CANCELED"])(
    "B2.3 result_state, control: %s by control",
    async (result) => {
      const run = await running();
      expect(await c.finish(run, result)).toMatchObject({ status: 200 });
      expect(await c.runState(run)).toBe(`TERMINATING ${result}`);
      await w.advance(SECOND);
      expect(await c.runState(run)).toBe(`TERMINATED ${result}`);
    },
  );

  test("B2.3 control: a run whose end is requested before it begins ends so when it begins", async () => {
    const run = await c.runNow(await c.newJob());
    await c.finish(run, "FAILED");
    expect(await passing(run, SECOND)).toEqual(["PENDING", "TERMINATING FAILED", "TERMINATED FAILED"]);
  });

  test("B2.3 control: the end of a run that has ended is settled; an unknown end or run is refused", async () => {
    const run = await running();
    expect(await c.finish(run, "PERFECT")).toMatchObject(invalid);
    expect(await c.finish(5, "SUCCESS")).toMatchObject(invalid);
    expect(await w.control("POST", "runs", { run_id: "5", result_state: "SUCCESS" })).toMatchObject(invalid);
    await w.advance(5 * SECOND);
    expect(await c.finish(run, "FAILED")).toMatchObject(invalidState);
    expect(await c.runState(run)).toBe("TERMINATED SUCCESS");
  });

  test("B2.2 timeout_seconds: a run that takes longer is TIMED_OUT", async () => {
    const run = await c.runNow(await c.newJob({ timeout_seconds: 1 }));
    await w.advance(SECOND);
    expect(await c.runState(run)).toBe("TERMINATING TIMED_OUT");
    await w.advance(SECOND);
    expect(await c.run(run)).toMatchObject({ state: { result_state: "TIMED_OUT" }, execution_duration: 600 });
  });

  test("B2.2 timeout_seconds: holds while the cluster is coming up too", async () => {
    const cluster = await c.newCluster();
    const run = await c.runNow(await onExisting(cluster, { timeout_seconds: 1 }));
    // Twice it is terminated before it is up; in between the run starts it.
    await w.advance(300);
    await w.post("clusters/delete", { cluster_id: cluster });
    await w.advance(550);
    await w.post("clusters/delete", { cluster_id: cluster });
    await w.advance(SECOND);
    expect((await c.run(run)).execution_duration).toBe(0);
    expect(await c.runState(run)).toBe("TERMINATED TIMED_OUT");
  });

  test("B2.2 timeout_seconds: 0 and absent mean none", async () => {
    const run = await c.runNow(await c.newJob({ timeout_seconds: 0 }));
    await w.advance(5 * SECOND);
    expect(await c.runState(run)).toBe("TERMINATED SUCCESS");
  });

  test("B3.3 cancel: a RUNNING run is asynchronously CANCELED", async () => {
    const run = await running();
    expect(await cancel(run)).toMatchObject(done);
    expect(await c.runState(run)).toBe("TERMINATING CANCELED");
    await w.advance(SECOND);
    expect(await c.runState(run)).toBe("TERMINATED CANCELED");
  });

  test("B3.3 cancel: a PENDING run has no result until it is TERMINATED, and its cluster goes", async () => {
    const run = await c.runNow(await c.newJob());
    await cancel(run);
    expect(await passing(run, SECOND)).toEqual(["TERMINATING", "TERMINATED CANCELED"]);
    expect(await c.state((await c.run(run)).cluster_instance.cluster_id)).toBe("TERMINATED");
    expect((await c.run(run)).execution_duration).toBe(0);
  });

  test("B3.3 cancel: a run in a terminal state does not change", async () => {
    const run = await running();
    await w.advance(5 * SECOND);
    const before = await c.run(run);
    expect(await cancel(run)).toMatchObject(done);
    expect(await c.run(run)).toEqual(before);
  });

  test("B4.2 runs/cancel: a run that does not exist, or no id, gives INVALID_PARAMETER_VALUE", async () => {
    expect(await cancel(5)).toMatchObject(invalid);
    expect(await w.post("jobs/runs/cancel", {})).toMatchObject(invalid);
  });
});

describe("runs/submit", () => {
  test("B4.2 rule 5, B2.3 run_type: a one-time run without a job, polled by runs/get", async () => {
    const { status, body } = await submit({ run_name: "once" });
    expect({ status, fields: Object.keys(body) }).toEqual({ status: 200, fields: ["run_id"] });
    expect(await c.run(body.run_id)).toMatchObject({
      run_name: "once",
      run_type: "SUBMIT_RUN",
      trigger: "ONE_TIME",
      job_id: expect.any(Number),
    });
    await w.advance(5 * SECOND);
    expect(await c.runState(body.run_id)).toBe("TERMINATED SUCCESS");
    expect((await w.get("jobs/list")).body).toEqual({});
  });

  test("B4.2 runs/submit: the name is Untitled by default, and has at most 4096 bytes", async () => {
    expect((await c.run((await submit()).body.run_id)).run_name).toBe("Untitled");
    expect(await submit({ run_name: "é".repeat(2048) })).toMatchObject({ status: 200 });
    expect(await submit({ run_name: "é".repeat(2049) })).toMatchObject(invalid);
  });

  test("B4.2 runs/submit: exactly one cluster and exactly one task", async () => {
    expect(await submit({ new_cluster: undefined })).toMatchObject(invalid);
    expect(await submit({ notebook_task: undefined })).toMatchObject(invalid);
    expect(await submit({ existing_cluster_id: await c.newCluster() })).toMatchObject(invalid);
    expect(await submit({ spark_jar_task: { main_class_name: "M" } })).toMatchObject(invalid);
  });

  test("B4.2 runs/submit: timeout_seconds is applied", async () => {
    const { body } = await submit({ timeout_seconds: 1 });
    await w.advance(3 * SECOND);
    expect(await c.runState(body.run_id)).toBe("TERMINATED TIMED_OUT");
  });

  test("B4.2 runs/submit: on an existing cluster, with libraries", async () => {
    const existing_cluster_id = await c.runningCluster();
    const libraries = [{ jar: "fs:/a.jar" }];
    const { body } = await submit({ new_cluster: undefined, existing_cluster_id, libraries });
    expect((await c.run(body.run_id)).cluster_spec).toEqual({ existing_cluster_id, libraries });
  });
});

describe("runs/list", () => {
  /** Seven runs of two jobs and one without, the last three of them active. */
  const eight = async () => {
    const a = await c.newJob({ max_concurrent_runs: 9 });
    const b = await c.newJob({ max_concurrent_runs: 9 });
    const made: number[] = [];
    for (const job of [a, a, b, a, b]) made.push(await c.runNow(job));
    await w.advance(5 * SECOND);
    made.push(await c.runNow(a), await c.runNow(b), (await submit()).body.run_id);
    return { a, b, made: made.reverse() };
  };
  const listed = async (query: Readonly<Record<string, number | boolean>> = {}) => {
    const { body } = await w.get("jobs/runs/list", query);
    return { ids: (body.runs ?? []).map((run: { run_id: number }) => run.run_id), more: body.has_more };
  };

  test("B4.2 runs/list: nothing but has_more without runs", async () => {
    expect((await w.get("jobs/runs/list")).body).toEqual({ has_more: false });
  });

  test("B4.2 rule 6, runs/list: runs of all jobs, the most recently started first, as runs/get shows them", async () => {
    const { made } = await eight();
    expect(await listed()).toEqual({ ids: made, more: false });
    expect((await c.runs())[0]).toEqual(await c.run(Number(made[0])));
  });

  test("B4.2 rule 6: only those of a job", async () => {
    const { a, made } = await eight();
    expect((await listed({ job_id: a })).ids).toEqual([2, 4, 6, 7].map((index) => made[index]));
    expect(await listed({ job_id: 5 })).toEqual({ ids: [], more: false });
  });

  test("B4.2 rule 6: only active or only completed ones, not both", async () => {
    const { b, made } = await eight();
    expect((await listed({ active_only: true })).ids).toEqual(made.slice(0, 3));
    expect((await listed({ completed_only: true })).ids).toEqual(made.slice(3));
    expect((await listed({ active_only: true, job_id: b })).ids).toEqual([made[1]]);
    expect(await w.get("jobs/runs/list", { active_only: true, completed_only: true })).toMatchObject(invalid);
    expect((await listed({ active_only: false, completed_only: false })).ids).toEqual(made);
  });

  test("B4.2 rule 6: offset is relative to the most recent run; has_more shows whether there are others", async () => {
    const { made } = await eight();
    expect(await listed({ limit: 3 })).toEqual({ ids: made.slice(0, 3), more: true });
    expect(await listed({ offset: 3, limit: 3 })).toEqual({ ids: made.slice(3, 6), more: true });
    expect(await listed({ offset: 6, limit: 3 })).toEqual({ ids: made.slice(6), more: false });
    expect(await listed({ offset: 5, limit: 3 })).toEqual({ ids: made.slice(5), more: false });
    expect(await listed({ offset: 99 })).toEqual({ ids: [], more: false });
  });

  test("B4.2 rule 6, B8 limit: runs/list: 20 by default; above 0 and below 1000; 0 means the maximum", async () => {
    const job = await c.newJob({ max_concurrent_runs: 0 });
    for (let count = 0; count < 25; count++) await c.runNow(job);
    expect((await listed()).ids).toHaveLength(20);
    expect((await listed({ limit: 0 })).ids).toHaveLength(25);
    expect((await listed({ limit: 999 })).ids).toHaveLength(25);
    for (const limit of [-1, 1000]) {
      expect(await w.get("jobs/runs/list", { limit })).toMatchObject(invalid);
    }
    expect(await w.get("jobs/runs/list", { offset: -1 })).toMatchObject(invalid);
    expect(await w.get("jobs/runs/list", { active_only: "yes" as unknown as boolean })).toMatchObject(
      malformed,
    );
  });

  test("B4.2 rule 6: pages pass over runs that were deleted", async () => {
    const { made } = await eight();
    await remove(Number(made[4]));
    expect((await listed({ offset: 3, limit: 2 })).ids).toEqual([made[3], made[5]]);
  });
});

describe("runs/get and runs/delete", () => {
  test("B4.2 runs/get: a run that does not exist gives INVALID_PARAMETER_VALUE and is named", async () => {
    expect(await w.get("jobs/runs/get", { run_id: 123 })).toMatchObject({
      status: 400,
      body: { error_code: "INVALID_PARAMETER_VALUE", message: "Run 123 does not exist." },
    });
    expect(await w.get("jobs/runs/get")).toMatchObject(invalid);
  });

  test("B4.2 rule 9, B7 without a named code, B3.3 delete: runs/delete of an active run gives an error and stays", async () => {
    const run = await c.runNow(await c.newJob());
    for (const state of ["PENDING", "RUNNING", "TERMINATING SUCCESS"]) {
      expect(await c.runState(run)).toBe(state);
      expect(await remove(run)).toMatchObject(invalidState);
      await w.advance(state === "PENDING" ? 500 : 900);
    }
    await w.advance(SECOND);
    expect(await c.runState(run)).toBe("TERMINATED SUCCESS");
  });

  test("B3.3 delete, B4.2 runs/delete: a run that is not active is deleted", async () => {
    const run = await c.runNow(await c.newJob());
    await w.advance(5 * SECOND);
    expect(await remove(run)).toMatchObject(done);
    expect(await w.get("jobs/runs/get", { run_id: run })).toMatchObject(invalid);
    expect(await remove(run)).toMatchObject(invalid);
  });

  test("B4.2 rule 10, B8 limit: runs are removed after 60 days", async () => {
    const job = await c.newJob();
    const run = await c.runNow(job);
    await w.advance(60 * DAY);
    expect(await c.runState(run)).toBe("TERMINATED SUCCESS");
    await w.advance(MINUTE);
    expect(await w.get("jobs/runs/get", { run_id: run })).toMatchObject(invalid);
    expect(await c.runs({ job_id: job })).toEqual([]);
    expect((await runNow(job)).body.number_in_job).toBe(2);
  });
});
