// Finds characters of a string in the text of its file.

import type { Span } from "./source.ts";

/** The place of some characters of a string, which a file may write with quotes, escapes, and line breaks; the whole of it if they cannot be found. */
export function placeInText(node: Span, value: string, start: number, end = start + 1): Span {
  // Most strings are written without escapes and line breaks.
  const first =
    quoteOf(node) === "" || node.source.text.startsWith(value, node.start) ? node.start : node.start + 1;
  if (node.source.text.startsWith(value, first))
    return { source: node.source, start: first + start, end: first + end };
  const offsets = alignedWith(value, node.source.text, textStart(node), quoteOf(node), end);
  const from = offsets[start] ?? offsets.at(-1);
  if (from === undefined || offsets.length < Math.min(start, value.length)) return node;
  const to = (offsets[end - 1] ?? from) + 1;
  return { source: node.source, start: from, end: Math.max(to, from + 1) };
}

type Quote = '"' | "'" | "";

function quoteOf({ source, start }: Span): Quote {
  const first = source.text[start];
  return first === '"' || first === "'" ? first : "";
}

function textStart(node: Span): number {
  const { text } = node.source;
  if (quoteOf(node) !== "") return node.start + 1;
  const header = /[|>][^\n]*\n/y;
  header.lastIndex = node.start;
  return header.test(text) ? header.lastIndex : node.start;
}

/** The offset in the file of each of the first characters. White space of any length matches white space. */
function alignedWith(value: string, text: string, from: number, quote: Quote, count: number): number[] {
  const offsets: number[] = [];
  let at = from;
  for (const char of [...value.slice(0, count)].flatMap((text) => text.split(""))) {
    if (isBlank(char)) {
      offsets.push(at);
      if (isBlank(text[at])) at += 1;
      else if (quote === '"' && text[at] === "\\") at += 2;
      continue;
    }
    while (isBlank(text[at])) at += 1;
    if (text[at] !== char && quote === '"' && text[at] === "\\") at += 1;
    if (quote === "'" && char === "'" && text[at + 1] === "'") at += 1;
    if (quote === '"' && char === "\\" && text[at + 1] === "\\") at += 1;
    if (text[at] !== char) break;
    offsets.push(at);
    at += 1;
  }
  if (offsets.length === value.length) offsets.push(at);
  return offsets;
}

function isBlank(char: string | undefined): boolean {
  return char === " " || char === "\n" || char === "\t" || char === "\r";
}
