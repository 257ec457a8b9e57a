// A field that is not managed if the spec omits it: an empty value in the spec removes what is live.

import { expect, onTestFinished, test } from "vitest";
import { doing, Site } from "../../engine/site.ts";

const JOB = {
  name: "etl",
  tasks: [
    {
      task_key: "main",
      new_cluster: { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 },
      notebook_task: { notebook_path: "/etl" },
    },
  ],
  tags: { team: "data" },
  webhook_notifications: { on_failure: [{ id: "w" }], on_start: [{ id: "v" }] },
};

const spec = (fields: string): string => `jobs:
  etl:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }
    notebook_task: { notebook_path: /etl }
${fields}`;

test.each([
  ["tags", "    tags: {}\n"],
  ["webhook_notifications", "    webhook_notifications: {}\n"],
  ["webhook_notifications", "    webhook_notifications: { on_failure: [], on_start: [] }\n"],
])("%s of a job are removed by %j, and stay if the spec omits them", async (field, empty) => {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  const { job_id } = (await site.world.post("/api/2.1/jobs/create", JOB)).body;
  const live = async () => (await site.world.get("/api/2.1/jobs/get", { job_id })).body.settings[field];
  await site.drive(site.process().apply(await site.spec(spec("")), { adopt: true }));
  expect(await live()).toEqual(JOB[field as "tags"]);
  const emptied = await site.spec(spec(empty));
  expect(doing(await site.drive(site.process().plan(emptied)))).toEqual(["update jobs.etl"]);
  await site.drive(site.process().apply(emptied));
  expect((await live()) ?? {}).toEqual({});
  expect(doing(await site.drive(site.process().plan(emptied)))).toEqual([]);
  expect(doing(await site.drive(site.process().plan(await site.spec(spec("")))))).toEqual([]);
});
