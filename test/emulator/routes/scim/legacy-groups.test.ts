// The legacy groups API: the seven calls of contract A 4.2.

import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld();
  await w.user("ada@example.com");
  await w.post("groups/create", { group_name: "eng" });
  await w.post("groups/create", { group_name: "ops" });
});

const add = (body: object) => w.post("groups/add-member", body);
const listed = async (group_name: string) => (await w.get("groups/list-members", { group_name })).body;
const missing = { status: 404, body: { error_code: "RESOURCE_DOES_NOT_EXIST" } };

describe("create, list, delete", () => {
  test("A4.2 create: answers the name; the group is also a SCIM group", async () => {
    expect(await w.post("groups/create", { group_name: "web" })).toMatchObject({
      status: 200,
      body: { group_name: "web" },
    });
    expect((await w.get("preview/scim/v2/Groups", { filter: "displayName eq web" })).body.totalResults).toBe(
      1,
    );
  });

  test("A4.2 rules, A7 RESOURCE_ALREADY_EXISTS: create of an existing name gives RESOURCE_ALREADY_EXISTS", async () => {
    expect(await w.post("groups/create", { group_name: "eng" })).toMatchObject({
      status: 400,
      body: { error_code: "RESOURCE_ALREADY_EXISTS" },
    });
  });

  test("A4.2 create: group_name is required, text, not empty", async () => {
    expect(await w.post("groups/create", {})).toMatchObject({
      status: 400,
      body: { error_code: "INVALID_PARAMETER_VALUE", message: "Missing required field: group_name" },
    });
    expect((await w.post("groups/create", { group_name: 7 })).body.error_code).toBe("MALFORMED_REQUEST");
    expect((await w.post("groups/create", { group_name: "" })).body.error_code).toBe(
      "INVALID_PARAMETER_VALUE",
    );
  });

  test("A4.2 list: the names of all groups", async () => {
    expect((await w.get("groups/list")).body).toEqual({ group_names: ["admins", "users", "eng", "ops"] });
  });

  test("A4.2 delete, rules: the group no longer exists; a missing one gives RESOURCE_DOES_NOT_EXIST", async () => {
    expect(await w.post("groups/delete", { group_name: "eng" })).toMatchObject({ status: 200, body: {} });
    expect((await w.get("groups/list")).body.group_names).not.toContain("eng");
    expect(await w.post("groups/delete", { group_name: "eng" })).toMatchObject(missing);
  });

  test("A4.1 built-in groups: the built-in groups are refused", async () => {
    for (const group_name of ["admins", "users"]) {
      expect(await w.post("groups/delete", { group_name })).toMatchObject({
        status: 403,
        body: { error_code: "PERMISSION_DENIED" },
      });
    }
  });
});

describe("members", () => {
  test("A4.2 add-member, list-members: a user or a group; list-members shows each as a PrincipalName", async () => {
    expect(await add({ user_name: "ADA@example.com", parent_name: "eng" })).toMatchObject({
      status: 200,
      body: {},
    });
    await add({ group_name: "ops", parent_name: "eng" });
    expect(await listed("eng")).toEqual({
      members: [{ user_name: "ada@example.com" }, { group_name: "ops" }],
    });
  });

  test("A4.2 list-members, answers: not recursive, and without members is an empty object", async () => {
    await add({ group_name: "ops", parent_name: "eng" });
    await add({ user_name: "ada@example.com", parent_name: "ops" });
    expect(await listed("eng")).toEqual({ members: [{ group_name: "ops" }] });
    expect(await listed("users")).toEqual({});
    expect(await listed("admins")).toEqual({ members: [{ user_name: ADMIN }] });
  });

  test("A4.2 list-parents: the direct groups of a user or a group, not recursive", async () => {
    await add({ group_name: "ops", parent_name: "eng" });
    await add({ user_name: "ada@example.com", parent_name: "ops" });
    expect((await w.get("groups/list-parents", { user_name: "ada@example.com" })).body).toEqual({
      group_names: ["ops"],
    });
    expect((await w.get("groups/list-parents", { group_name: "ops" })).body).toEqual({
      group_names: ["eng"],
    });
    expect((await w.get("groups/list-parents", { group_name: "eng" })).body).toEqual({});
  });

  test("A4.2 remove-member: the user or group is removed from the members", async () => {
    await add({ user_name: "ada@example.com", parent_name: "eng" });
    await add({ group_name: "ops", parent_name: "eng" });
    expect(
      await w.post("groups/remove-member", { user_name: "ada@example.com", parent_name: "eng" }),
    ).toMatchObject({ status: 200, body: {} });
    expect(await listed("eng")).toEqual({ members: [{ group_name: "ops" }] });
  });

  test("A4.2 repeated: add-member and remove-member twice are the same as once", async () => {
    const body = { user_name: "ada@example.com", parent_name: "eng" };
    await add(body);
    expect((await add(body)).status).toBe(200);
    expect((await listed("eng")).members).toHaveLength(1);
    await w.post("groups/remove-member", body);
    expect((await w.post("groups/remove-member", body)).status).toBe(200);
  });

  test("A4.1 cycles: a cycle of groups is refused", async () => {
    await add({ group_name: "ops", parent_name: "eng" });
    const refused = { status: 400, body: { error_code: "INVALID_PARAMETER_VALUE" } };
    expect(await add({ group_name: "eng", parent_name: "ops" })).toMatchObject(refused);
    expect(await add({ group_name: "eng", parent_name: "eng" })).toMatchObject(refused);
  });

  test.each([
    ["add-member", { user_name: "no@example.com", parent_name: "eng" }],
    ["add-member", { group_name: "no", parent_name: "eng" }],
    ["add-member", { user_name: "ada@example.com", parent_name: "no" }],
    ["remove-member", { user_name: "no@example.com", parent_name: "eng" }],
    ["remove-member", { group_name: "no", parent_name: "eng" }],
    ["remove-member", { user_name: "ada@example.com", parent_name: "no" }],
  ])(
    "A4.2 rules, A7 RESOURCE_DOES_NOT_EXIST: %s of the group or user %j gives RESOURCE_DOES_NOT_EXIST",
    async (call, body) => {
      expect(await w.post(`groups/${call}`, body)).toMatchObject(missing);
    },
  );

  test("A4.2 rules: list-members and list-parents of what does not exist give RESOURCE_DOES_NOT_EXIST", async () => {
    expect(await w.get("groups/list-members", { group_name: "no" })).toMatchObject(missing);
    expect(await w.get("groups/list-parents", { group_name: "no" })).toMatchObject(missing);
    expect(await w.get("groups/list-parents", { user_name: "no" })).toMatchObject(missing);
  });

  test("A2.7 PrincipalName: exactly one of user_name and group_name", async () => {
    const refused = { status: 400, body: { error_code: "INVALID_PARAMETER_VALUE" } };
    expect(await add({ parent_name: "eng" })).toMatchObject(refused);
    expect(await add({ user_name: "ada@example.com", group_name: "ops", parent_name: "eng" })).toMatchObject(
      refused,
    );
    expect(await w.get("groups/list-parents")).toMatchObject(refused);
  });

  test("A4.2 add-member, remove-member: parent_name is required", async () => {
    expect((await add({ user_name: "ada@example.com" })).body.message).toBe(
      "Missing required field: parent_name",
    );
    expect((await w.post("groups/remove-member", { user_name: "a" })).body.message).toBe(
      "Missing required field: parent_name",
    );
    expect((await w.get("groups/list-members")).body.message).toBe("Missing required field: group_name");
  });
});

test.each([
  ["POST", "create"],
  ["POST", "delete"],
  ["GET", "list"],
  ["GET", "list-members"],
  ["GET", "list-parents"],
  ["POST", "add-member"],
  ["POST", "remove-member"],
])("A5 rule 3: %s groups/%s is for administrators", async (method, call) => {
  const as = await w.user("bo@example.com");
  const answer =
    method === "GET" ? await w.get(`groups/${call}`, {}, { as }) : await w.post(`groups/${call}`, {}, { as });
  expect(answer).toMatchObject({ status: 403, body: { error_code: "PERMISSION_DENIED" } });
});
