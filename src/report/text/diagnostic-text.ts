// Diagnostics as text: the error, its location with the lines around it, and the next step (design 7).

import {
  type Diagnostic,
  type DiagnosticRule,
  placeText,
  withoutSourceLines,
} from "../../core/diagnostic.ts";
import { count, firstFew, grouped } from "../../core/sentences.ts";
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

export type DiagnosticGroup = readonly [Diagnostic, ...Diagnostic[]];

/** Two findings are read as quickly as one about both. */
const LEAST = 3;

/** Errors first. Diagnostics with one code, or of one rule, are a group where there are more than two. */
export function foldDiagnostics(all: readonly Diagnostic[]): readonly DiagnosticGroup[] {
  const groups = groupsOf(all, () => true);
  const isError = ([first]: DiagnosticGroup) => first.severity === "error";
  return [...groups.filter(isError), ...groups.filter((group) => !isError(group))];
}

/** A group has the position of its first diagnostic. */
function groupsOf(
  all: readonly Diagnostic[],
  isFolded: (diagnostic: Diagnostic) => boolean,
): readonly DiagnosticGroup[] {
  const alike = Map.groupBy(all, (diagnostic) => {
    const { severity, code, rule } = diagnostic;
    return isFolded(diagnostic) ? `${severity} ${code} ${rule?.name ?? ""}` : diagnostic;
  });
  const groups = [...alike.values()].flatMap((group) =>
    group.length < LEAST
      ? group.map((diagnostic): DiagnosticGroup => [diagnostic])
      : [group as unknown as DiagnosticGroup],
  );
  const positions = new Map(all.map((diagnostic, at) => [diagnostic, at]));
  return groups.sort(([a], [b]) => (positions.get(a) ?? 0) - (positions.get(b) ?? 0));
}

/** Of the other members of a group, so many messages are shown. If there are more, and about resources, so many are named instead. */
const MOST_MESSAGES = 6;
const MOST_NAMED = 3;

/** The first is whole. */
function groupText([first, ...others]: DiagnosticGroup, colors: Colors, isWhole: boolean): string {
  const text = diagnosticText(first, colors);
  if (others.length === 0) return text;
  if (!isWhole && others.length > MOST_MESSAGES && others.every(({ address }) => address !== undefined)) {
    const names = firstFew(others, MOST_NAMED, memberText);
    return `${text}  also ${names}; \`-o json\` lists each\n`;
  }
  const shown = isWhole ? others : others.slice(0, MOST_MESSAGES);
  const rest = others.length - shown.length;
  const lines = shown.flatMap((other) => [
    `  ${lineOf(other)}\n`,
    ...(isWhole && other.hint !== undefined && other.hint !== first.hint
      ? [`    ${colors.cyan("hint:")} ${printable(other.hint)}\n`]
      : []),
  ]);
  if (rest > 0) lines.push(colors.dim(`  … and ${grouped(rest)} more; \`-o json\` lists each`), "\n");
  return text + lines.join("");
}

/** `secrets.a/b (workspace.yaml:5:17)`. */
function memberText({ address, at }: Diagnostic): string {
  return printable(at === undefined ? `${address}` : `${address} (${placeText(at)})`);
}

/** `also at workspace.yaml:5:17: the value of …`. */
function lineOf({ at, message }: Diagnostic): string {
  return `also${at === undefined ? "" : ` at ${printable(placeText(at))}`}: ${printable(message)}`;
}

/** `rule clusters-autoterminate (cost) at rules/clusters.yaml:3:11`. */
export function ruleText({ name, severity, at }: DiagnosticRule): string {
  return `rule ${name} (${severity}) at ${placeText(at)}`;
}

interface DiagnosticsLayout {
  readonly most?: number;
  /** Whether each member of a group has its message, and its hint. */
  readonly isWhole?: boolean;
}

/**
 * The text of each diagnostic, with one for all warnings with the same code, such as secrets without values, and one for all findings
 * of a rule. Other errors are each whole.
 */
export function diagnosticTexts(
  all: readonly Diagnostic[],
  colors: Colors,
  isWhole = false,
): readonly string[] {
  const groups = groupsOf(all, ({ severity, rule }) => severity === "warning" || rule !== undefined);
  return groups.map((group) => groupText(group, colors, isWhole));
}

/** At most `most` of them with an empty line between them, and a last line that counts them where there is more than one. */
export function diagnosticsText(
  all: readonly Diagnostic[],
  colors: Colors,
  { most = MOST, isWhole = false }: DiagnosticsLayout = {},
): string {
  const shown = [...diagnosticTexts(all.slice(0, most), colors, isWhole)];
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
    at: at && withoutSourceLines(at),
    used_at: usedAt?.map(withoutSourceLines),
    rule: rule && { ...rule, at: withoutSourceLines(rule.at) },
    hint,
    cause,
  };
}
