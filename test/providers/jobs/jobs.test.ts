// Jobs: every setting, two-phase creation, checks of the contract, what a change does to people.

import { describe, expect, test } from "vitest";
import { clusters } from "../../../src/providers/clusters/clusters.ts";
import { jobs } from "../../../src/providers/jobs/jobs.ts";
import type { Values } from "../../../src/resource/field-schema.ts";
import { apiError } from "../../api/answers.ts";
import {
  create,
  diffs,
  diffsAfter,
  listed,
  liveObject,
  lookAt,
  only,
  planned,
  refused,
  remove,
  scripted,
  startWorkspace,
  update,
} from "../workspace.ts";

const cluster = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };
const notebook = { notebook_task: { notebook_path: "/Shared/nightly" }, new_cluster: cluster };
const full: Values = {
  new_cluster: {
    ...cluster,
    spark_conf: { "spark.speculation": true },
    custom_tags: { team: "data" },
    init_scripts: [{ fs: { destination: "fs:/init/a.sh" } }],
  },
  notebook_task: { notebook_path: "/Shared/nightly", base_parameters: { day: 1, mode: "full" } },
  libraries: [
    { jar: "fs:/jars/a.jar" },
    { egg: "fs:/eggs/a.egg" },
    { whl: "fs:/wheels/a.whl" },
    { pypi: { package: "simplejson==3.8.0", repo: "https://pypi.example.com" } },
    { maven: { coordinates: "org.jsoup:jsoup:1.7.2", exclusions: ["slf4j:slf4j"] } },
    { cran: { package: "ada" } },
  ],
  email_notifications: {
    on_start: ["a@x"],
    on_success: ["b@x", "a@x"],
    on_failure: ["c@x"],
    no_alert_for_skipped_runs: true,
  },
  timeout_seconds: 3600,
  max_retries: -1,
  min_retry_interval_millis: 1000,
  retry_on_timeout: true,
  schedule: { quartz_cron_expression: "0 30 2 * * ?", timezone_id: "Europe/Paris" },
  max_concurrent_runs: 3,
};

describe("reading and creating", () => {
  test("a job with every setting reads back as requested, in another order too", async () => {
    const { api } = await startWorkspace();
    const id = await create(jobs, api, "nightly", full);
    const live = await only(jobs, api, id);
    expect(diffs(jobs, live, "nightly", full)).toEqual([]);
    const mails = { ...Object(full.email_notifications), on_success: ["a@x", "b@x"] };
    const libraries = Array.isArray(full.libraries) ? [...full.libraries].reverse() : [];
    expect(diffs(jobs, live, "nightly", { ...full, libraries, email_notifications: mails })).toEqual([]);
    const read = await jobs.operations.read(api, id);
    expect(read?.values).toEqual(live.values);
  });

  test.each([
    ["notebook", { notebook_task: { notebook_path: "/n" } }],
    ["jar", { spark_jar_task: { main_class_name: "a.B", parameters: ["1", "2"] } }],
    ["python", { spark_python_task: { python_file: "fs:/a.py", parameters: [] } }],
    ["submit", { spark_submit_task: { parameters: ["--class", "a.B", "fs:/a.jar"] } }],
  ])("a job with only a %s task shows no difference after it was created", async (_, task) => {
    const { api } = await startWorkspace();
    const values = { ...task, new_cluster: cluster };
    const live = await only(jobs, api, await create(jobs, api, "j", values));
    expect(diffs(jobs, live, "j", values)).toEqual([]);
    expect(diffsAfter(jobs, live, "j", values, { applied: values, seen: live.values })).toEqual([]);
  });

  test("explicit defaults and empty lists are the same as nothing", async () => {
    const { api } = await startWorkspace();
    const live = await only(jobs, api, await create(jobs, api, "j", notebook));
    const spelled = {
      ...notebook,
      notebook_task: { notebook_path: "/Shared/nightly", base_parameters: {} },
      libraries: [],
      email_notifications: { on_start: [], no_alert_for_skipped_runs: false },
      timeout_seconds: 0,
      max_retries: 0,
      min_retry_interval_millis: 0,
      retry_on_timeout: false,
      max_concurrent_runs: 1,
    };
    expect(diffs(jobs, live, "j", spelled)).toEqual([]);
  });

  test("a job is made inert under a name with its token, recorded, then given its settings", async () => {
    const { api, sent, created } = await startWorkspace();
    const id = await create(jobs, api, "nightly", full);
    expect(sent.map((one) => one.operation)).toEqual(["jobs/create", "jobs/reset"]);
    expect(sent[0]?.input).toMatchObject({ name: "nightly [workspace:t0k3n]", max_concurrent_runs: 0 });
    expect(sent[0]?.input).not.toHaveProperty("schedule");
    expect(sent[0]?.input).not.toHaveProperty("email_notifications");
    expect(created).toEqual([id]);
  });

  test("a job whose creation was interrupted is found by its token, and differs until it is finished", async () => {
    const { api } = await startWorkspace();
    const cut = { ...api, created: () => Promise.reject(new Error("crash")) };
    await expect(create(jobs, cut, "nightly", full)).rejects.toThrow("crash");
    const [live] = await listed(jobs, api);
    expect(live?.facts.token).toBe("t0k3n");
    if (live === undefined) return;
    expect(diffs(jobs, live, "nightly", full).map((diff) => diff.path[0])).toContain("name");
    expect(await update(jobs, api, live, "nightly", full)).toEqual(["reset"]);
    const finished = await only(jobs, api, live.id);
    expect(diffs(jobs, finished, "nightly", full)).toEqual([]);
    expect(finished.facts.token).toBeUndefined();
  });

  test("where a service demands the node type of a pool's member, the pool's is looked up", async () => {
    const lacks = (cluster: unknown) =>
      Object(cluster).node_type_id === undefined ? refused(400, "INVALID_PARAMETER_VALUE") : undefined;
    const { api, sent } = scripted({
      "jobs/create": (input) => lacks(input.new_cluster) ?? { job_id: 1 },
      "jobs/reset": (input) => lacks(Object(input.new_settings).new_cluster) ?? {},
      "instance-pools/get": { node_type_id: "T" },
    });
    const new_cluster = { spark_version: "v", num_workers: 0, instance_pool_id: "p" };
    await create(jobs, api, "j", { notebook_task: { notebook_path: "/n" }, new_cluster });
    expect(sent.at(-1)?.input.new_settings).toMatchObject({
      new_cluster: { ...new_cluster, node_type_id: "T" },
    });
  });

  test("ids beyond 2^53 are kept to the last digit", async () => {
    const job_id = 9007199254740993n;
    const answers = { "jobs/list": { jobs: [{ job_id, settings: { name: "j" } }] }, "jobs/reset": {} };
    const { api, sent } = scripted(answers);
    const [live] = await listed(jobs, api);
    expect(live?.id).toBe("9007199254740993");
    if (live === undefined) return;
    await update(jobs, api, live, "j", notebook);
    expect(sent[0]?.input.job_id).toBe(job_id);
  });

  test("defaults that a service leaves out or spells out are the same", async () => {
    const bare = { job_id: 1, settings: { name: "j", ...notebook } };
    const spelled = {
      job_id: "2",
      settings: {
        name: "j",
        ...notebook,
        email_notifications: {},
        timeout_seconds: "0",
        max_concurrent_runs: 1,
        libraries: [],
      },
    };
    const { api } = scripted({ "jobs/list": { jobs: [bare, spelled] } });
    for (const live of await listed(jobs, api)) expect(diffs(jobs, live, "j", notebook)).toEqual([]);
  });
});

test.each<readonly [string, Values]>([
  ["that say nothing", {}],
  ["that are not paused", { pause_status: "UNPAUSED" }],
])("continuous runs %s differ from none", async (_, continuous) => {
  const { api } = scripted({
    "jobs/list": { jobs: [{ job_id: 1, settings: { name: "j", ...notebook, continuous } }] },
  });
  const [live] = await listed(jobs, api);
  if (live === undefined) throw new Error("no job");
  expect(diffs(jobs, live, "j", notebook).map(({ path }) => path.join("."))).toEqual(["continuous"]);
  expect(diffs(jobs, live, "j", { ...notebook, continuous: { pause_status: "UNPAUSED" } })).toEqual([]);
});

describe("changing and removing", () => {
  test("a schedule that is paused by hand is drift", async () => {
    const { world, api } = await startWorkspace();
    const id = await create(jobs, api, "j", full);
    const live = await only(jobs, api, id);
    await world.post("jobs/reset", {
      job_id: Number(id),
      new_settings: { ...live.values, schedule: { ...Object(live.values.schedule), pause_status: "PAUSED" } },
    });
    const moved = await only(jobs, api, id);
    const found = diffs(jobs, moved, "j", full);
    expect(found.map((diff) => diff.path.join("."))).toEqual(["schedule.pause_status"]);
  });

  const CRON = { quartz_cron_expression: "0 0 1 * * ?", timezone_id: "UTC" };
  const HOURLY = { periodic: { interval: 1, unit: "HOURS" } };
  const PAUSED = { pause_status: "PAUSED" };
  test.each<readonly [string, Values, Values, readonly string[]]>([
    ["a removed schedule", { schedule: CRON }, {}, ["the job no longer runs on its schedule"]],
    ["a removed trigger", { trigger: HOURLY }, {}, ["the job is no longer started by its trigger"]],
    [
      "the end of continuous runs",
      { continuous: { pause_status: "UNPAUSED" } },
      {},
      ["the job no longer runs continuously"],
    ],
    [
      "a paused schedule",
      { schedule: { ...CRON, pause_status: "UNPAUSED" } },
      { schedule: { ...CRON, ...PAUSED } },
      ["the job no longer runs on its schedule"],
    ],
    [
      "a paused trigger",
      { trigger: HOURLY },
      { trigger: { ...HOURLY, ...PAUSED } },
      ["the job is no longer started by its trigger"],
    ],
    [
      "paused continuous runs",
      { continuous: {} },
      { continuous: PAUSED },
      ["the job no longer runs continuously"],
    ],
    [
      "a trigger in place of a schedule",
      { schedule: CRON },
      { trigger: HOURLY },
      ["the job no longer runs on its schedule"],
    ],
    ["a paused schedule that is removed", { schedule: { ...CRON, ...PAUSED } }, {}, []],
    ["a schedule that is no longer paused", { schedule: { ...CRON, ...PAUSED } }, { schedule: CRON }, []],
    [
      "another time",
      { schedule: CRON },
      { schedule: { ...CRON, quartz_cron_expression: "0 0 2 * * ?" } },
      [],
    ],
  ])("%s: the side effects name what no longer starts the job", (_, before, after, expected) => {
    const live = liveObject("j", { ...notebook, ...before, name: "j" }, {}, "7");
    const change = planned(jobs, "update", live, { ...notebook, ...after, name: "j" });
    expect(jobs.planning.consequences?.(change, lookAt({}))).toEqual(expected);
  });

  test("a reset replaces what differs and keeps what the service had decided", async () => {
    const { api } = await startWorkspace();
    const id = await create(jobs, api, "j", full);
    const live = await only(jobs, api, id);
    await update(jobs, api, live, "j", notebook);
    expect(diffs(jobs, await only(jobs, api, id), "j", notebook)).toEqual([]);
  });

  test("a job is looked for before it is deleted, because every delete mails people", async () => {
    const { api, sent } = await startWorkspace();
    const live = await only(jobs, api, await create(jobs, api, "j", notebook));
    await remove(jobs, api, live);
    await remove(jobs, api, live);
    expect(sent.filter((one) => one.operation === "jobs/delete")).toHaveLength(1);
    const gone = scripted({ "jobs/get": refused(400, "INVALID_PARAMETER_VALUE", "Job 1 does not exist.") });
    await remove(jobs, gone.api, liveObject("j", {}, {}, "1"));
    expect(gone.sent).toEqual([]);
  });

  test("a job that goes tells whom the service mails, that its history goes, and which runs end", () => {
    const live = liveObject("j", { name: "j", ...full }, {}, "7");
    const change = planned(jobs, "delete", live);
    expect(jobs.planning.neededFacts?.(change, lookAt({}))).toEqual(["activeRuns"]);
    expect(
      jobs.planning.consequences?.(change, lookAt({ activeRuns: [{ job_id: 7 }, { job_id: 8 }] })),
    ).toEqual([
      "the service sends e-mail to a@x, b@x and c@x",
      "its run history is no longer available",
      "1 active run of it ends",
    ]);
  });
});

describe("checks", () => {
  const codes = (values: Values) =>
    jobs.planning.validate?.(values, "j").map((one) => [one.code, one.path.join(".")]);

  test("a job needs exactly one task and exactly one cluster", () => {
    expect(codes(notebook)).toEqual([]);
    expect(codes({ ...notebook, existing_cluster_id: "${clusters.c.cluster_id}" })).toEqual([
      ["SPEC_COMBINATION", "existing_cluster_id"],
    ]);
    expect(codes({})).toEqual([
      ["SPEC_MISSING_FIELD", ""],
      ["SPEC_MISSING_FIELD", ""],
    ]);
    expect(codes({ ...notebook, spark_jar_task: { main_class_name: "a" } })).toEqual([
      ["SPEC_COMBINATION", "spark_jar_task"],
    ]);
  });

  test("the rules of clusters hold for new_cluster, with their place", () => {
    expect(codes({ ...notebook, new_cluster: { ...cluster, autotermination_minutes: 5 } })).toEqual([
      ["SPEC_VALUE", "new_cluster.autotermination_minutes"],
    ]);
  });

  test("spark_submit runs on a new cluster and brings its own libraries and configuration", () => {
    const submit = { spark_submit_task: { parameters: ["x"] } };
    expect(codes({ ...submit, new_cluster: cluster })).toEqual([]);
    expect(codes({ ...submit, existing_cluster_id: "c", libraries: [{ jar: "fs:/a.jar" }] })).toEqual([
      ["SPEC_COMBINATION", "existing_cluster_id"],
      ["SPEC_COMBINATION", "libraries"],
    ]);
    expect(codes({ ...submit, new_cluster: { ...cluster, spark_conf: { a: "b" } } })).toEqual([
      ["SPEC_COMBINATION", "new_cluster.spark_conf"],
    ]);
  });

  test("parameters have at most 10,000 bytes as JSON", () => {
    const jar = (text: string) => ({
      spark_jar_task: { main_class_name: "a", parameters: [text] },
      existing_cluster_id: "c",
    });
    expect(codes(jar("x".repeat(9996)))).toEqual([]);
    expect(codes(jar("x".repeat(9997)))).toEqual([["SPEC_LIMIT", "spark_jar_task.parameters"]]);
    expect(codes(jar("é".repeat(5000)))).toEqual([["SPEC_LIMIT", "spark_jar_task.parameters"]]);
  });

  test("a library is one of its forms", () => {
    expect(codes({ ...notebook, libraries: [{ jar: "a", whl: "b" }, {}] })).toEqual([
      ["SPEC_COMBINATION", "libraries.0"],
      ["SPEC_COMBINATION", "libraries.1"],
    ]);
  });

  test("schedules are checked unless they are still to be put in", () => {
    const schedule = (quartz_cron_expression: string, timezone_id: string) => ({
      ...notebook,
      schedule: { quartz_cron_expression, timezone_id },
    });
    expect(codes(schedule("0 30 2 * * *", "Mars/Olympus"))).toEqual([
      ["SPEC_CRON", "schedule.quartz_cron_expression"],
      ["SPEC_CRON", "schedule.timezone_id"],
    ]);
    expect(codes(schedule("${var.cron}", "${var.zone}"))).toEqual([]);
  });

  test("files that libraries, scripts and Python tasks name are needed", () => {
    const python = { spark_python_task: { python_file: "fs:/jobs/a.py" } };
    expect(jobs.planning.dependencies?.("j", { ...full, ...python })).toEqual(
      ["/jars/a.jar", "/eggs/a.egg", "/wheels/a.whl", "/jobs/a.py", "/init/a.sh"].map((name) => ({
        kind: "files",
        name,
      })),
    );
  });
});

test("a cluster's limit of tags leaves room for the token, a job's does not need to", () => {
  const most = (field: unknown) => Object(field).maxProperties;
  expect(most(clusters.fields.custom_tags)).toBe(42);
  expect(most(jobs.fields.new_cluster?.properties?.custom_tags)).toBe(45);
});

test("a recorded job that is not in the list is read by its ID, and an ID that is not a number has no job", async () => {
  const settings = { name: "nightly", ...notebook };
  const { api, reads } = scripted({
    "jobs/list": { jobs: [{ job_id: 1, settings }] },
    "jobs/get": ({ job_id = "" }) =>
      String(job_id) === "2"
        ? { job_id, settings }
        : apiError(400, "INVALID_PARAMETER_VALUE", `Job ${String(job_id)} does not exist.`),
  });
  const ids = new Set(["1", "2", "3", "x"]);
  const found = await jobs.operations.list(api, { parents: [], names: new Set(), ids });
  expect(found.map(({ id }) => String(id))).toEqual(["1", "2"]);
  expect(reads.map(({ operation }) => operation)).toEqual(["jobs/list", "jobs/get", "jobs/get"]);
});
