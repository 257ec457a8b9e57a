// Plans that are saved while an earlier run has open intents or another run is active: applied if nothing changed,
// else refused.

import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Address, addressOf } from "../../../../src/core/address.ts";
import { openFileStore } from "../../../../src/state/backends/file/file-backend.ts";
import {
  isCrashedLocally,
  nodeClock,
  nodeFiles,
  nodeRandom,
  thisProcess,
} from "../../../../src/state/backends/file/node-ports.ts";
import type { JournalEntry } from "../../../../src/state/model/record.ts";
import type { Lease } from "../../../../src/state/model/store.ts";
import { PlanSite } from "./plan-site.ts";

let site: PlanSite;
beforeEach(async () => {
  site = await PlanSite.open();
});
afterEach(() => {
  vi.restoreAllMocks();
  return site.close();
});

const store = () =>
  openFileStore({
    fs: nodeFiles,
    clock: nodeClock,
    random: nodeRandom,
    owner: thisProcess(),
    isCrashed: isCrashedLocally,
    folder: join(site.folder, ".workspace/default"),
  });

/** The journal entries of a run that is killed here. */
async function killedAfter(...entries: readonly JournalEntry[]): Promise<void> {
  const lease = await store().lock({ timeoutMs: 0 });
  for (const entry of entries) await lease.append(entry);
  await lease.release();
}

const POOL = { node_type_id: "Standard_DS3_v2", custom_tags: { team: "x" } };
const CREATION: JournalEntry = {
  type: "intent",
  intent: {
    address: addressOf("pools", "c"),
    operation: "instance-pools/create",
    action: "create",
    name: "c",
    token: "t0k3n",
    existed: false,
    wanted: { ...POOL, instance_pool_name: "c" },
    depends_on: [],
  },
};
const SEEN: JournalEntry = { type: "caller", name: "admin@example.com", credential: "c" };

async function records(): Promise<readonly Address[]> {
  return [...(await store().read()).state.records.keys()].sort();
}

test("after a run that was killed between its changes, a plan is saved and applied", async () => {
  await killedAfter(SEEN);
  expect(await site.apply(await site.planned())).toMatchObject({ code: 0 });
});

test("after a run whose last request certainly left nothing, a plan is saved and applied, and the request is settled", async () => {
  await killedAfter(CREATION);
  expect(await site.apply(await site.planned())).toMatchObject({ code: 0 });
  const { state } = await store().read();
  expect(state.open).toEqual([]);
  expect(state.sweeps.map(({ token }) => token)).toEqual(["t0k3n"]);
  expect(await records()).toContain("pools.c");
});

test("after a run whose last request had come through, the plan takes its object over", async () => {
  await killedAfter(CREATION);
  await site.call("instance-pools/create", { ...POOL, instance_pool_name: "c" });
  const writes = await site.writes();
  expect(await site.apply(await site.planned())).toMatchObject({ code: 0 });
  expect(await records()).toContain("pools.c");
  expect((await site.written()).slice(writes)).not.toContain("/api/2.0/instance-pools/create");
});

test("a request that comes through between plan and apply makes the plan stale", async () => {
  await killedAfter(CREATION);
  const plan = await site.planned();
  await site.call("instance-pools/create", { ...POOL, instance_pool_name: "c" });
  const writes = await site.writes();
  expect(await site.apply(plan)).toMatchObject({ code: 4 });
  expect(await site.writes()).toBe(writes);
});

test("a run that is killed after the plan was made makes it stale", async () => {
  const plan = await site.planned();
  await killedAfter(SEEN);
  expect(await site.apply(plan)).toMatchObject({ code: 4 });
});

test("a plan that is made during another run is stale once that run has recorded more", async () => {
  const lease: Lease = await store().lock({ timeoutMs: 0 });
  await lease.append(SEEN);
  const plan = await site.planned();
  await lease.append({ type: "gone", gone: { address: addressOf("groups", "g") } });
  await lease.publish();
  await lease.release();
  const writes = await site.writes();
  expect(await site.apply(plan)).toMatchObject({ code: 4, err: expect.stringContaining("PLAN_STALE") });
  expect(await site.writes()).toBe(writes);
});

const READ_LIMIT_MS = 600_000;

test("an apply of a plan waits for the lock as long as --lock-timeout says", async () => {
  const lease: Lease = await store().lock({ timeoutMs: 0 });
  const waits: number[] = [];
  const { sleep } = nodeClock;
  const asleep = vi.spyOn(nodeClock, "sleep").mockImplementation(async (ms, signal) => {
    if (ms === READ_LIMIT_MS) return sleep(ms, signal);
    waits.push(ms);
    await lease.release();
    asleep.mockImplementation(sleep);
    return sleep(1, signal);
  });
  expect(await site.apply(site.plan, { words: ["--lock-timeout", "60s"] })).toMatchObject({ code: 0 });
  expect(waits).toEqual([1000]);
});
