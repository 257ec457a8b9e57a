// Resolves unquoted YAML scalars by the core schema of YAML 1.2: null, boolean, number, or string.

import type { ScalarValue } from "../model/tree.ts";

const INTEGER = /^[-+]?[0-9]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const BASED = /^0o[0-7]+$|^0x[0-9a-fA-F]+$/;
const NOT_FINITE = /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/;
const LONGEST = 40;

const WORDS: ReadonlyMap<string, ScalarValue> = new Map<string, ScalarValue>([
  ["", null],
  ["~", null],
  ["null", null],
  ["Null", null],
  ["NULL", null],
  ["true", true],
  ["True", true],
  ["TRUE", true],
  ["false", false],
  ["False", false],
  ["FALSE", false],
]);

/** The value of an unquoted text; undefined for a number that JSON cannot hold. */
export function plainScalar(text: string): ScalarValue | undefined {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  // Numbers start with a digit, a sign or a point.
  if (first > 57 || first < 43) return text;
  if (INTEGER.test(text)) return text.length > LONGEST ? undefined : integer(text);
  if (BASED.test(text)) return text.length > LONGEST ? undefined : integer(text);
  if (FLOAT.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }
  return NOT_FINITE.test(text) ? undefined : text;
}

/** Exact, whatever its size: beyond 2^53 a bigint. */
function integer(text: string): number | bigint {
  const value = text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text.replace(/^\+/, ""));
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}
