// The difference of a file of a spec, as lines of a unified diff.

import { structuredPatch } from "diff/lib/patch/create.js";
import { count } from "../../core/sentences.ts";
import { utf8Text } from "../../core/utf8.ts";
import { printable } from "../../report/text/printable.ts";
import { type Colors, diffPaint } from "../../report/text/terminal.ts";
import type { FileEdit } from "../../spec/edit/spec-edits.ts";

/** `what`: the state of the new text, such as "written". */
export function fileDiff(
  file: string,
  { before, after, patch }: FileEdit,
  what: string,
  colors: Colors,
): string {
  const [old, now] = [utf8Text(before), utf8Text(after)];
  if (old === undefined || now === undefined || (patch.length === 0 && before.length > MOST_SHOWN))
    return `${printable(file)}: ${count(before.length, "byte")} → ${count(after.length, "byte")}\n`;
  return unifiedDiff(file, { before: old, after: now }, what, colors);
}

/** `around`: the number of unchanged lines shown before and after a change. */
export function unifiedDiff(
  file: string,
  { before, after }: { readonly before: string; readonly after: string },
  what: string,
  colors: Colors,
  around = 0,
): string {
  const name = printable(file);
  const { hunks } = structuredPatch(file, file, before, after, "", "", { context: around });
  const lines = [colors.bold(`--- ${name}`), colors.bold(`+++ ${name} (${what})`)];
  for (const { oldStart, oldLines, newStart, newLines, lines: changed } of hunks) {
    lines.push(colors.cyan(`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`));
    for (const line of changed) lines.push(diffPaint(line, colors)(printable(line)));
  }
  return `${lines.join("\n")}\n`;
}

const MOST_SHOWN = 1 << 20;
