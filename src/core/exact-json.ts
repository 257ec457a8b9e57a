// Parses and prints JSON without losing digits: integers beyond 2^53 become bigint and are printed unchanged.

import type { Json } from "./json.ts";

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown;
type RawJson = { rawJSON(text: string): unknown };

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

/** Nesting limit for JSON from outside, far beyond what the service or this program writes. */
export const JSON_DEPTH = 128;

/** Thrown for JSON nested deeper than JSON_DEPTH. A SyntaxError, so that callers handle it like invalid JSON. */
export class JsonTooDeep extends SyntaxError {
  constructor(depth: number) {
    super(`it is nested deeper than ${depth} levels`);
  }
}

const QUOTE = 34;
const BACKSLASH = 92;

/** Scans characters without recursion, which could crash here. */
export function assertShallow(text: string, depth = JSON_DEPTH): void {
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    // [ and {, then ] and }.
    else if (code === 91 || code === 123) {
      open += 1;
      if (open > depth) throw new JsonTooDeep(depth);
    } else if (code === 93 || code === 125) open -= 1;
  }
}

/** Where the string that begins at a quote ends; the end of the text where it does not. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

const LONG = 16;

/** Whether 16 digits follow each other. The search reads each 16th character, which takes a fraction of the time of a pattern. */
function hasLongNumber(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at;
    while (isDigit(text.charCodeAt(start - 1))) start -= 1;
    let end = at + 1;
    while (isDigit(text.charCodeAt(end))) end += 1;
    if (end - start >= LONG) return true;
  }
  return false;
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Parses JSON text. Throws SyntaxError when it is not JSON or too deep. Pays for exactness only where a number may need it. */
export function parseJson(text: string): Json {
  if (text.length > JSON_DEPTH) assertShallow(text);
  if (!hasLongNumber(text) || !UNSAFE_NUMBER.test(text)) return JSON.parse(text) as Json;
  return (JSON.parse as (text: string, reviver: SourceReviver) => unknown)(text, exact) as Json;
}

/** Writes JSON text; a bigint is written as an integer, digit for digit. */
export function stringifyJson(value: unknown, indent?: number): string {
  try {
    // Most values contain no bigint; without a replacer, this takes a third of the time.
    return JSON.stringify(value, undefined, indent);
  } catch (problem) {
    if (!(problem instanceof TypeError)) throw problem;
    return JSON.stringify(value, rawBigint, indent);
  }
}

/** The text that `stringifyJson(value, 1)` gives, in pieces: members and items down to `depth` are one piece each. */
export function* indentedPieces(value: unknown, depth: number, level = 0): Generator<string> {
  const isList = Array.isArray(value);
  const members = value === null || typeof value !== "object" ? [] : isList ? value : Object.values(value);
  if (depth === 0 || members.every((member) => member === undefined)) {
    yield stringifyJson(value, 1).replaceAll("\n", `\n${" ".repeat(level)}`);
    return;
  }
  yield isList ? "[" : "{";
  let separator = "";
  for (const [key, member] of Object.entries(value as object)) {
    if (member === undefined && !isList) continue;
    yield `${separator}\n${" ".repeat(level + 1)}${isList ? "" : `${JSON.stringify(key)}: `}`;
    yield* indentedPieces(member ?? null, depth - 1, level + 1);
    separator = ",";
  }
  yield `\n${" ".repeat(level)}${isList ? "]" : "}"}`;
}

function rawBigint(_key: string, member: unknown): unknown {
  return typeof member === "bigint" ? (JSON as unknown as RawJson).rawJSON(member.toString()) : member;
}
