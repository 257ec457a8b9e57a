// What people can do after a plan that they could not before, and what they lose, above the changes of its page.

import { count } from "../../core/sentences.ts";
import type { AccessView } from "../view/access-view.ts";
import { closed, type Html, html, NOTHING } from "./page.ts";

/** More lines would move the filter bar off the first screen; of more, the first are open. */
const MOST_LINES = 5;
const FIRST_LINES = 3;

export function accessSection(access: AccessView | undefined): Html {
  if (access === undefined) return NOTHING;
  const lines = access.lines.map(({ sign, head, items }) => {
    const word = sign === "+" ? "gains" : "loses";
    const rights =
      items.length === 1
        ? html`: ${items[0] ?? ""}`
        : html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
    return html`<li><strong>${sign} ${word}</strong> ${head}${rights}</li>`;
  });
  const notes = access.notCompared.map((what) => html`<li>not compared: ${what}</li>`);
  const open = lines.length > MOST_LINES ? lines.slice(0, FIRST_LINES) : lines;
  const rest = lines.slice(open.length);
  const more = "more line about access";
  const others =
    rest.length === 0
      ? NOTHING
      : closed(count(rest.length, more, "more lines about access"), [html`<ul>${rest}</ul>`]);
  return html`<section id="access"><h2>${access.title}</h2><ul>${open}${notes}</ul>${others}</section>
`;
}
