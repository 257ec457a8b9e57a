// The first lines of the page of a plan: why it is blocked, what it destroys, whose access and which costs change, and side effects; and the rights that a plan changes, below them.

import { count, grouped, listed } from "../../core/sentences.ts";
import type { Severity } from "../../resource/field-schema.ts";
import { type AccessLine, type AccessView, shownAccess } from "../view/access-view.ts";
import { destroysIn, foldEffects, isAccessChange, isCostChange, kindCounts } from "../view/change-groups.ts";
import type { ChangeView } from "../view/change-view.ts";
import type { PlanView } from "../view/plan-view.ts";
import { anchorOf, closed, type GlanceRow, type Html, html, NOTHING } from "./page.ts";

/** A line names so many objects; the filter shows all. */
export const MOST_NAMED = 3;

/** More side effects would take three lines; a section below has all. */
export const MOST_SENTENCES = 2;

export function glanceRows(plan: PlanView): readonly GlanceRow[] {
  const { touching } = plan;
  const shown = new Set(plan.shown.changes);
  const destroyed = destroysIn(touching);
  const actionsOf = (changes: readonly ChangeView[]) =>
    [...new Set(changes.map(({ action }) => action))].join(",");
  const bySeverity = (severity: Severity) =>
    touching.filter((view) => !view.destroys && view.severity === severity);
  const access = bySeverity("security").filter(isAccessChange);
  const row = (
    tone: string,
    label: string,
    changes: readonly ChangeView[],
    filter: string,
  ): readonly GlanceRow[] =>
    changes.length === 0 ? [] : [{ tone, label, text: named(changes, shown), filter }];
  const refusal: readonly GlanceRow[] =
    plan.refusalCodes.length === 0
      ? []
      : [
          {
            tone: "delete",
            label: "Blocked",
            text: html`<strong>by ${listed(plan.refusalCodes)}.</strong>`,
          },
        ];
  return [
    ...refusal,
    ...row("delete", "Destroys", destroyed, `action=${actionsOf(destroyed)}`),
    ...row("update", "Access", access, `severity=security&action=${actionsOf(access)}`),
    ...costRow(plan, touching.filter(isCostChange), shown),
    ...compareRow(plan),
    ...effectRow(touching),
  ];
}

function compareRow({ summary: { compare } }: PlanView): readonly GlanceRow[] {
  if (compare === 0) return [];
  return [
    {
      tone: "update",
      label: "Secrets",
      text: html`Not compared: ${grouped(compare)}`,
      filter: "action=compare",
    },
  ];
}

/** Commands are in backticks. */
export function nextRow(next: string | undefined): readonly GlanceRow[] {
  if (next === undefined) return [];
  const parts = next
    .split("`")
    .map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return [{ tone: "", label: "Next", text: html`${parts}` }];
}

function costRow(
  { costTotal }: PlanView,
  changes: readonly ChangeView[],
  shown: ReadonlySet<ChangeView>,
): readonly GlanceRow[] {
  const tone = { tone: "update", label: "Cost" };
  if (changes.length === 0) return costTotal === undefined ? [] : [{ ...tone, text: html`${costTotal}` }];
  const total = costTotal === undefined ? "" : `${costTotal} `;
  return [{ ...tone, text: html`${total}${named(changes, shown)}`, filter: "severity=cost" }];
}

/** `2 clusters, 1 job: clusters.etl, jobs.nightly, and 1 more`. */
export function named<Item extends { readonly kind: string; readonly address: string }>(
  changes: readonly Item[],
  shown: ReadonlySet<Item>,
): Html {
  const links = changes.slice(0, MOST_NAMED).map((view, at) => {
    const name = shown.has(view)
      ? html`<a href="#${anchorOf(view.address)}">${view.address}</a>`
      : html`${view.address}`;
    return html`${at === 0 ? "" : ", "}${name}`;
  });
  const rest = changes.length - links.length;
  return html`${kindCounts(changes)}: ${links}${rest === 0 ? "" : `, and ${grouped(rest)} more`}`;
}

function effectRow(changes: readonly ChangeView[]): readonly GlanceRow[] {
  const all = foldEffects(changes);
  if (all.length === 0) return [];
  const sentences = all.slice(0, MOST_SENTENCES).map(({ subject, sentence }) => `${subject}: ${sentence}`);
  const rest = all.length - sentences.length;
  const more = rest === 0 ? NOTHING : html` <a href="#effects">and ${count(rest, "more side effect")}</a>`;
  return [{ tone: "update", label: "Side effects", text: html`${sentences.join("; ")}${more}` }];
}

/** So many lines are open below several findings. */
const MOST_CROWDED = 2;

/** The JSON of a plan has the others. */
const MOST_RIGHTS = 500;

/** `isCrowded`: the findings above fill the first screen, on which the summary counts the changes. */
export function accessSection(access: AccessView | undefined, isCrowded: boolean): Html {
  if (access === undefined) return NOTHING;
  const { shown, isShortened } = shownAccess(access);
  const notes =
    access.notCompared.length === 0 ? NOTHING : html`<li>not compared: ${access.notCompared.join("; ")}</li>`;
  const all = isShortened ? allRights(access) : NOTHING;
  const lines = html`<ul>${shown.map(accessLine)}${notes}</ul>${all}`;
  if (isCrowded && shown.length > MOST_CROWDED) return closed(access.title, [lines], "access");
  return html`<section id="access"><h2>${access.title}</h2>${lines}</section>
`;
}

function allRights({ allLines }: AccessView): Html {
  const number = allLines.reduce((sum, { items }) => sum + items.length, 0);
  const omitted = allLines.length - MOST_RIGHTS;
  const rest =
    omitted > 0
      ? html`<p class="remark">… and ${grouped(omitted)} more lines; the JSON of this plan has all.</p>`
      : NOTHING;
  return closed(`All: ${count(number, "right")}`, [
    html`<ul>${allLines.slice(0, MOST_RIGHTS).map(accessLine)}</ul>`,
    rest,
  ]);
}

function accessLine({ sign, verb, head, items }: AccessLine): Html {
  const rights =
    items.length === 1
      ? html`: ${items[0] ?? ""}`
      : html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
  return html`<li><strong>${sign} ${verb}</strong> ${head}${rights}</li>`;
}
