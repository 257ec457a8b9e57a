import { expect, test } from "vitest";
import { type WaitPorts, waitUntil } from "../../../src/engine/apply/journaled-writer.ts";
import { VirtualClock } from "../../state/virtual-clock.ts";

function waitingOn(clock: VirtualClock, told: string[] = [], signal?: AbortSignal): WaitPorts {
  return { clock, signal, onWait: (what) => told.push(what), pause: (sleep) => sleep() };
}

test("a condition that is met at the first read causes no wait and no message", async () => {
  const clock = new VirtualClock(0);
  const told: string[] = [];
  expect(await waitUntil("x", async () => 7, 1000, waitingOn(clock, told))).toBe(7);
  expect([clock.now(), told]).toEqual([0, []]);
});

test("reads become less frequent, and waiting is reported once", async () => {
  const clock = new VirtualClock(0);
  const told: string[] = [];
  const looks: number[] = [];
  const look = async (): Promise<true | undefined> => {
    looks.push(clock.now());
    return looks.length === 6 ? true : undefined;
  };
  await clock.drive(waitUntil("a cluster to run", look, 600_000, waitingOn(clock, told)));
  expect(looks).toEqual([0, 1000, 2500, 4750, 8125, 13188]);
  expect(told).toEqual(["a cluster to run"]);
});

test("a long wait still looks every 15 seconds, and soon after the condition is met", async () => {
  const clock = new VirtualClock(0);
  const looks: number[] = [];
  const look = async (): Promise<true | undefined> => {
    looks.push(clock.now());
    return clock.now() >= 300_000 ? true : undefined;
  };
  await clock.drive(waitUntil("a cluster to run", look, 1_200_000, waitingOn(clock)));
  const pauses = looks.slice(1).map((at, before) => at - (looks[before] ?? 0));
  expect(Math.max(...pauses)).toBe(15_000);
  expect(looks.at(-1)).toBeLessThanOrEqual(315_000);
});

test("the deadline is kept, with a last read at its end", async () => {
  const clock = new VirtualClock(0);
  let last = 0;
  const look = async (): Promise<undefined> => {
    last = clock.now();
  };
  await expect(clock.drive(waitUntil("a cluster to run", look, 20_000, waitingOn(clock)))).rejects.toThrow(
    "APPLY_DEADLINE: timed out after 20 s waiting for a cluster to run",
  );
  expect(last).toBe(20_000);
});

test("a stop ends the waiting at once, after one more look", async () => {
  const clock = new VirtualClock(0);
  const stop = new AbortController();
  const waiting = waitUntil("x", async () => undefined, 600_000, waitingOn(clock, [], stop.signal));
  const ended = expect(waiting).rejects.toThrow("APPLY_INTERRUPTED");
  stop.abort();
  await ended;
  expect(clock.now()).toBe(0);
});
