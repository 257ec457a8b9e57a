// A plan as one page for a browser: who objects and what it does to people first, then each change, folded.

import { count, grouped } from "../../core/words.ts";
import type { Plan } from "../../planner/plan.ts";
import type { Registry } from "../../resource/registry.ts";
import { type ChangeView, changeView } from "../change-view.ts";
import { kindTable, refusalLine, summaryLine, summaryOf } from "../summary.ts";
import { driftList } from "./drift-html.ts";
import { type Html, html, NOTHING, page } from "./page.ts";
import { fieldTable, findings, folded, textDifference } from "./parts.ts";

export function planHtml(plan: Plan, registry: Registry): string {
  const views = plan.changes
    .filter((change) => change.action !== "noop")
    .map((change) => changeView(change, registry));
  const guards = plan.guards.map((guard) => guard.diagnostic);
  return page(summaryLine(plan), [
    heading(plan),
    findings("Who objects", guards),
    findings("Findings", plan.diagnostics),
    effects(views),
    table(plan),
    changes(
      "Destroys",
      views.filter((view) => view.destroys),
    ),
    changes(
      "Changes",
      views.filter((view) => !view.destroys && view.action !== "report"),
    ),
    driftSection(plan, registry),
    changes(
      "Found, and left alone",
      views.filter((view) => view.action === "report"),
    ),
    unmanaged(plan),
  ]);
}

function heading(plan: Plan): Html {
  const refusal = refusalLine(plan);
  const refused =
    refusal === undefined ? NOTHING : html`<div class="note error"><p><strong>${refusal}</strong></p></div>`;
  const modes = plan.modes === undefined ? "" : ` · ${plan.modes.join(", ")}`;
  return html`<header><h1>${summaryLine(plan)}</h1><p class="where">Workspace <code>${plan.host}</code>${modes}</p>${refused}${tiles(plan)}</header>
`;
}

function tiles(plan: Plan): Html {
  const summary = summaryOf(plan.changes);
  const always = ["create", "update", "replace", "delete"] as const;
  const rare = (["adopt", "forget"] as const).filter((action) => summary[action] > 0);
  return html`<ul class="tiles">${[...always, ...rare].map(
    (action) =>
      html`<li class="${action}${summary[action] === 0 ? " none" : ""}"><b>${grouped(summary[action])}</b><span>to ${action}</span></li>`,
  )}<li><b>${grouped(summary.noop)}</b><span>unchanged</span></li></ul>`;
}

/** What the plan does to people, in one place, whatever is folded below. */
function effects(views: readonly ChangeView[]): Html {
  const all = views.flatMap((view) =>
    view.consequences.map(
      (sentence) => html`<li><span class="address">${view.address}</span>: ${sentence}</li>`,
    ),
  );
  return all.length === 0
    ? NOTHING
    : html`<section><h2>Consequences</h2><ul class="effects">${all}</ul></section>
`;
}

function table(plan: Plan): Html {
  const [head, ...rows] = kindTable(plan.changes, 2);
  if (head === undefined) return NOTHING;
  const cells = (row: readonly string[]) =>
    row.map((cell) => (cell === "·" ? html`<td class="zero">·</td>` : html`<td>${cell}</td>`));
  return html`<section><h2>By kind</h2><table class="kinds"><tr>${head.map((cell, at) => html`<th>${at === 0 ? "kind" : cell}</th>`)}</tr>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</table></section>
`;
}

function changes(title: string, views: readonly ChangeView[]): Html {
  if (views.length === 0) return NOTHING;
  return html`<section><h2>${title}: ${count(views.length, "resource")}</h2>
${views.map(change)}</section>
`;
}

function change(view: ChangeView): Html {
  const { action, verb, address, remarks, fields, content, reasons, consequences } = view;
  const sentences = [
    ...consequences.map((one) => html`<li>${one}</li>`),
    ...reasons.map((one) => html`<li class="reasons">because ${one}</li>`),
  ];
  return folded({
    tone: action,
    open: view.destroys,
    head: [
      html`<span class="verb">${verb}</span><span class="address">${address}</span>`,
      remarks.length === 0 ? NOTHING : html`<span class="remark">${remarks.join("; ")}</span>`,
      consequences.length === 0
        ? NOTHING
        : html`<span class="flag">${count(consequences.length, "consequence")}</span>`,
    ],
    body: [
      sentences.length === 0 ? NOTHING : html`<ul>${sentences}</ul>`,
      fieldTable(fields),
      textDifference(content),
    ],
  });
}

function driftSection(plan: Plan, registry: Registry): Html {
  if (plan.drift.length === 0) return NOTHING;
  // What changed in a text stands at the change that puts it right.
  const brief = plan.drift.map(({ content: _, ...one }) => one);
  return html`<section><h2>Changed outside since the last apply: ${count(brief.length, "resource")}</h2>
${driftList(brief, registry)}</section>
`;
}

function unmanaged(plan: Plan): Html {
  if (plan.unmanaged.length === 0) return NOTHING;
  return folded({
    tone: "report",
    open: false,
    head: [
      html`<span class="remark">Not in the spec and left alone: ${count(plan.unmanaged.length, "object")}</span>`,
    ],
    body: [
      html`<ul>${plan.unmanaged.map((one) => html`<li><code>${`${one.kind}.${one.name}`}</code></li>`)}</ul>`,
    ],
  });
}
