// What formatting would change in a file, as a unified diff.

import { structuredPatch } from "diff/lib/patch/create.js";
import { type Colors, diffPaint } from "../text/color.ts";
import { printable } from "../text/printable.ts";

export interface FormatDifference {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

const CONTEXT = 3;

export function formatDiff({ file, before, after }: FormatDifference, colors: Colors): string {
  const { hunks } = structuredPatch(file, file, before, after, "", "", { context: CONTEXT });
  const lines = [colors.bold(`--- ${printable(file)}`), colors.bold(`+++ ${printable(file)} (formatted)`)];
  for (const { oldStart, oldLines, newStart, newLines, lines: changed } of hunks) {
    lines.push(colors.cyan(`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`));
    for (const line of changed) lines.push(diffPaint(line, colors)(printable(line)));
  }
  return `${lines.join("\n")}\n`;
}
