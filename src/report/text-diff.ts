// The difference of two texts line by line, with a little of what stands around it.

import { structuredPatch } from "diff/lib/patch/create.js";
import { printable } from "./printable.ts";

export interface DiffLine {
  readonly label: string;
  readonly sign?: "+" | "-";
  readonly text: string;
}

const CONTEXT = 2;
/** Longer differences are cut, and say so. */
const MOST = 200;

export function textDiff(before: string, after: string): readonly DiffLine[] {
  const { hunks } = structuredPatch("", "", before, after, "", "", { context: CONTEXT });
  const lines = hunks.flatMap((hunk) => [
    { label: "", text: `line ${hunk.newStart}:` },
    ...hunk.lines.map(lineOf),
  ]);
  if (lines.length <= MOST) return lines;
  return [...lines.slice(0, MOST), { label: "", text: `… (${lines.length - MOST} more lines)` }];
}

function lineOf(line: string): DiffLine {
  const text = printable(line.slice(1).replaceAll("\t", "  "));
  if (line.startsWith("+")) return { label: "", sign: "+", text };
  if (line.startsWith("-")) return { label: "", sign: "-", text };
  return { label: "", text: line.startsWith("\\") ? `(${text.trim()})` : `  ${text}` };
}
