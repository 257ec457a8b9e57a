// The result of one command on one workspace of a fleet, and how it is read from JSON.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { SEVERITIES, type Severity } from "../../resource/field-schema.ts";

export const FLEET_COMMANDS = ["validate", "plan", "drift", "apply"] as const;
export type FleetCommand = (typeof FLEET_COMMANDS)[number];

/**
 * `changes`: a plan that is not empty, or drift. `timeout`: the run exceeded its time and was stopped. `crashed`: the process of the run
 * ended before it reported a result, such as for lack of memory.
 */
export const RESULT_STATUSES = [
  "ok",
  "changes",
  "blocked",
  "failed",
  "timeout",
  "crashed",
  "interrupted",
] as const;
export type ResultStatus = (typeof RESULT_STATUSES)[number];

/** The requests of a run, and the last answer of the service. */
export interface RequestFacts {
  /** Also those without an answer. */
  readonly sent: number;
  /** Those that had no answer when the run ended; absent without any. */
  readonly unanswered?: number;
  readonly retried: number;
  /** HTTP status of the last answer; 0 if no complete answer came. */
  readonly lastStatus?: number;
  /** The origin that the requests went to. */
  readonly host?: string;
}

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
  /** The first addresses that drifted. */
  readonly drifted?: readonly string[];
  readonly requests?: RequestFacts;
  /** Milliseconds that the run waited for the lock of its state. */
  readonly lockWaitMs?: number;
  /** Greatest resident memory of the process of the run. */
  readonly memoryBytes?: number;
  /** Which try of its job this was, from 1. */
  readonly attempt?: number;
  /** Whether other checks in its first process ended the run, so that this is the second try. */
  readonly isRepeated?: boolean;
  /** Resources whose acknowledged drift the plan reverts, or the apply reverted. */
  readonly reverted?: number;
  /** Whether an apply began to change the workspace. */
  readonly wrote?: boolean;
  /** Whether the queue tries the job again after this result. */
  readonly triedAgain?: boolean;
  /** The worker that ran it, such as `host:4711`, and the version of its program. */
  readonly worker?: string;
  readonly version?: string;
  /** What the run printed, with times; bounded. Read with `log`, not with `recent`. */
  readonly log?: string;
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
  /** Runs of a workspace with their logs, newest first. */
  logs(workspace: string, limit: number): Promise<readonly WorkspaceResult[]>;
  /** The time of the store, in milliseconds: ages and order are of one clock. */
  now(): Promise<number>;
  close(): Promise<void>;
}

/** Logs that a store keeps for each workspace. */
export const KEPT_LOGS = 20;

/** Results that a store keeps for each workspace and command: frequent checks do not remove the last plan. */
export const KEPT_RESULTS = 100;

type Unread<T> = { readonly [Field in keyof T]?: unknown };

export function resultIn(value: unknown): WorkspaceResult | undefined {
  const { workspace, startedAt, durationMs, ...rest } = fieldsOf<WorkspaceResult>(value);
  const command = FLEET_COMMANDS.find((name) => name === rest.command);
  const status = RESULT_STATUSES.find((name) => name === rest.status);
  if (typeof workspace !== "string" || command === undefined) return undefined;
  if (!isTime(startedAt) || !isTime(durationMs)) return undefined;
  if (status === undefined) {
    const { version } = rest;
    if (typeof version !== "string" || typeof rest.status !== "string") return undefined;
    const facts = { workspace, command, startedAt, durationMs, version, counts: {}, drift: {} };
    return { ...facts, status: "failed", diagnostics: [newerResult(version, rest.status)] };
  }
  const drifted = Array.isArray(rest.drifted) ? rest.drifted.filter((name) => typeof name === "string") : [];
  const requests = requestFactsIn(rest.requests);
  return {
    workspace,
    command,
    status,
    startedAt,
    durationMs,
    exitCode: timeIn(rest.exitCode),
    lockWaitMs: timeIn(rest.lockWaitMs),
    memoryBytes: timeIn(rest.memoryBytes),
    attempt: timeIn(rest.attempt),
    reverted: timeIn(rest.reverted),
    wrote: rest.wrote === true || undefined,
    triedAgain: rest.triedAgain === true || undefined,
    worker: textIn(rest.worker),
    version: textIn(rest.version),
    log: textIn(rest.log),
    drifted: drifted.length === 0 ? undefined : drifted,
    requests,
    counts: numbersOf(rest.counts, (name) => /^[a-z_-]+$/.test(name)),
    drift: numbersOf(rest.drift, (name) => (SEVERITIES as readonly string[]).includes(name)),
    diagnostics: diagnosticsIn(rest.diagnostics),
  };
}

/** Without it, an older result would look like the present one. */
function newerResult(version: string, status: string): Diagnostic {
  const message = `workspace ${version} wrote a result with the status ${JSON.stringify(status)}, which this program does not know`;
  return error("FLEET_UNKNOWN", message, { hint: `update this machine to workspace ${version}` });
}

function requestFactsIn(value: unknown): RequestFacts | undefined {
  const { sent, unanswered, retried, lastStatus, host } = fieldsOf<RequestFacts>(value);
  if (!isTime(sent) || !isTime(retried)) return undefined;
  return {
    sent,
    unanswered: timeIn(unanswered),
    retried,
    lastStatus: timeIn(lastStatus),
    host: textIn(host),
  };
}

const timeIn = (value: unknown): number | undefined => (isTime(value) ? value : undefined);
const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

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
      address: textIn(address),
      at: isPlace ? { file, line, column } : undefined,
      hint: textIn(hint),
      cause: textIn(cause),
    } as Diagnostic,
  ];
}

/** The members of what may be an object, each of an unknown type. */
export function fieldsOf<T>(value: unknown): Unread<T> {
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
