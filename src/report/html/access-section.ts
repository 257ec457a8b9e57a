// What people can do after a plan that they could not before, and what they lose, above the changes of its page.

import { count, grouped } from "../../core/sentences.ts";
import { type AccessLine, type AccessView, openAccess } from "../view/access-view.ts";
import { closed, type Html, html, NOTHING } from "./page.ts";

/** The JSON of a plan has the others. */
const MOST_LINES = 500;

export function accessSection(access: AccessView | undefined): Html {
  if (access === undefined) return NOTHING;
  const { open, isShortened } = openAccess(access);
  const notes = access.notCompared.map((what) => html`<li>not compared: ${what}</li>`);
  const all = isShortened ? allRights(access) : NOTHING;
  return html`<section id="access"><h2>${access.title}</h2><ul>${open.map(accessLine)}${notes}</ul>${all}</section>
`;
}

function allRights({ allLines }: AccessView): Html {
  const number = allLines.reduce((sum, { items }) => sum + items.length, 0);
  const omitted = allLines.length - MOST_LINES;
  const rest =
    omitted > 0
      ? html`<p class="remark">… and ${grouped(omitted)} more lines; the JSON of this plan has all.</p>`
      : NOTHING;
  return closed(`All: ${count(number, "right")}`, [
    html`<ul>${allLines.slice(0, MOST_LINES).map(accessLine)}</ul>`,
    rest,
  ]);
}

function accessLine({ sign, head, items }: AccessLine): Html {
  const word = sign === "+" ? "gains" : "loses";
  const rights =
    items.length === 1
      ? html`: ${items[0] ?? ""}`
      : html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
  return html`<li><strong>${sign} ${word}</strong> ${head}${rights}</li>`;
}
