// Shows the changed lines of a notebook or file if both sides are text.

import { structuredPatch } from "diff/lib/patch/create.js";
import type { FieldDiff } from "../../resource/planning.ts";
import type { Change, ContentDiff, Update } from "../model/change.ts";
import type { PlanFacts } from "../model/facts.ts";

/** Larger differences are shown by digest only. The limit counts edits, not time, so that plans stay pure. */
const MOST_EDITS = 1000;
const CONTEXT = 3;

export function changesContent(change: Change): change is Update {
  return change.action === "update" && change.diffs.some(isOfContent);
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
  if (!changesContent(change)) return change;
  const texts = contents?.get(change.address);
  const content = texts === undefined ? undefined : contentDiff(texts.before, texts.after);
  return content === undefined ? change : { ...change, content };
}

export function contentDiff(before: string, after: string): ContentDiff | undefined {
  const patch = structuredPatch("", "", before, after, undefined, undefined, {
    context: CONTEXT,
    maxEditLength: MOST_EDITS,
  });
  if (patch === undefined) return undefined;
  const lines = patch.hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines,
  ]);
  const starting = (sign: string): number =>
    patch.hunks.flatMap((hunk) => hunk.lines).filter((line) => line.startsWith(sign)).length;
  return lines.length === 0 ? undefined : { lines, added: starting("+"), removed: starting("-") };
}
