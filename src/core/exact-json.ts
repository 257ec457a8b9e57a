// JSON text in and out without losing a digit: integers beyond 2^53 become bigint and go back as they came.

import type { Json } from "./json.ts";

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown;
type RawJson = { rawJSON(text: string): unknown };

/** Fast, and says no to most texts. */
const LONG_NUMBER = /\d{16}/;
/** Where a number can begin, one that a double may not hold: 17 digits, or 16 from 9007199254740992 on. */
const UNSAFE_NUMBER = /(?:^|[\s:,[-])(?:\d{17}|9\d{15})/;
const INTEGER = /^-?\d+$/;

const exact: SourceReviver = (_key, value, context) =>
  typeof value === "number" &&
  !Number.isSafeInteger(value) &&
  context.source !== undefined &&
  INTEGER.test(context.source)
    ? BigInt(context.source)
    : value;

/** Parses JSON text. Throws SyntaxError when it is not JSON. Pays for exactness only where a number may need it. */
export function parseJson(text: string): Json {
  if (!LONG_NUMBER.test(text) || !UNSAFE_NUMBER.test(text)) return JSON.parse(text) as Json;
  return (JSON.parse as (text: string, reviver: SourceReviver) => unknown)(text, exact) as Json;
}

/** Writes JSON text; a bigint is written as an integer, digit for digit. */
export function stringifyJson(value: unknown, indent?: number): string {
  try {
    // Most values hold no bigint, and without a function for each member this takes a third of the time.
    return JSON.stringify(value, undefined, indent);
  } catch (problem) {
    if (!(problem instanceof TypeError)) throw problem;
    return JSON.stringify(value, rawBigint, indent);
  }
}

function rawBigint(_key: string, member: unknown): unknown {
  return typeof member === "bigint" ? (JSON as unknown as RawJson).rawJSON(member.toString()) : member;
}
