// Regular expressions that a spec brings. They run in linear time, so that none can hang a run.

import { LIMITS } from "../model/limits.ts";
import { re2js } from "../yaml/rare.ts";

/** The longest text that a pattern is tried on. */
export const LONGEST_MATCHED = 10_000;

export type LinearPattern = (text: string) => boolean;

/** A test as JSON Schema has it: anywhere in the text. Throws an Error for a pattern that is invalid or too long. */
export function linearPattern(pattern: string): LinearPattern {
  if (pattern.length > LIMITS.pattern) throw new Error(`a pattern has at most ${LIMITS.pattern} characters`);
  const { RE2JS } = re2js();
  const compiled = RE2JS.compile(pattern);
  return (text) => text.length <= LONGEST_MATCHED && compiled.matcher(text).find();
}
