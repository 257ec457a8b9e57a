// Drift as text: what the workspace did behind our back, with the recorded value on the left and the live one on the right.

import type { Drift } from "../planner/plan.ts";
import type { FieldDiff } from "../resource/provider.ts";
import type { Registry } from "../resource/registry.ts";
import type { Colors } from "./color.ts";
import { fieldBlock } from "./field-block.ts";
import { diffLines } from "./field-lines.ts";
import { printable } from "./printable.ts";
import { count } from "./words.ts";

const SIGNS = { changed: "~", gone: "-", appeared: "+" } as const;
const WORDS = { changed: "changed", gone: "is gone", appeared: "appeared" } as const;

export function driftText(drift: readonly Drift[], registry: Registry, colors: Colors): string {
  if (drift.length === 0) return `${colors.bold("No drift: the workspace is as it was left.")}\n`;
  return `${driftLines(drift, registry, colors).join("\n")}\n\n${colors.bold(driftLine(drift))}\n`;
}

export function driftLines(drift: readonly Drift[], registry: Registry, colors: Colors): readonly string[] {
  return drift.flatMap((one) => [
    `  ${colors.yellow(SIGNS[one.what])} ${colors.bold(printable(one.address))} ${WORDS[one.what]}`,
    ...fieldBlock(
      one.diffs.flatMap((diff) => diffLines(registry.of(one.address).fields, asItHappened(diff), diff.cause)),
      colors,
    ),
  ]);
}

/** A difference leads from live to recorded; what happened went the other way. */
export function asItHappened(diff: FieldDiff): FieldDiff {
  return { ...diff, before: diff.after, after: diff.before, replaces: false };
}

/** `Drift: 1 changed, 1 gone, 0 appeared.` */
export function driftLine(drift: readonly Drift[]): string {
  const number = (what: Drift["what"]) => drift.filter((one) => one.what === what).length;
  return `Drift in ${count(drift.length, "resource")}: ${number("changed")} changed, ${number("gone")} gone, ${number("appeared")} appeared.`;
}
