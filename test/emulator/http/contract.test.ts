// openapi.yaml against the contract's tables: every endpoint is there, is served, and its schemas compile.

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { contractFile } from "../../../src/emulator/http/contract.ts";
import { makeValidator } from "../../../src/emulator/http/validation.ts";
import { areas } from "../../../src/emulator/routes/areas.ts";
import { ApiError } from "../../../src/emulator/world/errors.ts";
import { type Body, startWorld } from "../harness.ts";

const SCIM = "preview/scim/v2";
const ENDPOINTS: Readonly<Record<string, readonly string[]>> = {
  "A4.1": [
    `GET ${SCIM}/Users`,
    `GET ${SCIM}/Users/{id}`,
    `POST ${SCIM}/Users`,
    `PATCH ${SCIM}/Users/{id}`,
    `PUT ${SCIM}/Users/{id}`,
    `DELETE ${SCIM}/Users/{id}`,
    `GET ${SCIM}/Groups`,
    `GET ${SCIM}/Groups/{id}`,
    `POST ${SCIM}/Groups`,
    `PATCH ${SCIM}/Groups/{id}`,
    `DELETE ${SCIM}/Groups/{id}`,
  ],
  "A4.2": [
    "POST add-member",
    "POST create",
    "GET list-members",
    "GET list",
    "GET list-parents",
    "POST remove-member",
    "POST delete",
  ].map((one) => one.replace(" ", " groups/")),
  "A4.3": [
    "POST scopes/create",
    "POST scopes/delete",
    "GET scopes/list",
    "POST put",
    "POST delete",
    "GET list",
    "POST acls/put",
    "POST acls/delete",
    "GET acls/get",
    "GET acls/list",
  ].map((one) => one.replace(" ", " secrets/")),
  "A4.4": ["POST delete", "GET export", "GET get-status", "POST import", "GET list", "POST mkdirs"].map(
    (one) => one.replace(" ", " workspace/"),
  ),
  "A4.5": [
    "POST add-block",
    "POST close",
    "POST create",
    "POST delete",
    "GET get-status",
    "GET list",
    "POST mkdirs",
    "POST move",
    "POST put",
    "GET read",
  ].map((one) => one.replace(" ", " fs/")),
  "B4.1": ["POST create", "POST edit", "POST delete", "GET get", "GET list"].map((one) =>
    one.replace(" ", " instance-pools/"),
  ),
  "B4.2": [
    "POST create",
    "GET list",
    "POST delete",
    "GET get",
    "POST reset",
    "POST run-now",
    "POST runs/submit",
    "GET runs/list",
    "GET runs/get",
    "GET runs/export",
    "POST runs/cancel",
    "GET runs/get-output",
    "POST runs/delete",
  ].map((one) => one.replace(" ", " jobs/")),
  "B4.3": [
    "POST create",
    "POST edit",
    "POST start",
    "POST restart",
    "POST resize",
    "POST delete",
    "POST permanent-delete",
    "GET get",
    "POST pin",
    "POST unpin",
    "GET list",
    "GET list-node-types",
    "GET spark-versions",
    "POST events",
  ].map((one) => one.replace(" ", " clusters/")),
};

const contract = contractFile();
const served = new Set(areas.flatMap((area) => Object.keys(area.operations)));
const all = Object.entries(ENDPOINTS).flatMap(([section, endpoints]) =>
  endpoints.map((endpoint) => [section, endpoint] as const),
);
const operationOf = (endpoint: string) => {
  const [method, path] = endpoint.split(" ");
  return contract.operations.find(
    (operation) => operation.method === method && operation.path === `/api/2.0/${path}`,
  );
};

test.each(all)("%s table: %s is described in openapi.yaml and served", (_section, endpoint) => {
  const operation = operationOf(endpoint);
  expect(operation).toBeDefined();
  expect(served).toContain(operation?.id);
});

test("openapi.yaml describes nothing else, save the alias /Me of SCIM", () => {
  const known = new Set(all.map(([, endpoint]) => operationOf(endpoint)?.id));
  expect(
    contract.operations.filter((operation) => !known.has(operation.id)).map((operation) => operation.id),
  ).toEqual(["scim/me/get"]);
});

test("every operation has its own ID, and every served operation is described", () => {
  const ids = contract.operations.map((operation) => operation.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...served].filter((id) => !ids.includes(id))).toEqual([]);
});

test.each(contract.operations.map((operation) => [operation.id, operation] as const))(
  "the schema of %s compiles",
  (_id, operation) => {
    const validate = makeValidator(contract);
    const refusal = (() => {
      try {
        validate(operation, {});
        return "none";
      } catch (error) {
        return error instanceof ApiError ? error.code : error;
      }
    })();
    expect(["none", "INVALID_PARAMETER_VALUE"]).toContain(refusal);
  },
);

test("every schema is valid JSON Schema", () => {
  const ajv = new Ajv2020({ strict: false });
  const schemas = [...contract.operations.map(({ input }) => input), ...Object.values(contract.schemas)];
  expect(schemas.filter((schema) => ajv.validateSchema(schema as Body) !== true)).toEqual([]);
});

describe("openapi.yaml as a document", () => {
  const document: Body = parse(
    readFileSync(new URL("../../../schemas/openapi.yaml", import.meta.url), "utf8"),
  );
  const operations: [string, Body][] = Object.values<Body>(document.paths).flatMap((item) =>
    Object.values<Body>(item).map((operation): [string, Body] => [operation.operationId, operation]),
  );

  test("is OpenAPI 3.1, and every reference in it leads somewhere", () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const names = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(names.filter((name) => !(String(name) in document.components.schemas))).toEqual([]);
  });

  test("every schema is used", () => {
    const text = JSON.stringify(document);
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    );
    expect(unused).toEqual([]);
  });

  test.each(operations)("%s names its section, its errors, and what it answers", (_id, operation) => {
    expect(operation["x-contract"]).toMatch(/^[AB] \d/);
    expect(operation["x-errors"]).toBeInstanceOf(Array);
    expect(operation.summary).toBeTruthy();
    const [success, ...others] = Object.keys(operation.responses);
    expect(success).toMatch(/^20[014]$/);
    expect(others).toEqual(["default"]);
  });
});

test("A5 rule 3, B5 calls, pin, unpin: a user without administrator rights is refused exactly where the contract says so", async () => {
  const w = await startWorld();
  const as = await w.user("bo@example.com");
  const refused: string[] = [];
  for (const operation of contract.operations) {
    const path = operation.path.replace("{id}", "1");
    const answer = await w.request({
      method: operation.method,
      path,
      headers: { authorization: `Bearer ${as}` },
      body: "",
    });
    if (answer.status === 403 && /Only administrators/.test(JSON.stringify(answer.body)))
      refused.push(operation.id);
  }
  const admin = [
    ...(ENDPOINTS["A4.1"] ?? []),
    ...(ENDPOINTS["A4.2"] ?? []),
    "POST clusters/pin",
    "POST clusters/unpin",
  ];
  expect(refused.sort()).toEqual(admin.map((endpoint) => operationOf(endpoint)?.id).sort());
});
