// An answer as an HTML page: facts on the first screen, then rights with a filter, or sections to read from top to bottom.

import { sentenceCase } from "../../core/sentences.ts";
import type { RunInfo } from "../text/run-info.ts";
import {
  type AnswerItem,
  type AnswerSection,
  type AnswerView,
  headingOf,
  type RightItem,
} from "../view/answer-view.ts";
import { fieldTable } from "./differences.ts";
import {
  type Facets,
  filterBar,
  findings,
  folded,
  glance,
  type Html,
  html,
  itemChunks,
  keyHelp,
  NOTHING,
  remark,
  reportPage,
} from "./page.ts";

export function answerHtmlPieces(answer: AnswerView, info: RunInfo): Generator<string> {
  return reportPage(answer.title, info, answerBody(answer));
}

function* answerBody({ facts, sections }: AnswerView): Generator<Html> {
  const rights = sections.flatMap(({ items }) => items.filter((item) => "name" in item));
  yield glance(
    facts.map(({ label, values, isWarning }) => ({
      tone: isWarning ? "update" : "",
      label: sentenceCase(label),
      text: html`${values.join(", ")}`,
    })),
  );
  yield filterBar(rights.map(facetsOf), {}, { legend: "Level", kinds: "kinds", what: "rights" });
  for (const section of sections) yield* sectionHtml(section);
  yield rights.length === 0 ? NOTHING : keyHelp;
}

function* sectionHtml(section: AnswerSection): Generator<Html> {
  const { items } = section;
  const rights = items.filter((item) => "name" in item);
  if (rights.length > 0) yield* itemChunks(headingOf(section), rights.map(rightHtml));
  else
    yield html`<section><h2>${headingOf(section)}</h2>${items.map(itemHtml)}</section>
`;
}

function facetsOf({ kind, level }: RightItem): Facets {
  return { kind, action: level };
}

function rightHtml(right: RightItem): Html {
  const { name, word, remark: path } = right;
  const level = word === "" ? NOTHING : html`<span class="verb">${word}</span>`;
  return folded({
    tone: "",
    open: false,
    facets: facetsOf(right),
    head: [level, html`<span class="address">${name}</span>`, remark(path.trim())],
    body: [],
  });
}

function itemHtml(item: AnswerItem): Html {
  if ("finding" in item) return findings([item.finding]);
  if ("name" in item) return rightHtml(item);
  const details = item.details.map((detail) => html`<p class="hint">${detail}</p>`);
  if ("line" in item)
    return html`<div class="note"><p>${item.line}</p>${details}</div>
`;
  const { change } = item;
  const head =
    change === undefined
      ? NOTHING
      : html`<p><span class="verb">${change.action}</span> <span class="address">${change.address}</span></p>`;
  return html`<div class="note ${change?.action ?? ""}">${head}${fieldTable(item.fields)}${details}</div>
`;
}
