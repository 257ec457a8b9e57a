// Regular expressions from a spec. They run in linear time, so that none can hang a run.

import type { RE2JS } from "re2js";
import { thrownText } from "../../core/diagnostic.ts";
import { shortened } from "../../core/sentences.ts";
import { re2js } from "../../expressions/lazy-packages.ts";
import type { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import type { Span } from "../model/source.ts";

const LONGEST_MATCHED = 10_000;

export function linearPatternProblem(pattern: string): string | undefined {
  try {
    compile(pattern);
    return undefined;
  } catch (problem) {
    return shortened(thrownText(problem), 200);
  }
}

export type LinearPattern = (text: string, at: Span) => boolean;

/** The patterns of a spec. Together they take a limited number of steps: the limit is reported once, and then all match. */
export class LinearPatterns {
  readonly #findings: Findings;
  #left: number = LIMITS.patternSteps;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** A test as JSON Schema has it: anywhere in the text. Throws an Error for an invalid pattern. */
  test(pattern: string): LinearPattern {
    const compiled = compile(pattern);
    const size = compiled.programSize();
    return (text, at) =>
      text.length <= LONGEST_MATCHED && this.#matches(compiled, size * text.length, text, at);
  }

  #matches(compiled: RE2JS, steps: number, text: string, at: Span): boolean {
    if (this.#left < 0) return true;
    this.#left -= steps;
    if (this.#left >= 0) return compiled.matcher(text).find();
    this.#findings.error("SPEC_TOO_LARGE", "patterns are matched against too much text", at);
    return true;
  }
}

function compile(pattern: string): RE2JS {
  if (pattern.length > LIMITS.pattern) throw new Error(`a pattern has at most ${LIMITS.pattern} characters`);
  return re2js().RE2JS.compile(pattern);
}
