// The media types of SCIM: what a request must say of its body and of the answer that it takes.

import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN_TOKEN, GROUP_SCHEMA, startWorld, type TestWorld, USER_SCHEMA } from "../../harness.ts";

const SCIM = "/api/2.0/preview/scim/v2";
const TYPE = "application/scim+json";
const PATCH = {
  schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
  Operations: [{ op: "add", path: "entitlements", value: [{ value: "allow-cluster-create" }] }],
};

let w: TestWorld;
let ada: string;
beforeEach(async () => {
  w = await startWorld();
  const made = await w.post(`${SCIM}/Users`, { schemas: [USER_SCHEMA], userName: "ada@example.com" });
  ada = made.body.id;
});

const send = (method: string, path: string, headers: Record<string, string>, body?: object) =>
  w.request({
    method,
    path: SCIM + path,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const scimError = (status: number) => ({
  status,
  body: { schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"], status: String(status) },
});

describe("Content-Type", () => {
  const write = (type?: string) =>
    send("POST", "/Groups", type === undefined ? {} : { "content-type": type }, {
      schemas: [GROUP_SCHEMA],
      displayName: "eng",
    });

  test.each([
    [TYPE],
    [`${TYPE}; charset=utf-8`],
    ["Application/SCIM+JSON"],
    ["application/json"],
    ["application/json;charset=utf-8"],
  ])("A4.1 Content-Type, headers: a write that is %s is served", async (type) => {
    expect(await write(type)).toMatchObject({
      status: 201,
      headers: { "content-type": expect.stringContaining(TYPE) },
    });
  });

  test.each([
    [undefined],
    [""],
    ["text/plain;charset=UTF-8"],
    ["application/x-www-form-urlencoded"],
    ["multipart/form-data; boundary=x"],
    ["application/scim+jsonx"],
    ["x; application/scim+json"],
  ])(
    "A4.1 Content-Type, headers: a write that is %s is refused with 415, and nothing is made",
    async (type) => {
      expect(await write(type)).toMatchObject(scimError(415));
      expect((await w.get("groups/list")).body.group_names).toEqual(["admins", "users"]);
    },
  );

  test("A4.1 Content-Type: required on every call that writes a body, PATCH and PUT too", async () => {
    const user = { schemas: [USER_SCHEMA], userName: "ada@example.com" };
    expect(await send("PATCH", `/Users/${ada}`, {}, PATCH)).toMatchObject(scimError(415));
    expect(await send("PUT", `/Users/${ada}`, {}, user)).toMatchObject(scimError(415));
    expect((await send("PATCH", `/Users/${ada}`, { "content-type": TYPE }, PATCH)).status).toBe(200);
    expect((await send("PUT", `/Users/${ada}`, { "content-type": TYPE }, user)).status).toBe(200);
  });

  test("A4.1 headers: a DELETE has no body and needs no Content-Type", async () => {
    expect((await send("DELETE", `/Users/${ada}`, {})).status).toBe(204);
  });
});

describe("Accept", () => {
  test.each([
    [TYPE],
    ["application/json"],
    ["*/*"],
    ["application/*"],
    [`text/html, ${TYPE};q=0.5`],
    ["APPLICATION/SCIM+JSON"],
  ])("A4.1 Accept, headers: a read that takes %s is served", async (accept) => {
    for (const path of ["/Users", `/Users/${ada}`, "/Groups", "/Me"]) {
      expect(await send("GET", path, { accept })).toMatchObject({
        status: 200,
        headers: { "content-type": expect.stringContaining(TYPE) },
      });
    }
  });

  test.each([[undefined], [""], ["text/html"], [`${TYPE};q=0`], ["image/*, text/plain"], ["*"]])(
    "A4.1 Accept, headers: a read that takes %s is refused with 406",
    async (accept) => {
      const headers: Record<string, string> = accept === undefined ? {} : { accept };
      for (const path of ["/Users", `/Users/${ada}`, "/Groups", "/Me"])
        expect(await send("GET", path, headers)).toMatchObject(scimError(406));
    },
  );

  test("A4.1 headers: credentials and permissions are checked first", async () => {
    expect((await w.request({ method: "GET", path: `${SCIM}/Users` })).status).toBe(401);
    const token = await w.user("bo@example.com");
    expect((await w.get(`${SCIM}/Users`, {}, { as: token, headers: { accept: "text/html" } })).status).toBe(
      403,
    );
  });
});

test("the media types of other calls are not checked", async () => {
  const headers = {
    authorization: `Bearer ${ADMIN_TOKEN}`,
    "content-type": "text/plain",
    accept: "image/png",
  };
  const path = "/api/2.0/groups/create";
  expect((await w.request({ method: "POST", path, headers, body: '{"group_name":"eng"}' })).status).toBe(200);
});
