// What an apply did, as text: what failed and why, what was blocked or skipped, and one line that sums up.

import { grouped, listed } from "../core/words.ts";
import type { ChangeOutcome, Outcome, Result } from "../planner/outcome.ts";
import type { Colors } from "./color.ts";
import { diagnosticText } from "./diagnostic-text.ts";
import { printable } from "./printable.ts";
import { DONE, duration, TOUCHING } from "./words.ts";

export function outcomeText(outcome: Outcome, colors: Colors): string {
  const troubled = outcome.changes.filter((one) => one.result !== "applied");
  const lines = troubled
    .filter((one) => one.result !== "blocked" && !wasStopped(one))
    .flatMap((one) => troubleLines(one, colors));
  lines.push(...stoppedLine(troubled.filter(wasStopped), colors));
  lines.push(...blockedLines(troubled, colors));
  for (const one of outcome.diagnostics) lines.push(diagnosticText(one, colors).trimEnd());
  if (lines.length > 0) lines.push("");
  lines.push(colors.bold(outcomeLine(outcome)));
  return `${lines.join("\n")}\n`;
}

function troubleLines(one: ChangeOutcome, colors: Colors): readonly string[] {
  const paint = one.result === "failed" ? colors.red : colors.yellow;
  const head = `${paint(one.result)} ${one.action} ${printable(one.address)}`;
  if (one.diagnostic === undefined) return [head];
  return [
    head,
    ...diagnosticText(one.diagnostic, colors)
      .trimEnd()
      .split("\n")
      .map((line) => `  ${line}`),
  ];
}

function wasStopped(one: ChangeOutcome): boolean {
  return one.diagnostic?.code === "APPLY_INTERRUPTED";
}

function stoppedLine(stopped: readonly ChangeOutcome[], colors: Colors): readonly string[] {
  if (stopped.length === 0) return [];
  const names = stopped.map((one) => printable(one.address));
  return [`${colors.yellow("skipped")} because the run was stopped: ${listed(names, "and", 20)}`];
}

function blockedLines(troubled: readonly ChangeOutcome[], colors: Colors): readonly string[] {
  const blocked = troubled.filter((one) => one.result === "blocked");
  const causes = [...new Set(blocked.map((one) => one.because))];
  return causes.map((cause) => {
    const names = blocked.filter((one) => one.because === cause).map((one) => printable(one.address));
    const why = cause === undefined ? "" : ` because of ${printable(cause)}`;
    return `${colors.yellow("blocked")}${why}: ${listed(names, "and", 20)}`;
  });
}

/** `Applied in 12 s: 3 created, 1 updated, 0 replaced, 0 deleted; 1 failed, 2 blocked.` */
export function outcomeLine(outcome: Outcome): string {
  const applied = outcome.changes.filter((one) => one.result === "applied");
  const done = TOUCHING.map((action) => ({
    action,
    number: applied.filter((one) => one.action === action).length,
  }))
    .filter(({ action, number }) => number > 0 || (action !== "adopt" && action !== "forget"))
    .map(({ action, number }) => `${grouped(number)} ${DONE[action]}`);
  const rest = RESULTS.map((result) => ({
    result,
    number: outcome.changes.filter((one) => one.result === result).length,
  }))
    .filter(({ number }) => number > 0)
    .map(({ result, number }) => `${grouped(number)} ${result}`);
  const start = outcome.interrupted ? "Stopped after" : "Applied in";
  return `${start} ${duration(outcome.elapsedMs)}: ${done.join(", ")}${rest.length === 0 ? "" : `; ${rest.join(", ")}`}.`;
}

const RESULTS: readonly Result[] = ["failed", "unknown", "blocked", "skipped"];
