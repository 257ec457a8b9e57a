// The operations of the contract as openapi.yaml states them: route, input schema, limits, who may call.

import { type Json, type JsonObject, objectIn } from "../core/json.ts";
import { REQUESTS } from "./limits.ts";

/** One query field of a read. */
export interface QueryField {
  readonly name: string;
  readonly schema: JsonObject;
}

export interface OperationSpec {
  readonly id: string;
  readonly method: string;
  /** As in openapi.yaml, with `{name}` where a path parameter stands. */
  readonly path: string;
  /** Schema of the input: the JSON body of a write, the query fields of a read as one object. */
  readonly input: JsonObject;
  readonly query: readonly QueryField[];
  readonly adminOnly: boolean;
  readonly maxBytes: number;
  /** Takes a multipart form in place of JSON. */
  readonly form: boolean;
  /** May it change the world? A POST that only reads says `x-read-only`. */
  readonly write: boolean;
  /** SCIM answers errors in a form of its own. */
  readonly scim: boolean;
}

/** What openapi.yaml holds, as far as the emulator reads it. */
export interface Contract {
  readonly operations: readonly OperationSpec[];
  readonly schemas: JsonObject;
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;
const SCIM_BASE = "/api/2.0/preview/scim/v2/";

export function readContract(openapi: JsonObject): Contract {
  const operations: OperationSpec[] = [];
  for (const [path, item] of Object.entries(objectIn(openapi.paths))) {
    for (const method of METHODS) {
      const operation = objectIn(item)[method];
      if (operation !== undefined)
        operations.push(readOperation(method.toUpperCase(), path, objectIn(item), objectIn(operation)));
    }
  }
  return { operations, schemas: objectIn(objectIn(openapi.components).schemas) };
}

function readOperation(method: string, path: string, item: JsonObject, operation: JsonObject): OperationSpec {
  const parameters = [...array(item.parameters), ...array(operation.parameters)].map(objectIn);
  const query = parameters.filter((parameter) => parameter.in === "query");
  const maxBytes = operation["x-max-bytes"];
  return {
    id: String(operation.operationId),
    method,
    path,
    input: method === "GET" ? querySchema(query) : bodySchema(objectIn(operation.requestBody)),
    query: query.map((field) => ({ name: String(field.name), schema: objectIn(field.schema) })),
    adminOnly: operation["x-admin-only"] === true,
    form: objectIn(objectIn(operation.requestBody).content)["multipart/form-data"] !== undefined,
    maxBytes: typeof maxBytes === "number" ? maxBytes : REQUESTS.body_bytes,
    write: method !== "GET" && operation["x-read-only"] !== true,
    scim: path.startsWith(SCIM_BASE),
  };
}

function querySchema(fields: readonly JsonObject[]): JsonObject {
  return {
    type: "object",
    required: fields.filter((field) => field.required === true).map((field) => String(field.name)),
    properties: Object.fromEntries(fields.map((field) => [String(field.name), objectIn(field.schema)])),
  };
}

function bodySchema(requestBody: JsonObject): JsonObject {
  const content = Object.entries(objectIn(requestBody.content));
  const json = content.find(([type]) => type.endsWith("json"));
  return json === undefined ? { type: "object" } : objectIn(objectIn(json[1]).schema);
}

function array(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
