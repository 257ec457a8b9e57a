// Checks the input of an operation against the contract before it is sent.

import { Ajv2020 } from "ajv/dist/2020.js";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { suggester } from "../../core/suggest.ts";
import { schemaMessages } from "../../spec/schema/error-messages.ts";
import { toSchemaErrors } from "../../spec/schema/validate.ts";
import { type CatalogOperation, type OperationCatalog, schemaList } from "./catalog.ts";

/** Returns every violation of the contract, in the words of the spec validation. */
export function inputProblems(
  catalog: OperationCatalog,
  operation: CatalogOperation,
  input: JsonObject,
): readonly Diagnostic[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true, logger: false });
  ajv.addFormat("int32", { type: "number", validate: (value: number) => Math.abs(value + 0.5) <= 2 ** 31 });
  ajv.addFormat("int64", { type: "number", validate: (value: number) => Math.abs(value) <= 2 ** 63 });
  ajv.addFormat("byte", { type: "string", validate: isBase64 });
  for (const format of ["float", "double"])
    ajv.addFormat(format, { type: "number", validate: Number.isFinite });
  const validate = ajv.compile(schemaOf(catalog, operation) as object);
  const value = measured(input);
  if (validate(value)) return [];
  const suggest = suggester();
  return schemaMessages(toSchemaErrors(validate.errors ?? [], value), operation.id, suggest).map(
    ({ message, hint }) =>
      error("CLI_USAGE", message, {
        hint: hint ?? `to list its fields, run \`workspace api ${operation.id} --help\``,
      }),
  );
}

/** The contract accepts unknown fields. They are reported here, because they are usually typos. */
function schemaOf({ components }: OperationCatalog, { fields }: CatalogOperation): Json {
  return closed({
    type: "object",
    properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
    required: fields.filter((field) => field.required).map(({ name }) => name),
    components: { schemas: components },
  });
}

function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== "object") return schema;
  const out: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(schema as JsonObject))
    out[key] = key === "default" || key === "example" ? value : closed(value);
  const isObject = out.properties !== undefined && Object.keys(objectIn(out.properties)).length > 0;
  const isPart = schemaList(out.allOf).length > 0 || out.$ref !== undefined;
  return isObject && !isPart && out.additionalProperties === undefined
    ? { ...out, additionalProperties: false }
    : out;
}

/** The validator does not support bigint. A number of about the same size has the same limits. */
function measured(value: Json): Json {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(measured);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value as JsonObject).map(([key, one]) => [key, measured(one)]));
}

function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(text);
}
