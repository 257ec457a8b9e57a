// Problems and side effects as kinds report them.

import type { Address } from "../../core/address.ts";
import type { Code } from "../../core/codes.ts";
import type { Path } from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import type { Objection, PlannedChange, Problem } from "../../resource/planning.ts";

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

/** The plan of an untrusted spec has no sensitive values, so nothing is said about what they decide. */
export const notCompared = (address: Address, what: readonly string[], withWhat: string): Objection => ({
  code: "PLAN_UNCHECKED",
  message: `${address}: ${listed(what)} ${what.length === 1 ? "is" : "are"} not compared ${withWhat}, because sensitive values are involved`,
});

export const removesObject = ({ action }: PlannedChange): boolean =>
  action === "delete" || action === "replace";
