// A location that refuses every claim: waiting for its lock ends by timeout or signal, and never spins.

import { beforeEach, describe, expect, test } from "vitest";
import { FileBackend } from "../../../src/state/backends/file/file-backend.ts";
import { claimText } from "../../../src/state/lock/claim-file.ts";
import { acquireLock } from "../../../src/state/lock/lock.ts";
import type { LatestClaim, StateBackend } from "../../../src/state/model/backend.ts";
import { unlockState } from "../../../src/state/store/state-store.ts";
import { rejectedCode } from "../../failures.ts";
import { ADA, counting, FOLDER, TIMES } from "../build.ts";
import { Disk, memoryFiles } from "../memory-files.ts";
import { VirtualClock } from "../virtual-clock.ts";

const CLAIM = {
  fence: 3,
  nonce: "abcd",
  owner: ADA,
  taken_at: 0,
  renewed_at: 0,
  beat: 0,
  lease_ms: TIMES.leaseMs,
  request_ms: TIMES.requestMs,
};

const TOPS: readonly (readonly [string, LatestClaim | undefined])[] = [
  ["nothing", undefined],
  ["a claim that was given back", { fence: 3, claim: { ...CLAIM, released: true } }],
  ["a claim whose lease is over", { fence: 3, claim: CLAIM }],
  ["an unreadable claim that was given back", { fence: 3, unreadable: "", name: "it", released: true }],
  ["an unreadable claim", { fence: 3, unreadable: "x", name: "it", released: false }],
];

describe.each(TOPS)("over %s", (_, top) => {
  let clock: VirtualClock;
  let looks: number;
  let backend: StateBackend;
  const around = () => ({ clock, random: counting(1), owner: ADA, isCrashed: () => false, times: TIMES });
  beforeEach(() => {
    clock = new VirtualClock(10_000_000);
    looks = 0;
    backend = new FileBackend(memoryFiles(new Disk()), FOLDER);
    backend.claim = async () => false;
    backend.latestClaim = async () => {
      looks += 1;
      if (looks > 2_000) throw new Error("it spins");
      return top;
    };
  });

  test.each([0, 300_000])("a wait of %i ms ends as locked", async (timeoutMs) => {
    const taken = rejectedCode(acquireLock(backend, around(), { timeoutMs, above: 0 }));
    expect(await clock.drive(taken)).toBe("STATE_LOCKED");
    expect(clock.now()).toBe(10_000_000 + timeoutMs);
    expect(looks).toBeLessThan(10 + timeoutMs / 1000);
  });

  test("a signal ends it", async () => {
    const stop = new AbortController();
    const taken = rejectedCode(
      acquireLock(backend, around(), { timeoutMs: 600_000, above: 0, signal: stop.signal }),
    );
    const stopped = clock.sleep(150_000).then(() => stop.abort());
    expect(await clock.drive(Promise.all([taken, stopped]).then(([code]) => code))).toBe("APPLY_INTERRUPTED");
  });

  test("freeing it ends", async () => {
    const ended = await rejectedCode(unlockState({ backend, environment: around() }, { force: true }));
    expect(["fine", "STATE_LOCKED"]).toContain(ended);
  });
});

test("the time of a slow read of the lock is not silence of its holder, who may write meanwhile", async () => {
  const clock = new VirtualClock(10_000_000);
  const backend = new FileBackend(memoryFiles(new Disk()), FOLDER);
  const environment = { clock, random: counting(1), owner: ADA, isCrashed: () => false, times: TIMES };
  let beat = 0;
  backend.latestClaim = async () => {
    const seen = { fence: 3, claim: { ...CLAIM, beat } };
    // The second read takes longer than the lease and a request: what it shows is from its begin.
    if (clock.elapsed() > 10_000_000 && beat === 0) {
      beat = 1;
      await clock.sleep(TIMES.leaseMs + TIMES.requestMs);
    }
    return seen;
  };
  let claims = 0;
  backend.claim = async () => {
    claims += 1;
    return true;
  };
  const taken = rejectedCode(acquireLock(backend, environment, { timeoutMs: 100_000, above: 0 }));
  expect(await clock.drive(taken)).toBe("STATE_LOCKED");
  expect(claims).toBe(0);
});

test("a lock file that leads nowhere is a claim that cannot be read", async () => {
  const disk = new Disk();
  const fs = memoryFiles(disk);
  let reads = 0;
  const dangling = {
    ...fs,
    list: async () => ["lock.7"],
    read: async () => {
      reads += 1;
      if (reads > 100) throw new Error("it spins");
      return undefined;
    },
  };
  expect(await new FileBackend(dangling, FOLDER).latestClaim()).toMatchObject({ fence: 7, unreadable: "" });
});

test("a planted lock with the greatest number is named by an acquisition and by a forced unlock", async () => {
  const disk = new Disk();
  const clock = new VirtualClock(10_000_000);
  const backend = new FileBackend(memoryFiles(disk), FOLDER);
  const environment = { clock, random: counting(1), owner: ADA, isCrashed: () => false, times: TIMES };
  const named = `lock.999999999999999 in ${FOLDER}`;
  const path = `${FOLDER}/lock.999999999999999`;
  disk.put(path, "planted");
  await expect(unlockState({ backend, environment }, { nonce: "", force: true })).rejects.toThrow(named);
  disk.put(path, claimText({ ...CLAIM, released: true }));
  await expect(acquireLock(backend, environment, { timeoutMs: 0, above: 0 })).rejects.toThrow(named);
});
