// The operations of the API descriptions, by method and path. Descriptions are read from the program's folder once per process,
// from a JSON copy if there is one.

import { hash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import findMyWay from "find-my-way";
import { parse } from "yaml";
import { isObject, type Json, type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { makeFolder } from "../../core/regular-file.ts";
import { REQUESTS } from "../world/limits.ts";

export interface OperationSpec {
  readonly id: string;
  readonly method: string;
  /** As in openapi.yaml, with `{name}` for a path parameter. */
  readonly path: string;
  /** Schema of the input: the JSON body of a write, the query fields of a read as one object. */
  readonly input: JsonObject;
  readonly adminOnly: boolean;
  readonly maxBytes: number;
  /** Takes a multipart form in place of JSON. */
  readonly form: boolean;
  /** Takes any bytes in place of JSON, and its fields in the query. */
  readonly raw: boolean;
  /** May it change the world? A POST that only reads says `x-read-only`. */
  readonly write: boolean;
  /** SCIM has its own format of errors. */
  readonly scim: boolean;
  readonly output: JsonObject;
  /** Of an operation in a dialect: the operation of the contract that does the work, where there is one. */
  readonly serves: string | undefined;
  /** Name of the file part of a form, if a dialect has another one. */
  readonly filePart: string | undefined;
}

/** What openapi.yaml holds, as far as the emulator reads it. */
export interface Contract {
  readonly operations: readonly OperationSpec[];
  readonly schemas: JsonObject;
  /** Versions of the API, as `2.0`, that some path has. */
  readonly versions: ReadonlySet<string>;
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;
const SCIM_PATH = /^\/api\/2\.0\/(preview|account|accounts\/\{account_id\})\/scim\/v2\//;

/** A dialect's description says of some operations that one cloud alone has them. */
export function readContract(openapi: JsonObject, cloud?: string): Contract {
  const operations: OperationSpec[] = [];
  for (const [path, item] of Object.entries(objectIn(openapi.paths))) {
    for (const method of METHODS) {
      const operation = objectIn(item)[method];
      if (operation !== undefined && [undefined, cloud].includes(textIn(objectIn(operation)["x-cloud"])))
        operations.push(readOperation(method.toUpperCase(), path, objectIn(item), objectIn(operation)));
    }
  }
  return {
    operations,
    schemas: objectIn(objectIn(openapi.components).schemas),
    versions: new Set(operations.map(({ path }) => path.split("/")[2] ?? "")),
  };
}

function readOperation(method: string, path: string, item: JsonObject, operation: JsonObject): OperationSpec {
  const parameters = [...listIn(item.parameters), ...listIn(operation.parameters)].map(objectIn);
  const query = parameters.filter((parameter) => parameter.in === "query");
  const maxBytes = operation["x-max-bytes"];
  const body = objectIn(objectIn(operation.requestBody).content);
  const raw = body["application/octet-stream"] !== undefined;
  return {
    id: String(operation.operationId),
    method,
    path,
    input: method === "GET" || raw ? querySchema(query) : bodySchema(objectIn(operation.requestBody)),
    adminOnly: operation["x-admin-only"] === true,
    form: body["multipart/form-data"] !== undefined,
    raw,
    maxBytes: typeof maxBytes === "number" ? maxBytes : REQUESTS.body_bytes,
    write: method !== "GET" && operation["x-read-only"] !== true,
    scim: SCIM_PATH.test(path),
    output: bodySchema(objectIn(Object.values(objectIn(operation.responses))[0])),
    serves: textIn(operation["x-serves"]),
    filePart: textIn(operation["x-file-part"]),
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

function textIn(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export interface Route {
  readonly spec: OperationSpec;
  readonly params: Readonly<Record<string, string>>;
}

export type Router = (method: string, path: string) => Route | undefined;

export function makeRouter(operations: readonly OperationSpec[]): Router {
  const routes = findMyWay();
  const noHandler = () => {};
  for (const spec of operations) {
    const path = spec.path.replaceAll(/\{(\w+)\}/g, ":$1");
    routes.on(spec.method as findMyWay.HTTPMethod, path, noHandler, spec);
  }
  return (method, path) => {
    const match = routes.find(method as findMyWay.HTTPMethod, path);
    if (match === null) return undefined;
    const params = Object.entries(match.params).map(([name, value]) => [name, value ?? ""]);
    return { spec: match.store as OperationSpec, params: Object.fromEntries(params) };
  };
}

const read = new Map<string, Contract>();

/** The contract. A folder may keep it as JSON, which is parsed a hundred times faster than YAML. */
export function contractFile(copyIn?: string): Contract {
  return described("openapi", copyIn);
}

export function dialectFile(cloud: string, copyIn?: string): Contract {
  return described("openapi-databricks", copyIn, cloud);
}

// The names are written out, because the one-file program has the text in place of each call.
const TEXTS = {
  openapi: () => readFileSync(new URL("../../../schemas/openapi.yaml", import.meta.url), "utf8"),
  "openapi-databricks": () =>
    readFileSync(new URL("../../../schemas/openapi-databricks.yaml", import.meta.url), "utf8"),
} as const;

function described(name: keyof typeof TEXTS, copyIn: string | undefined, cloud?: string): Contract {
  const key = `${name} ${cloud ?? ""}`;
  const cached = read.get(key);
  if (cached !== undefined) return cached;
  const text = TEXTS[name]();
  const openapi = copyIn === undefined ? parseContract(text) : throughCopy(name, copyIn, text);
  const contract = readContract(openapi, cloud);
  read.set(key, contract);
  return contract;
}

const parseContract = (text: string): JsonObject => parse(text) as JsonObject;

function throughCopy(name: string, folder: string, text: string): JsonObject {
  const stamp = hash("sha256", text);
  const path = join(folder, `${name}.json`);
  const copy = readCopy(path);
  if (copy?.stamp === stamp && isObject(copy.openapi)) return copy.openapi;
  const description = parseContract(text);
  makeFolder(folder, 0o700);
  writeFileSync(`${path}.${process.pid}`, JSON.stringify({ stamp, openapi: description }));
  renameSync(`${path}.${process.pid}`, path);
  return description;
}

/** Undefined for a copy that is missing or damaged, which is made again. */
function readCopy(path: string): JsonObject | undefined {
  try {
    const copy: Json = JSON.parse(readFileSync(path, "utf8"));
    return isObject(copy) ? copy : undefined;
  } catch {
    return undefined;
  }
}
