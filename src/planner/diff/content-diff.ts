// Shows the changed lines of a content.

import { structuredPatch } from "diff/lib/patch/create.js";
import type { FieldDiff } from "../../resource/planning.ts";
import type { Change, ContentDiff, Create, Update } from "../model/change.ts";
import type { PlanFacts } from "../model/input.ts";

/** Larger differences are shown by digest only. The limit counts edits, not time, so that plans stay pure. */
const MOST_EDITS = 1000;
const CONTEXT = 3;

export function changesContent(change: Change): change is Update {
  return change.action === "update" && change.diffs.some(isOfContent);
}

/** Whether the change sets a content: of a new object, or another one. */
export function setsContent(change: Change): change is Create | Update {
  return changesContent(change) || (change.action === "create" && change.after.content !== undefined);
}

const isOfContent = ({ path: [field] }: FieldDiff): boolean => field === "content" || field === "imported";

/** Drift of a content, if the spec still contains the recorded text. */
export function driftedContent(
  change: Change | undefined,
  contents: PlanFacts["contents"],
): ContentDiff | undefined {
  if (change === undefined || !changesContent(change)) return undefined;
  const texts = contents?.get(change.address);
  const isDrift = change.diffs.filter(isOfContent).every(({ cause }) => cause === "drift");
  return texts !== undefined && isDrift ? contentDiff(texts.after, texts.before) : undefined;
}

/** The change with its line diff, if both versions are known. */
export function withContent(change: Change, contents: PlanFacts["contents"]): Change {
  if (!setsContent(change)) return change;
  const texts = contents?.get(change.address);
  const content = texts === undefined ? undefined : contentDiff(texts.before, texts.after);
  return content === undefined ? change : { ...change, content };
}

/** A range without lines begins at the line before it. */
const rangeOf = (start: number, lines: number): string => `${lines === 0 ? start - 1 : start},${lines}`;

export function contentDiff(before: string, after: string): ContentDiff | undefined {
  const patch = structuredPatch("", "", before, after, undefined, undefined, {
    context: CONTEXT,
    maxEditLength: MOST_EDITS,
  });
  if (patch === undefined) return undefined;
  const lines = patch.hunks.flatMap((hunk) => [
    `@@ -${rangeOf(hunk.oldStart, hunk.oldLines)} +${rangeOf(hunk.newStart, hunk.newLines)} @@`,
    ...hunk.lines,
  ]);
  const starting = (sign: string): number =>
    patch.hunks.flatMap((hunk) => hunk.lines).filter((line) => line.startsWith(sign)).length;
  return lines.length === 0 ? undefined : { lines, added: starting("+"), removed: starting("-") };
}
