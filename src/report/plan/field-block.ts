// The lines of fields laid out for a terminal: labels left, values in one column, notes behind.

import type { Colors, Paint } from "../text/color.ts";
import type { FieldLine } from "./field-lines.ts";

/** Labels longer than this push only their own line to the right. */
const LABEL_WIDTH = 44;

/** The lines of fields, their values in one column. */
export function fieldBlock(lines: readonly FieldLine[], colors: Colors): readonly string[] {
  const width = lines.reduce(
    (most, line) => (line.label.length > LABEL_WIDTH ? most : Math.max(most, line.label.length)),
    0,
  );
  return lines.map((line) => {
    const note = line.note === undefined ? "" : `  ${colors.magenta(`# ${line.note}`)}`;
    return `      ${line.label.padEnd(width)}  ${fieldValue(line, colors)}${note}`;
  });
}

function fieldValue(line: FieldLine, colors: Colors): string {
  if (line.sign === "+") return colors.green(`+ ${line.text}`);
  if (line.sign === "-") return colors.red(`- ${line.text}`);
  if (line.was === undefined) return line.text;
  return `${colors.red(line.was)} ${colors.dim("→")} ${colors.green(line.text)}`;
}

export function contentBlock(lines: readonly string[], colors: Colors): readonly string[] {
  return lines.map((line) => `        ${paintOf(line, colors)(line)}`);
}

function paintOf(line: string, colors: Colors): Paint {
  if (line.startsWith("+")) return colors.green;
  return line.startsWith("-") ? colors.red : colors.dim;
}
