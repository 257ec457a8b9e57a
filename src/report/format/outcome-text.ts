// The outcome of an apply as text for a terminal: failures with reasons, blocked and skipped changes, a summary line.

import { listed } from "../../core/sentences.ts";
import { diagnosticText } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import { type RunInfo, runLines } from "../text/run-info.ts";
import type { Colors } from "../text/terminal.ts";
import type { OutcomeItem, OutcomeView } from "../view/outcome-view.ts";

/** `isOnlyOutput`: no other output shows the findings about the run. */
export function outcomeText(
  outcome: OutcomeView,
  colors: Colors,
  info?: RunInfo,
  isOnlyOutput = false,
): string {
  const troubled = outcome.changes.filter((item) => item.result !== "applied");
  const diagnostics = isOnlyOutput ? [...outcome.notes, ...outcome.diagnostics] : outcome.diagnostics;
  const lines = [
    ...troubled.filter((item) => item.tried).flatMap((item) => troubleLines(item, colors)),
    ...stoppedLine(troubled, colors),
    ...blockedLines(troubled, colors),
    ...diagnostics.map((diagnostic) => diagnosticText(diagnostic, colors).trimEnd()),
  ];
  if (lines.length > 0) lines.push("");
  lines.push(colors.bold(outcome.title));
  if (!outcome.followsPlan) lines.push(...runLines(info, colors));
  return `${lines.join("\n")}\n`;
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
  return [`${colors.yellow("skipped")} because the run was stopped: ${listed(names, "and", 20)}`];
}

function blockedLines(troubled: readonly OutcomeItem[], colors: Colors): readonly string[] {
  const blocked = troubled.filter((item) => item.result === "blocked");
  const causes = [...new Set(blocked.map((item) => item.blockedBy))];
  return causes.map((cause) => {
    const names = blocked.filter((item) => item.blockedBy === cause).map((item) => printable(item.address));
    const why = cause === undefined ? "" : ` because of ${printable(cause)}`;
    return `${colors.yellow("blocked")}${why}: ${listed(names, "and", 20)}`;
  });
}
