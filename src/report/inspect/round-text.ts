// One round of `workspace watch` as plain lines: time, changed files, and differences from the previous round.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { count, listed } from "../../core/sentences.ts";
import { findingsOf } from "../../planner/model/plan.ts";
import { changeLines } from "../format/change-text.ts";
import { diagnosticText } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import { type Colors, colorsFor } from "../text/terminal.ts";
import type { PlanView } from "../view/plan-view.ts";

export interface RoundView {
  /** ISO 8601. */
  readonly time: string;
  readonly changed: readonly string[];
  readonly findings: readonly Diagnostic[];
  /** Undefined if the spec is not valid, or if nothing is planned. */
  readonly plan: PlanView | undefined;
  /** Undefined if the spec is not valid. */
  readonly resources: number | undefined;
}

/** Changes to show one by one; others are counted. */
const MOST = 50;
const PLAIN = colorsFor(false);

export function roundText(round: RoundView, before: RoundView | undefined, colors: Colors): string {
  const isFirst = before === undefined;
  const previousKeys = new Set(isFirst ? [] : blocks(before, PLAIN, isFirst).map(({ key }) => key));
  const now = blocks(round, colors, isFirst);
  const fresh = now.filter(({ key }) => !previousKeys.has(key));
  const last = endLine(round);
  const head = `${colors.dim(round.time)}  ${headOf(round, before)}`;
  if (!isFirst && now.length === previousKeys.size && fresh.length === 0 && last === endLine(before))
    return `${head}: no difference\n`;
  const shown = fresh.slice(0, MOST).map(({ text }) => text);
  const rest = fresh.length - shown.length;
  const unchangedCount = now.length - fresh.length;
  return `${[
    head,
    ...shown,
    ...(rest > 0 ? [`  … and ${count(rest, "more change")}`] : []),
    ...goneLines(round, before),
    ...(unchangedCount > 0 ? [colors.dim(`  ${count(unchangedCount, "entry", "entries")} as before`)] : []),
    last,
  ].join("\n")}\n`;
}

function goneLines({ plan }: RoundView, before: RoundView | undefined): readonly string[] {
  if (plan === undefined || before?.plan === undefined) return [];
  const now = new Set(plan.touching.map(({ address }) => address));
  const gone = before.plan.touching.filter(({ address }) => !now.has(address));
  const names = gone.map(({ address }) => printable(address));
  return names.length === 0 ? [] : [`  no longer planned: ${listed(names, "and", 10)}`];
}

function headOf({ changed }: RoundView, before: RoundView | undefined): string {
  if (before === undefined) return "watching the spec";
  return `changed: ${listed(changed.map(printable), "and", 5)}`;
}

interface Block {
  /** The text without colors. */
  readonly key: string;
  readonly text: string;
}

function blocks(round: RoundView, colors: Colors, isFirst: boolean): readonly Block[] {
  const { plan } = round;
  const findings = [...round.findings, ...(plan === undefined ? [] : findingsOf(plan))];
  const changes = plan === undefined ? [] : plan.touching;
  return [
    ...findings.map((diagnostic) => ({
      key: diagnosticText(diagnostic, PLAIN).trimEnd(),
      text: diagnosticText(diagnostic, colors).trimEnd(),
    })),
    ...changes.map((change) => ({
      key: changeLines(change, PLAIN).join("\n"),
      text: (isFirst ? changeLines(change, colors).slice(0, 1) : changeLines(change, colors)).join("\n"),
    })),
  ];
}

function endLine({ plan, resources, findings }: RoundView): string {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  if (errors > 0) return count(errors, "error");
  if (plan === undefined) return `Valid: ${count(resources ?? 0, "resource")}.`;
  return [plan.title, ...(plan.refusal === undefined ? [] : [plan.refusal])].join(" ");
}
