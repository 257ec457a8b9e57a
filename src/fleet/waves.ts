// The waves of a run: parses `--waves`, and splits the workspaces of a fleet into them. `run-fleet.ts` starts and stops them.

import { type Failure, failureOf } from "../core/diagnostic.ts";
import type { FleetWorkspace } from "./model/fleet.ts";
import { parseSelector, splitOutsideParentheses } from "./selection.ts";

/** One wave: a number of workspaces, a percentage of all, those with a label, or all that are left. */
export interface Wave {
  readonly name: string;
  readonly size:
    | { readonly count: number }
    | { readonly percent: number }
    | { readonly select: string }
    | "rest";
}

const WAVE = /^(?:([a-z][a-z0-9-]*)\s*:\s*)?(?:(\d+)(%?)|rest)$/i;
const LABEL_WAVE = /^(?:([a-z][a-z0-9-]*)\s*:\s*)?(.*(?:=|\s(?:not)?in\s).*)$/i;

/** Parses `canary: 1, env=dev, then 10%, then rest`. The last wave always takes the rest. Throws Failure CLI_USAGE. */
export function parseWaves(text: string): readonly Wave[] {
  const parts = splitOutsideParentheses(text).flatMap((part) =>
    part
      .trim()
      .replace(/^then\s+/, "")
      .split(/\s+then\s+/),
  );
  const waves = parts.map((part, at) => parseWave(part, at, text));
  const rest = waves.findIndex(({ size }) => size === "rest");
  if (rest >= 0 && rest < waves.length - 1) throw invalid(text, "`rest` must be the last wave");
  return rest < 0 ? [...waves, { name: "rest", size: "rest" }] : waves;
}

function parseWave(part: string, at: number, text: string): Wave {
  const [, labelName, select] = LABEL_WAVE.exec(part) ?? [];
  if (select !== undefined) {
    parseSelector(select);
    return { name: labelName ?? select, size: { select } };
  }
  const match = WAVE.exec(part);
  if (match === null)
    throw invalid(text, "a wave is a number, a percentage, a label such as `env=dev`, or `rest`");
  const [, name, digits, percent] = match;
  if (digits === undefined) return { name: name ?? "rest", size: "rest" };
  const number = Number(digits);
  if (number < 1 || (percent === "%" && number > 100))
    throw invalid(text, "a wave has at least 1 workspace and at most 100%");
  return { name: name ?? `wave ${at + 1}`, size: percent === "%" ? { percent: number } : { count: number } };
}

/** Splits a list into waves; a percentage is of the whole list, rounded up. Empty waves are left out. */
export function splitIntoWaves<T extends Pick<FleetWorkspace, "labels">>(
  items: readonly T[],
  waves: readonly Wave[],
): readonly { readonly name: string; readonly items: readonly T[] }[] {
  let left = items;
  return waves.flatMap(({ name, size }) => {
    const wave = left.filter(memberOf(size, items.length));
    const members = new Set(wave);
    left = left.filter((item) => !members.has(item));
    return wave.length === 0 ? [] : [{ name, items: wave }];
  });
}

function memberOf(
  size: Wave["size"],
  all: number,
): (item: Pick<FleetWorkspace, "labels">, at: number) => boolean {
  if (size === "rest") return () => true;
  if ("count" in size) return (_item, at) => at < size.count;
  if ("percent" in size) return (_item, at) => at < Math.ceil((all * size.percent) / 100);
  const requirements = parseSelector(size.select);
  return ({ labels }) => requirements.every((requirement) => requirement(labels));
}

function invalid(text: string, hint: string): Failure {
  return failureOf("CLI_USAGE", `"${text}" is not a valid list of waves`, {
    hint: `${hint}; for example: \`canary: 1, then env=test, then 10%, then rest\``,
  });
}
