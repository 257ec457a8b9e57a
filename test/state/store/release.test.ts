// The release of a lock after the state could not be written: it does not wait again for a backend that does not answer.

import { expect, test } from "vitest";
import { FileBackend } from "../../../src/state/backends/file/file-backend.ts";
import { BackedStateStore } from "../../../src/state/store/state-store.ts";
import { rejectedCode } from "../../failures.ts";
import { ADA, counting, FOLDER, TIMES } from "../build.ts";
import { record } from "../contract.ts";
import { Disk, memoryFiles } from "../memory-files.ts";
import { VirtualClock } from "../virtual-clock.ts";

const HANGS = () => new Promise<never>(() => undefined);

test("a run whose state cannot be written releases its lock within 15 s, or leaves it to its lease", async () => {
  const clock = new VirtualClock(10_000_000);
  const backend = new FileBackend(memoryFiles(new Disk()), FOLDER);
  const store = new BackedStateStore(backend, { clock, random: counting(1), owner: ADA, times: TIMES });
  const lease = await clock.drive(store.lock({ timeoutMs: 0 }));
  backend.putState = async () => {
    throw new Error("no answer");
  };
  backend.renew = HANGS;
  lease.note(record("late"));
  expect(await clock.drive(rejectedCode(lease.publish()))).toBe("STATE_IO");
  // A heartbeat is in flight.
  await clock.advance(TIMES.leaseMs / 2);
  const from = clock.elapsed();
  await clock.drive(lease.release());
  expect(clock.elapsed() - from).toBeLessThanOrEqual(15_000);
});
