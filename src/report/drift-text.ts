// Drift as text: what the workspace did behind our back, with the recorded value on the left and the live one on the right.

import { count } from "../core/words.ts";
import type { Drift } from "../planner/plan.ts";
import { isContentField } from "../resource/content-kinds.ts";
import type { FieldDiff } from "../resource/provider.ts";
import type { Registry } from "../resource/registry.ts";
import type { Colors } from "./color.ts";
import { contentBlock, contentLine, contentLines } from "./content-lines.ts";
import { fieldBlock } from "./field-block.ts";
import { diffLines, type FieldLine } from "./field-lines.ts";
import { printable } from "./printable.ts";

const DRIFT_SIGNS = { changed: "~", gone: "-", appeared: "+" } as const;
export const DRIFT_WORDS = { changed: "changed", gone: "is gone", appeared: "appeared" } as const;

export function driftText(drift: readonly Drift[], registry: Registry, colors: Colors): string {
  if (drift.length === 0) return `${colors.bold("No drift: the workspace is as it was left.")}\n`;
  return `${driftLines(drift, registry, colors).join("\n")}\n\n${colors.bold(driftLine(drift))}\n`;
}

export function driftLines(drift: readonly Drift[], registry: Registry, colors: Colors): readonly string[] {
  return drift.flatMap((one) => [
    `  ${colors.yellow(DRIFT_SIGNS[one.what])} ${colors.bold(printable(one.address))} ${DRIFT_WORDS[one.what]}`,
    ...fieldBlock(driftFields(one, registry), colors),
    ...contentBlock(contentLines(one.content), colors),
  ]);
}

/** What was recorded, and what is there now. */
export function driftFields(one: Drift, registry: Registry): readonly FieldLine[] {
  return one.diffs.flatMap((diff) => linesOf(one, diff, registry));
}

/** Digests of contents tell people nothing. */
function linesOf({ address, content }: Drift, diff: FieldDiff, registry: Registry): readonly FieldLine[] {
  const provider = registry.of(address);
  if (!isContentField(provider, String(diff.path[0])))
    return diffLines(provider.fields, asItHappened(diff), diff.cause);
  return [content === undefined ? { label: "content", text: "changed" } : contentLine(content)];
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
