// The difference of an edited file of a spec, as lines of a unified diff.

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
  const name = printable(file);
  const [old, now] = [utf8Text(before), utf8Text(after)];
  if (old === undefined || now === undefined || (patch.length === 0 && before.length > MOST_SHOWN))
    return `${name}: ${count(before.length, "byte")} → ${count(after.length, "byte")}\n`;
  const { hunks } = structuredPatch(file, file, old, now, "", "", { context: 0 });
  const lines = [colors.bold(`--- ${name}`), colors.bold(`+++ ${name} (${what})`)];
  for (const { oldStart, oldLines, newStart, newLines, lines: changed } of hunks) {
    lines.push(colors.cyan(`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`));
    for (const line of changed) lines.push(diffPaint(line, colors)(printable(line)));
  }
  return `${lines.join("\n")}\n`;
}

const MOST_SHOWN = 1 << 20;
