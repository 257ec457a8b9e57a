// The HTTP requests of each kind, from create to delete, as nock receives them.

import { expect, test } from "vitest";
import { digest } from "../../src/core/digest.ts";
import { Sensitive } from "../../src/core/sensitive/texts.ts";
import { registry } from "../../src/providers/index.ts";
import { CONTRACT_FIELDS, registryIn } from "../../src/resource/dialect-view.ts";
import type { Values } from "../../src/resource/field-schema.ts";
import { sizeAndDigest } from "../../src/resource/kind.ts";
import type { Payload } from "../../src/resource/operations.ts";
import { create, only, remove, startWorkspace, update } from "./workspace.ts";

interface Course {
  readonly kind: string;
  readonly name: string;
  readonly values?: Values;
  readonly changed?: Values;
  readonly payload?: Payload;
  /** The scope that must exist. */
  readonly scope?: string;
  /** Below `/api/2.0/`, without `schemas`; the ID of the object is `ID`. A repeated request is listed once. */
  readonly requests: readonly string[];
}

const bytes = new TextEncoder().encode("print(1)");
const payload: Payload = { digest: digest(bytes), bytes: () => bytes };
const secret: Payload = { ...payload, secret: new Sensitive(bytes) };
const cluster = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };
const task = { new_cluster: cluster, notebook_task: { notebook_path: "/a" } };

const COURSES: readonly Course[] = [
  {
    kind: "pools",
    name: "shared",
    values: { node_type_id: "Standard_DS3_v2", max_capacity: 5 },
    changed: { node_type_id: "Standard_DS3_v2", max_capacity: 9 },
    requests: [
      'POST instance-pools/create {"instance_pool_name":"shared","node_type_id":"Standard_DS3_v2","max_capacity":5}',
      "GET instance-pools/get?instance_pool_id=ID",
      "GET instance-pools/list",
      'POST instance-pools/edit {"instance_pool_id":"ID","node_type_id":"Standard_DS3_v2","instance_pool_name":"shared","max_capacity":9,"idle_instance_autotermination_minutes":60}',
      'POST instance-pools/delete {"instance_pool_id":"ID"}',
    ],
  },
  {
    kind: "clusters",
    name: "etl",
    values: cluster,
    changed: { ...cluster, autotermination_minutes: 30 },
    requests: [
      'POST clusters/create {"cluster_name":"etl","spark_version":"6.4.x-scala2.11","num_workers":1,"node_type_id":"Standard_DS3_v2","custom_tags":{"WorkspaceToken":"t0k3n"}}',
      "GET clusters/get?cluster_id=ID",
      'POST clusters/events {"cluster_id":"ID","event_types":["PINNED","UNPINNED"],"order":"DESC","limit":1}',
      "GET clusters/list",
      "GET clusters/get?cluster_id=ID",
      'POST clusters/edit {"cluster_id":"ID","cluster_name":"etl","spark_version":"6.4.x-scala2.11","num_workers":1,"autotermination_minutes":30,"node_type_id":"Standard_DS3_v2","enable_elastic_disk":false,"custom_tags":{"WorkspaceToken":"t0k3n"}}',
      'POST clusters/permanent-delete {"cluster_id":"ID"}',
    ],
  },
  {
    kind: "jobs",
    name: "nightly",
    values: task,
    changed: { ...task, max_retries: 2 },
    requests: [
      'POST jobs/create {"name":"nightly [workspace:t0k3n]","new_cluster":{"spark_version":"6.4.x-scala2.11","num_workers":1,"node_type_id":"Standard_DS3_v2"},"notebook_task":{"notebook_path":"/a"},"max_concurrent_runs":0}',
      'POST jobs/reset {"job_id":ID,"new_settings":{"name":"nightly","new_cluster":{"spark_version":"6.4.x-scala2.11","num_workers":1,"node_type_id":"Standard_DS3_v2"},"notebook_task":{"notebook_path":"/a"}}}',
      "GET jobs/get?job_id=ID",
      "GET jobs/list",
      'POST jobs/reset {"job_id":ID,"new_settings":{"name":"nightly","new_cluster":{"spark_version":"6.4.x-scala2.11","num_workers":1,"node_type_id":"Standard_DS3_v2"},"notebook_task":{"notebook_path":"/a"},"max_retries":2}}',
      "GET jobs/get?job_id=ID",
      'POST jobs/delete {"job_id":ID}',
    ],
  },
  {
    kind: "users",
    name: "ada@example.com",
    changed: { entitlements: ["allow-cluster-create"] },
    requests: [
      'POST preview/scim/v2/Users {"userName":"ada@example.com"}',
      "GET preview/scim/v2/Users/ID",
      "GET preview/scim/v2/Users",
      'PATCH preview/scim/v2/Users/ID {"Operations":[{"op":"add","path":"entitlements","value":[{"value":"allow-cluster-create"}]}]}',
      "DELETE preview/scim/v2/Users/ID",
    ],
  },
  {
    kind: "groups",
    name: "data-eng",
    changed: { entitlements: ["allow-cluster-create"] },
    requests: [
      'POST preview/scim/v2/Groups {"displayName":"data-eng"}',
      "GET preview/scim/v2/Groups/ID",
      "GET preview/scim/v2/Groups",
      'PATCH preview/scim/v2/Groups/ID {"Operations":[{"op":"add","path":"entitlements","value":[{"value":"allow-cluster-create"}]}]}',
      "DELETE preview/scim/v2/Groups/ID",
    ],
  },
  {
    kind: "scopes",
    name: "etl",
    requests: [
      'POST secrets/scopes/create {"scope":"ID"}',
      "GET secrets/scopes/list",
      'POST secrets/scopes/delete {"scope":"ID"}',
    ],
  },
  {
    kind: "secrets",
    name: "etl/password",
    scope: "etl",
    payload: secret,
    values: { value: "a" },
    requests: [
      'POST secrets/put {"scope":"etl","key":"password","string_value":"print(1)"}',
      "GET secrets/list?scope=etl",
      'POST secrets/delete {"scope":"etl","key":"password"}',
    ],
  },
  {
    kind: "acls",
    name: "etl/users",
    scope: "etl",
    values: { permission: "READ" },
    changed: { permission: "WRITE" },
    requests: [
      'POST secrets/acls/put {"scope":"etl","principal":"users","permission":"READ"}',
      "GET secrets/acls/list?scope=etl",
      'POST secrets/acls/put {"scope":"etl","principal":"users","permission":"WRITE"}',
      'POST secrets/acls/delete {"scope":"etl","principal":"users"}',
    ],
  },
  {
    kind: "directories",
    name: "/team",
    requests: [
      'POST workspace/mkdirs {"path":"ID"}',
      "GET workspace/get-status?path=%2Fteam",
      "GET workspace/list?path=%2F",
      "GET workspace/list?path=%2FShared",
      "GET workspace/list?path=%2FUsers",
      "GET workspace/list?path=%2Fteam",
      "GET workspace/list?path=%2FUsers%2Fadmin%40example.com",
      "GET workspace/list?path=%2Fteam",
      'POST workspace/delete {"path":"ID","recursive":false}',
    ],
  },
  {
    kind: "notebooks",
    name: "/report",
    payload,
    values: { content: "", language: "PYTHON", format: "SOURCE" },
    requests: [
      'POST workspace/import {"path":"ID","format":"SOURCE","language":"PYTHON","content":"cHJpbnQoMSk=","overwrite":false}',
      "GET workspace/get-status?path=%2Freport",
      "GET workspace/list?path=%2F",
      "GET workspace/list?path=%2FShared",
      "GET workspace/list?path=%2FUsers",
      "GET workspace/list?path=%2FUsers%2Fadmin%40example.com",
      'POST workspace/delete {"path":"ID","recursive":false}',
    ],
  },
  {
    kind: "files",
    name: "/report.py",
    payload,
    values: { content: sizeAndDigest(bytes.length, digest(bytes)) },
    requests: [
      'POST fs/put {"path":"ID","contents":"cHJpbnQoMSk=","overwrite":false}',
      "GET fs/get-status?path=%2Freport.py",
      "GET fs/list?path=%2F",
      'POST fs/delete {"path":"ID","recursive":false}',
    ],
  },
];

test("each kind has its requests in the table", () => {
  expect(COURSES.map(({ kind }) => kind).sort()).toEqual(
    registryIn(registry, CONTRACT_FIELDS)
      .kinds.map(({ kind }) => kind)
      .sort(),
  );
});

test.each(COURSES)(
  "$kind are created, read, listed, updated, and deleted with these requests",
  async (course) => {
    const { kind, name, values = {}, changed, payload, scope, requests } = course;
    const provider = registry.get(kind);
    const { world, api, requests: arrived } = await startWorkspace();
    if (scope !== undefined) await world.post("secrets/scopes/create", { scope });
    const id = await create(provider, api, name, values, payload);
    const read = await provider.operations.read(api, id);
    expect(read?.name).toBe(name);
    const live = await only(provider, api, id, scope === undefined ? [] : [scope]);
    if (changed !== undefined) await update(provider, api, live, name, changed);
    await remove(provider, api, live);
    const lines = arrived.map((line) =>
      line
        .replace("/api/2.0/", "")
        .replaceAll(id, "ID")
        .replace(/"schemas":\["[^"]*"\],/, ""),
    );
    expect(lines.filter((line, at) => line !== lines[at - 1])).toEqual(requests);
  },
);
