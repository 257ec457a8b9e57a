// A plan as an HTML page.

import { count, grouped } from "../../core/sentences.ts";
import { foldDiagnostics } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import type { RunInfo } from "../text/run-info.ts";
import { summaryActions } from "../text/vocabulary.ts";
import {
  briefDifference,
  type ChangeGroup,
  destroysIn,
  foldChanges,
  foldEffects,
  groupNames,
  groupTitle,
} from "../view/change-groups.ts";
import { type ChangeView, contentLine } from "../view/change-view.ts";
import { nextOfPlan } from "../view/next-step.ts";
import {
  kindTable,
  movedLines,
  ORIGIN_HEADS,
  ORIGINS,
  type PlanView,
  resolvedSentence,
} from "../view/plan-view.ts";
import { declared, OPEN, place, placeName, severity } from "./cards.ts";
import { changeGraph, neededBy } from "./change-graph.ts";
import { fieldTable, sideBySide } from "./differences.ts";
import { driftFacets, driftSection } from "./drift-html.ts";
import {
  anchorOf,
  closed,
  type Facets,
  filterBar,
  findingSection,
  folded,
  glance,
  type Html,
  hiddenNote,
  html,
  itemChunks,
  keyHelp,
  NOTHING,
  pageInPieces,
  placeLink,
  preLines,
  remark,
  runLine,
  tile,
} from "./page.ts";
import { accessSection, glanceRows, MOST_NAMED, MOST_SENTENCES, nextRow } from "./plan-glance.ts";

export function planHtml(plan: PlanView, info?: RunInfo): string {
  return [...planHtmlPieces(plan, info)].join("");
}

export function planHtmlPieces(plan: PlanView, info?: RunInfo): Generator<string> {
  const title = plan.refusal === undefined ? plan.title : `Blocked: ${plan.title.replace(/^Plan: /, "")}`;
  return pageInPieces(title, heading(plan, info), planBody(plan, info));
}

function* planBody(plan: PlanView, info: RunInfo | undefined): Generator<Html> {
  const all = plan.shown.changes;
  const ids = anchorsOf(all);
  const own = all.filter((view) => view.origin !== "pending");
  const list = (title: string, changes: readonly ChangeView[]) =>
    itemChunks(`${title}: ${count(changes.length, "resource")}`, groupItems(changes, plan, ids, info));
  const isSplit = plan.split !== undefined;
  const facets = [...all.map((view) => facetsOf(view)), ...plan.shown.drift.map(driftFacets)];
  yield glance([...glanceRows(plan), ...nextRow(nextOfPlan(plan, info))]);
  const findings = [...plan.guards.map(({ diagnostic }) => diagnostic), ...plan.diagnostics, ...plan.notes];
  yield findingSection(findings, info);
  yield hiddenNote(plan.shown.hidden);
  yield accessSection(plan.access, foldDiagnostics(findings).length > MOST_FINDINGS);
  yield renamesSection(plan);
  yield filterBar(facets);
  yield* list(isSplit ? "Destroys, caused by this change" : "Destroys", destroysIn(own));
  yield* list(
    isSplit ? ORIGIN_HEADS.caused : "Changes",
    own.filter((view) => view.touches && !view.destroys),
  );
  yield* list(
    ORIGIN_HEADS.pending,
    all.filter((view) => view.origin === "pending"),
  );
  yield resolved(plan);
  yield driftSection(plan, info);
  yield* list(
    "Unmanaged members",
    all.filter((view) => view.action === "report"),
  );
  yield facets.length === 0 ? NOTHING : keyHelp;
  yield effects(all);
  yield table(plan);
  yield changeGraph(all.flatMap((view) => (view.touches ? [{ view, id: ids.get(view) ?? "" }] : [])));
  yield unmanaged(plan);
}

function* groupItems(
  changes: readonly ChangeView[],
  plan: PlanView,
  ids: ReadonlyMap<ChangeView, string>,
  info: RunInfo | undefined,
): Generator<Html> {
  for (const group of foldChanges(changes, plan))
    for (const part of splitLarge(group)) yield groupHtml(part, ids, info, changes.length <= OPEN);
}

/** Below more findings, rights would move the filter bar off the first screen. */
const MOST_FINDINGS = 2;

/** More lines would move the filter bar off the first screen. */
const MOST_RENAMES = 4;

function renamesSection(plan: PlanView): Html {
  const lines = movedLines(plan).map(printable);
  if (lines.length === 0) return NOTHING;
  const title = "To keep renamed resources, add this to the spec";
  const text = html`<pre tabindex="0">${preLines(lines)}</pre>`;
  if (lines.length > MOST_RENAMES) return closed(title, [text], "renames");
  return html`<section id="renames"><h2>${title}</h2>${text}</section>
`;
}

/** The address of a change, and a number where several changes have one: an address stays the same in every plan. */
function anchorsOf(changes: readonly ChangeView[]): ReadonlyMap<ChangeView, string> {
  const times = new Map<string, number>();
  return new Map(
    changes.map((view) => {
      const number = (times.get(view.address) ?? 0) + 1;
      times.set(view.address, number);
      return [view, number === 1 ? view.address : `${view.address}~${number}`];
    }),
  );
}

function facetsOf({ kind, action, severity, origin }: ChangeView, number = 1): Facets {
  return { kind, action, severity, origin: origin === undefined ? undefined : ORIGINS[origin], number };
}

function heading(plan: PlanView, info: RunInfo | undefined): readonly Html[] {
  const compared = plan.split === undefined ? NOTHING : html`<p class="where">${plan.split.title}</p>`;
  return [runLine(plan.host, plan.modes, info), compared, tiles(plan)];
}

function resolved({ split }: PlanView): Html {
  if (split === undefined || split.resolved.length === 0) return NOTHING;
  const items = split.resolved.map((item) => html`<li>${resolvedSentence(item)}</li>`);
  return html`<section><h2>${ORIGIN_HEADS.resolved}: ${count(items.length, "resource")}</h2><ul>${items}</ul></section>
`;
}

function tiles({ summary }: PlanView): Html {
  const shown =
    summary.compare === 0 ? summaryActions(summary) : [...summaryActions(summary), "compare" as const];
  const tiles = shown.map((action) => tile(action, summary[action], `to ${action}`));
  return html`<ul class="tiles">${tiles}<li><b>${grouped(summary.noop)}</b><span>unchanged</span></li></ul>`;
}

/** The first lines say what is on the first screen already. */
const MOST_EFFECTS = 500;

function effects(views: readonly ChangeView[]): Html {
  const all = foldEffects(views);
  if (all.length <= MOST_SENTENCES) return NOTHING;
  const lines = all
    .slice(0, MOST_EFFECTS)
    .map(({ subject, sentence }) => html`<li><span class="address">${subject}</span>: ${sentence}</li>`);
  const rest = all.length - lines.length;
  const more =
    rest === 0
      ? NOTHING
      : html`<p class="remark">… and ${grouped(rest)} more; each change lists its own side effects.</p>`;
  return closed(
    `Side effects: ${grouped(all.length)}`,
    [html`<ul class="effects">${lines}</ul>`, more],
    "effects",
  );
}

function table(plan: PlanView): Html {
  const [head, ...rows] = kindTable(plan.touching, { changes: 2, kinds: 2 });
  if (head === undefined) return NOTHING;
  const cells = (row: readonly string[]) =>
    row.map((cell) => (cell === "·" ? html`<td class="zero">·</td>` : html`<td>${cell}</td>`));
  return closed("By kind", [
    html`<table class="kinds"><tr>${head.map((cell, at) => html`<th scope="col">${at === 0 ? "kind" : cell}</th>`)}</tr>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</table>`,
  ]);
}

/** A browser shows all members of a group that is open. */
const MOST_MEMBERS = 2000;

function splitLarge(group: ChangeGroup): readonly ChangeGroup[] {
  return Array.from(
    { length: Math.ceil(group.length / MOST_MEMBERS) },
    (_, at) => group.slice(at * MOST_MEMBERS, (at + 1) * MOST_MEMBERS) as unknown as ChangeGroup,
  );
}

/** `isShort`: the list has so few changes that those which destroy something are open. */
function groupHtml(
  group: ChangeGroup,
  ids: ReadonlyMap<ChangeView, string>,
  info: RunInfo | undefined,
  isShort: boolean,
): Html {
  const [view, ...others] = group;
  const { action, verb, fields, content, otherReasons, consequences } = view;
  const isSingle = others.length === 0;
  const sentences = [
    ...consequences.map((consequence) => html`<li>${consequence}</li>`),
    ...(view.cost === "" || others.some(({ cost }) => cost !== view.cost)
      ? []
      : [html`<li>cost: ${isSingle ? "" : "each "}${view.cost}</li>`]),
    ...otherReasons.map((reason) => html`<li class="reasons">because ${reason}</li>`),
    ...(isSingle && view.objectRemarks.length > 0
      ? [html`<li class="reasons">${view.objectRemarks.join("; ")}</li>`]
      : []),
    ...(isSingle ? neededBy(view) : []).map(
      (address) =>
        html`<li class="reasons">depends on <code><a href="#${anchorOf(address)}">${address}</a></code></li>`,
    ),
    ...(isSingle ? declared(view.at, info) : []),
  ];
  const remarks = isSingle
    ? view.remarks.filter((text) => !view.objectRemarks.includes(text))
    : view.sharedRemarks;
  return folded({
    tone: action,
    open: isSingle && isShort && view.destroys,
    facets: facetsOf(view, group.length),
    id: isSingle ? ids.get(view) : undefined,
    head: [
      html`<span class="verb">${verb}</span><span class="address">${groupTitle(group)}</span>`,
      remark(briefDifference(fields) || changedLines(view)),
      isSingle ? NOTHING : remark(groupNames(group, MOST_NAMED)),
      remark(remarks.join("; ")),
      consequences.length === 0
        ? NOTHING
        : html`<span class="flag">${count(consequences.length, "side effect")}</span>`,
      severity(view.severity),
      view.origin === undefined ? NOTHING : remark(ORIGINS[view.origin]),
      isSingle ? place(view.at) : NOTHING,
    ],
    body: [
      sentences.length === 0 ? NOTHING : html`<ul>${sentences}</ul>`,
      fieldTable(fields),
      sideBySide(content),
      isSingle ? NOTHING : members(group, ids, info),
    ],
  });
}

/** The changes of a group, each with its anchor and its place in the spec. */
function members(group: ChangeGroup, ids: ReadonlyMap<ChangeView, string>, info: RunInfo | undefined): Html {
  const items = group.map((view) => {
    const own = view.remarks.filter((text) => !view.sharedRemarks.includes(text));
    return html`<li id="${ids.get(view) ?? ""}"><code>${view.address}</code> ${remark(own.join("; "))}${view.at === undefined ? NOTHING : placeLink(view.at, placeName(view.at), info)}</li>`;
  });
  return html`<ul class="members">${items}</ul>`;
}

/** Nested objects of a managed object have their own section. */
function unmanaged(plan: PlanView): Html {
  const all = plan.shown.unmanaged.filter((item) => item.source !== undefined);
  if (all.length === 0) return NOTHING;
  const groups = Map.groupBy(all, ({ group }) => group);
  const items = [...groups].map(
    ([group, own]) => html`<li>${group}: ${own.map(({ name }) => html`<code>${name}</code> `)}</li>`,
  );
  return closed(`Unmanaged: ${count(all.length, "object")}`, [html`<ul>${items}</ul>`]);
}

/** `content: 1 line added, 1 removed`. */
function changedLines({ source }: ChangeView): string {
  if (source.action !== "update" || source.content === undefined) return "";
  const { label, text } = contentLine(source.content);
  return `${label}: ${text}`;
}
