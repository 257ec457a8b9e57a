// Problems and side effects as kinds report them.

import type { Code } from "../../core/codes.ts";
import type { Path } from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import type { PlannedChange, Problem } from "../../resource/planning.ts";

export const problem = (code: Code, path: Path, message: string, hint?: string): Problem => ({
  path,
  code,
  message,
  hint,
});

/** The side effect of a replacement on what holds the ID of the old object. An access list of the spec is written to the new one. */
export const losesId = ({ action, after }: PlannedChange, what: string): readonly string[] => {
  const lost = after?.access === undefined ? "the access list and references" : "references";
  return action === "replace"
    ? [`the new ${what} has a new ID; ${lost} to the old ID outside the spec are lost`]
    : [];
};

/** A side effect on the objects with these names; none without names. */
export const effectOn = (what: string, names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`${what}: ${listed(names)}`];
