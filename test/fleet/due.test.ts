// Which workspaces `fleet run` checks.

import { expect, test } from "vitest";
import type { FleetWorkspace } from "../../src/fleet/model/fleet.ts";
import type { FleetCommand, WorkspaceResult } from "../../src/fleet/model/result.ts";
import { dueWorkspaces } from "../../src/fleet/selection.ts";

const workspace = (name: string, cron?: string, timezone = "UTC"): FleetWorkspace => ({
  name,
  spec: ".",
  variables: {},
  environment: {},
  labels: {},
  timeoutMs: 1000,
  ...(cron === undefined ? {} : { schedule: { cron, timezone } }),
});

const ran = (at: string, command: FleetCommand = "drift"): WorkspaceResult => ({
  workspace: "w",
  command,
  status: "ok",
  startedAt: Date.parse(at),
  durationMs: 0,
  counts: {},
  drift: {},
  diagnostics: [],
});

const due = (one: FleetWorkspace, results: readonly WorkspaceResult[], now: string) =>
  dueWorkspaces([one], new Map([[one.name, results]]), Date.parse(now)).length === 1;

test("a workspace is due when its schedule matched a time since its last drift run", () => {
  const daily = workspace("w", "0 6 * * *");
  expect(due(daily, [ran("2026-03-01T06:00:01Z")], "2026-03-02T05:59:59Z")).toBe(false);
  expect(due(daily, [ran("2026-03-01T06:00:01Z")], "2026-03-02T06:00:00Z")).toBe(true);
  expect(due(daily, [ran("2026-03-01T06:00:01Z")], "2026-03-09T17:00:00Z")).toBe(true);
});

test("a workspace is due when it was never checked, and a plan does not count as a check", () => {
  const daily = workspace("w", "0 6 * * *");
  expect(due(daily, [], "2026-03-02T05:00:00Z")).toBe(true);
  expect(due(daily, [ran("2026-03-02T04:59:00Z", "plan")], "2026-03-02T05:00:00Z")).toBe(true);
});

test("a workspace is due when its last drift run was interrupted, or has a time in the future", () => {
  const daily = workspace("w", "0 6 * * *");
  const stopped: WorkspaceResult = { ...ran("2026-03-02T06:00:01Z"), status: "interrupted" };
  expect(due(daily, [stopped], "2026-03-02T06:05:00Z")).toBe(true);
  expect(due(daily, [ran("2027-03-02T06:00:01Z")], "2026-03-02T06:05:00Z")).toBe(true);
});

test("a workspace without a schedule is never due", () => {
  expect(due(workspace("w"), [], "2026-03-02T05:00:00Z")).toBe(false);
});

test("the schedule is read in its time zone", () => {
  const berlin = workspace("w", "0 6 * * *", "Europe/Berlin");
  expect(due(berlin, [ran("2026-03-01T05:00:01Z")], "2026-03-02T04:59:00Z")).toBe(false);
  expect(due(berlin, [ran("2026-03-01T05:00:01Z")], "2026-03-02T05:00:00Z")).toBe(true);
});
