// A workspace of a fleet and its result, for tests.

import type { LeaseHolder } from "../../../src/fleet/database/workspace-lease.ts";
import type { FleetWorkspace } from "../../../src/fleet/model/fleet.ts";
import type { FleetCommand, ResultStatus, WorkspaceResult } from "../../../src/fleet/model/result.ts";
import { type NewJob, PRIORITIES } from "../../../src/fleet/queue/job-queue.ts";

export const jobsOf = (workspaces: readonly FleetWorkspace[], command: FleetCommand): readonly NewJob[] =>
  workspaces.map((workspace) => ({ workspace, command, priority: PRIORITIES[command] }));

export const holderNamed = (worker: string, more: Partial<LeaseHolder> = {}): LeaseHolder => ({
  worker,
  version: "0.1.0",
  command: "drift",
  ...more,
});

export const workspaceNamed = (name: string, more: Partial<FleetWorkspace> = {}): FleetWorkspace => ({
  name,
  spec: ".",
  variables: {},
  environment: {},
  labels: {},
  timeoutMs: 10_000,
  ...more,
});

export const resultOf = (
  workspace: string,
  status: ResultStatus = "ok",
  more: Partial<WorkspaceResult> = {},
): WorkspaceResult => ({
  workspace,
  command: "drift",
  status,
  startedAt: Date.now(),
  durationMs: 5,
  counts: {},
  drift: {},
  diagnostics: [],
  ...more,
});
