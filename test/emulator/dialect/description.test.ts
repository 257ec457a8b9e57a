import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { dialectFile } from "../../../src/emulator/http/contract.ts";
import { makeValidator } from "../../../src/emulator/http/validation.ts";
import { ApiError } from "../../../src/emulator/world/errors.ts";
import { ADMIN_TOKEN, type Body, startWorld, type TestWorld } from "../harness.ts";

const document: Body = parse(readFileSync("schemas/openapi-databricks.yaml", "utf8"));
const contract: Body = parse(readFileSync("schemas/openapi.yaml", "utf8"));
const operationsOf = (paths: Body): Body[] =>
  Object.values<Body>(paths).flatMap((item) => Object.values<Body>(item));
const operations = operationsOf(document.paths);

describe("openapi-databricks.yaml", () => {
  test("describes every operation of the contract once, and says which one each serves", () => {
    const served = operations
      .filter((one) => !/^(2\.[12]|accounts?)\//.test(one.operationId))
      .map((one) => one["x-serves"]);
    const expected = operationsOf(contract.paths).map((one) => one.operationId);
    expect(served.filter((id) => id !== undefined).sort()).toEqual(expected.sort());
  });

  test("refers to schemas that exist, and uses each", () => {
    const text = JSON.stringify(document);
    const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) =>
      String(name),
    );
    expect(names.filter((name) => !(name in document.components.schemas))).toEqual([]);
    expect(Object.keys(document.components.schemas).filter((name) => !names.includes(name))).toEqual([]);
  });

  test.each(operations.map((one) => [one.operationId, one] as const))(
    "%s documents one success and its refusals",
    (_id, one) => {
      const [success, ...others] = Object.keys(one.responses);
      expect(success).toMatch(/^20[014]$/);
      expect(others).toEqual(["default"]);
      expect(one.summary).toBeTruthy();
    },
  );

  test("uses only annotations that the overlay explains", () => {
    const explained = new Set(
      readFileSync("schemas/databricks.overlay.yaml", "utf8")
        .split("\nmove:")[0]
        ?.match(/x-[a-z-]+/g),
    );
    const ofContract = new Set(
      JSON.stringify(contract)
        .match(/"x-[a-z-]+"/g)
        ?.map((name) => name.slice(1, -1)),
    );
    const used = new Set(
      JSON.stringify(document)
        .match(/"x-[a-z-]+"/g)
        ?.map((name) => name.slice(1, -1)),
    );
    expect([...used].filter((name) => !explained.has(name) && !ofContract.has(name))).toEqual([]);
  });
});

describe.each(["azure", "aws", "gcp"] as const)("a workspace on %s", (cloud) => {
  const description = dialectFile(cloud);
  let w: TestWorld;
  beforeAll(async () => {
    w = await startWorld({ databricks: cloud });
  });

  test("serves every operation that its description has", async () => {
    const statuses = await Promise.all(
      description.operations.map(async ({ id, method, path }) => {
        const headers = {
          authorization: `Bearer ${ADMIN_TOKEN}`,
          accept: "*/*",
          "content-type": "application/json",
        };
        const { status } = await w.request({ method, path: path.replace("{id}", "1"), headers, body: "" });
        return [id, status] as const;
      }),
    );
    expect(statuses.filter(([, status]) => status >= 500)).toEqual([]);
  });

  test("has schemas that compile", () => {
    const ajv = new Ajv2020({ strict: false });
    const schemas = [
      ...description.operations.map(({ input }) => input),
      ...Object.values(description.schemas),
    ];
    expect(schemas.filter((schema) => ajv.validateSchema(schema as Body) !== true)).toEqual([]);
    const validate = makeValidator(description);
    for (const operation of description.operations) {
      try {
        validate(operation, {});
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
      }
    }
  });

  test("has zones on AWS only", async () => {
    const answer = await w.get("clusters/list-zones");
    expect(answer.status).toBe(cloud === "aws" ? 200 : 404);
    if (cloud === "aws") expect(answer.body.zones).toContain(answer.body.default_zone);
  });
});
