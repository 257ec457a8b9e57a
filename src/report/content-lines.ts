// What changes in a text, as plans and drift show it: how much, and the lines of a unified diff.

import { count } from "../core/words.ts";
import type { ContentDiff } from "../planner/change.ts";
import type { Colors, Paint } from "./color.ts";
import type { FieldLine } from "./field-lines.ts";
import { printable } from "./printable.ts";

/** A change of one line in a thousand shows whole; a rewritten file shows how it begins. */
const MOST_LINES = 60;

export function contentLine({ added, removed }: ContentDiff): FieldLine {
  return { label: "content", text: `${count(added, "line")} added, ${removed} removed` };
}

export function contentLines(content: ContentDiff | undefined): readonly string[] {
  const lines = content?.lines ?? [];
  const shown = lines.slice(0, MOST_LINES).map((line) => printable(line.replaceAll("\t", "  ")));
  return lines.length > MOST_LINES ? [...shown, `… ${lines.length - MOST_LINES} more lines`] : shown;
}

export function contentBlock(lines: readonly string[], colors: Colors): readonly string[] {
  return lines.map((line) => `        ${paintOf(line, colors)(line)}`);
}

function paintOf(line: string, colors: Colors): Paint {
  if (line.startsWith("+")) return colors.green;
  return line.startsWith("-") ? colors.red : colors.dim;
}
