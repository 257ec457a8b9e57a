// The outcome of an apply as text: failures with reasons, then blocked and skipped changes, and a summary line.

import { listed } from "../../core/sentences.ts";
import type { Colors } from "../text/color.ts";
import { diagnosticText } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import { type RunInfo, runLines } from "../text/run-info.ts";
import type { OutcomeItem, OutcomeView } from "./outcome-view.ts";

/** `alone`: no other output shows the findings about the run. */
export function outcomeText(outcome: OutcomeView, colors: Colors, info?: RunInfo, alone = false): string {
  const troubled = outcome.changes.filter((one) => one.result !== "applied");
  const lines = troubled.filter((one) => one.tried).flatMap((one) => troubleLines(one, colors));
  lines.push(
    ...stoppedLine(
      troubled.filter((one) => one.stopped),
      colors,
    ),
  );
  lines.push(...blockedLines(troubled, colors));
  const found = alone ? [...outcome.notes, ...outcome.diagnostics] : outcome.diagnostics;
  for (const one of found) lines.push(diagnosticText(one, colors).trimEnd());
  if (lines.length > 0) lines.push("");
  lines.push(colors.bold(outcome.title));
  if (!outcome.followsPlan) lines.push(...runLines(info, colors));
  return `${lines.join("\n")}\n`;
}

function troubleLines(one: OutcomeItem, colors: Colors): readonly string[] {
  const paint = one.result === "failed" ? colors.red : colors.yellow;
  const head = `${paint(one.result)} ${one.action} ${printable(one.address)}`;
  if (one.finding === undefined) return [head];
  return [
    head,
    ...diagnosticText(one.finding, colors)
      .trimEnd()
      .split("\n")
      .map((line) => `  ${line}`),
  ];
}

function stoppedLine(stopped: readonly OutcomeItem[], colors: Colors): readonly string[] {
  if (stopped.length === 0) return [];
  const names = stopped.map((one) => printable(one.address));
  return [`${colors.yellow("skipped")} because the run was stopped: ${listed(names, "and", 20)}`];
}

function blockedLines(troubled: readonly OutcomeItem[], colors: Colors): readonly string[] {
  const blocked = troubled.filter((one) => one.result === "blocked");
  const causes = [...new Set(blocked.map((one) => one.waitsFor))];
  return causes.map((cause) => {
    const names = blocked.filter((one) => one.waitsFor === cause).map((one) => printable(one.address));
    const why = cause === undefined ? "" : ` because of ${printable(cause)}`;
    return `${colors.yellow("blocked")}${why}: ${listed(names, "and", 20)}`;
  });
}
