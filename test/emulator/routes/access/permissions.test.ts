import { beforeEach, describe, expect, test } from "vitest";
import { startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld({ databricks: "azure" });
  await w.user("ada@example.com");
  await w.post("preview/scim/v2/Groups", { displayName: "eng" });
});

const NEW = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };

async function job(as?: string): Promise<string> {
  const settings = { name: "nightly", new_cluster: NEW, notebook_task: { notebook_path: "/n" } };
  const made = await w.post("jobs/create", settings, as === undefined ? {} : { as });
  return String(made.body.job_id);
}

const OWNER = { user_name: "admin@example.com", permission_level: "IS_OWNER" };
const ENG = { group_name: "eng", permission_level: "CAN_MANAGE_RUN" };
const put = (path: string, ...access_control_list: object[]) =>
  w.put(`permissions/${path}`, { access_control_list });

describe("the access list of a job", () => {
  test("shows the creator as the owner, and the inherited management of admins", async () => {
    const answer = await w.get(`permissions/jobs/${await job()}`);
    expect(answer.body).toMatchObject({
      object_id: expect.stringMatching(/^\/jobs\/\d+$/),
      object_type: "job",
      access_control_list: [
        {
          user_name: "admin@example.com",
          display_name: "admin@example.com",
          all_permissions: [{ permission_level: "IS_OWNER", inherited: false }],
        },
        {
          group_name: "admins",
          all_permissions: [
            { permission_level: "CAN_MANAGE", inherited: true, inherited_from_object: ["/jobs/"] },
          ],
        },
      ],
    });
  });

  test("is replaced by a PUT, and merged by a PATCH", async () => {
    const id = await job();
    await put(`jobs/${id}`, OWNER, ENG);
    const ADA = { user_name: "ADA@example.com", permission_level: "CAN_VIEW" };
    const merged = await w.patch(`permissions/jobs/${id}`, { access_control_list: [ADA] });
    const names = merged.body.access_control_list.map(
      (one: { user_name?: string; group_name?: string }) => one.user_name ?? one.group_name,
    );
    expect(names).toEqual(["admin@example.com", "eng", "ada@example.com", "admins"]);
    await put(`jobs/${id}`, OWNER);
    const { body } = await w.get(`permissions/jobs/${id}`);
    expect(body.access_control_list).toHaveLength(2);
  });

  test.each([
    ["no owner", [ENG], "The job must have exactly one owner."],
    [
      "two owners",
      [OWNER, { user_name: "ada@example.com", permission_level: "IS_OWNER" }],
      "The job must have exactly one owner.",
    ],
    [
      "two levels of one user",
      [OWNER, { user_name: "admin@example.com", permission_level: "CAN_VIEW" }],
      "Permissions being set for UserName(admin@example.com) are ambiguous",
    ],
    [
      "an unknown user",
      [OWNER, { user_name: "no@example.com", permission_level: "CAN_VIEW" }],
      "Principal: UserName(no@example.com) does not exist",
    ],
    [
      "a level of another type",
      [OWNER, { group_name: "eng", permission_level: "CAN_ATTACH_TO" }],
      "CAN_ATTACH_TO is not a valid permission level for a job",
    ],
  ])("refuses %s", async (_what, entries, message) => {
    const answer = await put(`jobs/${await job()}`, ...entries);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body.message).toBe(message);
  });

  test("is closed to those who do not manage the job", async () => {
    const { body } = await w.control("POST", "tokens", { user_name: "ada@example.com" });
    const id = await job();
    const as = { as: body.token };
    expect((await w.get(`permissions/jobs/${id}`, {}, as)).status).toBe(403);
    await put(`jobs/${id}`, OWNER, { user_name: "ada@example.com", permission_level: "CAN_MANAGE" });
    expect((await w.get(`permissions/jobs/${id}`, {}, as)).status).toBe(200);
  });
});

test("an object in a folder inherits its list, and one in a home folder the management of its user", async () => {
  await w.post("workspace/mkdirs", { path: "/Shared/etl" });
  await w.post("workspace/mkdirs", { path: "/Users/ada@example.com/x" });
  const idOf = async (path: string) => (await w.get("workspace/get-status", { path })).body.object_id;
  const shared = await idOf("/Shared");
  await put(`directories/${shared}`, { group_name: "eng", permission_level: "CAN_READ" });
  const inside = await w.get(`permissions/directories/${await idOf("/Shared/etl")}`);
  expect(inside.body.access_control_list[0]).toEqual({
    group_name: "eng",
    display_name: "eng",
    all_permissions: [
      { permission_level: "CAN_READ", inherited: true, inherited_from_object: [`/directories/${shared}`] },
    ],
  });
  const own = await w.get(`permissions/directories/${await idOf("/Users/ada@example.com/x")}`);
  expect(own.body.access_control_list[0]).toMatchObject({
    user_name: "ada@example.com",
    all_permissions: [{ permission_level: "CAN_MANAGE", inherited: true }],
  });
});

test("the list of passwords may be without admins", async () => {
  const eng = { group_name: "eng", permission_level: "CAN_USE" };
  const { body } = await put("authorization/passwords", eng);
  expect(body.access_control_list).toMatchObject([{ group_name: "eng" }]);
});

test("the list of tokens must contain the management of admins", async () => {
  const eng = { group_name: "eng", permission_level: "CAN_USE" };
  expect((await put("authorization/tokens", eng)).body.message).toBe(
    "Cannot change permissions for group 'admins' to None.",
  );
  const admins = { group_name: "admins", permission_level: "CAN_MANAGE" };
  expect((await put("authorization/tokens", eng, admins)).status).toBe(200);
});

test("an unknown type is refused, and the levels of a type are listed", async () => {
  expect((await w.get("permissions/toasters/1")).body.message).toContain(
    "request_object_type is not recognized",
  );
  const { body } = await w.get(`permissions/jobs/${await job()}/permissionLevels`);
  expect(body.permission_levels.map((one: { permission_level: string }) => one.permission_level)).toEqual([
    "CAN_VIEW",
    "CAN_MANAGE_RUN",
    "CAN_MANAGE",
    "IS_OWNER",
  ]);
});

test("the access list of a warehouse takes the highest of several levels of a user", async () => {
  const { id } = (await w.post("sql/warehouses", { name: "wh", cluster_size: "Small" })).body;
  const manager = { ...OWNER, permission_level: "CAN_MANAGE" };
  const { body } = await put(`sql/warehouses/${id}`, OWNER, manager);
  expect(body.access_control_list[0]).toMatchObject({
    user_name: "admin@example.com",
    all_permissions: [{ permission_level: "IS_OWNER", inherited: false }],
  });
});
