// Secret scopes, secrets and access lists: the ten calls of contract A 4.3 with their rules and limits.

import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN, START, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld();
});

const create = (scope: string, more: object = {}, as?: string) =>
  w.post("secrets/scopes/create", { scope, ...more }, as === undefined ? {} : { as });
const put = (scope: string, key: string, more: object = { string_value: "v" }, as?: string) =>
  w.post("secrets/put", { scope, key, ...more }, as === undefined ? {} : { as });
const acl = (scope: string, principal: string, permission: string) =>
  w.post("secrets/acls/put", { scope, principal, permission });
const acls = async (scope: string) => (await w.get("secrets/acls/list", { scope })).body;
const keys = async (scope: string): Promise<string[]> =>
  ((await w.get("secrets/list", { scope })).body.secrets ?? []).map((secret: { key: string }) => secret.key);
const refused = (error_code: string) => ({ status: 400, body: { error_code } });
const missing = { status: 404, body: { error_code: "RESOURCE_DOES_NOT_EXIST" } };
const denied = { status: 403, body: { error_code: "PERMISSION_DENIED" } };

describe("scopes", () => {
  test("A4.3 scopes/create: answers an empty object; the scope is listed", async () => {
    expect(await create("etl")).toMatchObject({ status: 200, body: {} });
    expect((await w.get("secrets/scopes/list")).body).toEqual({
      scopes: [{ name: "etl", backend_type: "PLATFORM" }],
    });
  });

  test("A4.3 scopes/list: without scopes the answer is an empty object", async () => {
    expect((await w.get("secrets/scopes/list")).body).toEqual({});
  });

  test("A4.3 rule 1: without an initial principal only the caller gets MANAGE", async () => {
    const bo = await w.user("bo@example.com");
    await create("mine", {}, bo);
    expect(await acls("mine")).toEqual({ items: [{ principal: "bo@example.com", permission: "MANAGE" }] });
    await create("etl");
    expect(await acls("etl")).toEqual({ items: [{ principal: ADMIN, permission: "MANAGE" }] });
  });

  test("A4.3 rule 1: the initial principal users gets MANAGE instead of the caller, so that everyone has it", async () => {
    await create("open", { initial_manage_principal: "users" });
    expect(await acls("open")).toEqual({ items: [{ principal: "users", permission: "MANAGE" }] });
    const bo = await w.user("bo@example.com");
    expect((await w.get("secrets/acls/list", { scope: "open" }, { as: bo })).status).toBe(200);
    expect((await put("open", "k", undefined, bo)).status).toBe(200);
  });

  test("A4.3 scopes/create, principal code: the only initial principal is users", async () => {
    for (const initial_manage_principal of ["admins", ADMIN, ""]) {
      expect(await create("etl", { initial_manage_principal })).toMatchObject(refused("BAD_REQUEST"));
    }
  });

  test("A7 RESOURCE_ALREADY_EXISTS, A2.3 name: the scope name exists", async () => {
    await create("etl");
    expect(await create("etl")).toMatchObject({
      status: 400,
      body: { error_code: "RESOURCE_ALREADY_EXISTS", message: "Scope etl already exists!" },
    });
    expect((await create("ETL")).status).toBe(200);
  });

  test.each(["", "a b", "a/b", "é", "a:b", "a".repeat(129), "a\n", "${x}"])(
    "A7 INVALID_PARAMETER_VALUE, A2.3 name: scope name %j is not in the alphabet",
    async (name) => {
      expect(await create(name)).toMatchObject(refused("INVALID_PARAMETER_VALUE"));
    },
  );

  test.each(["A", "a-b_c.9", "a".repeat(128), "__proto__", "constructor"])(
    "A8 limit, A2.3 name, A2.4 key: %s is a scope name in the alphabet",
    async (name) => {
      expect((await create(name)).status).toBe(200);
      expect((await put(name, "__proto__")).status).toBe(200);
      expect(await keys(name)).toEqual(["__proto__"]);
    },
  );

  test("A8 limit, A7 RESOURCE_LIMIT_EXCEEDED: 100 scopes; the 101st gives RESOURCE_LIMIT_EXCEEDED until one is deleted", async () => {
    for (let i = 0; i < 100; i++) await create(`s${i}`);
    expect(await create("more")).toMatchObject(refused("RESOURCE_LIMIT_EXCEEDED"));
    await w.post("secrets/scopes/delete", { scope: "s0" });
    expect((await create("more")).status).toBe(200);
  });

  test("A4.3 scopes/delete: the scope is deleted with its secrets and access list", async () => {
    await create("etl");
    await put("etl", "k");
    expect(await w.post("secrets/scopes/delete", { scope: "etl" })).toMatchObject({ status: 200, body: {} });
    expect(await w.get("secrets/list", { scope: "etl" })).toMatchObject(missing);
    await create("etl");
    expect(await keys("etl")).toEqual([]);
  });

  test("A4.3 scopes/delete, A7 RESOURCE_DOES_NOT_EXIST: a missing scope gives RESOURCE_DOES_NOT_EXIST", async () => {
    expect(await w.post("secrets/scopes/delete", { scope: "no" })).toMatchObject({
      ...missing,
      body: { message: "Scope no does not exist!" },
    });
  });

  test("A4.3 scopes/create, scopes/delete: scope is required", async () => {
    for (const call of ["scopes/create", "scopes/delete"]) {
      expect((await w.post(`secrets/${call}`, {})).body.message).toBe("Missing required field: scope");
    }
    expect((await w.post("secrets/scopes/create", { scope: 4 })).body.error_code).toBe("MALFORMED_REQUEST");
  });
});

describe("secrets", () => {
  beforeEach(() => create("etl"));

  test("A4.3 list, A2.4 last_updated_timestamp: metadata only, with the time of the last write as a number", async () => {
    await put("etl", "b");
    await w.advance(1000);
    await put("etl", "a", { bytes_value: btoa("xyz") });
    expect((await w.get("secrets/list", { scope: "etl" })).body).toEqual({
      secrets: [
        { key: "b", last_updated_timestamp: START },
        { key: "a", last_updated_timestamp: START + 1000 },
      ],
    });
  });

  test("A4.3 list: an empty scope answers an empty object, a missing one RESOURCE_DOES_NOT_EXIST", async () => {
    expect((await w.get("secrets/list", { scope: "etl" })).body).toEqual({});
    expect(await w.get("secrets/list", { scope: "no" })).toMatchObject(missing);
  });

  test("A4.3 rule 2, A2.4 key: put overwrites the one secret of the same key", async () => {
    await put("etl", "k", { string_value: "one" });
    await w.advance(5);
    expect((await put("etl", "k", { string_value: "two" })).status).toBe(200);
    expect((await w.get("secrets/list", { scope: "etl" })).body.secrets).toEqual([
      { key: "k", last_updated_timestamp: START + 5 },
    ]);
  });

  test("A4.3 rule 2, A2.4 value: the value is encrypted at rest, and no endpoint returns it", async () => {
    await put("etl", "k", { string_value: "canary-71c2" });
    const rows = JSON.stringify(w.store.dump());
    expect(rows).not.toContain("canary-71c2");
    expect(rows).not.toContain(btoa("canary-71c2"));
    const snapshot = JSON.stringify((await w.control("GET", "snapshot")).body);
    expect(snapshot).not.toContain("canary-71c2");
    expect(
      w.store.world.unseal(
        (w.store.world.collection<{ sealed: string }>("secrets/etl").get("k") ?? { sealed: "" }).sealed,
      ),
    ).toBe("canary-71c2");
  });

  test("A4.3 put: exactly one of string_value and bytes_value", async () => {
    expect(await put("etl", "k", {})).toMatchObject(refused("INVALID_PARAMETER_VALUE"));
    expect(await put("etl", "k", { string_value: "a", bytes_value: "YQ==" })).toMatchObject(
      refused("INVALID_PARAMETER_VALUE"),
    );
    expect(await keys("etl")).toEqual([]);
  });

  test("A4.3 put: bytes_value must be base64, string_value text", async () => {
    for (const bytes_value of ["*", "a", "ab=c"])
      expect(await put("etl", "k", { bytes_value })).toMatchObject(refused("MALFORMED_REQUEST"));
    expect(await put("etl", "k", { string_value: 1 })).toMatchObject(refused("MALFORMED_REQUEST"));
  });

  test("A8 limit, A4.3 put, A7 INVALID_PARAMETER_VALUE: a value has at most 128 KB, of UTF-8 or of bytes", async () => {
    const full = 128 * 1024;
    expect((await put("etl", "a", { string_value: "x".repeat(full) })).status).toBe(200);
    expect((await put("etl", "b", { bytes_value: btoa("x".repeat(full)) })).status).toBe(200);
    expect(await put("etl", "c", { string_value: "x".repeat(full + 1) })).toMatchObject(
      refused("INVALID_PARAMETER_VALUE"),
    );
    expect(await put("etl", "d", { string_value: "é".repeat(full / 2 + 1) })).toMatchObject(
      refused("INVALID_PARAMETER_VALUE"),
    );
    expect(await put("etl", "e", { bytes_value: btoa("x".repeat(full + 1)) })).toMatchObject(
      refused("INVALID_PARAMETER_VALUE"),
    );
    expect(await keys("etl")).toEqual(["a", "b"]);
  });

  test.each(["", "a b", "a/b", "a".repeat(129), "é"])(
    "A7 INVALID_PARAMETER_VALUE, A2.4 key: secret key %j is not in the alphabet",
    async (key) => {
      expect(await put("etl", key)).toMatchObject(refused("INVALID_PARAMETER_VALUE"));
    },
  );

  test("A8 limit, A7 RESOURCE_LIMIT_EXCEEDED: 1000 secrets in a scope; the 1001st gives RESOURCE_LIMIT_EXCEEDED, an overwrite does not", async () => {
    for (let i = 0; i < 1000; i++) await put("etl", `k${i}`);
    expect(await put("etl", "more")).toMatchObject(refused("RESOURCE_LIMIT_EXCEEDED"));
    expect((await put("etl", "k7")).status).toBe(200);
    await w.post("secrets/delete", { scope: "etl", key: "k7" });
    expect((await put("etl", "more")).status).toBe(200);
  });

  test("A4.3 delete, A7 RESOURCE_DOES_NOT_EXIST: the secret is deleted; a missing one, or a missing scope, gives RESOURCE_DOES_NOT_EXIST", async () => {
    await put("etl", "k");
    expect(await w.post("secrets/delete", { scope: "etl", key: "k" })).toMatchObject({
      status: 200,
      body: {},
    });
    expect(await keys("etl")).toEqual([]);
    expect(await w.post("secrets/delete", { scope: "etl", key: "k" })).toMatchObject(missing);
    expect(await w.post("secrets/delete", { scope: "no", key: "k" })).toMatchObject(missing);
    expect(await put("no", "k")).toMatchObject(missing);
  });

  test("A4.3 put, delete, list: their fields are required", async () => {
    expect((await w.post("secrets/put", { key: "k", string_value: "" })).body.message).toBe(
      "Missing required field: scope",
    );
    expect((await w.post("secrets/put", { scope: "etl", string_value: "" })).body.message).toBe(
      "Missing required field: key",
    );
    expect((await w.post("secrets/delete", { scope: "etl" })).body.message).toBe(
      "Missing required field: key",
    );
    expect((await w.get("secrets/list")).body.message).toBe("Missing required field: scope");
  });
});

describe("key vault scopes", () => {
  const vault = { resource_id: "/vaults/v", dns_name: "https://v.example/" };
  beforeEach(() => create("vault", { scope_backend_type: "AZURE_KEYVAULT", backend_azure_keyvault: vault }));

  test("A2.3 backend_type: a vault scope is CLOUD_KEYVAULT, by either name that clients send", async () => {
    await create("vault2", { scope_backend_type: "CLOUD_KEYVAULT", backend_azure_keyvault: vault });
    expect((await w.get("secrets/scopes/list")).body.scopes).toEqual([
      { name: "vault", backend_type: "CLOUD_KEYVAULT", keyvault_metadata: vault },
      { name: "vault2", backend_type: "CLOUD_KEYVAULT", keyvault_metadata: vault },
    ]);
  });

  test("A2.3 backend_type: a vault scope names its vault; an unknown backend is refused", async () => {
    expect(await create("x", { scope_backend_type: "AZURE_KEYVAULT" })).toMatchObject(
      refused("INVALID_PARAMETER_VALUE"),
    );
    expect(await create("x", { scope_backend_type: "TAPE" })).toMatchObject(
      refused("INVALID_PARAMETER_VALUE"),
    );
  });

  test("A4.3 rule 4, vault code: put and delete are refused on a vault scope; list and access lists work", async () => {
    expect(await put("vault", "k")).toMatchObject(refused("BAD_REQUEST"));
    expect(await w.post("secrets/delete", { scope: "vault", key: "k" })).toMatchObject(
      refused("BAD_REQUEST"),
    );
    expect((await w.get("secrets/list", { scope: "vault" })).body).toEqual({});
    expect((await acl("vault", "users", "READ")).status).toBe(200);
  });
});

describe("access lists", () => {
  beforeEach(async () => {
    await create("etl");
    await w.post("groups/create", { group_name: "eng" });
    await w.user("bo@example.com");
  });

  test("A4.3 acls/put, acls/get, A2.5 principal, permission: gives a user or a group a permission; acls/get and acls/list show it", async () => {
    expect(await acl("etl", "bo@example.com", "READ")).toMatchObject({ status: 200, body: {} });
    await acl("etl", "eng", "WRITE");
    expect((await w.get("secrets/acls/get", { scope: "etl", principal: "eng" })).body).toEqual({
      principal: "eng",
      permission: "WRITE",
    });
    expect(await acls("etl")).toEqual({
      items: [
        { principal: ADMIN, permission: "MANAGE" },
        { principal: "bo@example.com", permission: "READ" },
        { principal: "eng", permission: "WRITE" },
      ],
    });
  });

  test("A4.3 rule 5: acls/put overwrites what the principal had", async () => {
    await acl("etl", "eng", "READ");
    expect((await acl("etl", "eng", "MANAGE")).status).toBe(200);
    expect((await w.get("secrets/acls/get", { scope: "etl", principal: "eng" })).body.permission).toBe(
      "MANAGE",
    );
    expect((await acls("etl")).items).toHaveLength(2);
  });

  test("A4.3 rule 5: a user's name is the same in upper and lower case, and kept as the user has it", async () => {
    await acl("etl", "BO@example.com", "READ");
    await acl("etl", "bo@example.com", "WRITE");
    expect((await acls("etl")).items.slice(1)).toEqual([
      { principal: "bo@example.com", permission: "WRITE" },
    ]);
  });

  test("A4.3 rule 5, A7 RESOURCE_DOES_NOT_EXIST: a principal that does not exist gives RESOURCE_DOES_NOT_EXIST", async () => {
    expect(await acl("etl", "nobody", "READ")).toMatchObject(missing);
  });

  test.each(["OWN", "read", ""])(
    "A7 INVALID_PARAMETER_VALUE, A2.5 permission: ACL permission %j is none",
    async (permission) => {
      expect(await acl("etl", "eng", permission)).toMatchObject(refused("INVALID_PARAMETER_VALUE"));
    },
  );

  test("A4.3 acls/delete: the permission is removed; a second time, or a missing scope, gives RESOURCE_DOES_NOT_EXIST", async () => {
    await acl("etl", "eng", "READ");
    const body = { scope: "etl", principal: "eng" };
    expect(await w.post("secrets/acls/delete", body)).toMatchObject({ status: 200, body: {} });
    expect(await w.post("secrets/acls/delete", body)).toMatchObject(missing);
    expect(await w.post("secrets/acls/delete", { ...body, scope: "no" })).toMatchObject(missing);
  });

  test("A4.3 acls/get, A7 RESOURCE_DOES_NOT_EXIST: the ACL of a principal without a permission gives RESOURCE_DOES_NOT_EXIST", async () => {
    expect(await w.get("secrets/acls/get", { scope: "etl", principal: "eng" })).toMatchObject({
      status: 404,
      body: {
        error_code: "RESOURCE_DOES_NOT_EXIST",
        message: "Failed to get secret acl for principal eng for scope etl.",
      },
    });
  });

  test("A4.3 acls/list, acls key: the key is items; with no permission left the answer is an empty object", async () => {
    await w.post("secrets/acls/delete", { scope: "etl", principal: ADMIN });
    expect(await acls("etl")).toEqual({});
  });

  test("A4.3 acls/put, acls/get, acls/list, A7 RESOURCE_DOES_NOT_EXIST: a missing scope give RESOURCE_DOES_NOT_EXIST", async () => {
    expect(await acl("no", "eng", "READ")).toMatchObject(missing);
    expect(await w.get("secrets/acls/get", { scope: "no", principal: "eng" })).toMatchObject(missing);
    expect(await w.get("secrets/acls/list", { scope: "no" })).toMatchObject(missing);
  });

  test("A2.5 principal, permission, A4.3 acls/put, acls/delete, acls/get, acls/list: scope, principal and permission are required", async () => {
    expect((await w.post("secrets/acls/put", { scope: "etl", permission: "READ" })).body.message).toBe(
      "Missing required field: principal",
    );
    expect((await w.post("secrets/acls/put", { scope: "etl", principal: "eng" })).body.message).toBe(
      "Missing required field: permission",
    );
    expect((await w.post("secrets/acls/delete", { scope: "etl" })).body.message).toBe(
      "Missing required field: principal",
    );
    expect((await w.get("secrets/acls/get", { scope: "etl" })).body.message).toBe(
      "Missing required field: principal",
    );
    expect((await w.get("secrets/acls/list")).body.message).toBe("Missing required field: scope");
  });

  test("A4.3 deleted principals: the entry of a deleted group stays, and can be read and deleted", async () => {
    await acl("etl", "eng", "READ");
    await w.post("groups/delete", { group_name: "eng" });
    expect((await acls("etl")).items).toContainEqual({ principal: "eng", permission: "READ" });
    expect((await w.post("secrets/acls/delete", { scope: "etl", principal: "eng" })).status).toBe(200);
  });
});

describe("permissions", () => {
  type Needs = readonly [rule: string, path: string, wanted: string, method: "GET" | "POST", body: object];
  const needs: readonly Needs[] = [
    ["rule 3, A2.5 READ", "secrets/list", "READ", "GET", {}],
    ["rule 2, A2.5 WRITE", "secrets/put", "WRITE", "POST", { key: "k2", string_value: "v" }],
    ["rule 3, A2.5 WRITE", "secrets/delete", "WRITE", "POST", { key: "k" }],
    ["rule 3, A2.5 MANAGE", "secrets/acls/put", "MANAGE", "POST", { principal: "users", permission: "READ" }],
    ["rule 3, A2.5 MANAGE", "secrets/acls/get", "MANAGE", "GET", { principal: ADMIN }],
    ["rule 3, A2.5 MANAGE", "secrets/acls/list", "MANAGE", "GET", {}],
    ["rule 3, A2.5 MANAGE", "secrets/acls/delete", "MANAGE", "POST", { principal: ADMIN }],
    ["permissions, A2.5 MANAGE", "secrets/scopes/delete", "MANAGE", "POST", {}],
  ];
  const levels = ["READ", "WRITE", "MANAGE"];
  const call = (path: string, method: string, body: object, as: string) =>
    method === "GET"
      ? w.get(path, { scope: "etl", ...body }, { as })
      : w.post(path, { scope: "etl", ...body }, { as });

  beforeEach(async () => {
    await create("etl");
    await put("etl", "k");
  });

  test.each(needs)(
    "A4.3 %s, A5 rule 5, A7 PERMISSION_DENIED: %s needs %s",
    async (_rule, path, wanted, method, body) => {
      const as = await w.user("bo@example.com");
      expect(await call(path, method, body, as)).toMatchObject({
        status: 403,
        body: {
          error_code: "PERMISSION_DENIED",
          message: `User bo@example.com does not have ${wanted} permission on scope etl to perform this action.`,
        },
      });
      for (const level of levels) {
        await acl("etl", "bo@example.com", level);
        const allowed = levels.indexOf(level) >= levels.indexOf(wanted);
        if (!allowed) expect(await call(path, method, body, as)).toMatchObject(denied);
        else if (level === wanted) expect((await call(path, method, body, as)).status).toBe(200);
        if (allowed) break;
      }
    },
  );

  test("A2.5 MANAGE, WRITE: MANAGE also reads and writes secrets, WRITE also reads them", async () => {
    const as = await w.user("bo@example.com");
    await acl("etl", "bo@example.com", "MANAGE");
    expect((await call("secrets/put", "POST", { key: "x", string_value: "v" }, as)).status).toBe(200);
    await acl("etl", "bo@example.com", "WRITE");
    expect((await call("secrets/list", "GET", {}, as)).status).toBe(200);
  });

  test("A2.5 strongest permission: the most powerful counts, of the user, of a group, of a group in a group", async () => {
    const as = await w.user("bo@example.com");
    for (const group_name of ["inner", "outer"]) await w.post("groups/create", { group_name });
    await w.post("groups/add-member", { user_name: "bo@example.com", parent_name: "inner" });
    await w.post("groups/add-member", { group_name: "inner", parent_name: "outer" });
    const write = () => call("secrets/put", "POST", { key: "x", string_value: "v" }, as);
    await acl("etl", "bo@example.com", "READ");
    expect(await write()).toMatchObject(denied);
    await acl("etl", "outer", "WRITE");
    expect((await write()).status).toBe(200);
    await acl("etl", "inner", "READ");
    expect((await write()).status).toBe(200);
    await w.post("groups/remove-member", { group_name: "inner", parent_name: "outer" });
    expect(await write()).toMatchObject(denied);
    expect((await call("secrets/list", "GET", {}, as)).status).toBe(200);
  });

  test("A4.3 permissions, A4.2 group users: everyone is a member of users", async () => {
    const as = await w.user("bo@example.com");
    await acl("etl", "users", "READ");
    expect((await call("secrets/list", "GET", {}, as)).status).toBe(200);
    expect(await call("secrets/put", "POST", { key: "x", string_value: "v" }, as)).toMatchObject(denied);
  });

  test("A4.3 permissions: administrators may do everything on any scope", async () => {
    const as = await w.user("root@example.com", { admin: true });
    for (const [, path, , method, body] of needs)
      expect((await call(path, method, body, as)).status).toBe(200);
  });

  test("A4.3 permissions: a user with a lowered permission has no more than it", async () => {
    const as = await w.user("bo@example.com");
    await create("own", {}, as);
    await w.post(
      "secrets/acls/put",
      { scope: "own", principal: "bo@example.com", permission: "READ" },
      { as },
    );
    expect(await w.get("secrets/acls/list", { scope: "own" }, { as })).toMatchObject(denied);
    expect((await w.get("secrets/list", { scope: "own" }, { as })).status).toBe(200);
  });
});
