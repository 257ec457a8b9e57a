// Statements that the server carries out once more, long after they were tried again; and connections that break inside a transaction.

import { afterAll, describe, expect, test } from "vitest";
import { nodeClock, nodeRandom } from "../../../../src/state/backends/file/node-ports.ts";
import { type Database, parsePostgresUrl } from "../../../../src/state/backends/postgres/database.ts";
import { openPgDatabase, openPostgresStore } from "../../../../src/state/backends/postgres/pg-database.ts";
import { PostgresBackend, statementsOf } from "../../../../src/state/backends/postgres/postgres-backend.ts";
import { BackedStateStore } from "../../../../src/state/store/state-store.ts";
import { openWire } from "../../../simulation/homes/wire.ts";
import { ADA } from "../../build.ts";
import { names, publish, record } from "../../contract.ts";
import { startPostgres } from "./server.ts";

const server = startPostgres();
afterAll(() => server?.stop());

const ports = { clock: nodeClock, random: nodeRandom, owner: ADA };
/** Between two tries over a broken connection nothing has to be waited for. */
const hasty = {
  ...ports,
  clock: {
    ...nodeClock,
    sleep: (ms: number, signal?: AbortSignal) => nodeClock.sleep(ms > 10_000 ? ms : 0, signal),
  },
};
const urlOf = (state: string, more = "") => parsePostgresUrl(server?.url(state, more) ?? "", "default", {});

/** A store, and every statement with which it began a journal, to be carried out again. */
function remembering(state: string) {
  const url = urlOf(state);
  const database = openPgDatabase({ url, clock: nodeClock });
  const again: (() => Promise<unknown>)[] = [];
  const watched: Database = {
    query: (sql, values) => {
      if (sql === statementsOf(url.schema).beginJournal) again.push(() => database.query(sql, values));
      return database.query(sql, values);
    },
    script: (statements) => database.script(statements),
    close: () => database.close(),
  };
  return { store: new BackedStateStore(new PostgresBackend({ database: watched, url }), ports), again };
}

describe.skipIf(server === undefined)("with a server", () => {
  test("a journal whose beginning is carried out once more, late, keeps its lines", async () => {
    const { store, again } = remembering("begun");
    const lease = await store.lock({ timeoutMs: 0 });
    await lease.append(record("a"));
    for (const one of again) await one();
    expect(await names(store)).toEqual(["a"]);
    await lease.append(record("b"));
    await lease.publish();
    await lease.release();
    expect(await names(store)).toEqual(["a", "b"]);
    await store.close();
  });

  test("a heartbeat after the release of the lock does not acquire it again", async () => {
    const url = urlOf("renewed");
    const place = new PostgresBackend({ database: openPgDatabase({ url, clock: nodeClock }), url });
    const store = new BackedStateStore(place, ports);
    const lease = await store.lock({ timeoutMs: 0 });
    const latest = await place.latestClaim();
    const held = latest !== undefined && "claim" in latest ? latest.claim : undefined;
    await lease.release();
    if (held !== undefined) await place.renew(held).catch(() => undefined);
    expect(held?.fence).toBe(1);
    expect((await store.lastLock()).heldBy).toBeUndefined();
    await store.close();
  });

  for (const how of ["before", "during", "after"] as const)
    test(`a connection that breaks ${how} any statement that makes the tables costs nothing`, async () => {
      for (let at = 0; ; at++) {
        const wire = await openWire(server?.folder ?? "", at, how);
        const schema = `broken_${how}_${at}`;
        const url = { ...urlOf("first", `&schema=${schema}`), host: wire.folder };
        const store = openPostgresStore({ ...hasty, url });
        const ran = await publish(store, "a").then(
          () => "fine",
          (failure: unknown) => String(failure),
        );
        const { isBroken } = wire;
        await store.close();
        wire.close();
        const after = openPostgresStore({ ...ports, url: urlOf("first", `&schema=${schema}`) });
        if (ran === "fine") expect(await names(after)).toEqual(["a"]);
        // A server that never answered is not waited for.
        else expect([at < 2, ran]).toEqual([true, expect.stringContaining("STATE_IO")]);
        await after.close();
        if (!isBroken) break;
      }
    });
});
