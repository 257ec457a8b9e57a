// SCIM users: every rule of contract A 4.1 that is about them.

import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN, startWorld, type TestWorld, USER_SCHEMA } from "../../harness.ts";

const USERS = "preview/scim/v2/Users";
const PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const DAY = 86_400_000;

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld();
});

const create = (userName: string, more: object = {}) =>
  w.post(USERS, { schemas: [USER_SCHEMA], userName, ...more });
const patch = (id: string, ...Operations: object[]) =>
  w.patch(`${USERS}/${id}`, { schemas: [PATCH_SCHEMA], Operations });
const group = async (displayName: string, members: string[] = []): Promise<string> => {
  const made = await w.post("preview/scim/v2/Groups", {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
    displayName,
    members: members.map((value) => ({ value })),
  });
  return made.body.id;
};
const names = async (filter: string): Promise<string[]> => {
  const { body } = await w.get(USERS, { filter });
  return (body.Resources ?? []).map((user: { userName: string }) => user.userName);
};

describe("create", () => {
  test("A4.1 POST /Users, GET /Users/{id}, A2.1 id, entitlements: creates a user with an id, its name and its entitlements", async () => {
    const made = await create("ada@example.com", { entitlements: [{ value: "allow-cluster-create" }] });
    expect(made.status).toBe(201);
    expect(made.headers["content-type"]).toMatch("application/scim+json");
    expect(made.body).toEqual({
      schemas: [USER_SCHEMA],
      id: expect.stringMatching(/^\d+$/),
      userName: "ada@example.com",
      displayName: "ada@example.com",
      emails: [{ type: "work", value: "ada@example.com", primary: true }],
      active: true,
      entitlements: [{ value: "allow-cluster-create" }],
    });
    expect(await w.get(`${USERS}/${made.body.id}`)).toMatchObject({ status: 200, body: made.body });
  });

  test("A2.1 attributes: keeps displayName, name, emails, externalId, active and roles", async () => {
    const given = {
      displayName: "Ada",
      name: { givenName: "Ada", familyName: "Lovelace" },
      emails: [{ type: "home", value: "ada@home.example", primary: true }],
      externalId: "x-1",
      active: false,
      roles: [{ value: "r1" }],
    };
    const { body } = await create("ada@example.com", given);
    expect((await w.get(`${USERS}/${body.id}`)).body).toMatchObject(given);
  });

  test("A4.1 POST /Users, A2.1 groups: puts the user into the groups that the body names", async () => {
    const id = await group("eng");
    const { body } = await create("ada@example.com", { groups: [{ value: id }] });
    expect(body.groups).toEqual([{ display: "eng", value: id, $ref: `Groups/${id}`, type: "direct" }]);
    expect((await w.get("groups/list-members", { group_name: "eng" })).body).toEqual({
      members: [{ user_name: "ada@example.com" }],
    });
  });

  test("A4.1 POST /Users: a group that does not exist is refused, and no user is made", async () => {
    const refused = await create("ada@example.com", { groups: [{ value: "999" }] });
    expect(refused).toMatchObject({ status: 400, body: { scimType: "invalidValue", status: "400" } });
    expect(await names("userName eq ada@example.com")).toEqual([]);
  });

  test("A2.1 schemas: required on create, and must name the user schema", async () => {
    expect((await w.post(USERS, { userName: "ada@example.com" })).body).toMatchObject({
      schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
      status: "400",
      scimType: "invalidValue",
      detail: "Missing required field: schemas",
    });
    expect((await w.post(USERS, { schemas: ["x"], userName: "ada@example.com" })).status).toBe(400);
  });

  test("A2.1 userName: required on create, and not empty", async () => {
    expect((await w.post(USERS, { schemas: [USER_SCHEMA] })).body.detail).toBe(
      "Missing required field: userName",
    );
    expect((await create("")).status).toBe(400);
  });

  test("A4.1 POST /Users: a wrong type is refused, not coerced", async () => {
    expect((await create("ada@example.com", { active: "true" })).body).toMatchObject({
      scimType: "invalidSyntax",
      status: "400",
    });
  });

  test("A4.1 duplicates: a name that exists is a conflict, in upper or lower case", async () => {
    await create("ada@example.com");
    const again = await create("ADA@example.com");
    expect(again).toMatchObject({
      status: 409,
      body: {
        detail: "User with username ADA@example.com already exists.",
        scimType: "uniqueness",
        status: "409",
      },
    });
  });
});

describe("get and list", () => {
  test("A4.1 GET /Users/{id}, A7 SCIM errors: an unknown id is not found, in the SCIM error form", async () => {
    expect(await w.get(`${USERS}/12`)).toMatchObject({
      status: 404,
      body: {
        schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
        detail: "User with id 12 not found.",
        status: "404",
      },
    });
  });

  test("A4.1 GET /Users, A9 SCIM: lists all users in a list response", async () => {
    await create("ada@example.com");
    const { body } = await w.get(USERS);
    expect(body).toMatchObject({
      totalResults: 2,
      startIndex: 1,
      itemsPerPage: 2,
      schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
    });
    expect(body.Resources.map((user: { userName: string }) => user.userName)).toEqual([
      ADMIN,
      "ada@example.com",
    ]);
  });

  test("A4.1 GET /Users: startIndex and count give a page, without a filter or with one", async () => {
    for (const name of ["u1", "u2", "u3", "u4"]) await create(name);
    const { body } = await w.get(USERS, { startIndex: 2, count: 2, filter: "userName sw u" });
    expect(body).toMatchObject({ totalResults: 4, startIndex: 2, itemsPerPage: 2 });
    expect(body.Resources.map((user: { userName: string }) => user.userName)).toEqual(["u2", "u3"]);
  });

  test("A4.1 GET /Users: a count of 0 gives the total alone, a startIndex below 1 is 1, one past the end is empty", async () => {
    expect((await w.get(USERS, { count: 0 })).body).not.toHaveProperty("Resources");
    expect((await w.get(USERS, { count: 0 })).body.totalResults).toBe(1);
    expect((await w.get(USERS, { startIndex: -3 })).body.startIndex).toBe(1);
    expect((await w.get(USERS, { startIndex: 9 })).body).toMatchObject({ totalResults: 1, itemsPerPage: 0 });
    const far = { startIndex: 9_223_372_036_854_775_807n, count: 9_223_372_036_854_775_807n };
    expect((await w.get(USERS, far)).body).toMatchObject({ startIndex: far.startIndex, itemsPerPage: 0 });
  });

  test("A4.1 /Me: it is the user who is calling, also for a user without administrator rights", async () => {
    const token = await w.user("bo@example.com");
    expect((await w.get("preview/scim/v2/Me", {}, { as: token })).body.userName).toBe("bo@example.com");
    expect((await w.get("preview/scim/v2/Me")).body.userName).toBe(ADMIN);
    expect((await w.post("preview/scim/v2/Me", {})).status).toBe(404);
  });
});

describe("filters", () => {
  beforeEach(async () => {
    await create("ada@example.com", {
      displayName: "Ada L",
      entitlements: [{ value: "allow-cluster-create" }],
    });
    await create("bob@example.com", { displayName: "Bob (ops)", active: false });
    await create("cy@other.org", { displayName: "Cy", externalId: "42" });
  });

  test("A4.1 filter eq, filter: a value without quotes, as the contract writes it, or with quotes", async () => {
    expect(await names("userName eq ada@example.com")).toEqual(["ada@example.com"]);
    expect(await names('userName eq "ada@example.com"')).toEqual(["ada@example.com"]);
  });

  test("A4.1 filter: spaces written as + in the query string", async () => {
    const { body } = await w.get(`${USERS}?filter=userName+eq+ada@example.com`);
    expect(body.totalResults).toBe(1);
  });

  test("A4.1 filter eq, filter, A2.1 userName: filter by userName: user names are equal in upper and lower case, display names are not", async () => {
    expect(await names("userName eq ADA@EXAMPLE.COM")).toEqual(["ada@example.com"]);
    expect(await names("userName co EXAMPLE and userName sw BOB")).toEqual(["bob@example.com"]);
    expect(await names('displayName eq "ada l"')).toEqual([]);
    expect(await names('displayName eq "Ada L"')).toEqual(["ada@example.com"]);
  });

  test("A4.1 filter ne: the attribute does not equal the value", async () => {
    expect(await names("userName ne ada@example.com")).toEqual([ADMIN, "bob@example.com", "cy@other.org"]);
  });

  test("A4.1 filter co: the value is a part of the attribute", async () => {
    expect(await names("userName co other")).toEqual(["cy@other.org"]);
  });

  test("A4.1 filter sw: the attribute starts with the value", async () => {
    expect(await names("userName sw b")).toEqual(["bob@example.com"]);
    expect(await names("userName sw example")).toEqual([]);
  });

  test("A4.1 filter and: all expressions are true", async () => {
    expect(await names("userName co example and displayName sw Bob")).toEqual(["bob@example.com"]);
  });

  test("A4.1 filter or: any expression is true", async () => {
    expect(await names("userName sw ada or userName sw cy")).toEqual(["ada@example.com", "cy@other.org"]);
  });

  test("A4.1 precedence: and binds tighter than or, on either side", async () => {
    expect(await names("userName sw cy or userName co example and displayName sw Bob")).toEqual([
      "bob@example.com",
      "cy@other.org",
    ]);
    expect(await names("userName co example and displayName sw Bob or userName sw cy")).toEqual([
      "bob@example.com",
      "cy@other.org",
    ]);
  });

  test("A4.1 precedence: parentheses group", async () => {
    expect(await names("(userName sw cy or userName co example) and displayName sw Bob")).toEqual([
      "bob@example.com",
    ]);
    expect(await names("((userName sw cy))")).toEqual(["cy@other.org"]);
    expect(
      await names("userName sw ada or (userName co example and (displayName co ops or displayName eq Cy))"),
    ).toEqual(["ada@example.com", "bob@example.com"]);
  });

  test("A4.1 filter: a value may hold parentheses, quotes, words like and", async () => {
    expect(await names('displayName eq "Bob (ops)"')).toEqual(["bob@example.com"]);
    await create("d", { displayName: 'says "and" or (x)' });
    expect(await names('displayName eq "says \\"and\\" or (x)"')).toEqual(["d"]);
    await create("e", { displayName: "team(a)" });
    expect(await names("(displayName eq team(a))")).toEqual(["e"]);
  });

  test("A4.1 filter: operators and attribute names are the same in upper and lower case", async () => {
    expect(await names("USERNAME EQ ada@example.com OR username Eq cy@other.org")).toEqual([
      "ada@example.com",
      "cy@other.org",
    ]);
  });

  test("A4.1 filter: other attributes can be asked for, lists by any of their values", async () => {
    expect(await names("entitlements eq allow-cluster-create")).toEqual(["ada@example.com"]);
    expect(await names("active eq false")).toEqual(["bob@example.com"]);
    expect(await names("externalId eq 42")).toEqual(["cy@other.org"]);
    expect(await names("emails.value eq CY@other.org")).toEqual(["cy@other.org"]);
    expect(await names(`urn:ietf:params:scim:schemas:core:2.0:User:userName eq cy@other.org`)).toEqual([
      "cy@other.org",
    ]);
  });

  test.each([
    "userName",
    "userName eq",
    "eq x",
    "userName xx y",
    "userName eq a b",
    "(userName eq a",
    "userName pr",
    "userName ew m",
    "not (userName eq a)",
    'emails[type eq "work"]',
    "nosuch eq 1",
    "",
    'userName eq "a',
  ])("A4.1 filter: %j is refused as an invalid filter", async (filter) => {
    const refused = await w.get(USERS, { filter });
    expect(refused).toMatchObject({ status: 400, body: { scimType: "invalidFilter", status: "400" } });
  });

  test.each([
    "",
    "userName",
    "userName eq",
    "eq",
    "userName eq a b",
    "(userName eq a",
    "userName eq a)",
    'userName eq "a',
  ])("A4.1 filter: the refusal of %j says how a filter reads", async (filter) => {
    const { body } = await w.get(USERS, { filter });
    expect(body.detail).toBe(
      `The filter '${filter}' is not valid: it must be <attribute> <operator> <value>, or several of those with and, or.`,
    );
  });
});

describe("patch", () => {
  const ada = async (more: object = {}): Promise<string> => (await create("ada@example.com", more)).body.id;

  test("A4.1 PATCH /Users/{id}, rule 1: adds entitlements as in the contract", async () => {
    const id = await ada();
    const done = await patch(id, {
      op: "add",
      path: "entitlements",
      value: [{ value: "allow-cluster-create" }],
    });
    expect(done.status).toBe(200);
    expect(done.body.entitlements).toEqual([{ value: "allow-cluster-create" }]);
    expect((await w.get(`${USERS}/${id}`)).body).toEqual(done.body);
  });

  test("A4.1 PATCH: adding an existing value has no effect", async () => {
    const id = await ada({ entitlements: [{ value: "a" }] });
    expect(
      (await patch(id, { op: "add", path: "entitlements", value: [{ value: "a" }, { value: "b" }] })).body
        .entitlements,
    ).toEqual([{ value: "a" }, { value: "b" }]);
  });

  test("A4.1 PATCH: op and attribute names are the same in upper and lower case", async () => {
    const id = await ada();
    expect(
      (await patch(id, { op: "Add", path: "ENTITLEMENTS", value: { value: "a" } })).body.entitlements,
    ).toEqual([{ value: "a" }]);
  });

  test("A4.1 PATCH: removes by value filter, by value list, and whole", async () => {
    const id = await ada({ entitlements: ["a", "b", "c", "d"].map((value) => ({ value })) });
    await patch(id, { op: "remove", path: 'entitlements[value eq "a"]' });
    const two = await patch(id, { op: "remove", path: "entitlements", value: [{ value: "b" }] });
    expect(two.body.entitlements).toEqual([{ value: "c" }, { value: "d" }]);
    expect((await patch(id, { op: "remove", path: "entitlements" })).body).not.toHaveProperty("entitlements");
  });

  test("A4.1 PATCH: a removal of a missing value succeeds", async () => {
    const id = await ada();
    expect((await patch(id, { op: "remove", path: 'entitlements[value eq "a"]' })).status).toBe(200);
  });

  test("A4.1 PATCH: replaces with a path, and without one for several attributes", async () => {
    const id = await ada({ entitlements: [{ value: "a" }] });
    expect(
      (await patch(id, { op: "replace", path: "entitlements", value: [{ value: "b" }] })).body.entitlements,
    ).toEqual([{ value: "b" }]);
    const done = await patch(id, {
      op: "replace",
      value: { displayName: "Ada", active: false, nosuch: 1, name: { givenName: "A" } },
    });
    expect(done.body).toMatchObject({ displayName: "Ada", active: false, name: { givenName: "A" } });
  });

  test("A4.1 PATCH: a part of an attribute, and a part of the list members that a filter selects", async () => {
    const id = await ada({ name: { givenName: "A", familyName: "L" } });
    expect((await patch(id, { op: "replace", path: "name.givenName", value: "Ada" })).body.name).toEqual({
      givenName: "Ada",
      familyName: "L",
    });
    const done = await patch(id, {
      op: "replace",
      path: 'emails[type eq "work"].value',
      value: "ada@new.example",
    });
    expect(done.body.emails).toEqual([{ type: "work", value: "ada@new.example", primary: true }]);
  });

  test("A4.1 PATCH: add merges into an object, remove takes an attribute or a part of one away", async () => {
    const id = await ada({ externalId: "1" });
    await patch(id, { op: "add", path: "name", value: { givenName: "Ada" } });
    const merged = await patch(id, { op: "add", path: "name", value: { familyName: "L" } });
    expect(merged.body.name).toEqual({ givenName: "Ada", familyName: "L" });
    expect((await patch(id, { op: "remove", path: "name.familyName" })).body.name).toEqual({
      givenName: "Ada",
    });
    expect((await patch(id, { op: "remove", path: "emails[primary eq true].type" })).body.emails).toEqual([
      { value: "ada@example.com", primary: true },
    ]);
    expect((await patch(id, { op: "remove", path: "externalId" })).body).not.toHaveProperty("externalId");
  });

  test("A4.1 PATCH: a path that is not a string, or an operation that is not an object, is malformed", async () => {
    const id = await ada();
    expect(await patch(id, { op: "add", path: 3, value: [] })).toMatchObject({
      status: 400,
      body: { scimType: "invalidSyntax" },
    });
    const body = { schemas: [PATCH_SCHEMA], Operations: ["add"] };
    expect(await w.patch(`${USERS}/${id}`, body)).toMatchObject({
      status: 400,
      body: { scimType: "invalidSyntax" },
    });
  });

  test("A4.1 PATCH: a replace with a filter that selects nothing is refused", async () => {
    const id = await ada();
    expect(
      await patch(id, { op: "replace", path: 'emails[type eq "home"].value', value: "x" }),
    ).toMatchObject({
      status: 400,
      body: { scimType: "noTarget" },
    });
  });

  test("A4.1 PATCH: groups are joined and left", async () => {
    const [eng, ops] = [await group("eng"), await group("ops")];
    const id = await ada({ groups: [{ value: eng }] });
    const joined = await patch(id, { op: "add", path: "groups", value: [{ value: ops }] });
    expect(joined.body.groups.map((one: { display: string }) => one.display)).toEqual(["eng", "ops"]);
    const left = await patch(id, { op: "remove", path: `groups[value eq "${eng}"]` });
    expect(left.body.groups.map((one: { display: string }) => one.display)).toEqual(["ops"]);
    expect((await patch(id, { op: "remove", path: "groups" })).body).not.toHaveProperty("groups");
  });

  test("A4.1 rule 1: PATCH does not change immutable attributes; the same value is accepted", async () => {
    const id = await ada();
    for (const operation of [
      { op: "replace", path: "userName", value: "eve@example.com" },
      { op: "replace", value: { id: "1" } },
      { op: "remove", path: "userName" },
    ]) {
      expect(await patch(id, operation)).toMatchObject({ status: 400, body: { scimType: "mutability" } });
    }
    expect(
      (await patch(id, { op: "replace", value: { userName: "ada@example.com", displayName: "A" } })).body
        .displayName,
    ).toBe("A");
  });

  test("A4.1 PATCH: operations are done in order, and all or none of them", async () => {
    const id = await ada();
    const refused = await patch(
      id,
      { op: "add", path: "entitlements", value: [{ value: "a" }] },
      { op: "add", path: "nosuch", value: 1 },
    );
    expect(refused).toMatchObject({ status: 400, body: { scimType: "invalidPath" } });
    expect((await w.get(`${USERS}/${id}`)).body).not.toHaveProperty("entitlements");
  });

  test.each([
    [{ op: "move", path: "entitlements", value: [] }, "invalidSyntax"],
    [{ op: "add", path: "entitlements" }, "invalidValue"],
    [{ op: "add", path: "entitlements", value: [1] }, "invalidValue"],
    [{ op: "add", path: "entitlements", value: "allow-cluster-create" }, "invalidValue"],
    [{ op: "add", path: "entitlements", value: ["allow-cluster-create"] }, "invalidValue"],
    [{ op: "replace", value: { entitlements: "allow-cluster-create" } }, "invalidValue"],
    [{ op: "remove", path: "entitlements", value: ["allow-cluster-create"] }, "invalidValue"],
    [{ op: "add", path: "entitlements", value: [{ val: "a" }] }, "invalidValue"],
    [{ op: "replace", path: "active", value: "False" }, "invalidValue"],
    [{ op: "replace", path: "displayName", value: 3 }, "invalidValue"],
    [{ op: "add", path: "", value: [] }, "invalidPath"],
    [{ op: "add", path: "entitlements[", value: [] }, "invalidPath"],
    [{ op: "remove", path: 'displayName[value eq "x"]' }, "invalidPath"],
    [{ op: "remove" }, "noTarget"],
    [{ op: "add", path: "name", value: "Ada" }, "invalidValue"],
    [{ op: "replace", path: "emails.value", value: "x" }, "invalidPath"],
    [{ op: "add", path: "x".repeat(200_000), value: [] }, "invalidPath"],
    [{ op: "add", value: [] }, "invalidValue"],
    [{ op: "remove", path: "entitlements[value xx y]" }, "invalidFilter"],
  ])("A4.1 PATCH: %j is refused as %s", async (operation, scimType) => {
    expect(await patch(await ada(), operation)).toMatchObject({
      status: 400,
      body: { scimType, status: "400" },
    });
  });

  test("A4.1 PATCH: the body must be a PatchOp with operations", async () => {
    const id = await ada();
    const op = { op: "add", path: "entitlements", value: [] };
    expect((await w.patch(`${USERS}/${id}`, { schemas: [USER_SCHEMA], Operations: [op] })).status).toBe(400);
    expect((await w.patch(`${USERS}/${id}`, { Operations: [op] })).status).toBe(400);
    expect((await w.patch(`${USERS}/${id}`, { schemas: [PATCH_SCHEMA] })).status).toBe(400);
    expect((await w.patch(`${USERS}/${id}`, { schemas: [PATCH_SCHEMA], Operations: [] })).status).toBe(400);
    expect((await w.patch(`${USERS}/99`, { schemas: [PATCH_SCHEMA], Operations: [op] })).status).toBe(404);
  });
});

describe("put", () => {
  test("A4.1 PUT /Users/{id}: overwrites; what is absent goes to its default", async () => {
    const { body } = await create("ada@example.com", {
      displayName: "Ada",
      entitlements: [{ value: "a" }],
      externalId: "1",
      active: false,
    });
    const done = await w.put(`${USERS}/${body.id}`, {
      schemas: [USER_SCHEMA],
      userName: "ada@example.com",
      roles: [{ value: "r" }],
    });
    expect(done).toMatchObject({
      status: 200,
      body: { id: body.id, displayName: "ada@example.com", active: true, roles: [{ value: "r" }] },
    });
    expect(done.body).not.toHaveProperty("entitlements");
    expect(done.body).not.toHaveProperty("externalId");
  });

  test("A4.1 PUT /Users/{id}: groups that are given replace the memberships, absent ones leave them", async () => {
    const [eng, ops] = [await group("eng"), await group("ops")];
    const { body } = await create("ada@example.com", { groups: [{ value: eng }] });
    const put = (more: object) => w.put(`${USERS}/${body.id}`, { schemas: [USER_SCHEMA], ...more });
    expect((await put({})).body.groups).toHaveLength(1);
    expect((await put({ groups: [{ value: ops }] })).body.groups).toMatchObject([{ value: ops }]);
    expect((await put({ groups: [] })).body).not.toHaveProperty("groups");
  });

  test("A4.1 rule 1: PUT does not change userName or id", async () => {
    const { body } = await create("ada@example.com");
    const put = (more: object) => w.put(`${USERS}/${body.id}`, { schemas: [USER_SCHEMA], ...more });
    expect(await put({ userName: "eve@example.com" })).toMatchObject({
      status: 400,
      body: { scimType: "mutability" },
    });
    expect(await put({ id: "1" })).toMatchObject({ status: 400, body: { scimType: "mutability" } });
    expect((await put({ userName: "ADA@example.com", id: body.id })).body.userName).toBe("ada@example.com");
  });

  test("A4.1 PUT /Users/{id}, A2.1 schemas: for PUT schemas is required; an unknown id is not found", async () => {
    const { body } = await create("ada@example.com");
    expect((await w.put(`${USERS}/${body.id}`, { userName: "ada@example.com" })).status).toBe(400);
    expect((await w.put(`${USERS}/99`, { schemas: [USER_SCHEMA] })).status).toBe(404);
  });
});

describe("delete", () => {
  test("A4.1 DELETE /Users/{id}, rule 4, A3 user DELETE, inactive user: answers 204 without a body; the user is then neither found nor listed", async () => {
    const { body } = await create("ada@example.com");
    const done = await w.delete(`${USERS}/${body.id}`);
    expect(done).toMatchObject({ status: 204, body: "" });
    expect((await w.get(`${USERS}/${body.id}`)).status).toBe(404);
    expect((await w.delete(`${USERS}/${body.id}`)).status).toBe(404);
    expect(await names("userName eq ada@example.com")).toEqual([]);
    expect((await w.get(USERS)).body.totalResults).toBe(1);
  });

  test("A3 user DELETE, inactive user: the tokens of an inactive user are refused", async () => {
    const token = await w.user("bo@example.com");
    const { body } = await w.get(USERS, { filter: "userName eq bo@example.com" });
    await w.delete(`${USERS}/${body.Resources[0].id}`);
    expect(await w.get("secrets/scopes/list", {}, { as: token })).toMatchObject({
      status: 403,
      body: { error_code: 403, message: "Invalid access token." },
    });
  });

  test("A3 user DELETE: a user who is set inactive by PATCH is refused too, and served again when active", async () => {
    const token = await w.user("bo@example.com");
    const { body } = await w.get(USERS, { filter: "userName eq bo@example.com" });
    const id = body.Resources[0].id;
    await patch(id, { op: "replace", path: "active", value: false });
    expect((await w.get("secrets/scopes/list", {}, { as: token })).status).toBe(403);
    await patch(id, { op: "replace", path: "active", value: true });
    expect((await w.get("secrets/scopes/list", {}, { as: token })).status).toBe(200);
  });

  test("A3 inactive user: the user leaves all groups", async () => {
    const { body } = await create("ada@example.com");
    const eng = await group("eng", [body.id]);
    await w.delete(`${USERS}/${body.id}`);
    expect((await w.get(`preview/scim/v2/Groups/${eng}`)).body).not.toHaveProperty("members");
  });

  test("A3 inactive user: the same name posted within 30 days comes back under its id, with the new attributes only", async () => {
    const { body } = await create("ada@example.com", { entitlements: [{ value: "a" }], displayName: "Ada" });
    await w.delete(`${USERS}/${body.id}`);
    await w.advance(29 * DAY);
    const again = await create("Ada@example.com");
    expect(again).toMatchObject({
      status: 201,
      body: { id: body.id, userName: "Ada@example.com", displayName: "Ada@example.com", active: true },
    });
    expect(again.body).not.toHaveProperty("entitlements");
    await w.advance(2 * DAY);
    expect((await w.get(`${USERS}/${body.id}`)).status).toBe(200);
  });

  test("A8 limit, A3 user purge: an inactive user is purged after 30 days, so that the name gets a new id", async () => {
    const { body } = await create("ada@example.com");
    await w.delete(`${USERS}/${body.id}`);
    await w.advance(30 * DAY);
    expect((await create("ada@example.com")).body.id).not.toBe(body.id);
  });

  test("A3 inactive user: a token given before does not work for the user who came back", async () => {
    const token = await w.user("bo@example.com");
    const { body } = await w.get(USERS, { filter: "userName eq bo@example.com" });
    await w.delete(`${USERS}/${body.Resources[0].id}`);
    await create("bo@example.com");
    expect((await w.get("secrets/scopes/list", {}, { as: token })).status).toBe(403);
  });
});

describe("who may", () => {
  test("A5 rule 3, A7 SCIM errors: SCIM is for administrators; others get the SCIM error form", async () => {
    const token = await w.user("bo@example.com");
    for (const answer of [
      await w.get(USERS, {}, { as: token }),
      await w.get(`${USERS}/1`, {}, { as: token }),
      await w.post(USERS, { schemas: [USER_SCHEMA], userName: "x" }, { as: token }),
      await w.delete(`${USERS}/1`, { as: token }),
    ]) {
      expect(answer).toMatchObject({
        status: 403,
        body: { schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"], status: "403" },
      });
    }
  });

  test("A5 rule 4: an administrator who was inactivated has no access", async () => {
    const token = await w.user("root@example.com", { admin: true });
    expect((await w.get(USERS, {}, { as: token })).status).toBe(200);
    const { body } = await w.get(USERS, { filter: "userName eq root@example.com" });
    await w.delete(`${USERS}/${body.Resources[0].id}`);
    expect((await w.get(USERS, {}, { as: token })).status).toBe(403);
  });
});
