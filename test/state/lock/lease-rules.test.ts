import { expect, test } from "vitest";
import { isOver, lockedBy, mayWrite, silenceMs } from "../../../src/state/lock/lease-rules.ts";
import { ADA, TIMES } from "../build.ts";

const CLAIM = {
  fence: 3,
  nonce: "abcd",
  owner: ADA,
  taken_at: 0,
  renewed_at: 10_000,
  lease_ms: TIMES.leaseMs,
  request_ms: TIMES.requestMs,
};

test("a holder stops writing when three quarters of its lease are over", () => {
  expect(mayWrite(TIMES, 10_000, 10_000 + 44_999)).toBe(true);
  expect(mayWrite(TIMES, 10_000, 10_000 + 45_000)).toBe(false);
});

test("a clock that steps back a little does not stop a holder, one that runs far back does", () => {
  expect(mayWrite(TIMES, 10_000, 9_000)).toBe(true);
  expect(mayWrite(TIMES, 1_000_000, 10_000)).toBe(false);
});

test("a silent holder is out after its lease and the time that its last request may take", () => {
  const end = CLAIM.renewed_at + silenceMs(CLAIM);
  expect([isOver(CLAIM, end), isOver(CLAIM, end + 1)]).toEqual([false, true]);
  expect(silenceMs(CLAIM)).toBe(TIMES.leaseMs + TIMES.requestMs);
});

test("while a holder may write, no other process may acquire the lock", () => {
  for (let now = 0; now < 200_000; now += 500)
    expect(mayWrite(TIMES, CLAIM.renewed_at, now) && isOver(CLAIM, now)).toBe(false);
});

test("a released lock is free at once", () => {
  expect(isOver({ ...CLAIM, released: true }, CLAIM.renewed_at)).toBe(true);
});

test("the error names the holder of the lock, and how to wait or unlock", () => {
  const { code, message, hint } = lockedBy(CLAIM, 22_000);
  expect(code).toBe("STATE_LOCKED");
  expect(message).toContain("ada@laptop (process 1)");
  expect(message).toContain("last heartbeat 12 s ago");
  expect(hint).toContain("workspace state unlock abcd");
});
