// Answers of pools, clusters, and jobs conform to openapi.yaml: no missing, unknown, or mistyped member.

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { CLUSTER, compute, NODE_TYPE, RUNTIME, SECOND } from "../../compute.ts";
import { type Body, startWorld } from "../../harness.ts";

const contract: Body = parse(
  readFileSync(new URL("../../../../schemas/openapi.yaml", import.meta.url), "utf8"),
);
const OURS = /^\/api\/2\.0\/(instance-pools|clusters|jobs)\//;

/** The schema of what an operation answers, with objects closed: a field that it does not name is an error. */
function answerSchema(path: string, method: string): Body {
  const { schema } = contract.paths[path][method].responses["200"].content["application/json"];
  return closed(schema);
}

function closed(schema: Body): Body {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== "object") return schema;
  if (typeof schema.$ref === "string")
    return closed(contract.components.schemas[schema.$ref.split("/").at(-1)]);
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return schema.properties === undefined ? inner : { additionalProperties: false, ...inner };
}

const plain = (value: Body): Body =>
  JSON.parse(JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? Number(member) : member)));

test("B4.1 get, B4.2 runs/get, B4.3 get: every answer of pools, clusters and jobs fits its schema in openapi.yaml, field by field", async () => {
  const w = await startWorld();
  const c = compute(w);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const unseen = new Set(Object.keys(contract.paths).filter((path) => OURS.test(path)));
  const check = async (name: string, given: object = {}): Promise<Body> => {
    const path = `/api/2.0/${name}`;
    const method = contract.paths[path].get === undefined ? "post" : "get";
    const { status, body } = method === "get" ? await w.get(name, { ...given }) : await w.post(name, given);
    expect({ name, status }).toEqual({ name, status: 200 });
    const valid = ajv.validate(answerSchema(path, method), plain(body));
    expect({ name, errors: valid ? [] : ajv.errors }).toEqual({ name, errors: [] });
    unseen.delete(path);
    return body;
  };

  const pool = {
    instance_pool_name: "p",
    node_type_id: NODE_TYPE,
    max_capacity: 20,
    custom_tags: { a: "b" },
    disk_spec: { disk_type: { cloud_disk_volume_type: "STANDARD_LRS" }, disk_count: 1, disk_size: 10 },
    preloaded_spark_versions: [RUNTIME],
  };
  const { instance_pool_id } = await check("instance-pools/create", pool);
  await check("instance-pools/edit", { ...pool, instance_pool_id });
  await check("instance-pools/get", { instance_pool_id });
  await check("instance-pools/list");

  const full = {
    spark_version: RUNTIME,
    instance_pool_id,
    autoscale: { min_workers: 1, max_workers: 2 },
    cluster_name: "full",
    spark_conf: { a: 1 },
    custom_tags: [{ key: "a", value: "b" }],
    cluster_log_conf: { fs: { destination: "fs:/logs" } },
    init_scripts: [{ fs: { destination: "fs:/a.sh" } }, { file: { destination: "file:/b.sh" } }],
    spark_env_vars: { A: "b" },
    autotermination_minutes: 60,
    ssh_public_keys: ["k"],
  };
  const { cluster_id } = await check("clusters/create", full);
  await check("clusters/get", { cluster_id });
  await w.advance(400 * SECOND);
  await check("clusters/get", { cluster_id });
  await check("clusters/edit", { cluster_id, ...full, autoscale: { min_workers: 1, max_workers: 3 } });
  await w.advance(SECOND);
  await check("clusters/resize", { cluster_id, num_workers: 3 });
  await check("clusters/list");
  await w.advance(SECOND);
  await check("clusters/restart", { cluster_id });
  await check("clusters/pin", { cluster_id });
  await check("clusters/list");
  await check("clusters/unpin", { cluster_id });
  await check("clusters/delete", { cluster_id });
  await w.advance(SECOND);
  await check("clusters/list");
  await check("clusters/start", { cluster_id });
  await check("clusters/events", { cluster_id, limit: 3 });
  await check("clusters/events", { cluster_id, limit: 500 });
  await check("clusters/list-node-types");
  await check("clusters/spark-versions");
  await w.advance(SECOND);

  const settings = {
    name: "n",
    new_cluster: CLUSTER,
    notebook_task: { notebook_path: "/a", base_parameters: { a: "b" } },
    libraries: [{ pypi: { package: "p", repo: "r" } }, { jar: "fs:/a.jar" }],
    email_notifications: { on_start: ["a"], no_alert_for_skipped_runs: true },
    timeout_seconds: 50,
    max_retries: 1,
    min_retry_interval_millis: 5,
    retry_on_timeout: true,
    schedule: { quartz_cron_expression: "0 0 0 * * ?", timezone_id: "UTC" },
  };
  const { job_id } = await check("jobs/create", settings);
  await check("jobs/get", { job_id });
  await check("jobs/list");
  await check("jobs/reset", { job_id, new_settings: settings });
  const { run_id } = await check("jobs/run-now", { job_id, notebook_params: { c: "d" } });
  await check("jobs/run-now", { job_id });
  await check("jobs/runs/get", { run_id });
  await check("jobs/runs/get-output", { run_id });
  await c.finish(run_id, "SUCCESS", { result: "r" });
  await w.advance(5 * SECOND);
  await check("jobs/runs/get-output", { run_id });
  await check("jobs/runs/export", { run_id });
  await check("jobs/runs/list", { limit: 1 });
  const tasks = {
    existing_cluster_id: cluster_id,
    spark_jar_task: { main_class_name: "M", jar_uri: "fs:/a.jar" },
  };
  const once = await check("jobs/runs/submit", tasks);
  await check("jobs/runs/cancel", once);
  await w.advance(SECOND);
  await check("jobs/runs/get", once);
  await check("jobs/runs/delete", once);
  await check("jobs/delete", { job_id });
  await check("clusters/permanent-delete", { cluster_id });
  await check("instance-pools/delete", { instance_pool_id });

  expect([...unseen]).toEqual([]);
});
