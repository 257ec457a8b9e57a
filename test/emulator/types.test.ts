// Every field of every call, as openapi.yaml has them: the right type alone is taken, and what is required must be there.

import { beforeAll, describe, expect, test } from "vitest";
import { type Json, type JsonObject, objectIn } from "../../src/core/json.ts";
import { contractFile, type OperationSpec } from "../../src/emulator/http/contract.ts";
import { ADMIN_TOKEN, type Answered, type Body, startWorld, type TestWorld } from "./harness.ts";

const contract = contractFile();
const operations = contract.operations.map((operation) => [operation.id, operation] as const);

let w: TestWorld;
beforeAll(async () => {
  w = await startWorld();
});

const REF = "#/components/schemas/";

function resolved(schema: Body): Body {
  const name: unknown = schema.$ref;
  const target = typeof name === "string" ? resolved(contract.schemas[name.slice(REF.length)]) : {};
  const parts: Body[] = [target, ...(schema.allOf ?? []).map(resolved), schema];
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map((part) => part.properties)),
    required: [...new Set(parts.flatMap((part) => part.required ?? []))],
  };
}

/** The least value that a schema's types and bounds take. */
function least(given: Body): Json {
  const schema = resolved(given.anyOf?.[0] ?? given);
  if (schema.enum !== undefined) return schema.enum[0];
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        schema.required.map((name: string) => [name, least(schema.properties[name])]),
      ) as JsonObject;
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => least(schema.items));
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    default:
      return schema.format === "byte" ? "YWJj" : "x";
  }
}

const VALUES: Readonly<Record<string, Json>> = {
  boolean: true,
  fraction: 1.5,
  integer: 1,
  string: "text",
  array: [],
  object: {},
};

function typesOf(schema: Body): Set<string> {
  const types = (schema.anyOf ?? [schema]).flatMap((one: Body) => resolved(one).type ?? Object.keys(VALUES));
  return new Set(types.flatMap((type: string) => (type === "number" ? ["integer", "fraction"] : [type])));
}

interface Wrong {
  readonly where: string;
  readonly value: Json;
}

/** Values that are all right but for one place in them. */
function* wrongIn(given: Body, where: string): Generator<Wrong> {
  const schema = resolved(given);
  const right = typesOf(given);
  for (const [type, value] of Object.entries(VALUES)) {
    if (!right.has(type)) yield { where: `${where} as ${type}`, value };
  }
  if (given.anyOf !== undefined) return;
  const base = least(given);
  for (const [name, property] of Object.entries<Body>(schema.properties ?? {})) {
    for (const inner of wrongIn(property, `${where}.${name}`))
      yield { where: inner.where, value: { ...(base as JsonObject), [name]: inner.value } };
  }
  if (schema.type === "array")
    for (const inner of wrongIn(schema.items, `${where}[]`)) yield { ...inner, value: [inner.value] };
  if (typeof schema.additionalProperties === "object") {
    for (const inner of wrongIn(schema.additionalProperties, `${where}.*`))
      yield { ...inner, value: { any: inner.value } };
  }
}

function send({ method, path }: OperationSpec, body: Json): Promise<Answered> {
  return w.request({
    method,
    path: path.replace("{id}", "1"),
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      accept: "application/json",
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
}

const refusal = ({ status, body }: Answered): unknown[] => [
  status,
  body.error_code ?? body.scimType,
  body.message ?? body.detail,
];

describe("types", () => {
  test.each(operations)(
    "A conventions: the wrong type in any field of %s is refused",
    async (_id, operation) => {
      const before = w.store.dump();
      const code = operation.scim ? "invalidSyntax" : "MALFORMED_REQUEST";
      const wrong = [...wrongIn(operation.input, "input")].filter(
        ({ where }) => !where.startsWith("input as"),
      );
      const answers = await Promise.all(
        wrong.map(async ({ where, value }) => [where, ...refusal(await send(operation, value))]),
      );
      expect(answers.filter(([, status, found]) => status !== 400 || found !== code)).toEqual([]);
      expect(w.store.dump()).toEqual(before);
    },
  );

  test("A conventions: there are hundreds of fields, and each has several wrong types", () => {
    const all = operations.flatMap(([, operation]) => [...wrongIn(operation.input, "input")]);
    expect(all.length).toBeGreaterThan(2000);
  });

  /** Of a string, every text is a value. */
  const bad: Readonly<Record<string, readonly string[]>> = {
    integer: ["", "x", "1.5", "1e3", "0x1", " 1", "9223372036854775808"],
    boolean: ["", "yes", "1", "TRUE"],
  };
  const queries = operations.filter(
    ([, { method, input }]) =>
      method === "GET" &&
      Object.values<Body>(objectIn(input.properties)).some(({ type }) => bad[String(type)] !== undefined),
  );
  test.each(queries)(
    "A conventions: text in the query string of %s is read strictly",
    async (_id, operation) => {
      const base = least(operation.input) as JsonObject;
      const code = operation.scim ? "invalidSyntax" : "MALFORMED_REQUEST";
      for (const [name, schema] of Object.entries<Body>(objectIn(operation.input.properties))) {
        for (const text of bad[String(schema.type)] ?? []) {
          const query = new URLSearchParams({ ...(base as Record<string, string>), [name]: text });
          const path = `${operation.path.replace("{id}", "1")}?${query}`;
          const answer = await w.get(path);
          expect([name, text, ...refusal(answer).slice(0, 2)]).toEqual([name, text, 400, code]);
        }
      }
    },
  );
});

describe("null", () => {
  const nulled = (base: JsonObject, names: readonly string[]): JsonObject => ({
    ...Object.fromEntries(names.map((name) => [name, null])),
    ...base,
  });

  test.each(operations)(
    "A conventions: %s treats an optional field that is null as absent",
    async (_id, operation) => {
      const base = least(operation.input) as JsonObject;
      const names = Object.keys(resolved(operation.input).properties);
      const without = await send(operation, base);
      await w.control("POST", "reset");
      expect(refusal(await send(operation, nulled(base, names)))).toEqual(refusal(without));
      await w.control("POST", "reset");
    },
  );

  test("A conventions: a null in a list is refused as a wrong type", async () => {
    const answer = await w.post("instance-pools/create", {
      instance_pool_name: "p",
      node_type_id: "Standard_DS3_v2",
      preloaded_spark_versions: [null],
    });
    expect(refusal(answer)).toEqual([
      400,
      "MALFORMED_REQUEST",
      "Could not parse request object: Expected string for field 'preloaded_spark_versions.0', found NULL",
    ]);
  });

  test("A conventions: null at any depth is absent, and a required field that is null is missing", async () => {
    const made = await w.post("instance-pools/create", {
      instance_pool_name: "deep",
      node_type_id: "Standard_DS3_v2",
      custom_tags: null,
      disk_spec: { disk_type: { cloud_disk_volume_type: null }, disk_count: 1, disk_size: null },
    });
    expect(made.status).toBe(200);
    const { body } = await w.get("instance-pools/get", made.body);
    expect(body.custom_tags).toBeUndefined();
    expect(body.disk_spec).toEqual({ disk_count: 1 });
    expect(refusal(await w.post("instance-pools/create", { instance_pool_name: null }))).toEqual([
      400,
      "INVALID_PARAMETER_VALUE",
      "Missing required field: instance_pool_name",
    ]);
  });
});

describe("required fields", () => {
  const demanding = operations.flatMap(([id, operation]) =>
    resolved(operation.input).required.map((field: string): [string, string, OperationSpec] => [
      id,
      field,
      operation,
    ]),
  );

  test.each(demanding)("A7 other codes: %s without %s names the field", async (_id, field, operation) => {
    const { [field]: _gone, ...rest } = least(operation.input) as JsonObject;
    expect(refusal(await send(operation, rest))).toEqual([
      400,
      operation.scim ? "invalidValue" : "INVALID_PARAMETER_VALUE",
      `Missing required field: ${field}`,
    ]);
  });
});
