// Reads the JSON output of a command (schemas/plan.schema.json, drift.schema.json): counts, drift, and findings of a result.

import type { Diagnostic } from "../core/diagnostic.ts";
import { defined } from "../core/json.ts";
import type { Severity } from "../resource/field-schema.ts";
import type { FleetCommand, WorkspaceResult } from "./model/result.ts";

type Answer = Pick<WorkspaceResult, "counts" | "drift" | "diagnostics">;

interface Document {
  readonly summary?: Readonly<Record<string, number>>;
  readonly drift?: readonly DriftDocument[];
  readonly guards?: readonly DiagnosticDocument[];
  readonly diagnostics?: readonly DiagnosticDocument[];
}

interface DriftDocument {
  readonly severity?: Severity;
  readonly acknowledged?: unknown;
  readonly changes?: readonly { readonly severity?: Severity; readonly acknowledged?: unknown }[];
}

type DiagnosticDocument = Diagnostic & { readonly addresses?: unknown };

/** A result is a row in a table, so further findings are left out. Errors are the last that are. */
const KEPT_FINDINGS = 50;

/** Returns an empty answer if the output is not complete JSON, as after a stopped run. */
export function answerOf(command: FleetCommand, text: string): Answer {
  if (command === "apply") return answerOfEvents(text);
  const document = parsed(text) as Document | undefined;
  return {
    counts: countsOf(document?.summary ?? {}),
    drift: driftCounts(document?.drift ?? []),
    diagnostics: findingsOf([...(document?.guards ?? []), ...(document?.diagnostics ?? [])]),
  };
}

interface EventDocument {
  readonly type?: string;
  readonly applied?: Readonly<Record<string, number>>;
  readonly failed?: number;
  readonly diagnostic?: DiagnosticDocument;
}

/** `apply` prints one event a line. */
function answerOfEvents(text: string): Answer {
  const events = text.split("\n").flatMap((line) => (parsed(line) as EventDocument | undefined) ?? []);
  const summary = events.findLast(({ type }) => type === "change_summary");
  return {
    counts: countsOf({ ...summary?.applied, failed: summary?.failed ?? 0 }),
    drift: {},
    diagnostics: findingsOf(events.flatMap(({ diagnostic }) => diagnostic ?? [])),
  };
}

function countsOf(summary: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(summary).filter(
      ([action, count]) => action !== "noop" && action !== "report" && count > 0,
    ),
  );
}

function driftCounts(items: readonly DriftDocument[]): WorkspaceResult["drift"] {
  const counts: Partial<Record<Severity, number>> = {};
  for (const { severity, acknowledged, changes = [] } of items) {
    const isOpen =
      changes.length === 0
        ? acknowledged === undefined
        : changes.some((one) => one.acknowledged === undefined);
    if (severity !== undefined && isOpen) counts[severity] = (counts[severity] ?? 0) + 1;
  }
  return counts;
}

function findingsOf(all: readonly DiagnosticDocument[]): readonly Diagnostic[] {
  const errors = all.filter(({ severity }) => severity === "error");
  const others = all.filter(({ severity }) => severity !== "error");
  return [...errors, ...others]
    .slice(0, KEPT_FINDINGS)
    .map(({ severity, code, message, address, at, hint, cause }) => ({
      severity,
      code,
      message,
      ...defined({ address, at: at && { file: at.file, line: at.line, column: at.column }, hint, cause }),
    }));
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
