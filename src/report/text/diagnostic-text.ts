// Diagnostics as text: the error, its location with the lines around it, and the next step (design 7).

import { type Diagnostic, type DiagnosticRule, placeText, withoutFrame } from "../../core/diagnostic.ts";
import { count } from "../../core/sentences.ts";
import { printable, printableLines } from "./printable.ts";
import type { Colors } from "./terminal.ts";

/** A shortened Markdown report names this number. A hostile spec could fill a log with more. */
const MOST = 1_000;

export function diagnosticText(diagnostic: Diagnostic, colors: Colors): string {
  const paint = diagnostic.severity === "error" ? colors.red : colors.yellow;
  const lines = [
    `${paint(colors.bold(`${diagnostic.severity} ${diagnostic.code}`))}: ${printable(diagnostic.message)}`,
  ];
  if (diagnostic.at !== undefined) {
    lines.push(`  at ${printable(diagnostic.at.file)}:${diagnostic.at.line}:${diagnostic.at.column}`);
    if (diagnostic.at.frame !== undefined)
      for (const line of printableLines(diagnostic.at.frame))
        lines.push(`  ${line.startsWith(">") ? line : colors.dim(line)}`);
  }
  for (const use of diagnostic.usedAt ?? [])
    lines.push(`  used at ${printable(use.file)}:${use.line}:${use.column}`);
  if (diagnostic.rule !== undefined) lines.push(`  ${printable(ruleText(diagnostic.rule))}`);
  if (diagnostic.cause !== undefined) lines.push(`  cause: ${printable(diagnostic.cause)}`);
  if (diagnostic.hint !== undefined) lines.push(`  ${colors.cyan("hint:")} ${printable(diagnostic.hint)}`);
  return `${lines.join("\n")}\n`;
}

/** `also at workspace.yaml:5:17: the value of …`. */
function lineOf({ at, message }: Diagnostic): string {
  return `also${at === undefined ? "" : ` at ${printable(placeText(at))}`}: ${printable(message)}`;
}

/** `rule clusters-autoterminate (cost) at rules/clusters.yaml:3:11`. */
export function ruleText({ name, severity, at }: DiagnosticRule): string {
  return `rule ${name} (${severity}) at ${placeText(at)}`;
}

/** Warnings of one code up to this number are each shown whole. */
const WHOLE_WARNINGS = 3;

/**
 * At most `most` of them with an empty line between them, and a last line that counts them where there is more than one. Of many warnings
 * with one code, such as secrets without values, the first is whole and each other has a line beneath it.
 */
export function diagnosticsText(all: readonly Diagnostic[], colors: Colors, most = MOST): string {
  const listed = all.slice(0, most);
  const warnings = Map.groupBy(
    listed.filter(({ severity }) => severity === "warning"),
    ({ code }) => code,
  );
  const shown = listed.flatMap((diagnostic) => {
    const alike = diagnostic.severity === "warning" ? (warnings.get(diagnostic.code) ?? []) : [];
    const [first, ...others] = alike.length > WHOLE_WARNINGS ? alike : [diagnostic];
    if (first !== diagnostic) return [];
    return diagnosticText(diagnostic, colors) + others.map((other) => `  ${lineOf(other)}\n`).join("");
  });
  if (all.length > most) shown.push(`… and ${count(all.length - most, "more diagnostic")}\n`);
  if (all.length > 1) shown.push(`${severityCounts(all)}\n`);
  return shown.join("\n");
}

/** `2 errors, 1 warning`. */
export function severityCounts(all: readonly Diagnostic[]): string {
  const errors = all.filter((diagnostic) => diagnostic.severity === "error").length;
  const warnings = all.length - errors;
  const parts = [errors > 0 ? count(errors, "error") : "", warnings > 0 ? count(warnings, "warning") : ""];
  return parts.filter((part) => part !== "").join(", ");
}

/** As in every document, JSON leaves out the members that are undefined. */
export function diagnosticJson(diagnostic: Diagnostic): Record<string, unknown> {
  const { severity, code, message, address, at, usedAt, rule, hint, cause } = diagnostic;
  return {
    severity,
    code,
    message,
    address,
    at: at && withoutFrame(at),
    used_at: usedAt?.map(withoutFrame),
    rule: rule && { ...rule, at: withoutFrame(rule.at) },
    hint,
    cause,
  };
}
