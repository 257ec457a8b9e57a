// Help for the API: all operations by name, or one with its fields.

import type { JsonObject } from "../../core/json.ts";
import { printable } from "../text/printable.ts";

export interface OperationHelp {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly adminOnly: boolean;
  readonly fields: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly schema: JsonObject;
  }[];
}

export function operationsText(all: readonly (OperationHelp & { readonly writes: boolean })[]): string {
  const width = Math.max(...all.map((one) => one.id.length));
  const lines = all.map((one) => `  ${one.id.padEnd(width)}  ${one.writes ? "w" : " "}  ${one.summary}`);
  return `Operations of the API (w: changes something):\n\n${lines.join("\n")}\n\nFields of one: workspace api OPERATION --help\n`;
}

/** Nested fields are written `outer.inner`; lists and deeper values are JSON. */
export function operationText(one: OperationHelp, follow: (schema: JsonObject) => JsonObject): string {
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

/** Deeper than this a value is easier to give as JSON. */
const DEPTH = 2;

function rowsOf(
  name: string,
  schema: JsonObject,
  required: boolean,
  follow: (schema: JsonObject) => JsonObject,
  depth = 1,
): readonly Row[] {
  const row: Row = [`${name}${required ? "*" : ""}`, typeText(schema, follow), wordsText(schema)];
  const { properties } = schema;
  if (depth >= DEPTH || properties === null || typeof properties !== "object" || Array.isArray(properties))
    return [row];
  const needed = Array.isArray(schema.required) ? schema.required : [];
  const inner = Object.entries(properties as JsonObject).flatMap(([key, one]) =>
    rowsOf(`${name}.${key}`, follow(one as JsonObject), needed.includes(key), follow, depth + 1),
  );
  return [row, ...inner];
}

function typeText(schema: JsonObject, follow: (schema: JsonObject) => JsonObject): string {
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
