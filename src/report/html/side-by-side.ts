// The two sides of a changed text, from the lines of a unified diff.

import { type Html, html, NOTHING } from "./page.ts";

/** A removed line is next to the line that replaces it. `mark`: a line about the diff, such as the header of a hunk. */
type Row =
  | { readonly mark: string }
  | { readonly same: string }
  | { readonly del: string | undefined; readonly add: string | undefined };

export function sideBySide(lines: readonly string[]): Html {
  if (lines.length === 0) return NOTHING;
  return html`<table class="sides"><thead><tr><th scope="col">before</th><th scope="col">after</th></tr></thead><tbody>${rowsOf(lines).map(row)}</tbody></table>`;
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

function row(one: Row): Html {
  if ("mark" in one) return html`<tr><td class="mark" colspan="2">${one.mark}</td></tr>`;
  if ("same" in one) return html`<tr><td>${one.same}</td><td class="again">${one.same}</td></tr>`;
  return html`<tr>${side("del", one.del)}${side("add", one.add)}</tr>`;
}

function side(name: "del" | "add", line: string | undefined): Html {
  return line === undefined ? html`<td class="none"></td>` : html`<td class="${name}">${line}</td>`;
}
