// Short ways to write records, intents and stores for tests of the state.

import { type Address, remoteId } from "../../src/core/address.ts";
import type { PastRun } from "../../src/core/past-run.ts";
import { openFileStore } from "../../src/state/backends/file/file-backend.ts";
import type { LeaseTimes, LockOwner } from "../../src/state/model/backend.ts";
import type { Intent, StateRecord } from "../../src/state/model/record.ts";
import type { Clock, StateStore } from "../../src/state/model/store.ts";
import { Disk, type Hooks, memoryFiles } from "./memory-files.ts";
import { VirtualClock } from "./virtual-clock.ts";

export const FOLDER = "/w/.workspace/default";

/** Drift of one field that a user has acknowledged. */
export const ACKNOWLEDGED = {
  address: "pools.shared" as Address,
  field: "max_capacity",
  differences: ["d1"],
  until: 99,
  reason: "load test",
  by: "ada",
  at: 7,
};

export type Ready = Extract<StateRecord, { readonly status: "ready" }>;

export function ready(address: string, more: Partial<Ready> = {}): Ready {
  return {
    status: "ready",
    address: address as Address,
    id: remoteId(`id-${address}`),
    name: address.slice(address.indexOf(".") + 1),
    applied: { size: 1 },
    depends_on: [],
    seen: {},
    ...more,
  };
}

export function intent(address: string, more: Partial<Intent> = {}): Intent {
  return {
    address: address as Address,
    operation: "things/create",
    action: "create",
    name: address.slice(address.indexOf(".") + 1),
    token: `token-${address}`,
    existed: false,
    wanted: { size: 1 },
    depends_on: [],
    ...more,
  };
}

export function pastRun(id: string, more: Partial<PastRun> = {}): PastRun {
  return {
    id,
    command: "apply",
    actor: "ada",
    started_at: 5,
    plan: "p",
    outcome: "unfinished",
    applied: { create: 1 },
    left: 0,
    changed: ["pools.a" as Address],
    ...more,
  };
}

export const ADA: LockOwner = { user: "ada", host: "laptop", pid: 1, machine: "m", started: "1" };
export const BO: LockOwner = { user: "bo", host: "server", pid: 2, machine: "n", started: "2" };
export const TIMES: LeaseTimes = { leaseMs: 60_000, requestMs: 30_000 };

/** Bytes that differ from call to call and are the same in every run. */
export function counting(seed = 1): (count: number) => Uint8Array {
  let next = seed;
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      next = (next * 1103515245 + 12345) % 2147483648;
      return (next >> 8) & 255;
    });
}

export interface Setting {
  readonly disk?: Disk;
  readonly clock?: Clock;
  readonly owner?: LockOwner;
  readonly hooks?: Hooks;
  readonly seed?: number;
  readonly isCrashed?: (owner: LockOwner) => boolean;
  readonly keyText?: string;
}

export function storeOn(setting: Setting = {}): StateStore {
  const { disk = new Disk(), clock = new VirtualClock(1_000_000), owner = ADA, seed = 1 } = setting;
  return openFileStore({
    folder: FOLDER,
    fs: memoryFiles(disk, setting.hooks ?? {}),
    clock,
    random: counting(seed),
    owner,
    times: TIMES,
    ...(setting.isCrashed === undefined ? {} : { isCrashed: setting.isCrashed }),
    ...(setting.keyText === undefined ? {} : { keyText: setting.keyText }),
  });
}
