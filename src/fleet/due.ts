// Which workspaces are due: their schedule matched a time since their last check for drift.

import { Cron } from "croner";
import type { FleetWorkspace } from "./model/fleet.ts";
import type { WorkspaceResult } from "./model/result.ts";

/** A workspace with a schedule that was never checked is due. `results`: of each workspace, newest first. */
export function dueWorkspaces(
  workspaces: readonly FleetWorkspace[],
  results: ReadonlyMap<string, readonly WorkspaceResult[]>,
  now: number,
): readonly FleetWorkspace[] {
  return workspaces.filter(({ name, schedule }) => {
    if (schedule === undefined) return false;
    const last = results.get(name)?.find(({ command }) => command === "drift");
    if (last === undefined) return true;
    const { cron, timezone } = schedule;
    const next = new Cron(cron, { timezone }).nextRun(new Date(last.startedAt));
    return next !== null && next.getTime() <= now;
  });
}
