// Runs in the dialect: IDs of tasks, repairs, cancellation of all runs of a job, the newer form of the state, and outputs.

import { beforeEach, describe, expect, test } from "vitest";
import { type Body, START, startWorld, type TestWorld } from "../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld({ databricks: "azure" });
});

const SEVERAL = [
  { task_key: "load", spark_python_task: { python_file: "/Shared/load.py" }, environment_key: "default" },
  {
    task_key: "check",
    depends_on: [{ task_key: "load" }],
    notebook_task: { notebook_path: "/Shared/check" },
  },
  { task_key: "other", notebook_task: { notebook_path: "/Shared/other" } },
];

const submit = async (tasks: readonly object[] = SEVERAL): Promise<number> =>
  (await w.post("/api/2.2/jobs/runs/submit", { run_name: "r", tasks })).body.run_id;
const run = async (run_id: number, more = {}): Promise<Body> =>
  (await w.get("/api/2.2/jobs/runs/get", { run_id, ...more })).body;
const output = (run_id: number) => w.get("/api/2.2/jobs/runs/get-output", { run_id });
const finish = async (run_id: number, ending: object): Promise<void> => {
  await w.control("POST", "runs", { run_id, ...ending });
  await w.advance(60_000);
};
const tasksByKey = (shown: Body): Record<string, number> =>
  Object.fromEntries(shown.tasks.map((task: Body) => [task.task_key, task.run_id]));

describe("a run of several tasks", () => {
  test("answers the ID of a task with that task", async () => {
    const id = await submit();
    const { tasks } = await run(id);
    const check = tasks.find((task: Body) => task.task_key === "check");
    const shown = await run(check.run_id);
    expect(shown).toMatchObject({ run_id: check.run_id, job_run_id: id, run_name: "check" });
    expect(shown.tasks).toEqual([check]);
    expect((await w.get("/api/2.2/jobs/runs/get", { run_id: id * 1000 + 3 })).status).toBe(400);
  });

  test("has an output for each task, and none for the run", async () => {
    const id = await submit();
    const keys = tasksByKey(await run(id));
    await finish(id, { result_state: "SUCCESS", result: "42", logs: "loaded\n" });
    expect((await output(id)).body).toEqual({
      error_code: "INVALID_PARAMETER_VALUE",
      message:
        "Retrieving the output of runs with multiple tasks is not supported. Please retrieve the output of each individual task run instead.",
    });
    expect((await output(keys.load ?? 0)).body).toMatchObject({
      logs: "loaded\n",
      logs_truncated: false,
      metadata: { run_id: keys.load },
    });
    expect((await output(keys.check ?? 0)).body.notebook_output).toEqual({ result: "42", truncated: false });
  });

  test("shows 100 tasks in a page of version 2.2", async () => {
    const tasks = Array.from({ length: 130 }, (_, index) => ({
      task_key: `t${index}`,
      notebook_task: { notebook_path: "/a" },
    }));
    const id = await submit(tasks);
    const first = await run(id);
    expect([first.tasks.length, first.has_more]).toEqual([100, true]);
    const second = await run(id, { page_token: first.next_page_token });
    expect([second.tasks.length, second.has_more]).toEqual([30, undefined]);
  });
});

describe("a failed run", () => {
  test("has an error with its trace, and what it printed", async () => {
    const id = await submit(SEVERAL.slice(0, 1));
    await finish(id, { result_state: "FAILED", error: "boom", error_trace: "Traceback: boom", logs: "x" });
    const [task] = (await run(id)).tasks;
    expect((await output(task.run_id)).body).toMatchObject({
      error: "boom",
      error_trace: "Traceback: boom",
      logs: "x",
    });
  });

  test("is repaired under its ID: the tasks that run again get other IDs, and the history has both attempts", async () => {
    const id = await submit();
    const before = tasksByKey(await run(id));
    await finish(id, { result_state: "FAILED", error: "boom" });
    const repair = { run_id: id, rerun_tasks: ["load"], rerun_dependent_tasks: true };
    const { repair_id } = (await w.post("/api/2.2/jobs/runs/repair", repair)).body;
    const again = await run(id);
    expect(again).toMatchObject({ state: { life_cycle_state: "RUNNING" }, start_time: START });
    const after = tasksByKey(again);
    expect([after.load === before.load, after.check === before.check, after.other === before.other]).toEqual([
      false,
      false,
      true,
    ]);
    expect(await run(after.load ?? 0)).toMatchObject({ job_run_id: id, run_name: "load" });
    await finish(id, { result_state: "SUCCESS" });
    expect((await run(id, { include_history: true })).repair_history).toMatchObject([
      { type: "ORIGINAL", state: { result_state: "FAILED" }, task_run_ids: Object.values(before) },
      {
        type: "REPAIR",
        id: repair_id,
        state: { result_state: "SUCCESS" },
        task_run_ids: [after.load, after.check],
      },
    ]);
    expect((await run(id)).repair_history).toBeUndefined();
  });

  test("is repaired only when it has ended, with tasks that it has, and with the ID of its latest repair", async () => {
    const id = await submit();
    const repair = (more: object) => w.post("/api/2.1/jobs/runs/repair", { run_id: id, ...more });
    expect((await repair({ rerun_all_failed_tasks: true })).body.error_code).toBe("INVALID_STATE");
    await finish(id, { result_state: "FAILED" });
    expect((await repair({ rerun_tasks: ["none"] })).status).toBe(400);
    expect((await repair({})).status).toBe(400);
    const { repair_id } = (await repair({ rerun_all_failed_tasks: true })).body;
    await finish(id, { result_state: "FAILED" });
    expect((await repair({ rerun_all_failed_tasks: true })).status).toBe(400);
    expect((await repair({ rerun_all_failed_tasks: true, latest_repair_id: repair_id })).status).toBe(200);
  });
});

describe("status", () => {
  test.each([
    ["SUCCESS", { code: "SUCCESS", type: "SUCCESS" }],
    ["FAILED", { code: "RUN_EXECUTION_ERROR", type: "CLIENT_ERROR" }],
    ["TIMEDOUT", { code: "CANCELED", type: "CLIENT_ERROR" }],
    ["CANCELED", { code: "USER_CANCELED", type: "SUCCESS" }],
  ])("has the details of the end %s, for the run and its tasks", async (result_state, details) => {
    const id = await submit();
    expect((await run(id)).status).toEqual({ state: "RUNNING" });
    await finish(id, { result_state });
    const { status, tasks } = await run(id);
    expect(status).toMatchObject({ state: "TERMINATED", termination_details: details });
    expect(tasks[0].status).toEqual(status);
  });
});

describe("cancel-all", () => {
  test("cancels the active runs of one job", async () => {
    const job = async () => (await w.post("/api/2.2/jobs/create", { name: "j", tasks: SEVERAL })).body.job_id;
    const [one, two] = [await job(), await job()];
    const [first, second] = [
      (await w.post("/api/2.2/jobs/run-now", { job_id: one })).body.run_id,
      (await w.post("/api/2.2/jobs/run-now", { job_id: two })).body.run_id,
    ];
    expect((await w.post("/api/2.2/jobs/runs/cancel-all", { job_id: one })).status).toBe(200);
    expect((await run(first)).state.life_cycle_state).toBe("TERMINATING");
    expect((await run(second)).state.life_cycle_state).toBe("RUNNING");
    expect((await w.post("/api/2.2/jobs/runs/cancel-all", {})).status).toBe(400);
    expect((await w.post("/api/2.2/jobs/runs/cancel-all", { job_id: 1 })).status).toBe(400);
  });
});
