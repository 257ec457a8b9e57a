// Help for the API: all operations by name, or one with its fields.

import { type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { printable } from "../../report/text/printable.ts";
import { type CatalogOperation, isWrite, type OperationCatalog } from "../../workflow/api/catalog.ts";

export function operationsText({ operations }: OperationCatalog): string {
  const width = Math.max(...operations.map((one) => one.id.length));
  const lines = operations.map(
    (one) => `  ${one.id.padEnd(width)}  ${isWrite(one) ? "w" : " "}  ${one.summary}`,
  );
  return `Operations of the API (w: changes something):\n\n${lines.join("\n")}\n\nFields of one: workspace api OPERATION --help\n`;
}

/** Nested fields are written `outer.inner`; lists and deeper values are JSON. */
export function operationText(one: CatalogOperation, follow: Follow): string {
  const rows = one.fields.flatMap((field) => rowsOf(field.name, field.schema, field.required, follow));
  const head = [
    `${one.id}: ${one.summary}${one.adminOnly ? " (administrators only)" : ""}`,
    `${one.method} ${one.path}`,
    ...(one.description === "" ? [] : [one.description]),
  ];
  if (rows.length === 0) return `${head.join("\n")}\n\nIt takes no fields.\n`;
  const width = Math.max(...rows.map(([name]) => name.length));
  const types = Math.max(...rows.map(([, type]) => type.length));
  const lines = rows.map(([name, type, words]) =>
    `  ${name.padEnd(width)}  ${type.padEnd(types)}  ${words}`.trimEnd(),
  );
  return `${head.join("\n")}\n\nFields (* required):\n${lines.join("\n")}\n`;
}

type Row = readonly [string, string, string];
type Follow = OperationCatalog["follow"];

/** Deeper values are easier to pass as JSON. */
const DEPTH = 2;

function rowsOf(
  name: string,
  schema: JsonObject,
  required: boolean,
  follow: Follow,
  depth = 1,
): readonly Row[] {
  const row: Row = [`${name}${required ? "*" : ""}`, typeText(schema, follow), wordsText(schema)];
  if (depth >= DEPTH) return [row];
  const needed = listIn(schema.required);
  const inner = Object.entries(objectIn(schema.properties)).flatMap(([key, one]) =>
    rowsOf(`${name}.${key}`, follow(one as JsonObject), needed.includes(key), follow, depth + 1),
  );
  return [row, ...inner];
}

function typeText(schema: JsonObject, follow: Follow): string {
  const { type, format, items, additionalProperties } = schema;
  if (format === "byte") return "base64";
  if (type === "array") return `list of ${typeText(follow((items ?? {}) as JsonObject), follow)}`;
  if (type === "object" && typeof additionalProperties === "object") return "map";
  return typeof type === "string" ? type : Array.isArray(type) ? type.join(" or ") : "JSON";
}

function wordsText({ description, enum: choices, default: value }: JsonObject): string {
  const words = [
    typeof description === "string" ? description : "",
    Array.isArray(choices) ? `One of ${choices.map(String).join(", ")}.` : "",
    value === undefined ? "" : `Default: ${JSON.stringify(value)}.`,
  ];
  return printable(words.filter((one) => one !== "").join(" "));
}
