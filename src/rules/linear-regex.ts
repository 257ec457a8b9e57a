// Regular expressions of rules, in linear time.

import { RE2JS } from "re2js";

const LONGEST_PATTERN = 500;
const LONGEST_TEXT = 100_000;
const MOST_KEPT = 100;

const compiled = new Map<string, RE2JS>();

/** Throws an Error for a pattern that is invalid or too long. */
export function compileRegex(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (pattern.length > LONGEST_PATTERN)
    throw new Error(`a regular expression has at most ${LONGEST_PATTERN} characters`);
  const made = RE2JS.compile(pattern);
  if (compiled.size >= MOST_KEPT) compiled.clear();
  compiled.set(pattern, made);
  return made;
}

/** Whether a pattern matches some part of the text. */
export function matchesLinearly(text: string, pattern: string): boolean {
  if (text.length > LONGEST_TEXT) throw new Error(`matches takes at most ${LONGEST_TEXT} characters`);
  return compileRegex(pattern).matcher(text).find();
}
