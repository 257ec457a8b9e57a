// A workspace of a fleet and its result, for tests.

import type { FleetWorkspace } from "../../../src/fleet/model/fleet.ts";
import type { ResultStatus, WorkspaceResult } from "../../../src/fleet/model/result.ts";

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
