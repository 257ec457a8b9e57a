// Formats multi-line scalars: their indentation follows the surrounding lines, and their values do not change.

import type { CST } from "yaml";
import type { Frame } from "./layout.ts";

/** A scalar in quotes, or without any, of which further lines begin in a column. */
export function flowLines({ type, source }: CST.FlowScalar, column: number): string {
  if (!source.includes("\n")) return source;
  const pad = " ".repeat(column);
  return source
    .split("\n")
    .map((line, at) => {
      const started = at === 0 ? line : line.replace(/^[ \t]+/, "");
      const shown = type === "double-quoted-scalar" && endsInEscape(started) ? started : started.trimEnd();
      return at === 0 || shown === "" ? shown : `${pad}${shown}`;
    })
    .join("\n");
}

/** Whether a space at the end of the line is escaped, and therefore kept. */
function endsInEscape(line: string): boolean {
  const end = line.trimEnd().length;
  let start = end;
  while (line[start - 1] === "\\") start -= 1;
  return end < line.length && (end - start) % 2 === 1;
}

/** The lines of a block scalar, and how much of the source they are: empty lines at its end may not belong to the value. */
export interface BlockBody {
  readonly text: string;
  readonly length: number;
}

/** Undefined for a block scalar without lines. `column`: where its lines begin, unless its header says so. */
export function blockBody(
  source: string,
  header: string,
  frame: Frame,
  column: number,
): BlockBody | undefined {
  const lines = source.replace(/\n$/, "").split("\n");
  const indicator = /[1-9]/.exec(header)?.[0];
  const first = lines.find((line) => /[^ ]/.test(line));
  const written = indicator === undefined ? spacesOf(first ?? "") : frame.written + Number(indicator);
  const put = indicator === undefined ? column : frame.column + Number(indicator);
  const isEmpty = (line: string): boolean =>
    !/[^ ]/.test(line) && (line.length <= written || first === undefined);
  let count = lines.length;
  if (!header.includes("+")) while (count > 0 && isEmpty(lines[count - 1] ?? "")) count -= 1;
  if (source === "" || count === 0) return undefined;
  const kept = lines.slice(0, count);
  const text = kept
    .map((line) => (isEmpty(line) ? "" : `${" ".repeat(put)}${line.slice(written)}`))
    .join("\n");
  return { text, length: kept.join("\n").length };
}

function spacesOf(line: string): number {
  return line.length - line.trimStart().length;
}
