// Access tokens, those that administrators see, tokens of service principals, and assignments to the workspace.

import { beforeEach, describe, expect, test } from "vitest";
import { type Body, START, startWorld, type TestWorld } from "../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld({ databricks: "azure" });
});

const SCIM = "preview/scim/v2";
const ME = `${SCIM}/Me`;
const TOKENS = "token-management/tokens";
const ON_BEHALF = "token-management/on-behalf-of/tokens";
const ASSIGNMENTS = "preview/permissionassignments";
const idOf = async (token: string): Promise<string> => (await w.get(ME, {}, { as: token })).body.id;

async function program(): Promise<Body> {
  return (await w.post(`${SCIM}/ServicePrincipals`, { displayName: "deployer" })).body;
}

const allow = (applicationId: string) =>
  w.patch("permissions/authorization/tokens", {
    access_control_list: [{ service_principal_name: applicationId, permission_level: "CAN_USE" }],
  });

describe("token management", () => {
  test("shows administrators the tokens of everybody, with creator and owner", async () => {
    const ada = await w.user("ada@example.com");
    const { token_info } = (await w.post("token/create", { comment: "mine" }, { as: ada })).body;
    await w.post("token/create", { comment: "other" });
    const query = { created_by_username: "ada@example.com" };
    const { token_infos } = (await w.get(TOKENS, query)).body;
    const id = Number(await idOf(ada));
    const creator = { owner_id: id, created_by_id: id, created_by_username: "ada@example.com" };
    expect(token_infos).toEqual([{ ...token_info, ...creator }]);
    expect((await w.get(`${TOKENS}/${token_info.token_id}`)).body).toEqual({ token_info: token_infos[0] });
    expect((await w.get(TOKENS)).body.token_infos).toHaveLength(2);
    expect((await w.get(TOKENS, {}, { as: ada })).status).toBe(403);
  });

  test("changes a comment and revokes a token", async () => {
    const { token_value, token_info } = (await w.post("token/create", { comment: "before" })).body;
    const path = `${TOKENS}/${token_info.token_id}`;
    const change = { token: { comment: "after" }, update_mask: "comment" };
    expect((await w.patch(path, change)).body.comment).toBe("after");
    expect((await w.get(ME, {}, { as: token_value })).status).toBe(200);
    expect((await w.delete(path)).status).toBe(200);
    expect((await w.get(ME, {}, { as: token_value })).status).toBe(403);
    expect((await w.delete(path)).status).toBe(404);
  });

  test("has no tokens of a removed principal, not even after it returns", async () => {
    const ada = await w.user("ada@example.com");
    const id = await idOf(ada);
    const { token_info } = (await w.post("token/create", {}, { as: ada })).body;
    const path = `${TOKENS}/${token_info.token_id}`;
    await w.delete(`${SCIM}/Users/${id}`);
    expect((await w.get(TOKENS)).body).toEqual({});
    expect((await w.get(path)).status).toBe(404);
    expect((await w.patch(path, { token: { comment: "c" }, update_mask: "comment" })).status).toBe(404);
    expect((await w.delete(path)).status).toBe(404);
    const again = await w.user("ada@example.com");
    expect(await idOf(again)).toBe(id);
    expect((await w.get("token/list", {}, { as: again })).body).toEqual({});
  });

  test("limits lifetimes by the setting of the workspace", async () => {
    await w.patch("workspace-conf", { maxTokenLifetimeDays: "2" });
    const day = 86_400;
    expect((await w.post("token/create", { lifetime_seconds: 3 * day })).status).toBe(400);
    const { token_info } = (await w.post("token/create", {})).body;
    expect(token_info.expiry_time).toBe(START + 2 * day * 1000);
  });
});

describe("a token of a service principal", () => {
  test("makes it the owner of its jobs, and the manager of its pools and clusters", async () => {
    const { id, applicationId } = await program();
    await allow(applicationId);
    const admins = (await w.get(`${SCIM}/Groups`, { filter: "displayName eq admins" })).body.Resources[0];
    await w.patch(`${SCIM}/Groups/${admins.id}`, {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
      Operations: [{ op: "add", path: "members", value: [{ value: id }] }],
    });
    const as = (await w.post(ON_BEHALF, { application_id: applicationId })).body.token_value;
    const node_type_id = "Standard_DS3_v2";
    const pool = { instance_pool_name: "warm", node_type_id };
    const cluster = { cluster_name: "c", spark_version: "15.4.x-scala2.12", node_type_id, num_workers: 1 };
    const created = [
      ["instance-pools", "instance_pool_id", await w.post("instance-pools/create", pool, { as })],
      ["clusters", "cluster_id", await w.post("clusters/create", cluster, { as })],
      [
        "jobs",
        "job_id",
        await w.post(
          "jobs/create",
          { name: "j", new_cluster: cluster, notebook_task: { notebook_path: "/a" } },
          { as },
        ),
      ],
    ] as const;
    for (const [type, key, { body }] of created) {
      const { access_control_list: list } = (await w.get(`permissions/${type}/${body[key]}`)).body;
      const own = list.find((entry: Body) => entry.service_principal_name === applicationId);
      expect([type, own?.all_permissions[0].permission_level]).toEqual([
        type,
        type === "jobs" ? "IS_OWNER" : "CAN_MANAGE",
      ]);
    }
  });

  test("needs its right to use tokens, and acts as the service principal", async () => {
    const { id, applicationId } = await program();
    const create = () => w.post(ON_BEHALF, { application_id: applicationId, comment: "c" });
    expect((await create()).body.error_code).toBe("PERMISSION_DENIED");
    await allow(applicationId);
    const { token_value, token_info } = (await create()).body;
    expect(token_info).toMatchObject({ owner_id: Number(id), created_by_username: "admin@example.com" });
    expect((await w.get(ME, {}, { as: token_value })).body).toMatchObject({ id, userName: applicationId });
    await w.delete(`${SCIM}/ServicePrincipals/${id}`);
    expect((await w.get(ME, {}, { as: token_value })).status).toBe(403);
  });

  test("is refused while the service principal is inactive", async () => {
    const { id, applicationId } = await program();
    await allow(applicationId);
    const { token_value } = (await w.post(ON_BEHALF, { application_id: applicationId })).body;
    const off = { op: "replace", path: "active", value: "false" };
    await w.patch(`${SCIM}/ServicePrincipals/${id}`, { Operations: [off] });
    expect((await w.get(ME, {}, { as: token_value })).status).toBe(403);
  });
});

describe("assignments", () => {
  test("list users, service principals, and groups of the account, with their roles", async () => {
    await w.user("ada@example.com");
    const { applicationId } = await program();
    await w.control("POST", "account-groups", { display_name: "all-company" });
    await w.post(`${SCIM}/Groups`, { displayName: "local" });
    const { permission_assignments } = (await w.get(ASSIGNMENTS)).body;
    expect(permission_assignments).toMatchObject([
      { principal: { user_name: "admin@example.com" }, permissions: ["ADMIN"] },
      { principal: { user_name: "ada@example.com" }, permissions: ["USER"] },
      { principal: { service_principal_name: applicationId }, permissions: ["USER"] },
      { principal: { group_name: "all-company" }, permissions: ["USER"] },
    ]);
  });

  test("make a principal an administrator and a user again, by ID and by name", async () => {
    const ada = await w.user("ada@example.com");
    const id = await idOf(ada);
    const set = (permissions: readonly string[]) => w.put(`${ASSIGNMENTS}/principals/${id}`, { permissions });
    expect((await set(["ADMIN"])).body.permissions).toEqual(["ADMIN"]);
    expect((await w.get(TOKENS, {}, { as: ada })).status).toBe(200);
    const byName = [{ user_name: "Ada@example.com", permissions: ["USER"] }];
    const { permission_assignments } = (await w.post(ASSIGNMENTS, { permission_assignments: byName })).body;
    expect(permission_assignments).toMatchObject([
      { principal: { principal_id: Number(id) }, permissions: ["USER"] },
    ]);
    expect((await w.get(TOKENS, {}, { as: ada })).status).toBe(403);
    expect((await set([])).status).toBe(400);
  });

  test("answer an unknown principal with an error inside the answer", async () => {
    const answer = await w.put(`${ASSIGNMENTS}/principals/7`, { permissions: ["USER"] });
    expect(answer).toMatchObject({ status: 200, body: { error: "Principal not found." } });
  });

  test("remove a principal from the workspace, except the caller", async () => {
    const ada = await w.user("ada@example.com");
    const path = `${ASSIGNMENTS}/principals/${await idOf(ada)}`;
    expect((await w.delete(path)).status).toBe(200);
    expect((await w.get(ME, {}, { as: ada })).status).toBe(403);
    expect((await w.delete(path)).status).toBe(404);
    const own = (await w.get(ME)).body.id;
    expect((await w.delete(`${ASSIGNMENTS}/principals/${own}`)).status).toBe(400);
  });
});
