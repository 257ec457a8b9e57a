// A plan, drift, and the outcome of an apply as HTML pages.

import { duration } from "../../core/duration.ts";
import { count, grouped } from "../../core/sentences.ts";
import type { Severity } from "../../resource/field-schema.ts";
import type { RunInfo } from "../text/run-info.ts";
import { DONE, summaryActions } from "../text/vocabulary.ts";
import type { ChangeView, SpecPlace } from "../view/change-view.ts";
import type { DriftItem, DriftView } from "../view/drift-view.ts";
import type { OutcomeItem, OutcomeView } from "../view/outcome-view.ts";
import { kindTable, ORIGIN_HEADS, ORIGINS, type PlanView, resolvedSentence } from "../view/plan-view.ts";
import { changeGraph, type LinkedChange, neededBy } from "./change-graph.ts";
import {
  type Facets,
  fieldTable,
  filterBar,
  findings,
  folded,
  type Html,
  html,
  itemList,
  keyHelp,
  NOTHING,
  page,
  remark,
  runLine,
  sideBySide,
  tile,
} from "./page.ts";

export function planHtml(plan: PlanView, info?: RunInfo): string {
  const all = plan.changes
    .map((view, at): LinkedChange => ({ view, id: `change-${at}` }))
    .filter(({ view }) => view.action !== "noop");
  const own = all.filter(({ view }) => view.origin !== "pending");
  const guards = plan.guards.map((guard) => guard.diagnostic);
  return page(plan.title, heading(plan, info), [
    findings("Guards", guards),
    findings("Findings", [...plan.diagnostics, ...plan.notes]),
    effects(all.map(({ view }) => view)),
    table(plan),
    changeGraph(all.filter(({ view }) => view.touches)),
    filterBar([...all.map(({ view }) => facetsOf(view)), ...plan.drift.map(driftFacets)]),
    changes(
      plan.split === undefined ? "Destroys" : "Destroys, caused by this change",
      own.filter(({ view }) => view.destroys),
    ),
    changes(
      plan.split === undefined ? "Changes" : ORIGIN_HEADS.caused,
      own.filter(({ view }) => view.touches && !view.destroys),
    ),
    changes(
      ORIGIN_HEADS.pending,
      all.filter(({ view }) => view.origin === "pending"),
    ),
    resolved(plan),
    driftSection(plan),
    changes(
      "Unmanaged members",
      all.filter(({ view }) => view.action === "report"),
    ),
    unmanaged(plan),
    all.length + plan.drift.length === 0 ? NOTHING : keyHelp,
  ]);
}

function facetsOf({ kind, action, severity, origin }: ChangeView): Facets {
  return { kind, action, severity, origin: origin === undefined ? undefined : ORIGINS[origin] };
}

function driftFacets({ kind, what, severity }: DriftItem): Facets {
  return { kind, action: what, severity };
}

function heading(plan: PlanView, info: RunInfo | undefined): readonly Html[] {
  const { refusal, host } = plan;
  const refused =
    refusal === undefined ? NOTHING : html`<div class="note error"><p><strong>${refusal}</strong></p></div>`;
  const compared = plan.split === undefined ? NOTHING : html`<p class="where">${plan.split.title}</p>`;
  return [runLine(host, plan.modes, info), compared, refused, tiles(plan)];
}

function resolved({ split }: PlanView): Html {
  if (split === undefined || split.resolved.length === 0) return NOTHING;
  const items = split.resolved.map((resolvedItem) => html`<li>${resolvedSentence(resolvedItem)}</li>`);
  return html`<section><h2>${ORIGIN_HEADS.resolved}: ${count(items.length, "resource")}</h2><ul>${items}</ul></section>
`;
}

function tiles({ summary }: PlanView): Html {
  const shown =
    summary.compare === 0 ? summaryActions(summary) : [...summaryActions(summary), "compare" as const];
  const tiles = shown.map((action) => tile(action, summary[action], `to ${action}`));
  return html`<ul class="tiles">${tiles}<li><b>${grouped(summary.noop)}</b><span>unchanged</span></li></ul>`;
}

function effects(views: readonly ChangeView[]): Html {
  const all = views.flatMap((view) =>
    view.consequences.map(
      (sentence) => html`<li><span class="address">${view.address}</span>: ${sentence}</li>`,
    ),
  );
  return all.length === 0
    ? NOTHING
    : html`<section><h2>Side effects</h2><ul class="effects">${all}</ul></section>
`;
}

function table(plan: PlanView): Html {
  const [head, ...rows] = kindTable(plan.changes, { changes: 2, kinds: 2 });
  if (head === undefined) return NOTHING;
  const cells = (row: readonly string[]) =>
    row.map((cell) => (cell === "·" ? html`<td class="zero">·</td>` : html`<td>${cell}</td>`));
  return html`<section><h2>By kind</h2><table class="kinds"><tr>${head.map((cell, at) => html`<th scope="col">${at === 0 ? "kind" : cell}</th>`)}</tr>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</table></section>
`;
}

function changes(title: string, all: readonly LinkedChange[]): Html {
  return itemList(`${title}: ${count(all.length, "resource")}`, all.map(change));
}

function change({ view, id }: LinkedChange): Html {
  const { action, verb, address, remarks, fields, content, reasons, consequences } = view;
  const sentences = [
    ...consequences.map((consequence) => html`<li>${consequence}</li>`),
    ...reasons.map((reason) => html`<li class="reasons">because ${reason}</li>`),
    ...neededBy(view).map((text) => html`<li class="reasons">depends on <code>${text}</code></li>`),
  ];
  return folded({
    tone: action,
    open: view.destroys,
    facets: facetsOf(view),
    id,
    head: [
      html`<span class="verb">${verb}</span><span class="address">${address}</span>`,
      remark(remarks.join("; ")),
      consequences.length === 0
        ? NOTHING
        : html`<span class="flag">${count(consequences.length, "side effect")}</span>`,
      severity(view.severity),
      view.origin === undefined ? NOTHING : remark(ORIGINS[view.origin]),
      place(view.at),
    ],
    body: [
      sentences.length === 0 ? NOTHING : html`<ul>${sentences}</ul>`,
      fieldTable(fields),
      sideBySide(content),
    ],
  });
}

function severity(level: Severity | undefined): Html {
  return level === undefined ? NOTHING : html`<span class="remark severity">${level}</span>`;
}

function place(at: SpecPlace | undefined): Html {
  return at === undefined ? NOTHING : html`<code class="remark">${`${at.file}:${at.line}`}</code>`;
}

function driftSection({ drift }: PlanView): Html {
  // The diff of a string is shown at the change that reverts it.
  const brief = drift.map((driftItem) => ({ ...driftItem, content: [] }));
  return itemList(`Drift since the last apply: ${count(brief.length, "resource")}`, driftList(brief));
}

/** Nested objects of a managed object have their own section. */
function unmanaged(plan: PlanView): Html {
  const all = plan.unmanaged.filter((unmanagedItem) => unmanagedItem.source !== undefined);
  if (all.length === 0) return NOTHING;
  return folded({
    tone: "report",
    open: false,
    head: [html`<span class="remark">Unmanaged: ${count(all.length, "object")}</span>`],
    body: [
      html`<ul>${all.map((unmanagedItem) => html`<li><code>${unmanagedItem.address}</code></li>`)}</ul>`,
    ],
  });
}

export function driftHtml({ title, drift, host, diagnostics }: DriftView, info?: RunInfo): string {
  return page(
    title,
    [runLine(host, info?.modes ?? [], info)],
    [
      findings("Findings", diagnostics),
      drift.length === 0
        ? NOTHING
        : html`${filterBar(drift.map(driftFacets))}${itemList("Since the last apply", driftList(drift))}${keyHelp}`,
    ],
  );
}

function driftList(drift: readonly DriftItem[]): readonly Html[] {
  return drift.map((driftItem) =>
    folded({
      tone: driftItem.what,
      open: drift.length <= OPEN,
      facets: driftFacets(driftItem),
      head: [
        html`<span class="address">${driftItem.address}</span><span class="verb">${driftItem.verb}</span>${severity(driftItem.severity)}${remark(driftItem.remark)}${place(driftItem.at)}`,
      ],
      body: [
        driftItem.origin === "" ? NOTHING : html`<p class="hint">${driftItem.origin}</p>`,
        fieldTable(driftItem.fields),
        sideBySide(driftItem.content),
      ],
    }),
  );
}

/** So many are seen at a glance; more are read one by one. */
const OPEN = 5;

export function outcomeHtml(outcome: OutcomeView, info: RunInfo): string {
  const { title, changes, diagnostics, notes, plan } = outcome;
  const planned = new Map<string, ChangeView>(
    (plan?.changes ?? []).map((changeView) => [keyOf(changeView), changeView]),
  );
  const item = (outcomeItem: OutcomeItem): Html => itemHtml(outcomeItem, planned.get(keyOf(outcomeItem)));
  const applied = changes.filter((outcomeItem) => outcomeItem.result === "applied");
  const others = changes.filter((outcomeItem) => outcomeItem.result !== "applied");
  return page(
    title,
    [runLine(info.host, info.modes, info), outcomeTiles(outcome)],
    [
      findings("Findings", [...notes, ...diagnostics]),
      filterBar(changes.map(outcomeFacets)),
      itemList(`Not applied: ${count(others.length, "change")}`, others.map(item)),
      itemList(`Applied: ${count(applied.length, "change")}`, applied.map(item)),
      changes.length === 0 ? NOTHING : keyHelp,
    ],
  );
}

const keyOf = ({ address, action }: Pick<OutcomeItem, "address" | "action">): string =>
  `${action} ${address}`;

function outcomeFacets({ kind, action, result }: OutcomeItem): Facets {
  return { kind, action, result };
}

function outcomeTiles({ applied, unapplied }: OutcomeView): Html {
  const done = summaryActions(applied).map((action) => tile(action, applied[action], DONE[action]));
  const rest = Object.entries(unapplied)
    .filter(([, number]) => number > 0)
    .map(([result, number]) => tile("delete", number, result));
  return html`<ul class="tiles">${[...done, ...rest]}</ul>`;
}

/** An applied change has the color of its action. */
const TONES: Readonly<Record<string, string>> = {
  failed: "delete",
  unknown: "delete",
  blocked: "update",
  skipped: "update",
};

function itemHtml(outcomeItem: OutcomeItem, planned: ChangeView | undefined): Html {
  const { action, result, word, address, finding, waitsFor, stopped, tried, elapsedMs } = outcomeItem;
  const why = waitsFor !== undefined ? `waits for ${waitsFor}` : stopped ? "the run was stopped" : "";
  const did = result === "applied" ? [word] : [result, action];
  return folded({
    tone: TONES[result] ?? action,
    open: result !== "applied",
    facets: outcomeFacets(outcomeItem),
    head: [
      html`<span class="verb">${did.join(" ")}</span><span class="address">${address}</span>`,
      remark(why),
      remark(result === "applied" || tried ? duration(elapsedMs) : ""),
    ],
    body: [
      finding === undefined ? NOTHING : findings("", [finding]),
      ...(planned === undefined ? [] : [fieldTable(planned.fields), sideBySide(planned.content)]),
    ],
  });
}
