import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN_TOKEN, type Body, GROUP_SCHEMA, startWorld, type TestWorld, USER_SCHEMA } from "../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld({ databricks: "azure" });
});

const SCIM = "preview/scim/v2";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const user = async (userName: string, more: object = {}) =>
  (await w.post(`${SCIM}/Users`, { schemas: [USER_SCHEMA], userName, ...more })).body;
const group = async (displayName: string, more: object = {}) =>
  (await w.post(`${SCIM}/Groups`, { schemas: [GROUP_SCHEMA], displayName, ...more })).body;
const patch = (path: string, ...Operations: object[]) =>
  w.patch(`${SCIM}/${path}`, { schemas: [PATCH], Operations });

test("a read without Accept takes any type, and one that takes another type is refused", async () => {
  const read = (headers: Record<string, string>) =>
    w.request({
      method: "GET",
      path: `/api/2.0/${SCIM}/Me`,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers },
    });
  expect((await read({})).status).toBe(200);
  expect((await read({ accept: "text/html" })).status).toBe(406);
});

test("writes need not name their schemas", async () => {
  const { id } = (await w.post(`${SCIM}/Groups`, { displayName: "g" })).body;
  const ada = (await w.post(`${SCIM}/Users`, { userName: "ada@example.com" })).body;
  const Operations = [{ op: "add", path: "members", value: [{ value: ada.id }] }];
  expect((await w.patch(`${SCIM}/Groups/${id}`, { Operations })).status).toBe(200);
  expect((await w.get(`${SCIM}/Groups/${id}`)).body.members).toMatchObject([{ value: ada.id }]);
});

describe("entitlements", () => {
  test.each([[[{}]], [[{ value: "" }]], [[]]])("%j is the empty list on create", async (entitlements) => {
    expect((await user("a@example.com", { entitlements })).entitlements).toBeUndefined();
    expect((await group("g", { entitlements })).entitlements).toBeUndefined();
  });

  test("values that are not known here are kept", async () => {
    const { id } = await user("a@example.com", {
      entitlements: [{ value: "databricks-sql-access" }, { value: "new-one" }],
    });
    expect((await w.get(`${SCIM}/Users/${id}`)).body.entitlements).toEqual([
      { value: "databricks-sql-access" },
      { value: "new-one" },
    ]);
  });

  test("a patch replaces them, empties them with [{}], and removes those that it lists", async () => {
    const { id } = await group("g");
    const path = "entitlements";
    const values = (...names: string[]) => names.map((value) => ({ value }));
    await patch(`Groups/${id}`, {
      op: "replace",
      path,
      value: values("allow-cluster-create", "workspace-access"),
    });
    const removed = await patch(`Groups/${id}`, { op: "remove", path, value: values("workspace-access") });
    expect(removed.body.entitlements).toEqual(values("allow-cluster-create"));
    expect(
      (await patch(`Groups/${id}`, { op: "replace", path, value: [{}] })).body.entitlements,
    ).toBeUndefined();
  });
});

describe("groups", () => {
  test("a PUT renames a group and replaces its members", async () => {
    const [ada, bo] = [await user("ada@example.com"), await user("bo@example.com")];
    const { id } = await group("old", { members: [{ value: ada.id }] });
    const put = { schemas: [GROUP_SCHEMA], displayName: "new", members: [{ value: bo.id }], externalId: "x" };
    expect(await w.put(`${SCIM}/Groups/${id}`, put)).toMatchObject({
      status: 200,
      body: { id, displayName: "new", externalId: "x" },
    });
    expect(
      (await w.get(`${SCIM}/Groups/${id}`)).body.members.map((one: { value: string }) => one.value),
    ).toEqual([bo.id]);
    expect((await w.get(`${SCIM}/Groups`, { filter: 'displayName eq "old"' })).body.totalResults).toBe(0);
    expect((await group("old")).displayName).toBe("old");
  });

  test("a PUT that takes another group's name is a conflict", async () => {
    await group("a");
    const { id } = await group("b");
    const answer = await w.put(`${SCIM}/Groups/${id}`, { schemas: [GROUP_SCHEMA], displayName: "a" });
    expect(answer).toMatchObject({ status: 409, body: { detail: "Group with name a already exists." } });
  });

  test("a member is removed by its path alone", async () => {
    const ada = await user("ada@example.com");
    const { id } = await group("g", { members: [{ value: ada.id }] });
    const answer = await patch(`Groups/${id}`, { op: "remove", path: `members[value eq "${ada.id}"]` });
    expect(answer.body.members).toBeUndefined();
  });

  test("a group of the account is shown as such and cannot be changed", async () => {
    const { id } = (await w.control("POST", "account-groups", { display_name: "all-company" })).body;
    expect((await w.get(`${SCIM}/Groups/${id}`)).body.meta).toEqual({ resourceType: "Group" });
    expect((await group("mine")).meta).toEqual({ resourceType: "WorkspaceGroup" });
    const refused = { status: 403, body: { status: "403" } };
    expect(await patch(`Groups/${id}`, { op: "add", path: "externalId", value: "x" })).toMatchObject(refused);
    expect(await w.put(`${SCIM}/Groups/${id}`, { schemas: [GROUP_SCHEMA], displayName: "x" })).toMatchObject(
      refused,
    );
    expect(await w.delete(`${SCIM}/Groups/${id}`)).toMatchObject(refused);
  });

  test("a service principal is a member like others, and survives writes of members", async () => {
    const { id } = await group("g");
    const made = (await w.control("POST", "service-principals", { application_id: "app-1", groups: ["g"] }))
      .body;
    const member = { display: "app-1", value: made.id, $ref: `ServicePrincipals/${made.id}` };
    expect((await w.get(`${SCIM}/Groups/${id}`)).body.members).toEqual([member]);
    const ada = await user("ada@example.com");
    const added = await patch(`Groups/${id}`, { op: "add", path: "members", value: [{ value: ada.id }] });
    expect(added.body.members).toHaveLength(2);
    expect(added.body.members).toContainEqual(member);
  });
});

describe("reading", () => {
  test("a filtered answer has the attributes that were asked for, and the id", async () => {
    const { id } = await user("Ada@Example.com", { entitlements: [{ value: "allow-cluster-create" }] });
    const some = await w.get(`${SCIM}/Users/${id}`, { attributes: "userName,entitlements" });
    expect(Object.keys(some.body).sort()).toEqual(["entitlements", "id", "schemas", "userName"]);
    const others = await w.get(`${SCIM}/Users`, {
      filter: `userName eq "ada@example.com"`,
      excludedAttributes: "emails",
    });
    expect(others.body.Resources[0].emails).toBeUndefined();
    expect(others.body.Resources[0].entitlements).toBeDefined();
  });

  test("user names come back in lower case, with the vendor's schema", async () => {
    const shown = await user("Ada@Example.com");
    expect(shown.userName).toBe("ada@example.com");
    expect(shown.schemas).toContain("urn:ietf:params:scim:schemas:extension:workspace:2.0:User");
  });

  test("a list is sorted before it is paged", async () => {
    for (const name of ["c", "a", "b"]) await group(name);
    const query = { sortBy: "displayName", startIndex: 2, count: 2, filter: "displayName ne admins" };
    const { body } = await w.get(`${SCIM}/Groups`, query);
    expect(body.Resources.map((one: { displayName: string }) => one.displayName)).toEqual(["b", "c"]);
    expect(body).toMatchObject({ totalResults: 4, startIndex: 2, itemsPerPage: 2 });
    const last = await w.get(`${SCIM}/Groups`, { sortBy: "displayName", sortOrder: "descending", count: 1 });
    expect(last.body.Resources[0].displayName).toBe("users");
  });

  test.each([
    [`${SCIM}/ServicePrincipals`, "app-", ["app-b", "app-c"]],
    ["/api/2.0/account/scim/v2/ServicePrincipals", "app-", ["app-b", "app-c"]],
    ["/api/2.0/accounts/a1/scim/v2/ServicePrincipals", "app-", ["app-b", "app-c"]],
    ["/api/2.0/account/scim/v2/Groups", "all-", ["all-b", "all-c"]],
    ["/api/2.0/accounts/a1/scim/v2/Groups", "all-", ["all-b", "all-c"]],
  ])("the list %s is sorted before it is paged", async (path, prefix, names) => {
    for (const letter of ["c", "a", "b"]) {
      await w.post(`${SCIM}/ServicePrincipals`, { displayName: `${prefix}${letter}` });
      await w.control("POST", "account-groups", { display_name: `all-${letter}` });
    }
    const { body } = await w.get(path, { sortBy: "displayName", startIndex: 2, count: 2 });
    expect(body.Resources.map(({ displayName }: Body) => displayName)).toEqual(names);
    expect(body).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 2 });
  });

  test("the vendor's media type is taken on reads too", async () => {
    const headers = { "content-type": "application/scim+json; charset=utf-8", accept: "application/json" };
    expect((await w.get(`${SCIM}/Me`, {}, { headers })).body.userName).toBe("admin@example.com");
  });
});

test("a service principal has roles", async () => {
  const { id } = (await w.post(`${SCIM}/ServicePrincipals`, { displayName: "p" })).body;
  const add = { op: "add", path: "roles", value: [{ value: "arn:aws:iam::1:instance-profile/etl" }] };
  const { body } = await patch(`ServicePrincipals/${id}`, add);
  expect(body.roles).toEqual([{ value: "arn:aws:iam::1:instance-profile/etl" }]);
});

describe("a flag as a string", () => {
  test.each([{ path: "active", value: "false" }, { value: { active: "false" } }])(
    "changes a user and a service principal with %j",
    async (change) => {
      const { id } = await user("ada@example.com");
      const program = (await w.post(`${SCIM}/ServicePrincipals`, { displayName: "p" })).body;
      expect((await patch(`Users/${id}`, { op: "replace", ...change })).body.active).toBe(false);
      const changed = await patch(`ServicePrincipals/${program.id}`, { op: "replace", ...change });
      expect(changed.body.active).toBe(false);
    },
  );
});

describe.each(["/api/2.0/account/scim/v2", "/api/2.0/accounts/a1/scim/v2"])(
  "the account at %s",
  (account) => {
    test("has the users and service principals of the workspace, and only the groups of the account", async () => {
      const { id } = (await w.control("POST", "account-groups", { display_name: "all-company" })).body;
      const own = await group("mine");
      const { applicationId } = (await w.post(`${SCIM}/ServicePrincipals`, { displayName: "p" })).body;
      const groups = await w.get(`${account}/Groups`, { count: 10 });
      expect(groups.body).toMatchObject({ totalResults: 1, Resources: [{ id, displayName: "all-company" }] });
      expect(
        (await w.get(`${account}/Groups/${id}`, { attributes: "displayName" })).body.meta,
      ).toBeUndefined();
      expect((await w.get(`${account}/Groups/${own.id}`)).body).toMatchObject({ status: "404" });
      const { Resources } = (await w.get(`${account}/ServicePrincipals`)).body;
      expect(Resources).toMatchObject([{ applicationId }]);
      const ada = await user("Ada@example.com");
      expect((await w.get(`${account}/Users/${ada.id}`)).body.userName).toBe("ada@example.com");
      const query = { filter: 'userName eq "ada@example.com"' };
      expect((await w.get(`${account}/Users`, query)).body.totalResults).toBe(1);
    });
  },
);
