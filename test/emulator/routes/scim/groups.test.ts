// SCIM groups: every rule of contract A 4.1 that is about them.

import { beforeEach, describe, expect, test } from "vitest";
import { GROUP_SCHEMA, startWorld, type TestWorld, USER_SCHEMA } from "../../harness.ts";

const GROUPS = "preview/scim/v2/Groups";
const PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld();
});

const user = async (userName: string): Promise<string> =>
  (await w.post("preview/scim/v2/Users", { schemas: [USER_SCHEMA], userName })).body.id;
const create = (displayName: string, more: object = {}) =>
  w.post(GROUPS, { schemas: [GROUP_SCHEMA], displayName, ...more });
const group = async (displayName: string, members: string[] = []): Promise<string> =>
  (await create(displayName, { members: members.map((value) => ({ value })) })).body.id;
const patch = (id: string, ...Operations: object[]) =>
  w.patch(`${GROUPS}/${id}`, { schemas: [PATCH_SCHEMA], Operations });
const members = async (id: string): Promise<string[]> => {
  const { body } = await w.get(`${GROUPS}/${id}`);
  return (body.members ?? []).map((member: { value: string }) => member.value);
};
const names = async (filter: string): Promise<string[]> => {
  const { body } = await w.get(GROUPS, { filter });
  return (body.Resources ?? []).map((one: { displayName: string }) => one.displayName);
};

describe("create, get and list", () => {
  test("A4.1 POST /Groups, GET /Groups/{id}, A2.2 members, id: creates a group whose members are users and groups", async () => {
    const [ada, platform] = [await user("ada@example.com"), await group("platform")];
    const made = await create("eng", { members: [{ value: ada }, { value: platform }, { value: ada }] });
    expect(made).toMatchObject({
      status: 201,
      headers: { "content-type": "application/scim+json; charset=utf-8" },
    });
    expect(made.body).toEqual({
      schemas: [GROUP_SCHEMA],
      id: expect.stringMatching(/^\d+$/),
      displayName: "eng",
      members: [
        { display: "ada@example.com", value: ada, $ref: `Users/${ada}` },
        { display: "platform", value: platform, $ref: `Groups/${platform}` },
      ],
    });
    expect((await w.get(`${GROUPS}/${made.body.id}`)).body).toEqual(made.body);
  });

  test("A2.2 members: a group in a group shows the group that it is in", async () => {
    const platform = await group("platform");
    const eng = await group("eng", [platform]);
    expect((await w.get(`${GROUPS}/${platform}`)).body.groups).toMatchObject([
      { display: "eng", value: eng },
    ]);
  });

  test("A2.2 schemas, displayName: both are required on create", async () => {
    expect((await w.post(GROUPS, { displayName: "eng" })).body.detail).toBe(
      "Missing required field: schemas",
    );
    expect((await w.post(GROUPS, { schemas: [GROUP_SCHEMA] })).body.detail).toBe(
      "Missing required field: displayName",
    );
    expect((await create("")).status).toBe(400);
    expect((await w.post(GROUPS, { schemas: [USER_SCHEMA], displayName: "eng" })).status).toBe(400);
  });

  test("A4.1 duplicates: a name that exists is a conflict", async () => {
    await group("eng");
    expect(await create("eng")).toMatchObject({
      status: 409,
      body: { detail: "Group with name eng already exists.", scimType: "uniqueness" },
    });
    expect((await create("Eng")).status).toBe(201);
  });

  test("A4.1 POST /Groups: a member that does not exist is refused, and no group is made", async () => {
    expect(await create("eng", { members: [{ value: "12" }] })).toMatchObject({
      status: 400,
      body: { scimType: "invalidValue" },
    });
    expect(await names("displayName eq eng")).toEqual([]);
  });

  test("A4.1 GET /Groups/{id}: an unknown id is not found", async () => {
    const ada = await user("ada@example.com");
    for (const id of ["12", ada]) {
      expect(await w.get(`${GROUPS}/${id}`)).toMatchObject({
        status: 404,
        body: { detail: `Group with id ${id} not found.`, status: "404" },
      });
    }
  });

  test("A4.1 GET /Groups: lists the built-in groups and the others, a page at a time when asked", async () => {
    await group("eng");
    const { body } = await w.get(GROUPS);
    expect(body.Resources.map((one: { displayName: string }) => one.displayName)).toEqual([
      "admins",
      "users",
      "eng",
    ]);
    expect((await w.get(GROUPS, { startIndex: 3, count: 5 })).body).toMatchObject({
      totalResults: 3,
      startIndex: 3,
      itemsPerPage: 1,
      Resources: [{ displayName: "eng" }],
    });
  });

  test("A4.1 GET /Groups, filter, A2.2 displayName: displayName can be filtered on with sw, eq, ne, co", async () => {
    for (const name of ["data-eng", "data-ops", "web"]) await group(name);
    expect(await names("displayName sw data-")).toEqual(["data-eng", "data-ops"]);
    expect(await names("displayName eq web")).toEqual(["web"]);
    expect(await names("displayName co ops or displayName eq web")).toEqual(["data-ops", "web"]);
    expect(await names("displayName sw data and displayName ne data-eng")).toEqual(["data-ops"]);
  });

  test("A4.1 GET /Groups: groups with a member can be requested", async () => {
    const ada = await user("ada@example.com");
    await group("eng", [ada]);
    await group("ops");
    expect(await names(`members eq ${ada}`)).toEqual(["eng"]);
    expect(await names("members.display sw ada")).toEqual(["eng"]);
  });

  test("A4.1 PATCH /Groups/{id}: groups have no PUT", async () => {
    const eng = await group("eng");
    expect(await w.put(`${GROUPS}/${eng}`, { schemas: [GROUP_SCHEMA], displayName: "eng" })).toMatchObject({
      status: 404,
      body: { error_code: "ENDPOINT_NOT_FOUND" },
    });
  });
});

describe("patch", () => {
  test("A4.1 PATCH /Groups/{id}: adds individual members as in the contract", async () => {
    const [ada, bob, eng] = [await user("ada"), await user("bob"), await group("eng")];
    const done = await patch(eng, { op: "add", value: { members: [{ value: ada }] } });
    expect(done).toMatchObject({ status: 200, body: { members: [{ value: ada }] } });
    await patch(eng, { op: "add", value: { members: [{ value: ada }, { value: bob }] } });
    expect(await members(eng)).toEqual([ada, bob]);
  });

  test("A4.1 PATCH: adds with a path, a list or a single object", async () => {
    const [ada, bob, eng] = [await user("ada"), await user("bob"), await group("eng")];
    await patch(
      eng,
      { op: "add", path: "members", value: [{ value: ada }] },
      { op: "ADD", path: "members", value: { value: bob } },
    );
    expect(await members(eng)).toEqual([ada, bob]);
  });

  test("A4.1 PATCH /Groups/{id}, PATCH: removes individual members by value filter, by list, or all of them", async () => {
    const ids = await Promise.all(["a", "b", "c", "d", "e"].map(user));
    const [a, b, c, d, e] = ids as [string, string, string, string, string];
    const eng = await group("eng", ids);
    await patch(eng, { op: "remove", path: `members[value eq "${a}"]` });
    expect(await members(eng)).toEqual([b, c, d, e]);
    await patch(eng, { op: "remove", value: { members: [{ value: b }] } });
    expect(await members(eng)).toEqual([c, d, e]);
    await patch(eng, { op: "remove", path: "members", value: [{ value: c }] });
    expect(await members(eng)).toEqual([d, e]);
    await patch(eng, { op: "remove", path: "members" });
    expect(await members(eng)).toEqual([]);
  });

  test("A4.1 PATCH: adding and removing twice is the same as once", async () => {
    const [ada, eng] = [await user("ada"), await group("eng")];
    const add = { op: "add", value: { members: [{ value: ada }] } };
    const remove = { op: "remove", path: `members[value eq "${ada}"]` };
    expect((await patch(eng, add)).body).toEqual((await patch(eng, add)).body);
    expect((await patch(eng, remove)).status).toBe(200);
    expect((await patch(eng, remove)).status).toBe(200);
  });

  test("A4.1 PATCH: replaces the members, the entitlements, the external id", async () => {
    const [ada, bob] = [await user("ada"), await user("bob")];
    const eng = await group("eng", [ada]);
    const done = await patch(eng, {
      op: "replace",
      value: {
        members: [{ value: bob }],
        entitlements: [{ value: "allow-cluster-create" }],
        externalId: "x",
      },
    });
    expect(done.body).toMatchObject({
      members: [{ value: bob }],
      entitlements: [{ value: "allow-cluster-create" }],
      externalId: "x",
    });
  });

  test("A4.1 PATCH: a member that does not exist is refused, and the others are not added", async () => {
    const [ada, eng] = [await user("ada"), await group("eng")];
    expect(
      await patch(eng, { op: "add", value: { members: [{ value: ada }, { value: "77" }] } }),
    ).toMatchObject({
      status: 400,
      body: { scimType: "invalidValue", detail: "Member with id 77 not found." },
    });
    expect(await members(eng)).toEqual([]);
  });

  test("A4.1 cycles: a group in itself, directly or through others, is refused", async () => {
    const a = await group("a");
    const b = await group("b", [a]);
    const c = await group("c", [b]);
    for (const [into, what] of [
      [a, a],
      [a, b],
      [a, c],
    ] as const) {
      expect(await patch(into, { op: "add", value: { members: [{ value: what }] } })).toMatchObject({
        status: 400,
        body: { scimType: "invalidValue" },
      });
    }
    expect((await patch(c, { op: "add", value: { members: [{ value: a }] } })).status).toBe(200);
  });

  test("A4.1 rule 2, A2.2 displayName: group names cannot be changed; the same name is accepted", async () => {
    const eng = await group("eng");
    expect(await patch(eng, { op: "replace", value: { displayName: "ops" } })).toMatchObject({
      status: 400,
      body: { scimType: "mutability" },
    });
    expect(await patch(eng, { op: "replace", path: "displayName", value: "ops" })).toMatchObject({
      status: 400,
      body: { scimType: "mutability" },
    });
    expect((await patch(eng, { op: "replace", path: "displayName", value: "eng" })).status).toBe(200);
  });

  test("A4.1 PATCH /Groups/{id}: an unknown group is not found", async () => {
    expect((await patch("12", { op: "add", value: { members: [] } })).status).toBe(404);
  });
});

describe("delete", () => {
  test("A4.1 DELETE /Groups/{id}: removes the group and keeps the users in it", async () => {
    const ada = await user("ada");
    const [eng, outer] = [await group("eng", [ada]), await group("outer")];
    await patch(outer, { op: "add", value: { members: [{ value: eng }] } });
    expect(await w.delete(`${GROUPS}/${eng}`)).toMatchObject({ status: 204, body: "" });
    expect((await w.get(`${GROUPS}/${eng}`)).status).toBe(404);
    expect((await w.get(`preview/scim/v2/Users/${ada}`)).body).not.toHaveProperty("groups");
    expect(await members(outer)).toEqual([]);
    expect((await create("eng")).status).toBe(201);
  });

  test("A4.1 rule 3: the group delete of the published example, without 2.0, is not an endpoint", async () => {
    const eng = await group("eng");
    expect(await w.delete(`/api/preview/scim/v2/Groups/${eng}`)).toMatchObject({
      status: 404,
      body: { error: `Bad Target: /api/preview/scim/v2/Groups/${eng}` },
    });
    expect((await w.delete(`/api/2.0/preview/scim/v2/Groups/${eng}`)).status).toBe(204);
  });

  test("A4.1 built-in groups: the built-in groups are refused", async () => {
    const { body } = await w.get(GROUPS);
    for (const { id } of body.Resources) expect((await w.delete(`${GROUPS}/${id}`)).status).toBe(403);
  });
});

test("A5 rule 3, administrators: SCIM groups are for administrators, who may be so through a group in admins", async () => {
  const token = await w.user("bo");
  expect((await w.get(GROUPS, {}, { as: token })).status).toBe(403);
  const bo = (await w.get("preview/scim/v2/Me", {}, { as: token })).body.id;
  const inner = await group("inner", [bo]);
  const outer = await group("outer", [inner]);
  const admins = (await w.get(GROUPS, { filter: "displayName eq admins" })).body.Resources[0].id;
  await patch(admins, { op: "add", value: { members: [{ value: outer }] } });
  expect((await w.get(GROUPS, {}, { as: token })).status).toBe(200);
  await patch(outer, { op: "remove", path: `members[value eq "${inner}"]` });
  expect((await w.get(GROUPS, {}, { as: token })).status).toBe(403);
});
