// Dead letters that are not settled: a later success of the same command settles one.

import { expect, test } from "vitest";
import type { FleetCommand, WorkspaceResult } from "../../../src/fleet/model/result.ts";
import { type DeadJob, unsettled } from "../../../src/fleet/queue/job-queue.ts";
import { resultOf } from "./workspaces.ts";

const FAILED_AT = Date.UTC(2026, 0, 2);

const dead = (workspace: string, command: FleetCommand = "apply"): DeadJob => ({
  id: workspace,
  workspace,
  command,
  failedAt: FAILED_AT,
  attempts: 3,
  failure: { diagnostics: [] },
});

const at = (
  startedAt: number,
  { command = "apply", status = "ok" }: Partial<WorkspaceResult> = {},
): WorkspaceResult => resultOf("ads", status, { command, startedAt });

const left = (...results: readonly WorkspaceResult[]): readonly string[] =>
  unsettled([dead("ads")], new Map([["ads", results]])).map(({ workspace }) => workspace);

test("a dead letter is settled by a later success of its command, and not by an earlier one", () => {
  expect(left(at(FAILED_AT + 1))).toEqual([]);
  expect(left(at(FAILED_AT - 1))).toEqual(["ads"]);
  expect(left(at(FAILED_AT))).toEqual(["ads"]);
  expect(left(at(FAILED_AT - 1), at(FAILED_AT + 1))).toEqual([]);
});

test("a dead letter is settled by a later run that changed something or that a guard blocked, and not by one that failed", () => {
  for (const status of ["changes", "blocked"] as const)
    expect(left(at(FAILED_AT + 1, { status })), status).toEqual([]);
  for (const status of ["failed", "timeout", "interrupted"] as const)
    expect(left(at(FAILED_AT + 1, { status })), status).toEqual(["ads"]);
});

test("a dead letter is not settled by another command, or by a success in another workspace", () => {
  expect(left(at(FAILED_AT + 1, { command: "drift" }))).toEqual(["ads"]);
  const others = new Map([["web", [at(FAILED_AT + 1)]]]);
  expect(unsettled([dead("ads"), dead("web")], others)).toEqual([dead("ads")]);
  expect(unsettled([dead("ads")], new Map())).toEqual([dead("ads")]);
});
