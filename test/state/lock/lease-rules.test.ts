import { expect, test } from "vitest";
import { mayWrite } from "../../../src/state/lock/heartbeat.ts";
import { lockedBy, silenceMs } from "../../../src/state/lock/lock.ts";
import { ADA } from "../build.ts";

const TIMES = { leaseMs: 60_000, requestMs: 30_000 };
const CLAIM = {
  fence: 3,
  nonce: "abcd",
  owner: ADA,
  taken_at: 0,
  renewed_at: 10_000,
  beat: 1,
  lease_ms: 60_000,
  request_ms: 30_000,
};

test("a holder stops writing when three quarters of its lease are over", () => {
  expect(mayWrite(TIMES, 44_999)).toBe(true);
  expect(mayWrite(TIMES, 45_000)).toBe(false);
});

test("a lock expires after its lease and the time of its holder's last request", () => {
  expect(silenceMs(CLAIM)).toBe(90_000);
});

test("the error names the holder of the lock, and how to wait or unlock", () => {
  const { code, message, hint } = lockedBy(CLAIM, { silentMs: 12_000, isSeen: true });
  expect(code).toBe("STATE_LOCKED");
  expect(message).toBe(
    "the state has been locked by ada@laptop (process 1) since 1970-01-01T00:00:00.000Z (last heartbeat 12 s ago)",
  );
  expect(hint).toBe(
    "wait with --lock-timeout 10m; if that process has crashed, run `workspace state unlock abcd`",
  );
});

test("without a heartbeat, the error says for how long a run has to wait to acquire the lock", () => {
  const notWatched = lockedBy(CLAIM, { silentMs: 0, isSeen: false });
  expect(notWatched.message).toContain("(last heartbeat 1970-01-01T00:00:10.000Z)");
  expect(notWatched.hint).toBe(
    "wait with --lock-timeout 10m, which acquires the lock after 90 s without a heartbeat; if that process has crashed, run `workspace state unlock abcd`",
  );
  const watched = lockedBy(CLAIM, { silentMs: 29_600, isSeen: false });
  expect(watched.message).toContain("(no heartbeat for 30 s)");
  expect(watched.hint).toBe(notWatched.hint);
  const long = lockedBy({ ...CLAIM, lease_ms: 3_600_000 }, { silentMs: 0, isSeen: false });
  expect(long.hint).toContain("--lock-timeout 62m, which acquires the lock after 3630 s");
});

test("the error shows a claim whose times are invalid", () => {
  const { message } = lockedBy({ ...CLAIM, taken_at: 9e15 }, { silentMs: 0, isSeen: true });
  expect(message).toContain("since an invalid time");
});
