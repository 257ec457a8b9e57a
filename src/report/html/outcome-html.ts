// The outcome of an apply as an HTML page: failures first, then the applied changes, each with its planned change.

import { duration } from "../../core/duration.ts";
import { count } from "../../core/sentences.ts";
import type { OutcomeItem, OutcomeView } from "../outcome/outcome-view.ts";
import type { ChangeView } from "../plan/change-view.ts";
import type { RunInfo } from "../text/run-info.ts";
import { DONE, summaryActions } from "../text/vocabulary.ts";
import { type Facets, filterBar, type Html, html, keyHelp, NOTHING, page } from "./page.ts";
import { fieldTable, findings, folded, itemList, remark, runLine, sideBySide, tile } from "./parts.ts";

export function outcomeHtml(outcome: OutcomeView, info: RunInfo): string {
  const { title, changes, diagnostics, notes, plan } = outcome;
  const planned = new Map<string, ChangeView>((plan?.changes ?? []).map((one) => [keyOf(one), one]));
  const item = (one: OutcomeItem): Html => itemHtml(one, planned.get(keyOf(one)));
  const applied = changes.filter((one) => one.result === "applied");
  const others = changes.filter((one) => one.result !== "applied");
  return page(
    title,
    [runLine(info.host, info.modes, info), tiles(outcome)],
    [
      findings("Findings", [...notes, ...diagnostics]),
      filterBar(changes.map(facetsOf)),
      itemList(`Not applied: ${count(others.length, "change")}`, others.map(item)),
      itemList(`Applied: ${count(applied.length, "change")}`, applied.map(item)),
      changes.length === 0 ? NOTHING : keyHelp,
    ],
  );
}

const keyOf = ({ address, action }: Pick<OutcomeItem, "address" | "action">): string =>
  `${action} ${address}`;

function facetsOf({ kind, action, result }: OutcomeItem): Facets {
  return { kind, action, result };
}

function tiles({ applied, unapplied }: OutcomeView): Html {
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

function itemHtml(one: OutcomeItem, planned: ChangeView | undefined): Html {
  const { action, result, word, address, finding, waitsFor, stopped, tried, elapsedMs } = one;
  const why = waitsFor !== undefined ? `waits for ${waitsFor}` : stopped ? "the run was stopped" : "";
  const did = result === "applied" ? [word] : [result, action];
  return folded({
    tone: TONES[result] ?? action,
    open: result !== "applied",
    facets: facetsOf(one),
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
