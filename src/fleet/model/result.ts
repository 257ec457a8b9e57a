// The result of one command on one workspace of a fleet, and how it is read from JSON.

import { type Diagnostic, withoutFrame } from "../../core/diagnostic.ts";
import { SEVERITIES, type Severity } from "../../resource/field-schema.ts";

export const FLEET_COMMANDS = ["validate", "plan", "drift", "apply"] as const;
export type FleetCommand = (typeof FLEET_COMMANDS)[number];

/** `changes`: a plan that is not empty, or drift. `timeout`: the run exceeded its time and was stopped. */
export const RESULT_STATUSES = ["ok", "changes", "blocked", "failed", "timeout", "interrupted"] as const;
export type ResultStatus = (typeof RESULT_STATUSES)[number];

/** Plain JSON: it is stored in files and in PostgreSQL. */
export interface WorkspaceResult {
  readonly workspace: string;
  readonly command: FleetCommand;
  readonly status: ResultStatus;
  /** Exit code of the command; absent if it was stopped. */
  readonly exitCode?: number;
  /** Unix time in milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Counts by action, such as `create`; empty without a plan. */
  readonly counts: Readonly<Record<string, number>>;
  readonly drift: Readonly<Partial<Record<Severity, number>>>;
  /** The findings, without frames of source text. */
  readonly diagnostics: readonly Diagnostic[];
  /** The process that ran it, such as `host:4711`. */
  readonly worker?: string;
}

/** Whether the run completed. Drift and changes count as completed. */
export function isAnswer({ status }: WorkspaceResult): boolean {
  return status === "ok" || status === "changes";
}

/** Whether a job with this result is done. A guard that blocks it blocks every further try too, and people see it in the status. */
export function isSettled(result: WorkspaceResult): boolean {
  return isAnswer(result) || result.status === "blocked";
}

export interface ResultStore {
  /** Durable when it resolves. `run`: an ID of the run; a later result of the same run replaces this one. */
  add(result: WorkspaceResult, run?: string): Promise<void>;
  /** Of each workspace: its last results of each command, newest first. Only the first of each command has its findings. */
  recent(
    limit: number,
    workspaces: readonly string[],
  ): Promise<ReadonlyMap<string, readonly WorkspaceResult[]>>;
  close(): Promise<void>;
}

/** Results that a store keeps for each workspace and command: frequent checks do not remove the last plan. */
export const KEPT_RESULTS = 100;

type Unread<T> = { readonly [Field in keyof T]?: unknown };

export function resultIn(value: unknown): WorkspaceResult | undefined {
  const { workspace, startedAt, durationMs, ...rest } = fieldsOf<WorkspaceResult>(value);
  const command = FLEET_COMMANDS.find((one) => one === rest.command);
  const status = RESULT_STATUSES.find((one) => one === rest.status);
  if (typeof workspace !== "string" || command === undefined || status === undefined) return undefined;
  if (!isTime(startedAt) || !isTime(durationMs)) return undefined;
  const { exitCode, worker, counts, drift, diagnostics } = rest;
  return {
    workspace,
    command,
    status,
    startedAt,
    durationMs,
    ...(typeof exitCode === "number" ? { exitCode } : {}),
    ...(typeof worker === "string" ? { worker } : {}),
    counts: numbersOf(counts, (name) => /^[a-z_-]+$/.test(name)),
    drift: numbersOf(drift, (name) => (SEVERITIES as readonly string[]).includes(name)),
    diagnostics: diagnosticsIn(diagnostics),
  };
}

/** Leaves out what is not a diagnostic. */
export function diagnosticsIn(value: unknown): readonly Diagnostic[] {
  return Array.isArray(value) ? value.flatMap(diagnosticIn) : [];
}

function diagnosticIn(value: unknown): readonly Diagnostic[] {
  const { severity, code, message, address, at, hint, cause } = fieldsOf<Diagnostic>(value);
  if (severity !== "error" && severity !== "warning") return [];
  if (typeof code !== "string" || !/^[A-Z0-9_]+$/.test(code) || typeof message !== "string") return [];
  const { file, line, column } = fieldsOf<NonNullable<Diagnostic["at"]>>(at);
  const isPlace = typeof file === "string" && isTime(line) && isTime(column);
  return [
    {
      severity,
      code: code as Diagnostic["code"],
      message,
      ...(typeof address === "string" ? { address } : {}),
      ...(isPlace ? { at: { file, line, column } } : {}),
      ...(typeof hint === "string" ? { hint } : {}),
      ...(typeof cause === "string" ? { cause } : {}),
    } as Diagnostic,
  ];
}

function fieldsOf<T>(value: unknown): Unread<T> {
  return typeof value === "object" && value !== null ? value : {};
}

/** The range of dates that JavaScript can print. */
const LAST_TIME = 8.64e15;

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= LAST_TIME / 2;
}

function numbersOf(value: unknown, isName: (name: string) => boolean): Readonly<Record<string, number>> {
  const entries = Object.entries(fieldsOf<Record<string, unknown>>(value)) as [string, unknown][];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, number] => isName(entry[0]) && Number.isSafeInteger(entry[1])),
  );
}

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
      address,
      at: at && withoutFrame(at),
      hint,
      cause,
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
