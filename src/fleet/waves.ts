// The waves of an apply over a fleet: a few workspaces first, the others only if these succeed.

import { type Failure, failureOf } from "../core/diagnostic.ts";

/** One wave: a number of workspaces, a percentage of all, or all that are left. */
export interface Wave {
  readonly name: string;
  readonly size: { readonly count: number } | { readonly percent: number } | "rest";
}

const WAVE = /^(?:([a-z][a-z0-9-]*)\s*:\s*)?(?:(\d+)(%?)|rest)$/i;

/** Parses `canary: 1, then 10%, then rest`. The last wave always takes the rest. Throws Failure CLI_USAGE. */
export function parseWaves(text: string): readonly Wave[] {
  const parts = text.split(/\s*,\s*(?:then\s+)?|\s+then\s+/).map((part) => part.trim());
  const waves = parts.map((part, at) => parseWave(part, at, text));
  const rest = waves.findIndex(({ size }) => size === "rest");
  if (rest >= 0 && rest < waves.length - 1) throw invalid(text, "`rest` must be the last wave");
  return rest < 0 ? [...waves, { name: "rest", size: "rest" }] : waves;
}

function parseWave(part: string, at: number, text: string): Wave {
  const found = WAVE.exec(part);
  if (found === null) throw invalid(text, "a wave is a number, a percentage, or `rest`");
  const [, name, digits, percent] = found;
  if (digits === undefined) return { name: name ?? "rest", size: "rest" };
  const number = Number(digits);
  if (number < 1 || (percent === "%" && number > 100))
    throw invalid(text, "a wave has at least 1 workspace and at most 100%");
  return { name: name ?? `wave ${at + 1}`, size: percent === "%" ? { percent: number } : { count: number } };
}

/** Splits a list into waves; a percentage is of the whole list, rounded up. Empty waves are left out. */
export function splitIntoWaves<T>(
  items: readonly T[],
  waves: readonly Wave[],
): readonly { readonly name: string; readonly items: readonly T[] }[] {
  let start = 0;
  return waves.flatMap(({ name, size }) => {
    const end = size === "rest" ? items.length : Math.min(items.length, start + sizeOf(size, items.length));
    const wave = { name, items: items.slice(start, end) };
    start = end;
    return wave.items.length === 0 ? [] : [wave];
  });
}

function sizeOf(size: { readonly count: number } | { readonly percent: number }, all: number): number {
  return "count" in size ? size.count : Math.ceil((all * size.percent) / 100);
}

function invalid(text: string, hint: string): Failure {
  return failureOf("CLI_USAGE", `"${text}" is not a valid list of waves`, {
    hint: `${hint}; for example: \`canary: 1, then 10%, then rest\``,
  });
}
