// Tests only for a state in the workspace's own file system: lost answers, large states, late writers.

import { expect, test } from "vitest";
import { Files } from "../../../../src/state/backends/workspace-file/files.ts";
import { rejectedCode } from "../../../failures.ts";
import { ADA, BO, ready } from "../../build.ts";
import { names, publish, record, writeAndPublish } from "../../contract.ts";
import { inWorkspace, NOW, type Step } from "../../sharing.ts";
import { VirtualClock } from "../../virtual-clock.ts";

const NO_WAIT = { timeoutMs: 0 };
const utf8 = new TextEncoder();

/** Fails request number `at`, before it is sent or after it was carried out. */
function failing(at: number, when: "before" | "after"): { readonly step: Step; readonly seen: string[] } {
  const seen: string[] = [];
  const step: Step = (what) => {
    if (!what.startsWith(when)) return undefined;
    seen.push(what);
    if (seen.length - 1 !== at) return undefined;
    return Promise.reject(
      Object.assign(new Error("socket hang up"), { code: "ECONNRESET", syscall: "read" }),
    );
  };
  return { step, seen };
}

for (const when of ["before", "after"] as const)
  test(`a connection that breaks ${when} any request is carried out costs nothing that was promised`, {
    timeout: 120_000,
  }, async () => {
    const calm = await inWorkspace();
    const counted = failing(-1, when);
    await writeAndPublish(calm.store({ clock: new VirtualClock(NOW), step: counted.step }), []);
    await calm.close();
    const wrong: string[] = [];
    let finished = 0;
    for (let at = 0; at < counted.seen.length; at++) {
      const shared = await inWorkspace();
      await publish(shared.store(), "a");
      const clock = new VirtualClock(NOW);
      const acknowledged: string[] = [];
      const code = await clock.drive(
        rejectedCode(writeAndPublish(shared.store({ clock, step: failing(at, when).step }), acknowledged)),
        () => shared.busy(),
      );
      if (code === "fine") finished += 1;
      else if (!["STATE_IO", "STATE_LOCKED"].includes(code)) wrong.push(`${at} ${counted.seen[at]}: ${code}`);
      const found = await names(shared.store());
      const lost = ["a", ...acknowledged].filter((name) => !found.includes(name));
      if (lost.length > 0) wrong.push(`${at} ${counted.seen[at]}: lost ${lost}`);
      const next = shared.store({ isCrashed: () => true });
      await publish(next, "next");
      await shared.close();
    }
    expect(wrong).toEqual([]);
    // Most are simply retried, or read.
    expect(finished).toBeGreaterThan(counted.seen.length * 0.8);
  });

test("a state of more than a megabyte goes in blocks, and comes back", async () => {
  const shared = await inWorkspace();
  const lease = await shared.store().lock(NO_WAIT);
  for (let n = 0; n < 8_000; n++)
    lease.note({ type: "record", record: ready(`pools.p${n}`, { applied: { note: "x".repeat(60) } }) });
  await lease.publish();
  await lease.release();
  const [state] = await shared.parts();
  expect(state?.bytes.length).toBe(1_000_000);
  expect((await shared.store().read()).state.records.size).toBe(8_000);
  await shared.close();
});

test("a state of which the service loses a block is written again", async () => {
  let stored: readonly Uint8Array[] = [];
  let blocks: Uint8Array[] = [];
  let sent = 0;
  const files = new Files({
    read: async (_operation, { offset, length } = {}) => {
      const from = Number(offset);
      const piece = Buffer.concat(stored).subarray(from, from + Number(length));
      return { bytes_read: piece.length, data: piece.toString("base64") };
    },
    write: async (operation, { data }) => {
      if (operation === "fs/create") blocks = [];
      else if (operation === "fs/close") stored = blocks;
      else if (data instanceof Uint8Array && ++sent !== 2) blocks.push(data);
      return { handle: 1 };
    },
  });
  const bytes = new Uint8Array(2 * 1024 * 1024 + 3).fill(7);
  await files.put("/state", bytes);
  expect(sent).toBe(6);
  expect(Buffer.concat(stored).equals(bytes)).toBe(true);
});

test("a segment that is missing in the middle of a journal is damage, told with its place", async () => {
  const shared = await inWorkspace();
  const lease = await shared.store().lock(NO_WAIT);
  for (const name of ["a", "b", "c"]) await lease.append(record(name));
  await lease.release();
  const parts = await shared.parts();
  await shared.damage(parts[1]?.name ?? "", undefined);
  await expect(shared.store().read()).rejects.toThrow(
    /journal\.1\.1\.0\.0 is damaged at byte \d+: its segment 1 is missing/,
  );
  await shared.close();
});

test("late entries of a stale run in its own journal are not read", async () => {
  const shared = await inWorkspace();
  const zombie = await shared.store({ owner: ADA }).lock(NO_WAIT);
  await zombie.append(record("mine"));
  const heir = await shared.store({ owner: BO, isCrashed: () => true }).lock(NO_WAIT);
  const segment = utf8.encode(
    `{"hash":"${"0".repeat(64)}","seq":9,"at":1,"entry":{"type":"nonce","nonce":"zombie"}}\n`,
  );
  await shared.damage("journal.1.1.0.0/7", segment);
  await shared.damage("state.9.1", segment);
  await heir.append(record("heirs"));
  expect(await names(shared.store())).toEqual(["heirs", "mine"]);
  await heir.publish();
  await heir.release();
  expect(await names(shared.store())).toEqual(["heirs", "mine"]);
  await publish(shared.store(), "more");
  expect(await names(shared.store())).toEqual(["heirs", "mine", "more"]);
  await shared.close();
});

test("an interrupted lock leaves an empty file: it expires, then is acquired", async () => {
  const shared = await inWorkspace();
  await shared.damage("lock.4", new Uint8Array());
  const clock = new VirtualClock(NOW);
  const store = shared.store({ clock });
  expect(await rejectedCode(store.lock(NO_WAIT))).toBe("STATE_LOCKED");
  const lease = await clock.drive(store.lock({ timeoutMs: 600_000 }), () => shared.busy());
  expect(lease.fence).toBe(5);
  await lease.release();
  await shared.close();
});

test("reading a location without a state costs one list for the lock and one for the state", async () => {
  const shared = await inWorkspace();
  const requests: string[] = [];
  const step: Step = (what) => {
    if (what.startsWith("before")) requests.push(what);
    return undefined;
  };
  expect((await shared.store({ step }).read()).state.records.size).toBe(0);
  expect(requests).toHaveLength(2);
  await shared.close();
});
