// Problems and side effects as kinds report them.

import type { Code } from "../../core/codes.ts";
import type { Path } from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import type { Problem } from "../../resource/planning.ts";

export const problem = (code: Code, path: Path, message: string, hint?: string): Problem => ({
  path,
  code,
  message,
  ...(hint === undefined ? {} : { hint }),
});

/** A side effect on the objects with these names; none without names. */
export const effectOn = (what: string, names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`${what}: ${listed(names)}`];
