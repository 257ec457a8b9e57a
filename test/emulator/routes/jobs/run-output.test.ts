// What runs leave behind: output, exported pages and mails
// (contract B 2.2, contract B 2.3, contract B 4.2 rules 7 and 8, contract B 6).

import { beforeEach, describe, expect, test } from "vitest";
import { CLUSTER, compute, invalid, NOTEBOOK, SECOND } from "../../compute.ts";
import { base64 } from "../../contents.ts";
import { type Body, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
let c: ReturnType<typeof compute>;
beforeEach(async () => {
  w = await startWorld();
  c = compute(w);
});

const output = async (run_id: number): Promise<Body> =>
  (await w.get("jobs/runs/get-output", { run_id })).body;
const exported = (run_id: number, query: object = {}) => w.get("jobs/runs/export", { run_id, ...query });
const ended = async (result: string, fields: object = {}, settings: object = {}): Promise<number> => {
  const run = await c.runNow(await c.newJob(settings));
  await c.finish(run, result, fields);
  await w.advance(5 * SECOND);
  return run;
};
const JAR = { notebook_task: undefined, spark_jar_task: { main_class_name: "M" } };

describe("runs/get-output", () => {
  test("B4.2 rule 8, runs/get-output: metadata is the run, notebook_output what was passed to the exit call", async () => {
    const run = await ended("SUCCESS", { result: "42 rows" });
    expect(await output(run)).toEqual({
      metadata: await c.run(run),
      notebook_output: { result: "42 rows", truncated: false },
    });
  });

  test("B4.2 rule 8, B2.3 NotebookOutput: a notebook that made no exit call has an empty result", async () => {
    expect((await output(await ended("SUCCESS"))).notebook_output).toEqual({});
  });

  test("B2.3 NotebookOutput: an exit call with an empty text has that text", async () => {
    const { notebook_output } = await output(await ended("SUCCESS", { result: "" }));
    expect(notebook_output).toEqual({ result: "", truncated: false });
  });

  test("B8 limit, B2.3 NotebookOutput: a result ends after 1 MB of UTF-8, not inside a character", async () => {
    const MB = 1024 * 1024;
    const whole = await output(await ended("SUCCESS", { result: "x".repeat(MB) }));
    expect([whole.notebook_output.result.length, whole.notebook_output.truncated]).toEqual([MB, false]);
    const cut = await output(await ended("SUCCESS", { result: `x${"é".repeat(MB)}` }));
    expect(cut.notebook_output.truncated).toBe(true);
    expect(cut.notebook_output.result).toBe(`x${"é".repeat(MB / 2 - 1)}`);
  });

  test("B4.2 rule 8, B8 limit: at most 5 MB of an error are answered", async () => {
    const limit = 5 * 1024 * 1024;
    const { error } = await output(await ended("FAILED", { error: "x".repeat(limit + 5) }));
    expect(error).toHaveLength(limit);
  });

  test("B4.2 runs/get-output: error gives the reason for a missing output", async () => {
    const failed = await output(await ended("FAILED", { error: "division by zero" }));
    expect(failed.error).toBe("division by zero");
    expect(failed).not.toHaveProperty("notebook_output");
    for (const result of ["FAILED", "TIMED_OUT", "CANCELED"]) {
      expect((await output(await ended(result))).error).toMatch(/.+/);
    }
  });

  test("B4.2 runs/get-output: an active run, or a run of another task, has none", async () => {
    const active = await output(await c.runNow(await c.newJob()));
    expect(active.error).toContain("PENDING");
    const jar = await output(await ended("SUCCESS", {}, JAR));
    expect(jar.error).toContain("spark_jar_task");
  });

  test("B4.2 runs/get-output: a run that does not exist gives INVALID_PARAMETER_VALUE", async () => {
    expect(await w.get("jobs/runs/get-output", { run_id: 5 })).toMatchObject(invalid);
    expect(await w.get("jobs/runs/get-output")).toMatchObject(invalid);
  });
});

describe("runs/export", () => {
  const importNotebook = async () => {
    await w.post("workspace/mkdirs", { path: "/Shared" });
    await w.post("workspace/import", {
      path: "/Shared/nightly",
      language: "PYTHON",
      content: base64("print('what a <night>')\n"),
    });
  };

  test("B4.2 runs/export, export, B2.3 ViewItem: one view, the notebook as HTML", async () => {
    await importNotebook();
    const { body } = await exported(await ended("SUCCESS"));
    expect(body.views).toMatchObject([{ name: "nightly", type: "NOTEBOOK" }]);
    expect(body.views[0].content).toMatch(/^<!doctype html/i);
    expect(body.views[0].content).toContain("what a");
  });

  test("B4.2 export: a deleted notebook gives a page that says so, with its name escaped", async () => {
    const notebook_task = { notebook_path: "/Shared/<b>" };
    const { body } = await exported(await ended("SUCCESS", {}, { notebook_task }));
    expect(body.views[0].content).toContain("&lt;b&gt;");
    expect(body.views[0].content).not.toContain("<b>");
  });

  test("B4.2 runs/export, B2.3 ViewsToExport: CODE is the default, ALL contains it, and dashboards do not exist", async () => {
    const run = await ended("SUCCESS");
    const code = (await exported(run, { views_to_export: "CODE" })).body;
    expect((await exported(run)).body).toEqual(code);
    expect((await exported(run, { views_to_export: "ALL" })).body).toEqual(code);
    expect((await exported(run, { views_to_export: "DASHBOARDS" })).body).toEqual({});
    expect(await exported(run, { views_to_export: "SOME" })).toMatchObject(invalid);
  });

  test.each([
    ["spark_jar_task", { main_class_name: "M" }],
    ["spark_python_task", { python_file: "fs:/a.py" }],
    ["spark_submit_task", { parameters: [] }],
  ])(
    "B4.2 rule 7, B7 without a named code: runs/export of a run of a %s cannot be exported",
    async (kind, task) => {
      const run = await ended("SUCCESS", {}, { notebook_task: undefined, [kind]: task });
      expect(await exported(run)).toMatchObject(invalid);
    },
  );

  test("B4.2 runs/export: a run that does not exist gives INVALID_PARAMETER_VALUE", async () => {
    expect(await exported(5)).toMatchObject(invalid);
  });
});

describe("mails", () => {
  const email_notifications = {
    on_start: ["start@example.com"],
    on_success: ["success@example.com"],
    on_failure: ["failure@example.com"],
  };
  const events = async (): Promise<string[]> => (await c.mails()).map((mail) => mail.event);

  test("B2.2 email_notifications: none by default", async () => {
    await ended("FAILED");
    expect(await c.mails()).toEqual([]);
  });

  test("B2.2 on_start, B6 mails: when a run begins", async () => {
    const job = await c.newJob({ name: "nightly", email_notifications });
    const run = await c.runNow(job);
    expect(await c.mails()).toMatchObject([
      { to: ["start@example.com"], event: "on_start", details: { job_id: job, run_id: run } },
    ]);
  });

  test("B2.2 on_success, B6 mails: when a run ends with a successful result", async () => {
    await ended("SUCCESS", {}, { email_notifications });
    expect(await events()).toEqual(["on_start", "on_success"]);
    expect((await c.mails())[1]).toMatchObject({
      to: ["success@example.com"],
      details: { life_cycle_state: "TERMINATED", result_state: "SUCCESS" },
    });
  });

  test.each(["FAILED", "TIMED_OUT"])("B2.2 on_failure: when a run ends with %s", async (result) => {
    await ended(result, {}, { email_notifications });
    expect(await events()).toEqual(["on_start", "on_failure"]);
  });

  test("B2.2 on_failure: when a run ends with INTERNAL_ERROR", async () => {
    const instance_pool_id = await c.newPool({ max_capacity: 1 });
    const new_cluster = { ...CLUSTER, instance_pool_id };
    await c.runNow(await c.newJob({ new_cluster, email_notifications }));
    await w.advance(5 * SECOND);
    expect(await events()).toEqual(["on_start", "on_failure"]);
  });

  test("B2.2 on_failure: when a run is SKIPPED, which has no on_start", async () => {
    await c.runNow(await c.newJob({ max_concurrent_runs: 0, email_notifications }));
    expect(await events()).toEqual(["on_failure"]);
  });

  test("B2.2 no_alert_for_skipped_runs: skipped runs send no mail, failed ones do", async () => {
    const quiet = { ...email_notifications, no_alert_for_skipped_runs: true };
    await c.runNow(await c.newJob({ max_concurrent_runs: 0, email_notifications: quiet }));
    expect(await events()).toEqual([]);
    await ended("FAILED", {}, { email_notifications: quiet });
    expect(await events()).toEqual(["on_start", "on_failure"]);
  });

  test("B2.2 notifications: a canceled run sends neither", async () => {
    await ended("CANCELED", {}, { email_notifications });
    expect(await events()).toEqual(["on_start"]);
  });

  test("B2.2 notifications: each attempt of a run tells of itself", async () => {
    await ended("FAILED", {}, { email_notifications, max_retries: 1 });
    expect(await events()).toEqual(["on_start", "on_failure", "on_start", "on_success"]);
  });

  test("B4.2 rule 5: a submitted run sends no e-mail", async () => {
    await w.post("jobs/runs/submit", { new_cluster: CLUSTER, ...NOTEBOOK, email_notifications });
    await w.advance(5 * SECOND);
    expect(await c.mails()).toEqual([]);
  });
});
