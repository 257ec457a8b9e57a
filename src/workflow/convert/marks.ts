// Marks in place of the values that Terraform marks as sensitive. A mark goes through the conversion instead of its value, so no later step can write the value.

import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type Path, valueAt, withValueAt } from "../../core/pointer.ts";

/** A character for private use, which no name of a provider has. */
const EDGE = "\u{F0000}";

/** A mark in place of a value of a map that is marked as a whole. */
const ENTRY = `${EDGE}entry `;

/** A mark in place of a number that a provider writes for what is not set. */
const ZERO = `${EDGE}zero `;

/** The values with a mark in place of each that a path leads to. */
export function withMarks(values: JsonObject, paths: readonly Path[]): JsonObject {
  let count = 0;
  const mark = (value: Json, isBlock = false, isEntry = false): Json => {
    if (Array.isArray(value)) return value.map((item: Json) => mark(item, true));
    if (isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, mark(member, false, !isBlock)]),
      );
    if (value === null || value === "" || hasMark(value)) return value;
    return `${isEntry ? ENTRY : value === 0 ? ZERO : EDGE}${count++}${EDGE}`;
  };
  return paths.reduce<Json>((marked, path) => {
    const value = valueAt(marked, path);
    return value === undefined ? marked : (withValueAt(marked, path, mark(value, path.length === 0)) ?? null);
  }, values) as JsonObject;
}

/** Whether a value is or contains a mark. */
export const hasMark = (value: Json | undefined): boolean =>
  typeof value === "string" && value.includes(EDGE);

export const isMarkOfEntry = (value: Json): boolean => typeof value === "string" && value.startsWith(ENTRY);

export const isMarkOfZero = (value: Json): boolean => typeof value === "string" && value.startsWith(ZERO);

export interface Mark {
  readonly path: Path;
  readonly text: string;
}

export function sensitiveMarks(value: Json, path: Path = []): readonly Mark[] {
  if (typeof value === "string") return hasMark(value) ? [{ path, text: value }] : [];
  if (typeof value !== "object" || value === null) return [];
  const members = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [...members].flatMap(([key, member]: [string | number, Json]) =>
    sensitiveMarks(member, [...path, key]),
  );
}

/** The value of a field of this type that is an expression with a variable. */
export function markOfExpression(variable: string, type: unknown): string {
  const convert = typeof type === "string" ? CONVERSIONS[type] : undefined;
  const value = `var.${variable}`;
  return `${EDGE}\${${convert === undefined ? value : `${convert}(${value})`}}${EDGE}`;
}

/** Sensitive variables are strings. */
const CONVERSIONS: Readonly<Record<string, string>> = { integer: "int", number: "double", boolean: "bool" };

/** The expression that a mark stands for. */
export function expressionOf(text: string): string | undefined {
  return text.startsWith(`${EDGE}\${`) ? text.slice(EDGE.length, -EDGE.length) : undefined;
}

export const variableIn = (expression: string): string => /var\.(\w+)/.exec(expression)?.[1] ?? "";
