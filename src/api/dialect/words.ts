// Translates values between a dialect and the contract at the paths that a table names.

import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { ValueRule } from "./table.ts";

export function inContractWords(rules: readonly ValueRule[], answer: JsonObject): JsonObject {
  return applied(rules, answer, (words, text) => words[text]);
}

/** A request with the dialect's words. Members that are not JSON are not changed. */
export function inDialectWords<T extends object>(rules: readonly ValueRule[], request: T): T {
  return applied(
    rules,
    request,
    (words, text) => Object.entries(words).find(([, contract]) => contract === text)?.[0],
  );
}

type Word = (words: ValueRule["words"], text: string) => string | undefined;

function applied<T extends object>(rules: readonly ValueRule[], value: T, word: Word): T {
  let result = value;
  for (const { path, words } of rules) result = at(result as Json, path, (text) => word(words, text)) as T;
  return result;
}

function at(
  value: Json,
  [key, ...rest]: readonly string[],
  word: (text: string) => string | undefined,
): Json {
  if (key === undefined) return typeof value === "string" ? (word(value) ?? value) : value;
  if (key === "*") return Array.isArray(value) ? value.map((one: Json) => at(one, rest, word)) : value;
  const member = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return member === undefined ? value : { ...(value as JsonObject), [key]: at(member, rest, word) };
}

/** The value without members that are null, at any depth. Elements of lists stay. */
export function withoutNulls<T extends Json>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNulls) as unknown as T;
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)])) as unknown as T;
}
