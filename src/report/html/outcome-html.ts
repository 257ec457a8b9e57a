// The outcome of an apply as an HTML page: what failed and why, what was destroyed, whose access changed, and every change below.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { duration } from "../../core/duration.ts";
import { count, sentenceCase } from "../../core/sentences.ts";
import type { RunInfo } from "../text/run-info.ts";
import { DONE, summaryActions } from "../text/vocabulary.ts";
import { briefDifference, isAccessChange } from "../view/change-groups.ts";
import type { ChangeView } from "../view/change-view.ts";
import { nextOfOutcome } from "../view/next-step.ts";
import { type OutcomeItem, type OutcomeView, reasonOf, sharedCauses } from "../view/outcome-view.ts";
import { declared, OPEN, place, severity } from "./cards.ts";
import { fieldTable, sideBySide } from "./differences.ts";
import {
  type Facets,
  filterBar,
  findingSection,
  findings,
  folded,
  type GlanceRow,
  glance,
  type Html,
  html,
  itemChunks,
  keyHelp,
  NOTHING,
  remark,
  reportPage,
  tile,
} from "./page.ts";
import { named, nextRow } from "./plan-glance.ts";

export function outcomeHtml(outcome: OutcomeView, info: RunInfo): Generator<string> {
  return reportPage(outcome.heading, info, outcomeBody(outcome, info), [outcomeTiles(outcome)]);
}

function* outcomeBody(outcome: OutcomeView, info: RunInfo): Generator<Html> {
  const { changes, diagnostics, notes, plan } = outcome;
  const planned = new Map<string, ChangeView>(
    (plan?.touching ?? []).map((change) => [keyOf(change), change]),
  );
  const results = changes.map((item): Result => ({ ...item, planned: planned.get(keyOf(item)) }));
  const applied = results.filter((item) => item.result === "applied");
  const others = results.filter((item) => item.result !== "applied");
  const causes = sharedCauses(others) as ReadonlyMap<Diagnostic, readonly Result[]>;
  const isExplained = new Set([...causes.values()].flat());
  const isClosed = (item: Result) =>
    item.result === "applied" || isExplained.has(item) || (!item.tried && others.length > OPEN);
  function* list(title: string, items: readonly Result[]): Generator<Html> {
    const parts = function* () {
      for (const item of items) yield itemHtml(item, info, !isClosed(item));
    };
    yield* itemChunks(`${title}: ${count(items.length, "change")}`, parts());
  }
  const alone = others.filter((item) => !isExplained.has(item));
  yield glance([
    ...causeRows(causes),
    ...resultRows(alone),
    ...appliedRows(applied),
    ...nextRow(nextOfOutcome(outcome, info)),
  ]);
  yield findingSection([...notes, ...diagnostics], info);
  yield filterBar(results.map(outcomeFacets));
  yield* list("Not applied", [...alone, ...isExplained]);
  yield* list("Destroyed", applied.filter(isDestroyed));
  yield* list(
    "Applied",
    applied.filter((item) => !isDestroyed(item)),
  );
  yield changes.length === 0 ? NOTHING : keyHelp;
}

/** A result with the change of the plan, which has its differences and its place in the spec. */
interface Result extends OutcomeItem {
  readonly planned: ChangeView | undefined;
}

const isDestroyed = ({ planned }: Result): boolean => planned?.destroys === true;

/** More causes would move the filter bar off the first screen. */
const MOST_CAUSES = 5;

/** The most frequent causes, a line each. */
function causeRows(causes: ReadonlyMap<Diagnostic, readonly Result[]>): readonly GlanceRow[] {
  const all = [...causes].sort(([, a], [, b]) => b.length - a.length);
  const rest = all.slice(MOST_CAUSES).flatMap(([, own]) => own);
  const rows = all.slice(0, MOST_CAUSES).flatMap(([{ code, cause, hint }, own]) => {
    const [first] = own;
    if (first === undefined) return [];
    const reason = html`<p class="hint"><strong>${code}</strong> ${reasonOf(first)}${cause === undefined ? "" : `: ${cause}`}${hint === undefined ? "" : `; hint: ${hint}`}</p>`;
    return [resultRow(first.result, own, reason)];
  });
  return [...rows, ...resultRows(rest)];
}

function resultRows(items: readonly Result[]): readonly GlanceRow[] {
  return [...Map.groupBy(items, ({ result }) => result)].map(([result, own]) => resultRow(result, own));
}

function resultRow(result: string, own: readonly Result[], reason = NOTHING): GlanceRow {
  return {
    tone: TONES[result] ?? "update",
    label: sentenceCase(result),
    text: html`${named(own, new Set(own))}`,
    filter: `result=${result}`,
    below: reason,
  };
}

/** What the plan names in its first lines, too. */
function appliedRows(applied: readonly Result[]): readonly GlanceRow[] {
  const row = (tone: string, label: string, own: readonly Result[], filter: string) => {
    const actions = [...new Set(own.map(({ action }) => action))].join(",");
    return own.length === 0
      ? []
      : [
          {
            tone,
            label,
            text: named(own, new Set(own)),
            filter: `${filter}action=${actions}&result=applied`,
          },
        ];
  };
  return [
    ...row("delete", "Destroyed", applied.filter(isDestroyed), ""),
    ...row("update", "Access", applied.filter(isAccess), "severity=security&"),
  ];
}

function isAccess({ planned }: Result): boolean {
  return planned !== undefined && !planned.destroys && isAccessChange(planned);
}

const keyOf = ({ address, action }: Pick<OutcomeItem, "address" | "action">): string =>
  `${action} ${address}`;

function outcomeFacets({ kind, action, result, planned }: Result): Facets {
  return { kind, action, result, severity: planned?.severity };
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

function itemHtml(item: Result, info: RunInfo, open: boolean): Html {
  const { action, result, word, address, finding, blockedBy, stopped, tried, elapsedMs, planned } = item;
  const why = blockedBy !== undefined ? `waits for ${blockedBy}` : stopped ? "the run was stopped" : "";
  const did = result === "applied" ? [word] : [result, action];
  return folded({
    tone: TONES[result] ?? action,
    open,
    facets: outcomeFacets(item),
    id: address,
    head: [
      html`<span class="verb">${did.join(" ")}</span><span class="address">${address}</span>`,
      remark(briefDifference(planned?.fields ?? [])),
      remark(why),
      severity(planned?.severity),
      remark(result === "applied" || tried ? duration(elapsedMs) : ""),
      place(planned?.at),
    ],
    body: [
      finding === undefined ? NOTHING : findings([finding], info),
      ...declared(planned?.at, info).map((link) => html`<ul>${link}</ul>`),
      ...(planned === undefined ? [] : [fieldTable(planned.fields), sideBySide(planned.content)]),
    ],
  });
}
