// The outcome of an apply as text for a terminal: failures with reasons, blocked and skipped changes, a summary line.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { count, firstFew, listed } from "../../core/sentences.ts";
import { diagnosticText, diagnosticTexts } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import { type RunInfo, runLines } from "../text/run-info.ts";
import type { Colors } from "../text/terminal.ts";
import { nextOfOutcome } from "../view/next-step.ts";
import { type OutcomeItem, type OutcomeView, sharedCauses } from "../view/outcome-view.ts";

/** `showsNotes`: with the findings about the run, which standard error does not show. */
export function outcomeText(
  outcome: OutcomeView,
  colors: Colors,
  info?: RunInfo,
  showsNotes = false,
): string {
  const troubled = outcome.changes.filter((item) => item.result !== "applied");
  const diagnostics = showsNotes ? [...outcome.notes, ...outcome.diagnostics] : outcome.diagnostics;
  const tried = troubled.filter((item) => item.tried);
  const causes = sharedCauses(tried);
  const inCause = new Set([...causes.values()].flat());
  const alone = tried.filter((item) => !inCause.has(item));
  const shown = alone.slice(0, MOST_ALONE);
  const lines = [
    ...[...causes].flatMap(([cause, items]) => causeLines(cause, items, colors)),
    ...shown.flatMap((item) => troubleLines(item, colors)),
    ...(alone.length > shown.length ? [restLine(alone.length - shown.length, "failure", colors)] : []),
    ...stoppedLine(troubled, colors),
    ...blockedLines(troubled, colors),
    ...diagnosticTexts(diagnostics, colors).map((text) => text.trimEnd()),
  ];
  if (lines.length > 0 && lines.at(-1) !== "") lines.push("");
  const next = nextOfOutcome(outcome, info);
  lines.push(colors.bold(outcome.heading), ...(next === undefined ? [] : [`Next: ${next}.`]));
  if (!outcome.followsPlan) lines.push(...runLines(info, colors));
  return `${lines.join("\n")}\n`;
}

/** So many failures with a cause that no other has, and so many causes of blocked changes. */
const MOST_ALONE = 8;
const MOST_BLOCKING = 5;

/** So many of the changes with one cause are named. */
const MOST_NAMED = 5;

const restLine = (number: number, what: string, colors: Colors): string =>
  colors.dim(`… and ${count(number, `more ${what}`)}; \`-o json\` and \`-o html=FILE\` list each change`);

function causeLines(cause: Diagnostic, items: readonly OutcomeItem[], colors: Colors): readonly string[] {
  const verbs = Map.groupBy(items, ({ action }) => action);
  const members = [...verbs].map(
    ([action, own]) => `  ${action} ${firstFew(own, MOST_NAMED, ({ address }) => printable(address))}`,
  );
  return [...diagnosticText(cause, colors).trimEnd().split("\n"), ...members, ""];
}

function troubleLines(item: OutcomeItem, colors: Colors): readonly string[] {
  const paint = item.result === "failed" ? colors.red : colors.yellow;
  const head = `${paint(item.result)} ${item.action} ${printable(item.address)}`;
  if (item.finding === undefined) return [head];
  const lines = diagnosticText(item.finding, colors).trimEnd().split("\n");
  return [head, ...lines.map((line) => `  ${line}`)];
}

function stoppedLine(troubled: readonly OutcomeItem[], colors: Colors): readonly string[] {
  const names = troubled.filter((item) => item.stopped).map((item) => printable(item.address));
  if (names.length === 0) return [];
  const number = names.length > MOST_NAMED ? ` ${count(names.length, "change")}` : "";
  return [
    `${colors.yellow("skipped")}${number} because the run was stopped: ${listed(names, "and", MOST_NAMED)}`,
  ];
}

/** The causes of most blocked changes first. */
function blockedLines(troubled: readonly OutcomeItem[], colors: Colors): readonly string[] {
  const blocked = troubled.filter((item) => item.result === "blocked");
  const causes = [...Map.groupBy(blocked, (item) => item.blockedBy)].toSorted(
    ([, a], [, b]) => b.length - a.length,
  );
  const rest = causes.slice(MOST_BLOCKING).flatMap(([, items]) => items);
  const lines = causes.slice(0, MOST_BLOCKING).map(([cause, items]) => {
    const names = items.map((item) => printable(item.address));
    const why = cause === undefined ? "" : ` because of ${printable(cause)}`;
    const number = names.length > MOST_NAMED ? ` ${count(names.length, "change")}` : "";
    return `${colors.yellow("blocked")}${number}${why}: ${listed(names, "and", MOST_NAMED)}`;
  });
  return [...lines, ...(rest.length === 0 ? [] : [restLine(rest.length, "blocked change", colors)])];
}
