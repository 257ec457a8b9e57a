// `--only` and `--exclude`: the addresses that a run is limited to, and those that it leaves out.

import { type Address, globMatcher, isModuleAddress, nameOf } from "../../core/address.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { nearestHint } from "../../core/suggest.ts";
import type { Restriction } from "../../engine/observe/needed-kinds.ts";

/** Undefined without globs. Throws Failure with CLI_UNKNOWN_ADDRESS for a glob that matches nothing. */
export function addressFilter(
  globs: readonly string[],
  addresses: readonly Address[],
  option: "--only" | "--exclude" = "--only",
  otherwise = "to list addresses, run `workspace state list` or `workspace graph`",
): ((address: Address) => boolean) | undefined {
  if (globs.length === 0) return undefined;
  const matchers = globs.map(globMatcher);
  const missed = globs.filter((_, at) => !addresses.some((address) => matchers[at]?.(address)));
  if (missed.length > 0)
    throw new Failure(...missed.map((glob) => missing(option, glob, addresses, otherwise)));
  return (address) => matchers.some((matches) => matches(address));
}

/** The addresses that globs may select, before the matches are known; undefined without globs. */
export function restrictionOf(only: readonly string[], exclude: readonly string[]): Restriction | undefined {
  if (only.length === 0 && exclude.length === 0) return undefined;
  const [selects, leaves] = [only, exclude].map((globs) => globs.map(globMatcher));
  const kinds = only.map((glob) => /^(\w+)\./.exec(glob)?.[1]);
  const excludedKinds = new Set(exclude.map((glob) => /^(\w+)\.\*+$/.exec(glob)?.[1]));
  return {
    only: (address) =>
      (only.length === 0 || selects?.some((matches) => matches(address)) === true) &&
      leaves?.some((matches) => matches(address)) !== true,
    mayName: (kind) =>
      (only.length === 0 || kinds.some((named) => named === undefined || named === kind)) &&
      !excludedKinds.has(kind),
  };
}

function missing(option: string, glob: string, addresses: readonly Address[], otherwise: string) {
  const hint = isModuleAddress(glob)
    ? `for the resources of a module, write '*.${nameOf(glob as Address)}/*'`
    : nearestHint(glob, addresses, otherwise);
  return error("CLI_UNKNOWN_ADDRESS", `${option} ${glob} matches no resource`, { hint });
}
