// What every store promises, wherever it keeps the state: the same tests for all of them.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { Failure } from "../../src/core/diagnostic.ts";
import type { PastRun } from "../../src/core/past-run.ts";
import { keyCheck } from "../../src/state/format/encryption.ts";
import type { JournalEntry, State } from "../../src/state/model/record.ts";
import type { Incoming, LockWait, StateStore } from "../../src/state/model/store.ts";
import { rejectedCode } from "../failures.ts";
import { ADA, BO, intent, pastRun, ready, TIMES } from "./build.ts";
import { NOW, type Shared } from "./sharing.ts";
import { OffsetClock, VirtualClock } from "./virtual-clock.ts";

export const record = (name: string): JournalEntry => ({ type: "record", record: ready(`pools.${name}`) });

/** Adds the name of each record that was acknowledged. */
export async function writeAndPublish(store: StateStore, acknowledged: string[]): Promise<void> {
  const lease = await store.lock({ timeoutMs: 0 });
  for (const name of ["x", "y"]) {
    await lease.append(record(name));
    acknowledged.push(name);
  }
  await lease.publish();
  await lease.append(record("z"));
  acknowledged.push("z");
  await lease.release();
}

export async function names(store: StateStore): Promise<readonly string[]> {
  return [...(await store.read()).state.records.keys()]
    .map((address) => address.slice("pools.".length))
    .sort();
}

/** Adds records and publishes. */
export async function publish(store: StateStore, ...added: readonly string[]): Promise<State> {
  const lease = await store.lock({ timeoutMs: 0 });
  for (const name of added) await lease.append(record(name));
  const state = await lease.publish();
  await lease.release();
  return state;
}

const incoming = (state: State, more: Partial<Incoming> = {}): Incoming => ({
  state,
  key: "",
  check: () => undefined,
  ...more,
});

const HEX = "a".repeat(64);
const OTHER = `${"b".repeat(63)}c`;
const PASSPHRASE = "correct horse battery staple";
const NO_WAIT = { timeoutMs: 0 };
const HOUR = 3_600_000;
/** Of another state. */
const KEY = new Uint8Array(32).fill(7);

/** `many`: how many runs come at once where that is tried. */
export function storeContract(title: string, open: () => Promise<Shared>, many = 8): void {
  describe(title, () => {
    let shared: Shared;
    beforeEach(async () => {
      shared = await open();
    });
    afterEach(() => shared.close());
    const drive = <T>(clock: VirtualClock, work: Promise<T>): Promise<T> =>
      clock.drive(work, () => shared.busy());

    test("a missing state reads as an empty one, and reading does not write", async () => {
      const { state, diagnostics } = await shared.store().read();
      expect([state.serial, state.records.size, diagnostics]).toEqual([0, 0, []]);
      expect(await shared.store().key({ make: false })).toHaveLength(32);
      expect((await shared.store().lastLock()).heldBy).toBeUndefined();
      expect(await shared.parts()).toEqual([]);
    });

    test("appended entries are read by others, published or not", async () => {
      const lease = await shared.store().lock(NO_WAIT);
      await lease.append(record("a"));
      await lease.publish();
      await lease.append(record("b"));
      await lease.append({ type: "intent", intent: intent("pools.c") });
      expect(await names(shared.store())).toEqual(["a", "b"]);
      await lease.release();
      const { state } = await shared.store().read();
      expect(state.open).toMatchObject([{ address: "pools.c", sent: 1, seq: 3 }]);
    });

    test("numbers of entries continue across publications and processes", async () => {
      await publish(shared.store(), "a", "b");
      const lease = await shared.store().lock(NO_WAIT);
      expect(await lease.append(record("c"))).toBe(3);
      await lease.release();
      const next = await shared.store().lock(NO_WAIT);
      expect(await next.append(record("d"))).toBe(4);
      await next.release();
      expect(await names(shared.store())).toEqual(["a", "b", "c", "d"]);
    });

    test("publishing increases the serial once, and not without new entries", async () => {
      const lease = await shared.store().lock(NO_WAIT);
      expect((await lease.publish()).serial).toBe(0);
      await lease.append(record("a"));
      expect((await lease.publish()).serial).toBe(1);
      expect((await lease.publish()).serial).toBe(1);
      await lease.release();
    });

    test("entries that are ready together are written together, in their order", async () => {
      const lease = await shared.store().lock(NO_WAIT);
      const numbers = await Promise.all(
        Array.from({ length: 50 }, (_, at) => lease.append(record(`p${at}`))),
      );
      expect(numbers).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
      expect((await shared.store().read()).state.records.size).toBe(50);
      await lease.release();
    });

    test("strings of all kinds and numbers beyond 2^53 are restored exactly", async () => {
      const applied = JSON.parse(
        '{"__proto__":{"x":1},"text":"\\u0000\\u2028 \\ud83d\\ude00 \'\\"\\\\ $1 ${x}"}',
      );
      const one = ready("pools.ü/ß", { applied: { ...applied, big: 12345678901234567890n } });
      const lease = await shared.store().lock(NO_WAIT);
      await lease.append({ type: "record", record: one });
      expect((await shared.store().read()).state.records.get(one.address)).toEqual(one);
      await lease.publish();
      await lease.release();
      expect((await shared.store().read()).state.records.get(one.address)).toEqual(one);
    });

    describe("the lock", () => {
      test("a second run is refused with the owner's name", async () => {
        const lease = await shared.store().lock(NO_WAIT);
        const second = shared.store({ owner: BO });
        await expect(second.lock(NO_WAIT)).rejects.toThrow(
          "the state has been locked by ada@laptop (process 1)",
        );
        expect((await second.lastLock()).heldBy).toMatchObject({
          nonce: lease.nonce,
          holder: "ada@laptop (process 1)",
        });
        await lease.release();
        const next = await second.lock(NO_WAIT);
        expect(next.fence).toBeGreaterThan(lease.fence);
        await next.release();
        expect((await second.lastLock()).heldBy).toBeUndefined();
      });

      test("a waiting run acquires it when it is released", async () => {
        const clock = new VirtualClock(NOW);
        const first = await shared.store({ clock }).lock(NO_WAIT);
        const waiting = shared.store({ clock, owner: BO }).lock({ timeoutMs: 100_000 });
        await drive(
          clock,
          clock.sleep(5_000).then(() => first.release()),
        );
        const second = await drive(clock, waiting);
        expect(second.fence).toBe(first.fence + 1);
        expect(clock.now()).toBeLessThan(NOW + 20_000);
        await second.release();
      });

      test("of many runs that come at once, one has it at a time, and what each wrote is there", async () => {
        const clock = new VirtualClock(NOW);
        let holding = 0;
        let most = 0;
        const work = async (pid: number): Promise<void> => {
          const lease = await shared.store({ clock, owner: { ...ADA, pid } }).lock({ timeoutMs: 6_000_000 });
          holding += 1;
          most = Math.max(most, holding);
          await lease.append(record(`p${pid}`));
          await clock.sleep(100);
          await lease.publish();
          holding -= 1;
          await lease.release();
        };
        await drive(clock, Promise.all(Array.from({ length: many }, (_, at) => work(at + 10))));
        expect(most).toBe(1);
        const { state } = await shared.store().read();
        expect([state.records.size, state.serial]).toEqual([many, many]);
      });

      test("the lock of a crashed run is acquired after its lease and its last request have expired", async () => {
        await shared.store().lock(NO_WAIT);
        const clock = new VirtualClock(NOW);
        const second = shared.store({ clock, owner: BO });
        expect(await rejectedCode(drive(clock, second.lock({ timeoutMs: 30_000 })))).toBe("STATE_LOCKED");
        const lease = await drive(clock, second.lock({ timeoutMs: 600_000 }));
        expect(clock.now() - NOW).toBeGreaterThan(TIMES.leaseMs + TIMES.requestMs);
        await lease.release();
      });

      test("the lock of a process that certainly ended is acquired at once", async () => {
        const first = await shared.store().lock(NO_WAIT);
        await first.append(record("a"));
        const lease = await shared
          .store({ owner: BO, isCrashed: ({ pid }) => pid === ADA.pid })
          .lock(NO_WAIT);
        expect(lease.fence).toBe(first.fence + 1);
        expect([...lease.state().records.keys()]).toEqual(["pools.a"]);
        await lease.release();
      });

      test("a running process renews its lease and keeps the lock", async () => {
        const clock = new VirtualClock(NOW);
        const lease = await shared.store({ clock }).lock(NO_WAIT);
        const second = shared.store({ clock, owner: BO });
        const waiting = second.lock({ timeoutMs: 20 * TIMES.leaseMs });
        expect(await rejectedCode(drive(clock, waiting))).toBe("STATE_LOCKED");
        lease.assertHeld();
        await lease.append(record("a"));
        await lease.release();
      });

      test("a process that was paused past its lease writes to neither the service nor the state", async () => {
        const stopped = new VirtualClock(NOW);
        const sleeper = await shared.store({ clock: stopped }).lock(NO_WAIT);
        await sleeper.append(record("mine"));
        const later = new VirtualClock(NOW + 20 * (TIMES.leaseMs + TIMES.requestMs));
        const heir = await drive(
          later,
          shared.store({ clock: later, owner: BO }).lock({ timeoutMs: 600_000 }),
        );
        await heir.append(record("heirs"));
        expect(await rejectedCode(sleeper.append(record("zombie")))).toBe("STATE_LOCK_LOST");
        expect(await rejectedCode(sleeper.publish())).toBe("STATE_LOCK_LOST");
        await drive(stopped, stopped.sleep(TIMES.leaseMs));
        expect(() => sleeper.assertHeld()).toThrow("STATE_LOCK_LOST");
        await sleeper.release().catch(() => undefined);
        await heir.publish();
        await heir.release();
        expect(await names(shared.store())).toEqual(["heirs", "mine"]);
      });

      for (const [where, offsetMs] of [
        ["ahead", 5 * HOUR],
        ["behind", -5 * HOUR],
      ] as const) {
        test(`a run whose clock is 5 hours ${where} is refused while another run holds it`, async () => {
          const clock = new VirtualClock(NOW);
          const lease = await shared.store({ clock }).lock(NO_WAIT);
          const second = shared.store({ clock: new OffsetClock(clock, offsetMs), owner: BO });
          expect(await rejectedCode(second.lock(NO_WAIT))).toBe("STATE_LOCKED");
          const waiting = drive(clock, second.lock({ timeoutMs: 600_000 }));
          await expect(waiting).rejects.toThrow(/last heartbeat \d{1,2} s ago/);
          expect((await second.lastLock()).heldBy).toMatchObject({ nonce: lease.nonce });
          await lease.append(record("a"));
          await lease.release();
        });

        test(`a run whose clock is 5 hours ${where} acquires it from a crashed run after 90 s without a heartbeat`, async () => {
          await shared.store().lock(NO_WAIT);
          const clock = new VirtualClock(NOW);
          const second = shared.store({ clock: new OffsetClock(clock, offsetMs), owner: BO });
          await expect(drive(clock, second.lock({ timeoutMs: 89_000 }))).rejects.toThrow(
            shared.form === "postgres" ? "last heartbeat 89 s ago" : "no heartbeat for 89 s",
          );
          const again = new VirtualClock(shared.form === "postgres" ? NOW + 89_000 : NOW);
          const third = shared.store({ clock: new OffsetClock(again, offsetMs), owner: BO });
          const lease = await drive(again, third.lock({ timeoutMs: 600_000 }));
          expect(again.now() - NOW).toBeGreaterThan(90_000);
          expect(again.now() - NOW).toBeLessThan(95_000);
          await lease.release();
        });

        test(`a run whose clock is set 5 hours ${where} while it waits waits as long as before`, async () => {
          const clock = new VirtualClock(NOW);
          const lease = await shared.store({ clock }).lock(NO_WAIT);
          const wall = new OffsetClock(clock, 0);
          const second = shared.store({ clock: wall, owner: BO });
          const waiting = rejectedCode(drive(clock, second.lock({ timeoutMs: 300_000 })));
          void clock.sleep(30_000).then(() => {
            wall.offsetMs = offsetMs;
          });
          expect(await waiting).toBe("STATE_LOCKED");
          expect(clock.now()).toBe(NOW + 300_000);
          lease.assertHeld();
          await lease.release();
        });
      }

      test("its release stores the entries that nothing waited for", async () => {
        const lease = await shared.store().lock(NO_WAIT);
        await lease.append(record("a"));
        lease.note(record("b"));
        lease.note(record("c"));
        await lease.release();
        expect(await names(shared.store())).toEqual(["a", "b", "c"]);
      });

      test("a wait reports its holder and the time after which the lock expires, once", async () => {
        const clock = new VirtualClock(NOW);
        const lease = await shared.store({ clock }).lock(NO_WAIT);
        const waits: LockWait[] = [];
        const onWait = (wait: LockWait) => waits.push(wait);
        const second = shared.store({ clock, owner: BO });
        await expect(second.lock({ timeoutMs: 0, onWait })).rejects.toThrow("STATE_LOCKED");
        expect(waits).toEqual([]);
        await expect(drive(clock, second.lock({ timeoutMs: 60_000, onWait }))).rejects.toThrow(
          "STATE_LOCKED",
        );
        expect(waits).toEqual([{ holder: "ada@laptop (process 1)", timeoutMs: 60_000, silenceMs: 90_000 }]);
        await lease.release();
      });

      test("a holder whose clock stands still, or is set back, keeps the lock and continues", async () => {
        const clock = new VirtualClock(NOW);
        const wall = new OffsetClock(clock, 0);
        const lease = await shared.store({ clock: wall }).lock(NO_WAIT);
        void clock.sleep(1_000).then(() => {
          wall.stoppedAt = NOW - 5 * HOUR;
        });
        const second = shared.store({ clock, owner: BO });
        const waiting = drive(clock, second.lock({ timeoutMs: 300_000 }));
        expect(await rejectedCode(waiting)).toBe("STATE_LOCKED");
        lease.assertHeld();
        await lease.append(record("a"));
        await lease.release();
      });

      test("a holder whose clock was set back stops 45 s after its last heartbeat, until a late one", async () => {
        const clock = new VirtualClock(NOW);
        const wall = new OffsetClock(clock, 0);
        const gate = Promise.withResolvers<void>();
        let isCut = false;
        const step = () => (isCut ? gate.promise : undefined);
        const lease = await shared.store({ clock: wall, step }).lock(NO_WAIT);
        isCut = true;
        wall.offsetMs = -5 * HOUR;
        await drive(clock, clock.sleep(44_000));
        lease.assertHeld();
        await drive(clock, clock.sleep(1_000));
        expect(() => lease.assertHeld()).toThrow("it was not renewed in time");
        isCut = false;
        gate.resolve();
        await drive(clock, clock.sleep(40_000));
        lease.assertHeld();
        await lease.release();
        expect((await shared.store({ owner: BO }).lastLock()).heldBy).toBeUndefined();
      });

      for (const [length, blockedMs] of [
        ["shorter than the expiry of its lock", 80_000],
        ["as long as the expiry of its lock", 90_000],
        ["much longer", 50 * 60_000],
      ] as const) {
        test(`a run that was blocked for a time ${length} continues if no other run acquired the lock`, async () => {
          const clock = new VirtualClock(NOW);
          const lease = await shared.store({ clock }).lock(NO_WAIT);
          await lease.append(record("before"));
          await clock.advance(blockedMs);
          await drive(clock, lease.append(record("after")));
          lease.assertHeld();
          await drive(clock, lease.publish());
          await lease.append(record("later"));
          await drive(clock, clock.sleep(TIMES.leaseMs));
          lease.assertHeld();
          const second = shared.store({ clock, owner: BO });
          expect(await rejectedCode(second.lock(NO_WAIT))).toBe("STATE_LOCKED");
          await lease.release();
          expect(await names(second)).toEqual(["after", "before", "later"]);
          await (await second.lock(NO_WAIT)).release();
        });
      }

      test("a run that was blocked and a run that watches its lock never hold it at once", async () => {
        const clock = new VirtualClock(NOW);
        const lease = await shared.store({ clock }).lock(NO_WAIT);
        const second = shared.store({ clock, owner: BO });
        const waiting = rejectedCode(drive(clock, second.lock({ timeoutMs: 10 * TIMES.leaseMs })));
        await clock.advance(10_000);
        await clock.advance(5 * TIMES.leaseMs);
        const [first] = await Promise.allSettled([drive(clock, lease.append(record("first")))]);
        const isKept = first.status === "fulfilled";
        expect(await waiting).toBe(isKept ? "STATE_LOCKED" : "fine");
        if (isKept) lease.assertHeld();
        else expect(() => lease.assertHeld()).toThrow("STATE_LOCK_LOST");
        await lease.release();
      });

      test("unlock requires the holder's ID, and fences the holder out", async () => {
        const lease = await shared.store().lock(NO_WAIT);
        const other = shared.store({ owner: BO });
        expect(await rejectedCode(other.unlock({ nonce: "not-it" }))).toBe("STATE_LOCKED");
        expect((await other.lastLock()).heldBy?.nonce).toBe(lease.nonce);
        expect(await other.unlock({ nonce: lease.nonce })).toBe("unlocked");
        expect((await other.lastLock()).heldBy).toBeUndefined();
        expect(await rejectedCode(lease.append(record("late")))).toBe("STATE_LOCK_LOST");
        const next = await other.lock(NO_WAIT);
        expect(next.fence).toBeGreaterThan(lease.fence + 1);
        await next.release();
        expect(await other.unlock({ nonce: next.nonce })).toBe("has ended");
        expect(await other.unlock({ nonce: lease.nonce })).toBe("was free");
        expect(await names(other)).toEqual([]);
      });

      test("unlock requires the ID also of a holder that has crashed, and releases nothing without a lock", async () => {
        const afterCrash = { owner: BO, isCrashed: () => true };
        const lease = await shared.store().lock(NO_WAIT);
        const other = shared.store(afterCrash);
        const wrong = other.unlock({ nonce: "not-it" });
        await expect(wrong).rejects.toMatchObject({
          diagnostics: [
            {
              code: "STATE_LOCKED",
              message: expect.stringMatching(
                /^not-it is not the ID of the last lock: .* no longer holds it$/,
              ),
              hint: expect.stringContaining("the state is not locked"),
            },
          ],
        });
        expect(await other.unlock({ nonce: lease.nonce })).toBe("has ended");
        expect(await other.unlock({})).toBe("was free");
        await lease.release();
        expect(await other.unlock({ nonce: "not-it" })).toBe("was free");
      });

      test("a holder whose journal met another holder sends nothing of what still stands in line", async () => {
        const lease = await shared.store().lock(NO_WAIT);
        await shared.store({ owner: BO }).unlock({ nonce: lease.nonce });
        lease.assertHeld();
        expect(await rejectedCode(lease.append(record("late")))).toBe("STATE_LOCK_LOST");
        expect(() => lease.assertHeld()).toThrow("STATE_LOCK_LOST");
        await lease.release();
      });

      test("only force frees a lock that cannot be read, and never one whose holder can be", async () => {
        await publish(shared.store(), "a");
        const lease = await shared.store().lock(NO_WAIT);
        const other = shared.store({ owner: BO });
        expect(await rejectedCode(other.unlock({ force: true }))).toBe("STATE_LOCKED");
        await shared.damageLock("garbage");
        const hint = expect.stringMatching(/workspace state unlock --force`$/);
        const told = { diagnostics: [{ code: "STATE_LOCKED", hint }] };
        await expect(other.lock(NO_WAIT)).rejects.toMatchObject(told);
        await expect(other.unlock({})).rejects.toMatchObject(told);
        await expect(other.unlock({ nonce: lease.nonce })).rejects.toMatchObject(told);
        expect(await other.unlock({ force: true })).toBe("unlocked");
        expect(await rejectedCode(lease.append(record("late")))).toBe("STATE_LOCK_LOST");
        await publish(other, "b");
        expect(await names(other)).toEqual(["a", "b"]);
      });

      test("an unreadable lock is acquired after the expiry time of a lease", async () => {
        const clock = new VirtualClock(NOW);
        await shared.store().lock(NO_WAIT);
        await shared.damageLock("");
        const next = shared.store({ clock, owner: BO });
        const lease = await drive(clock, next.lock({ timeoutMs: 600_000 }));
        expect(clock.now() - NOW).toBeGreaterThan(TIMES.leaseMs + TIMES.requestMs);
        await lease.release();
      });

      test("a signal ends the wait for it", async () => {
        const clock = new VirtualClock(NOW);
        const lease = await shared.store({ clock }).lock(NO_WAIT);
        const stop = new AbortController();
        const waiting = shared.store({ clock, owner: BO }).lock({ timeoutMs: 600_000, signal: stop.signal });
        const code = rejectedCode(waiting);
        await drive(
          clock,
          clock.sleep(3_000).then(() => stop.abort()),
        );
        expect(await drive(clock, code)).toBe("APPLY_INTERRUPTED");
        await lease.release();
      });
    });

    describe("generations", () => {
      test("five are kept, the newest first", async () => {
        for (let n = 1; n <= 8; n++) await publish(shared.store(), `p${n}`);
        const kept = await shared.store().generations();
        expect(kept.map(({ serial, state }) => [serial, state?.records.size])).toEqual([
          [7, 7],
          [6, 6],
          [5, 5],
          [4, 4],
          [3, 3],
        ]);
      });

      test("one is restored as a new state, and the previous state becomes an earlier version", async () => {
        for (const name of ["a", "b", "c"]) await publish(shared.store(), name);
        const { state, before, copyName } = await shared.store().restore(1, NO_WAIT);
        expect([...state.records.keys()]).toEqual(["pools.a"]);
        expect([state.serial, before?.serial, before?.records.size]).toEqual([4, 3, 3]);
        expect(copyName).not.toBe("");
        expect(await names(shared.store())).toEqual(["a"]);
        expect((await shared.store().generations())[0]).toMatchObject({ serial: 3 });
        await shared.store().restore(3, NO_WAIT);
        expect(await names(shared.store())).toEqual(["a", "b", "c"]);
        await publish(shared.store(), "d");
        expect(await names(shared.store())).toEqual(["a", "b", "c", "d"]);
      });

      test("restoring keeps applied plans and pending requests", async () => {
        await publish(shared.store(), "a");
        await publish(shared.store(), "b");
        const lease = await shared.store().lock(NO_WAIT);
        await lease.append({ type: "nonce", nonce: "applied" });
        await lease.append({ type: "intent", intent: intent("pools.open") });
        await lease.release();
        await shared.store().restore(1, NO_WAIT);
        const { state } = await shared.store().read();
        expect(state.nonces).toEqual(["applied"]);
        expect(state.open).toMatchObject([{ address: "pools.open" }]);
        const next = await shared.store().lock(NO_WAIT);
        expect(await next.append(record("c"))).toBe(5);
        await next.release();
      });

      test("one that is not kept is refused with those that are", async () => {
        await publish(shared.store(), "a");
        await publish(shared.store(), "b");
        await expect(shared.store().restore(9, NO_WAIT)).rejects.toMatchObject({
          diagnostics: [{ code: "STATE_GENERATION", hint: "the only kept version is 1" }],
        });
        expect(await names(shared.store())).toEqual(["a", "b"]);
        const lease = await shared.store().lock(NO_WAIT);
        await lease.release();
      });

      test("a copy from before the entries of an interrupted run is older than they are", async () => {
        const copy = await publish(shared.store(), "a");
        const lease = await shared.store().lock(NO_WAIT);
        await lease.append(record("b"));
        await lease.release();
        const { nextSerial } = await shared.store().read();
        const presents: number[] = [];
        const check = ({ serial }: State) => void presents.push(serial);
        await shared.store().replace(incoming(copy, { check }), NO_WAIT);
        expect(presents).toEqual([nextSerial]);
        expect(nextSerial).toBeGreaterThan(copy.serial);
      });

      test("an older state that is put back keeps applied plans, pending requests, and the present acknowledgements", async () => {
        const copy = await publish(shared.store(), "a");
        const lease = await shared.store().lock(NO_WAIT);
        await lease.append({ type: "nonce", nonce: "applied" });
        await lease.append({ type: "intent", intent: intent("pools.open") });
        await lease.release();
        const acknowledged = [
          { address: "pools.a" as Address, differences: ["d"], until: 9, reason: "r", by: "bo", at: 1 },
        ];
        await shared.store().replace(incoming({ ...copy, acknowledged }), NO_WAIT);
        const { state } = await shared.store().read();
        expect([state.nonces, state.open.map(({ address }) => address), state.acknowledged ?? []]).toEqual([
          ["applied"],
          ["pools.open"],
          [],
        ]);
      });

      test("the present version is not an earlier one", async () => {
        await publish(shared.store(), "a");
        await publish(shared.store(), "b");
        await expect(shared.store().restore(2, NO_WAIT)).rejects.toMatchObject({
          diagnostics: [{ code: "STATE_GENERATION", hint: "the only kept version is 1" }],
        });
      });

      test("one that is not kept is refused with what to do when none is kept", async () => {
        await publish(shared.store(), "a");
        await expect(shared.store().restore(9, NO_WAIT)).rejects.toMatchObject({
          diagnostics: [
            { code: "STATE_GENERATION", hint: expect.stringContaining("`workspace apply --adopt`") },
          ],
        });
      });

      test("a damaged state is replaced by one, above every serial, and a copy of the damage is kept", async () => {
        for (const name of ["a", "b", "c"]) await publish(shared.store(), name);
        const [state] = await shared.parts();
        await shared.damage(state?.name ?? "", new TextEncoder().encode("not a state"));
        expect(await rejectedCode(shared.store().read())).toBe("STATE_CORRUPT");
        expect(await rejectedCode(shared.store().lock(NO_WAIT))).toBe("STATE_CORRUPT");
        const { state: restored, before } = await shared.store().restore(2, NO_WAIT);
        expect([before, restored.records.size]).toEqual([undefined, 2]);
        expect(restored.serial).toBeGreaterThan(3);
        expect((await publish(shared.store(), "d")).serial).toBe(restored.serial + 1);
        expect(await names(shared.store())).toEqual(["a", "b", "d"]);
      });

      test("a lost state or journal is damage that restoring an earlier version repairs", async () => {
        for (const name of ["a", "b"]) await publish(shared.store(), name);
        for (const at of [0, 1]) {
          const parts = await shared.parts();
          await shared.damage(parts[at]?.name ?? "", undefined);
          expect(await rejectedCode(shared.store().read())).toBe("STATE_CORRUPT");
          const [newest] = await shared.store().generations();
          await shared.store().restore(newest?.serial ?? 0, NO_WAIT);
          expect(await names(shared.store())).toEqual(["a"]);
        }
      });
    });

    describe("states from elsewhere", () => {
      test("one takes the place of the present one, under a serial above both", async () => {
        await publish(shared.store(), "a");
        const { state } = await shared.store().read();
        const other = {
          ...state,
          lineage: "other",
          serial: 40,
          records: new Map([["pools.x" as Address, ready("pools.x")]]),
        };
        const placed = await shared.store().replace(incoming(other), NO_WAIT);
        expect([placed.serial, placed.lineage]).toEqual([41, "other"]);
        expect(await names(shared.store())).toEqual(["x"]);
        expect((await publish(shared.store(), "y")).serial).toBe(42);
      });

      test("a check under the lock refuses one, and then nothing has changed", async () => {
        const before = await publish(shared.store(), "a");
        const refusing = incoming(before, {
          check: (present) => {
            throw new Failure({ severity: "error", code: "STATE_LINEAGE", message: present.lineage });
          },
        });
        expect(await rejectedCode(shared.store().replace(refusing, NO_WAIT))).toBe("STATE_LINEAGE");
        expect((await shared.store().read()).state.serial).toBe(1);
        expect((await shared.store().lastLock()).heldBy).toBeUndefined();
      });

      test("it brings the key of its digests along", async () => {
        const key = new Uint8Array(32).fill(5);
        const from = await publish(shared.store(), "a");
        const { keyCheck } = await import("../../src/state/format/encryption.ts");
        await shared.store().replace(incoming(from, { key: keyCheck(key), digestKey: key }), NO_WAIT);
        expect(await shared.store().key({ make: false })).toEqual(key);
      });

      test("a migrated one cannot be continued, until it is migrated back", async () => {
        await publish(shared.store(), "a");
        const lease = await shared.store().lock(NO_WAIT);
        const state = lease.state();
        await lease.retire("postgres://db/x");
        await lease.release();
        await expect(shared.store().read()).rejects.toThrow("migrated to postgres://db/x");
        expect(await rejectedCode(shared.store().lock(NO_WAIT))).toBe("STATE_MOVED");
        await shared.store().replace(incoming(state), NO_WAIT);
        expect(await names(shared.store())).toEqual(["a"]);
      });

      test("a migrated one can be restored from an earlier version, too", async () => {
        await publish(shared.store(), "a");
        await publish(shared.store(), "b");
        const lease = await shared.store().lock(NO_WAIT);
        await lease.retire("elsewhere");
        await lease.release();
        await shared.store().restore(2, NO_WAIT);
        expect(await names(shared.store())).toEqual(["a", "b"]);
      });
    });

    describe("the key of digests", () => {
      test("is made once, and a state remembers which one it was", async () => {
        const key = await shared.store().key({ make: true });
        expect(key).toHaveLength(32);
        expect(await shared.store().key({ make: true })).toEqual(key);
        const writing = shared.store();
        await writing.key({ make: true });
        await publish(writing, "a");
        expect(await shared.store().key({ make: false })).toEqual(key);
        expect(await rejectedCode(shared.store({ keyText: PASSPHRASE }).key({ make: false }))).toBe(
          "STATE_KEY",
        );
      });

      test("of many that make it at once, all get the same", async () => {
        const keys = await Promise.all(Array.from({ length: 5 }, () => shared.store().key({ make: true })));
        expect(new Set(keys.map((key) => key.join())).size).toBe(1);
      });
    });

    describe("encryption", () => {
      const text = async (): Promise<string> =>
        (await shared.parts()).map((part) => new TextDecoder().decode(part.bytes)).join("\n");

      /** A state with an earlier version, a later journal, and digests under a key. */
      const written = async (keyText?: string): Promise<Uint8Array> => {
        const store = shared.store(keyText === undefined ? {} : { keyText });
        const key = await store.key({ make: true });
        await publish(store, "canary1");
        await publish(store, "canary2");
        const lease = await store.lock(NO_WAIT);
        await lease.append(record("canary3"));
        await lease.release();
        return key;
      };
      const ALL = ["canary1", "canary2", "canary3"];

      for (const [what, keyText] of [
        ["32 bytes in hex", HEX],
        ["32 bytes in base64", Buffer.alloc(32, 3).toString("base64")],
        ["a passphrase", PASSPHRASE],
      ] as const)
        test(`under ${what} neither state nor journal shows anything, and both are read with it`, async () => {
          await written(keyText);
          expect(await text()).not.toMatch(/canary|pools|lineage|applied/);
          expect(await names(shared.store({ keyText }))).toEqual(ALL);
          await publish(shared.store({ keyText }), "more");
          expect(await names(shared.store({ keyText }))).toEqual([...ALL, "more"]);
        });

      test("another key, or none, is reported and decrypts nothing", async () => {
        await written(HEX);
        for (const process of [{}, { keyText: OTHER }, { keyText: PASSPHRASE }]) {
          expect(await rejectedCode(shared.store(process).read())).toBe("STATE_KEY");
          expect(await rejectedCode(shared.store(process).lock(NO_WAIT))).toBe("STATE_KEY");
          expect(await rejectedCode(shared.store(process).restore(1, NO_WAIT))).toBe("STATE_KEY");
        }
        expect(await names(shared.store({ keyText: HEX }))).toEqual(ALL);
      });

      test("equal plaintexts have different ciphertexts", async () => {
        const lease = await shared.store({ keyText: HEX }).lock(NO_WAIT);
        for (let n = 0; n < 20; n++) await lease.append({ type: "nonce", nonce: "n" });
        await lease.release();
        const nonces = [...(await text()).matchAll(/"nonce":"([0-9a-f]{24})"/g)].map(([, nonce]) => nonce);
        expect(nonces.length).toBeGreaterThanOrEqual(21);
        expect(new Set(nonces).size).toBe(nonces.length);
      });

      test("an unencrypted state is refused if a key is set, so that none can be planted", async () => {
        await written();
        await expect(shared.store({ keyText: HEX }).read()).rejects.toThrow("is not encrypted");
      });

      for (const [what, from, to] of [
        ["begins it", undefined, HEX],
        ["changes the key", HEX, PASSPHRASE],
        ["changes the key back", PASSPHRASE, OTHER],
        ["ends it", HEX, undefined],
      ] as const)
        test(`rekey ${what}, keeps the key of digests, and also changes older versions`, async () => {
          const key = await written(from);
          const present = to === undefined ? {} : { keyText: to };
          const old = from === undefined ? {} : { oldKeyText: from };
          const { state } = await shared.store({ ...present, ...old }).rekey(NO_WAIT);
          expect(state.serial).toBe(3);
          const store = shared.store(present);
          expect(await names(store)).toEqual(ALL);
          expect(await store.key({ make: false })).toEqual(key);
          if (from !== undefined)
            expect(await rejectedCode(shared.store({ keyText: from }).read())).toBe("STATE_KEY");
          if (to !== undefined) expect(await text()).not.toContain("canary");
          const kept = await store.generations();
          expect(kept.map(({ state }) => state?.records.size)).toEqual([2, 1]);
          await shared.store(present).restore(1, NO_WAIT);
          expect(await shared.store(present).key({ make: false })).toEqual(key);
          expect(await names(shared.store(present))).toEqual(["canary1"]);
        });

      test("rekey names the copies that a restore kept, which it does not encrypt", async () => {
        await written();
        const { copyName } = await shared.store().restore(1, NO_WAIT);
        const { diagnostics } = await shared.store({ keyText: HEX }).rekey(NO_WAIT);
        expect(diagnostics).toMatchObject([
          { code: "STATE_UNENCRYPTED", message: expect.stringContaining(copyName) },
        ]);
      });

      test("a version whose key was replaced by that of another state is restored without its digests", async () => {
        await written();
        const { state } = await shared.store().read();
        const other = incoming({ ...state, lineage: "f".repeat(32) }, { key: keyCheck(KEY), digestKey: KEY });
        await shared.store().replace(other, NO_WAIT);
        const [kept] = await shared.store().generations();
        const { keepsDigests } = await shared.store().restore(kept?.serial ?? 0, NO_WAIT);
        expect(keepsDigests).toBe(false);
        expect((await shared.store().read()).key).toBe("");
        expect(await shared.store().key({ make: true })).toEqual(KEY);
        expect(await names(shared.store())).toEqual(ALL);
      });

      test("repeating rekey keeps the state readable and equal", async () => {
        const key = await written(HEX);
        for (let n = 0; n < 2; n++) await shared.store({ keyText: OTHER, oldKeyText: HEX }).rekey(NO_WAIT);
        expect(await names(shared.store({ keyText: OTHER }))).toEqual(ALL);
        expect(await shared.store({ keyText: OTHER }).key({ make: false })).toEqual(key);
      });

      test("rekey without the old key is refused, and nothing has changed", async () => {
        await written(HEX);
        expect(await rejectedCode(shared.store({ keyText: OTHER }).rekey(NO_WAIT))).toBe("STATE_KEY");
        expect(await names(shared.store({ keyText: HEX }))).toEqual(ALL);
      });
    });

    describe("the history, reported drift, and acknowledgements", () => {
      const run = (id: string, more: Partial<PastRun>): JournalEntry => ({
        type: "run",
        run: pastRun(id, more),
      });
      const address = "pools.a" as Address;
      const acknowledgement = {
        address,
        field: "size",
        differences: ["e"],
        until: 9,
        reason: "load",
        by: "bo",
        at: 3,
      };
      const reported = [{ address, differences: ["d"] }];
      const WHOLE = [["one", "two"], reported, [acknowledgement]];
      const kept = async (store: StateStore) => {
        const { history = [], reported = [], acknowledged = [] } = (await store.read()).state;
        return [history.map(({ id }) => id), reported, acknowledged];
      };
      /** One run is published, the other is in the journal alone. */
      const written = async (store: StateStore) => {
        const lease = await store.lock(NO_WAIT);
        await lease.append(record("a"));
        await lease.append(run("one", { started_at: 1, ended_at: 2, outcome: "applied" }));
        await lease.append({ type: "reported", reported });
        await lease.append({ type: "acknowledged", acknowledgement });
        await lease.publish();
        await lease.append(run("two", { started_at: 3 }));
        await lease.release();
      };

      test("stay when a key is set and changed", async () => {
        await written(shared.store());
        expect(await kept(shared.store())).toEqual(WHOLE);
        await shared.store({ keyText: HEX }).rekey(NO_WAIT);
        expect(await kept(shared.store({ keyText: HEX }))).toEqual(WHOLE);
        await shared.store({ keyText: OTHER, oldKeyText: HEX }).rekey(NO_WAIT);
        expect(await kept(shared.store({ keyText: OTHER }))).toEqual(WHOLE);
      });

      test("go along when the state takes the place of another one", async () => {
        await written(shared.store());
        const { state } = await shared.store().read();
        const other = await publish(shared.store(), "b");
        await shared.store().replace(incoming({ ...state, serial: other.serial }), NO_WAIT);
        expect(await kept(shared.store())).toEqual(WHOLE);
      });

      test("stay when an older state comes back", async () => {
        await publish(shared.store(), "z");
        await written(shared.store());
        await publish(shared.store(), "b");
        await shared.store().restore(1, NO_WAIT);
        expect((await kept(shared.store()))[0]).toEqual(["one", "two"]);
      });

      test("follow a resource to its new address", async () => {
        await written(shared.store());
        const lease = await shared.store().lock(NO_WAIT);
        const to = "pools.b" as Address;
        await lease.append({ type: "moved", from: address, to });
        await lease.release();
        const { state } = await shared.store().read();
        expect(state.history?.map(({ changed }) => changed)).toEqual([[to], [to]]);
        expect(state.reported?.map((one) => one.address)).toEqual([to]);
        expect(state.acknowledged?.map((one) => one.address)).toEqual([to]);
      });
    });

    test("five thousand records are written, published and read", async () => {
      const lease = await shared.store().lock(NO_WAIT);
      for (let n = 0; n < 5_000; n++) lease.note(record(`p${n}`));
      await lease.publish();
      await lease.release();
      expect((await shared.store().read()).state.records.size).toBe(5_000);
    });
  });
}
