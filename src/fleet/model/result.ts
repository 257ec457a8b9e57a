// The result of one command on one workspace of a fleet.

import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Severity } from "../../resource/field-schema.ts";

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
