// The differences of a change in a page: a table of fields, both sides of a string, and marks on the words that differ.

import { type FieldLine, fieldNote } from "../view/field-lines.ts";
import { wordDifferences } from "../view/word-differences.ts";
import { type Html, html, NOTHING } from "./page.ts";

export function fieldTable(all: readonly FieldLine[]): Html {
  if (all.length === 0) return NOTHING;
  const noted = all.some((line) => fieldNote(line) !== "");
  return html`<table class="fields">${all.map((line) => row(line, noted))}</table>`;
}

function row(line: FieldLine, noted: boolean): Html {
  const why = noted ? html`<td class="why">${fieldNote(line)}</td>` : NOTHING;
  return html`<tr><td class="label">${line.label}</td><td class="value">${value(line)}</td>${why}</tr>`;
}

function value({ sign, was, text }: FieldLine): Html {
  if (sign === "+") return html`<span class="now">+ ${text}</span>`;
  if (sign === "-") return html`<span class="was">− ${text}</span>`;
  if (was === undefined) return html`${text}`;
  const [before, after] = withMarks(was, text);
  return html`<span class="was">${before}</span> <span class="arrow">→</span> <span class="now">${after}</span>`;
}

/** A removed line is next to the line that replaces it. `mark`: a line about the diff, such as the header of a hunk. */
type Row =
  | { readonly mark: string }
  | { readonly same: string }
  | { readonly del: string | undefined; readonly add: string | undefined };

export function sideBySide(lines: readonly string[]): Html {
  if (lines.length === 0) return NOTHING;
  return html`<table class="sides"><thead><tr><th scope="col">before</th><th scope="col">after</th></tr></thead><tbody>${rowsOf(lines).map(sideRow)}</tbody></table>`;
}

function rowsOf(lines: readonly string[]): readonly Row[] {
  const rows: Row[] = [];
  let dels: string[] = [];
  let adds: string[] = [];
  const pair = () => {
    for (let at = 0; at < Math.max(dels.length, adds.length); at++)
      rows.push({ del: dels[at], add: adds[at] });
    [dels, adds] = [[], []];
  };
  for (const line of lines) {
    if (line.startsWith("-") && adds.length > 0) pair();
    if (line.startsWith("-")) dels.push(line);
    else if (line.startsWith("+")) adds.push(line);
    else {
      pair();
      rows.push(line.startsWith(" ") ? { same: line } : { mark: line });
    }
  }
  pair();
  return rows;
}

function sideRow(row: Row): Html {
  if ("mark" in row) return html`<tr><td class="mark" colspan="2">${row.mark}</td></tr>`;
  if ("same" in row) return html`<tr><td>${row.same}</td><td class="again">${row.same}</td></tr>`;
  const { del, add } = row;
  if (del === undefined || add === undefined) return html`<tr>${side("del", del)}${side("add", add)}</tr>`;
  const [before, after] = withMarks(del.slice(1), add.slice(1));
  return html`<tr>${side("del", html`-${before}`)}${side("add", html`+${after}`)}</tr>`;
}

function side(name: "del" | "add", line: Html | string | undefined): Html {
  return line === undefined ? html`<td class="none"></td>` : html`<td class="${name}">${line}</td>`;
}

/** Both sides of a change, with marks on the words that differ if much of a long value stays the same. */
function withMarks(was: string, now: string): readonly [before: Html, after: Html] {
  const parts = wordDifferences(was, now);
  if (parts === undefined) return [html`${was}`, html`${now}`];
  const side = (omitted: "added" | "removed") =>
    parts
      .filter((part) => !part[omitted])
      .map(({ value, added, removed }) => (added || removed ? html`<mark>${value}</mark>` : html`${value}`));
  return [html`${side("added")}`, html`${side("removed")}`];
}
