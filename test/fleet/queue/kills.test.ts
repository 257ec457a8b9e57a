// Real workers that are killed, and a database that restarts: a small sample of what `npm run fleet` measures.

import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Farm } from "../../../bench/fleet/farm.ts";
import { prepareEmptyFarm, prepareFarm } from "../../../bench/fleet/prepare.ts";
import { nameOf } from "../../../bench/fleet/template.ts";
import { runFleetCommand, startWorker, type WorkerProcess } from "../../../bench/fleet/workers.ts";
import { fleetUrl, openFleet, server } from "./fleet-server.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  server?.stop();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fleet-kills-"));
  folders.push(folder);
  return folder;
}

const LOOK_MS = 50;
const LOOKS = 1_000;

/** Looks again and again; bounded, so that a test that waits for nothing fails. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error("the condition did not hold in time");
}

const requestsOf = (farm: Farm, { id }: WorkerProcess): number =>
  farm
    .visits()
    .flat()
    .filter(({ worker }) => worker === id)
    .reduce((sum, { requests }) => sum + requests, 0);

/** Kills a worker, and makes the database believe that a minute has passed since its last sign. */
async function kill(
  { child, ended }: WorkerProcess,
  { database }: Awaited<ReturnType<typeof openFleet>>,
  schema: string,
) {
  child.kill("SIGKILL");
  await ended;
  const worker = `${hostname()}:${child.pid}`;
  const minute = "interval '1 minute'";
  await database.query(`update ${schema}.leases set expires_at = now() - ${minute} where worker = $1`, [
    worker,
  ]);
  // Jobs of the other workers expire, too: they are only slow then, and their leases protect their runs.
  await database.query(
    `update ${schema}_jobs.job set heartbeat_on = now() - ${minute} where state = 'active'`,
    [],
  );
}

describe.skipIf(server === undefined)("workers as processes", () => {
  test("check every workspace, none twice at once, while one is killed and the database restarts", async () => {
    const folder = newFolder();
    const database = fleetUrl("kills");
    const farm = await prepareFarm({ folder, count: 8, latencyMs: 40 });
    await runFleetCommand(folder, database, ["enqueue", "drift"]);
    const fleet = await openFleet("kills");
    const place = { folder, database, parallelism: 2 };
    const first = startWorker(place);
    await until(() => requestsOf(farm, first) > 5);
    const second = startWorker(place);
    await kill(first, fleet, "kills");
    await until(() => requestsOf(farm, second) > 5);
    server?.restart();
    const names = farm.urls.map((_, at) => nameOf(at));
    const checked = async () => (await fleet.results.recent(1, names)).size === names.length;
    await until(checked);
    second.child.kill("SIGTERM");
    expect(await second.ended).toBe(143);
    const results = await fleet.results.recent(5, names);
    expect([...results.values()].map((found) => found.map(({ status }) => status))).toEqual(
      names.map(() => ["ok"]),
    );
    expect(farm.overlaps()).toBe(0);
    expect(farm.visits().some((visits) => visits.length > 1)).toBe(true);
    await farm.close();
    await fleet.database.close();
  }, 90_000);

  test("finish the apply of a killed worker: its intents are resolved, and nothing is created twice", async () => {
    const folder = newFolder();
    const database = fleetUrl("intents");
    const farm = await prepareEmptyFarm({ folder, count: 1, latencyMs: 5 });
    await runFleetCommand(folder, database, ["enqueue", "apply", "--auto-approve"]);
    const fleet = await openFleet("intents");
    const place = { folder, database, parallelism: 1 };
    const first = startWorker(place);
    await until(() => requestsOf(farm, first) > 80);
    await kill(first, fleet, "intents");
    const second = startWorker(place);
    await until(async () => (await fleet.results.recent(1, [nameOf(0)])).size > 0);
    second.child.kill("SIGTERM");
    await second.ended;
    const applied = (await fleet.results.recent(1, [nameOf(0)])).get(nameOf(0))?.[0];
    expect(applied).toMatchObject({ command: "apply", status: "changes", diagnostics: expect.any(Array) });
    expect(applied?.counts.create).toBeGreaterThan(0);
    expect(applied?.counts.create).toBeLessThan(200);
    expect(farm.overlaps()).toBe(0);
    expect(await runFleetCommand(folder, database, ["plan"])).toContain("1 of 1 workspace: 1 ok.");
    await farm.close();
    await fleet.database.close();
  }, 90_000);
});
