// JSON text in and out without losing a digit: integers beyond 2^53 become bigint and go back as they came.

import type { Json } from "./json.ts";

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown;
type RawJson = { rawJSON(text: string): unknown };

const LONG_NUMBER = /\d{16}/;
const INTEGER = /^-?\d+$/;

const exact: SourceReviver = (_key, value, context) =>
  typeof value === "number" &&
  !Number.isSafeInteger(value) &&
  context.source !== undefined &&
  INTEGER.test(context.source)
    ? BigInt(context.source)
    : value;

/** Parses JSON text. Throws SyntaxError when it is not JSON. Pays for exactness only where the text has 16 digits in a row. */
export function parseJson(text: string): Json {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as Json;
  return (JSON.parse as (text: string, reviver: SourceReviver) => unknown)(text, exact) as Json;
}

/** Writes JSON text; a bigint is written as an integer, digit for digit. */
export function stringifyJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, member) =>
      typeof member === "bigint" ? (JSON as unknown as RawJson).rawJSON(member.toString()) : member,
    indent,
  );
}
