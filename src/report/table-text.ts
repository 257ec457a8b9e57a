// Rows of words as a table: columns as wide as their widest cell, a dim head, nothing at the end of a line.

import type { Colors } from "./color.ts";

/** Cells must be printable already. A column without a title and without content takes no room. */
export function tableText(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  colors: Colors,
): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => [...(row[column] ?? "")].length)));
  return all
    .map((row, at) => {
      const line = row
        .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length)))
        .join("  ")
        .trimEnd();
      return `${at === 0 ? colors.dim(line) : line}\n`;
    })
    .join("");
}
