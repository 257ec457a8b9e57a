// A client of the contract in front of a host of the Databricks dialect: its updates would lose fields, so it does not read on.

import { expect, test } from "vitest";
import { createClient } from "../../../src/api/client.ts";
import type { ReadOperation } from "../../../src/api/contract/operations.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { Refused } from "../../../src/core/request-failure.ts";
import { nockedTransport } from "../../nocked.ts";
import { json } from "../answers.ts";
import { HOST, TOKEN, timeline } from "../scripted.ts";

async function answered(operation: ReadOperation, answer: JsonObject): Promise<unknown> {
  const transport = nockedTransport(() => json(answer));
  const client = createClient({ transport, host: HOST, token: TOKEN, ...timeline(), random: () => 0 });
  return client.reader.read(operation, {}).catch((failure: unknown) => failure);
}

const vendor = { default_tags: { Vendor: "Databricks" } };
const cluster = { ...vendor, azure_attributes: { availability: "ON_DEMAND_AZURE" } };
const pool = { default_tags: { Vendor: "Databricks", DatabricksInstancePoolId: "p" } };
const meta = { meta: { resourceType: "WorkspaceGroup" } };

test.each<[ReadOperation, JsonObject]>([
  [
    "jobs/list",
    {
      jobs: [
        { job_id: 1, settings: {} },
        { job_id: 2, settings: { format: "MULTI_TASK" } },
      ],
    },
  ],
  ["jobs/get", { job_id: 1, settings: { format: "SINGLE_TASK" } }],
  ["clusters/list", { clusters: [cluster] }],
  ["clusters/get", cluster],
  ["instance-pools/list", { instance_pools: [pool] }],
  ["instance-pools/get", pool],
  ["scim/groups/list", { Resources: [meta], totalResults: 1 }],
])("%s of the vendor is refused", async (operation, answer) => {
  const failure = await answered(operation, answer);
  expect(failure).toBeInstanceOf(Refused);
  expect(failure).toMatchObject({
    diagnostic: {
      code: "API_PROTOCOL",
      message: `${operation} was answered in the Databricks dialect, but the dialect of the host is contract`,
      hint: expect.stringContaining("--dialect databricks"),
    },
  });
});

test.each<[ReadOperation, JsonObject]>([
  ["jobs/list", {}],
  ["jobs/list", { jobs: [{ job_id: 1, settings: { name: "MULTI_TASK" } }] }],
  [
    "clusters/list",
    {
      clusters: [
        { ...cluster, default_tags: { Vendor: "Workspace" }, custom_tags: { Vendor: "Databricks" } },
      ],
    },
  ],
  ["clusters/list", { clusters: [vendor] }],
  ["clusters/get", vendor],
  [
    "instance-pools/list",
    { instance_pools: [{ default_tags: { Vendor: "Databricks", PlatformInstancePoolId: "p" } }] },
  ],
  ["scim/groups/list", { Resources: [{ meta: { resourceType: "Group" } }], totalResults: 1 }],
  ["secrets/scopes/list", { scopes: [{ name: "Databricks" }] }],
])("%s of the contract is accepted: %j", async (operation, answer) => {
  expect(await answered(operation, answer)).toEqual(answer);
});
