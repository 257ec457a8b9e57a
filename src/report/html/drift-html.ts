// Drift as an HTML page, and its cards, which the page of a plan has, too.

import { nameOf } from "../../core/address.ts";
import { count, firstFew } from "../../core/sentences.ts";
import type { Severity } from "../../resource/field-schema.ts";
import { printable } from "../text/printable.ts";
import type { RunInfo } from "../text/run-info.ts";
import { briefDifference, type DriftGroup, foldDrift, kindCounts } from "../view/change-groups.ts";
import { type DriftItem, type DriftView, marksIn, notedOnce } from "../view/drift-view.ts";
import { nextOfDrift } from "../view/next-step.ts";
import type { PlanView } from "../view/plan-view.ts";
import { declared, OPEN, place, placeName, severity } from "./cards.ts";
import { fieldTable, sideBySide } from "./differences.ts";
import {
  type Facets,
  filterBar,
  findingSection,
  folded,
  glance,
  type Html,
  hiddenNote,
  html,
  itemList,
  keyHelp,
  NOTHING,
  page,
  placeLink,
  remark,
  runLine,
} from "./page.ts";
import { MOST_NAMED, named, nextRow } from "./plan-glance.ts";

export function driftHtml(view: DriftView, info?: RunInfo): string {
  const { title, drift, shown, hidden, host, diagnostics } = view;
  const linked = new Set(shown);
  const row = (tone: string, label: string, own: readonly DriftItem[], filter: string) =>
    own.length === 0 ? [] : [{ tone, label, text: named(own, linked), filter }];
  const bySeverity = (level: Severity) => drift.filter((item) => item.severity === level);
  const rows = [
    ...row(
      "delete",
      "Deleted",
      drift.filter(({ what }) => what === "deleted"),
      "action=deleted",
    ),
    ...row("update", "Access", bySeverity("security"), "severity=security"),
    ...row("update", "Cost", bySeverity("cost"), "severity=cost"),
    ...nextRow(nextOfDrift(view, info)),
  ];
  return page(
    title,
    [runLine(host, info?.modes ?? [], info)],
    [
      glance(rows),
      findingSection(diagnostics, info),
      hiddenNote(hidden),
      shown.length === 0
        ? NOTHING
        : html`${filterBar(shown.map(driftFacets))}${driftList("Since the last apply", shown, info, true)}${keyHelp}`,
    ],
  );
}

/** `areAnchors`: the page has no changes with these addresses. */
function driftList(
  title: string,
  drift: readonly DriftItem[],
  info: RunInfo | undefined,
  areAnchors = false,
): Html {
  const { items, note } = notedOnce(drift);
  const cards = foldDrift(items).map((group) => driftHtmlOf(group, info, drift.length <= OPEN, areAnchors));
  return html`${itemList(title, cards)}${note === "" ? NOTHING : html`<p class="where">${note}</p>\n`}`;
}

function driftHtmlOf(group: DriftGroup, info: RunInfo | undefined, open: boolean, isAnchor: boolean): Html {
  const [item, ...others] = group;
  const isSingle = others.length === 0;
  const members = group.map(
    ({ address, author, at }) =>
      html`<li${isAnchor ? html` id="${address}"` : NOTHING}><code>${address}</code> ${remark(author)} ${at === undefined ? NOTHING : placeLink(at, placeName(at), info)}</li>`,
  );
  return folded({
    tone: item.what,
    open: open && isSingle,
    facets: { ...driftFacets(item), number: group.length },
    id: isAnchor && isSingle ? item.address : undefined,
    head: [
      html`<span class="verb">${item.what}</span><span class="address">${isSingle ? item.address : kindCounts(group)}</span>`,
      remark(briefDifference(item.fields)),
      isSingle
        ? NOTHING
        : remark(firstFew(group, MOST_NAMED, ({ source }) => printable(nameOf(source.address)))),
      severity(item.severity),
      remark(item.remark || acknowledgedText(item)),
      isSingle ? place(item.at) : NOTHING,
    ],
    body: [
      isSingle && item.author !== "" ? html`<p class="hint">${item.author}</p>` : NOTHING,
      ...(isSingle ? declared(item.at, info) : []).map((link) => html`<ul>${link}</ul>`),
      fieldTable(item.fields),
      sideBySide(item.content),
      isSingle ? NOTHING : html`<ul class="members">${members}</ul>`,
    ],
  });
}

/** `acknowledged`, or `1 of 2 acknowledged`, on a closed card; who did it and why is next to each field. */
function acknowledgedText({ source }: DriftItem): string {
  const marks = marksIn(source);
  const number = marks.filter(({ acknowledged }) => acknowledged !== undefined).length;
  if (number === 0) return "";
  return number === marks.length ? "acknowledged" : `${number} of ${marks.length} acknowledged`;
}

export function driftSection({ shown }: PlanView, info: RunInfo | undefined): Html {
  const title = `Drift since the last apply: ${count(shown.drift.length, "resource")}`;
  return driftList(title, shown.drift, info);
}

export function driftFacets({ kind, what, severity }: DriftItem): Facets {
  return { kind, action: what, severity };
}
