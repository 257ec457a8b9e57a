// The API's operations as help: all of them by name, or one with its fields.

import type { JsonObject } from "../core/json.ts";
import { listed } from "./words.ts";

export interface OperationHelp {
  readonly name: string;
  readonly summary: string;
  readonly fields: Readonly<Record<string, JsonObject>>;
  readonly required: ReadonlySet<string>;
}

export function operationsText(all: readonly OperationHelp[]): string {
  const width = Math.max(...all.map((one) => one.name.length));
  const lines = all.map((one) => `  ${one.name.padEnd(width)}  ${one.summary}`);
  return `Operations of the API:\n\n${lines.join("\n")}\n\nFields of one: workspace api OPERATION --help\n`;
}

export function operationText(one: OperationHelp): string {
  const rows = Object.entries(one.fields).map(
    ([name, schema]) => [`${name}${one.required.has(name) ? "*" : ""}`, wordsOf(schema)] as const,
  );
  if (rows.length === 0) return `${one.name}: ${one.summary}\nIt takes no fields.\n`;
  const width = Math.max(...rows.map(([label]) => label.length));
  return `${one.name}: ${one.summary}\n\nFields (* required):\n${rows.map(([label, words]) => `  ${label.padEnd(width)}  ${words}`).join("\n")}\n`;
}

function wordsOf(schema: JsonObject): string {
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : String(schema.type ?? "object");
  const choices = Array.isArray(schema.enum) ? ` (${listed(schema.enum.map(String), 12)})` : "";
  const text = typeof schema.description === "string" ? ` ${schema.description}` : "";
  return `${type}${choices}.${text}`;
}
