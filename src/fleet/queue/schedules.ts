// The schedules of a fleet file against those in the database.

import type { FleetWorkspace } from "../model/fleet.ts";
import { jobOptions } from "./job.ts";

export interface StoredSchedule {
  readonly workspace: string;
  readonly cron: string;
  readonly timezone: string;
  readonly expireInSeconds?: number;
}

export interface ScheduleChanges {
  readonly added: readonly FleetWorkspace[];
  readonly changed: readonly FleetWorkspace[];
  readonly removed: readonly string[];
  readonly unchanged: number;
}

export function scheduleChanges(
  workspaces: readonly FleetWorkspace[],
  stored: readonly StoredSchedule[],
): ScheduleChanges {
  const known = new Map(stored.map((one) => [one.workspace, one]));
  const wanted = workspaces.filter(({ schedule }) => schedule !== undefined);
  const names = new Set(wanted.map(({ name }) => name));
  const present = wanted.filter(({ name }) => known.has(name));
  const changed = present.filter((one) => !isStored(one, known.get(one.name)));
  return {
    added: wanted.filter(({ name }) => !known.has(name)),
    changed,
    removed: stored.flatMap(({ workspace }) => (names.has(workspace) ? [] : [workspace])),
    unchanged: present.length - changed.length,
  };
}

function isStored(workspace: FleetWorkspace, stored: StoredSchedule | undefined): boolean {
  return (
    stored?.cron === workspace.schedule?.cron &&
    stored?.timezone === workspace.schedule?.timezone &&
    stored?.expireInSeconds === jobOptions(workspace).expireInSeconds
  );
}
