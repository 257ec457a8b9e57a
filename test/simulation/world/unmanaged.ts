// Unmanaged objects of every kind, and the proof that they were not changed: their rows are equal, byte for byte.

import { stringifyJson } from "../../../src/core/exact-json.ts";
import type { Json } from "../../../src/core/json.ts";
import type { Tables } from "../../../src/emulator/store/store.ts";
import { type TestWorld, USER_SCHEMA } from "../../emulator/harness.ts";

import { dialectPath } from "./dialect.ts";

const CLUSTER = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

export async function createUnmanaged(world: TestWorld): Promise<void> {
  const put = async (path: string, body: unknown): Promise<void> => {
    const { status, body: answer } = await world.post(path, body);
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  };
  await put("preview/scim/v2/Users", { schemas: [USER_SCHEMA], userName: "stranger@example.com" });
  await put("groups/create", { group_name: "strangers" });
  await put("groups/add-member", { parent_name: "strangers", user_name: "stranger@example.com" });
  await put("secrets/scopes/create", { scope: "foreign" });
  await put("secrets/put", { scope: "foreign", key: "k", string_value: "v" });
  await put("secrets/acls/put", { scope: "foreign", principal: "strangers", permission: "READ" });
  await put("instance-pools/create", { instance_pool_name: "foreign", node_type_id: "Standard_DS3_v2" });
  await put("clusters/create", { cluster_name: "foreign", autotermination_minutes: 0, ...CLUSTER });
  await put("jobs/create", {
    name: "foreign",
    new_cluster: CLUSTER,
    notebook_task: { notebook_path: "/Shared/foreign/x" },
    email_notifications: { on_start: ["stranger@example.com"] },
  });
  await put("workspace/mkdirs", { path: "/Shared/foreign" });
  await put("workspace/import", {
    path: "/Shared/foreign/x",
    format: "SOURCE",
    language: "PYTHON",
    content: base64("print('theirs')\n"),
  });
  await put(dialectPath("fs/put"), {
    path: "/theirs/file.txt",
    contents: base64("theirs\n"),
  });
}

/** Tables whose rows say what a workspace holds; a table of secrets has the name of its scope. */
const HOLDING =
  /^(users|groups|secrets\.scopes|secrets\/.+|pools|clusters|clusters\.pinned|jobs|workspace\.objects|files)$/;

/** The differences in the rows of unmanaged objects. */
export function unmanagedChanges(before: Tables, now: Tables): readonly string[] {
  const touched: string[] = [];
  for (const [table, rows] of Object.entries(before)) {
    if (!HOLDING.test(table)) continue;
    for (const [id, row] of Object.entries(rows)) {
      const found = now[table]?.[id];
      if (found === undefined) touched.push(`unmanaged ${table} ${id} was deleted`);
      else if (isPlace(row) || isAdmins(row)) continue;
      else if (stringifyJson(found as Json) !== stringifyJson(row as Json))
        touched.push(`unmanaged ${table} ${id} changed: ${stringifyJson(found as Json)}`);
    }
  }
  return touched;
}

/** Folders that everybody shares change when something is put into them. */
function isPlace(row: unknown): boolean {
  return typeof row === "object" && row !== null && "folder" in row && "parent" in row && row.parent === "";
}

/** Assignments of administrators change the members of their group. */
function isAdmins(row: unknown): boolean {
  return typeof row === "object" && row !== null && "displayName" in row && row.displayName === "admins";
}
