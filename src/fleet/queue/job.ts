// A job of the queue: which workspace, which command. No credential, no URL, no content of a spec is ever part of it.

import type { FleetWorkspace } from "../model/fleet.ts";
import { FLEET_COMMANDS, type FleetCommand } from "../model/result.ts";

export interface FleetJob {
  readonly workspace: string;
  readonly command: FleetCommand;
}

export const QUEUE = "fleet";
export const DEAD_LETTERS = "fleet-dead";

/** Jobs without a heartbeat for this long start again on another worker. */
export const HEARTBEAT_S = 20;
export const HEARTBEAT_REFRESH_S = 5;
/** How often one of the workers looks for jobs without a heartbeat. */
export const SUPERVISION_S = 5;

/**
 * One job a workspace, queued or active (`exclusive` with the workspace as key). Waits between tries are short, so that a
 * job whose workers were killed repeatedly still starts again within a minute.
 */
export const QUEUE_OPTIONS = {
  deadLetter: DEAD_LETTERS,
  heartbeatSeconds: HEARTBEAT_S,
  retryLimit: 5,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 15,
  /** A job that no worker took for a day is removed: its command no longer fits the day. */
  retentionSeconds: 24 * 3600,
  deleteAfterSeconds: 24 * 3600,
} as const;

/** Dead letters are kept for 30 days. */
export const DEAD_LETTER_OPTIONS = {
  retentionSeconds: 30 * 24 * 3600,
  deleteAfterSeconds: 24 * 3600,
} as const;

/** Time for a run that was stopped to end, before the queue counts its job as failed. */
const EXPIRY_MARGIN_S = 60;

export function jobOptions({ name, timeoutMs }: FleetWorkspace) {
  return { singletonKey: name, expireInSeconds: Math.ceil(timeoutMs / 1000) + EXPIRY_MARGIN_S } as const;
}

/** Undefined if the data was not written by `workspace`. */
export function jobOf(data: unknown): FleetJob | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { workspace, command } = data as Partial<Record<string, unknown>>;
  const known = FLEET_COMMANDS.find((one) => one === command);
  return typeof workspace === "string" && known !== undefined ? { workspace, command: known } : undefined;
}
