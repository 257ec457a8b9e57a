// Tests only for a state in a database: tables, poolers, broken connections, many states, TLS, timeouts.

import { createServer, type Server, Socket } from "node:net";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { Failure } from "../../../../src/core/diagnostic.ts";
import { nodeClock, nodeRandom } from "../../../../src/state/backends/file/node-ports.ts";
import { parsePostgresUrl } from "../../../../src/state/backends/postgres/database.ts";
import { openPgDatabase, openPostgresStore } from "../../../../src/state/backends/postgres/pg-database.ts";
import { PostgresBackend } from "../../../../src/state/backends/postgres/postgres-backend.ts";
import { BackedStateStore } from "../../../../src/state/store/state-store.ts";
import { rejectedCode } from "../../../failures.ts";
import { ADA } from "../../build.ts";
import { names, publish, record } from "../../contract.ts";
import { startPostgres } from "./server.ts";

const server = startPostgres(["fsync=off", "log_statement=all", "wal_writer_delay=10000"]);
afterAll(() => server?.stop());

let states = 0;
let state = "";
beforeEach(() => {
  states += 1;
  state = `own${states}`;
});

const urlOf = (more = "", name = state) => parsePostgresUrl(server?.url(name, more) ?? "", "default", {});
const ports = { clock: nodeClock, random: nodeRandom, owner: ADA };
const storeOf = (more = "", name = state) => openPostgresStore({ ...ports, url: urlOf(more, name) });
const sql = async (text: string) => {
  const database = openPgDatabase({ url: urlOf(), clock: nodeClock });
  const { rows } = await database.query(text, []);
  await database.close();
  return rows;
};

describe.skipIf(server === undefined)("with a server", () => {
  test("many first runs at once make the tables once", async () => {
    const more = "&schema=fresh";
    const stores = Array.from({ length: 6 }, (_, at) => storeOf(more, `first${at}`));
    await Promise.all(stores.map((store, at) => publish(store, `p${at}`)));
    for (const [at, store] of stores.entries()) expect(await names(store)).toEqual([`p${at}`]);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("looking makes no tables", async () => {
    const store = storeOf("&schema=untouched");
    expect(await names(store)).toEqual([]);
    expect((await store.lastLock()).heldBy).toBeUndefined();
    expect(await store.generations()).toEqual([]);
    expect(await sql("select to_regnamespace('untouched') as found")).toEqual([{ found: null }]);
    await store.close();
  });

  test("states of one database know nothing of each other", async () => {
    const [a, b] = [storeOf("", "left"), storeOf("", "right")];
    const lease = await a.lock({ timeoutMs: 0 });
    await publish(b, "b");
    await lease.append(record("a"));
    await lease.release();
    expect([await names(a), await names(b)]).toEqual([["a"], ["b"]]);
    await Promise.all([a.close(), b.close()]);
  });

  test("tables of a newer version are refused", async () => {
    const more = "&schema=newer";
    await publish(storeOf(more), "a");
    await sql("update newer.format set version = 2");
    expect(await rejectedCode(storeOf(more).read())).toBe("STATE_FORMAT");
  });

  test("a state that something else wrote is not written over: the serial is compared and set", async () => {
    const store = storeOf();
    const lease = await store.lock({ timeoutMs: 0 });
    await lease.append(record("a"));
    await lease.publish();
    await sql(`update workspace_state.states set serial = 7 where name = '${state}'`);
    await lease.append(record("b"));
    expect(await rejectedCode(lease.publish())).toBe("STATE_LINEAGE");
    await lease.release().catch(() => undefined);
    await store.close();
  });

  test("a row that is missing, or set back, is damage", async () => {
    const store = storeOf();
    for (const name of ["a", "b"]) await publish(store, name);
    await sql(`update workspace_state.states set serial = 1 where name = '${state}'`);
    expect(await rejectedCode(store.read())).toBe("STATE_CORRUPT");
    await sql(`delete from workspace_state.states where name = '${state}'`);
    expect(await rejectedCode(store.read())).toBe("STATE_CORRUPT");
    await store.restore(2, { timeoutMs: 0 });
    expect(await names(store)).toEqual(["a", "b"]);
    await store.close();
  });

  test("a lock that was cleared by hand is acquired at once if it was released, and else after its expiry", async () => {
    const store = storeOf();
    await publish(store, "a");
    const set = (released: boolean) =>
      sql(`update workspace_state.states set claim = null, released = ${released} where name = '${state}'`);
    await set(true);
    await publish(store, "b");
    await set(false);
    expect(await rejectedCode(store.lock({ timeoutMs: 0 }))).toBe("STATE_LOCKED");
    expect(await store.unlock({ force: true })).toBe("unlocked");
    await publish(store, "c");
    expect(await names(store)).toEqual(["a", "b", "c"]);
    await store.close();
  });

  test("a role with the rights that docs/state.md names, and no others, keeps a state", async () => {
    await publish(storeOf("&schema=given"), "a");
    await sql("create role plain login");
    await sql("grant usage on schema given to plain");
    await sql("grant select, insert, update, delete on all tables in schema given to plain");
    const asPlain = (more: string) => {
      const url = parsePostgresUrl(
        (server?.url(state, more) ?? "").replace("//postgres@", "//plain@"),
        "",
        {},
      );
      return openPostgresStore({ ...ports, url });
    };
    for (const name of ["b", "c"]) await publish(asPlain("&schema=given"), name);
    await asPlain("&schema=given").restore(1, { timeoutMs: 0 });
    await publish(asPlain("&schema=given"), "d");
    expect(await names(asPlain("&schema=given"))).toEqual(["a", "d"]);
    await sql("create schema made");
    await sql("grant usage, create on schema made to plain");
    await publish(asPlain("&schema=made"), "a");
    expect(await rejectedCode(publish(asPlain("&schema=refused"), "a"))).toBe("STATE_IO");
    await sql("grant create on database postgres to plain");
    await publish(asPlain("&schema=refused"), "a");
  });

  test("through a transaction pooler: every statement in a separate session", async () => {
    const url = urlOf();
    const own = () => openPgDatabase({ url, clock: nodeClock });
    const pooled = {
      query: async (
        text: string,
        values: readonly (string | number | boolean | null | readonly string[])[],
      ) => {
        const database = own();
        try {
          return await database.query(text, values);
        } finally {
          await database.close();
        }
      },
      script: async (statements: readonly string[]) => {
        const database = own();
        await database.script(statements).finally(() => database.close());
      },
      close: async () => undefined,
    };
    const store = new BackedStateStore(new PostgresBackend({ database: pooled, url }), ports);
    for (const name of ["a", "b", "c"]) await publish(store, name);
    await store.restore(1, { timeoutMs: 0 });
    expect(await names(store)).toEqual(["a"]);
  });

  test("no statement has a name, listens, sets the session, or takes a lock that outlives its transaction", async () => {
    const store = storeOf();
    await publish(store, "a");
    await store.restore(1, { timeoutMs: 0 }).catch(() => undefined);
    await store.close();
    const { readFileSync } = await import("node:fs");
    const log = readFileSync(`${server?.folder}/log`, "utf8");
    expect(log).toContain("execute <unnamed>");
    expect(log).not.toMatch(/execute (?!<unnamed>)\S+:/);
    expect(log).not.toMatch(/\blisten\b|pg_advisory_lock|(statement|<unnamed>): set /i);
  });

  test("each statement is durable also where the server would not wait for its disk", async () => {
    await sql("alter role postgres set synchronous_commit = off");
    const store = storeOf();
    const lease = await store.lock({ timeoutMs: 0 });
    const behind: number[] = [];
    for (let n = 0; n < 5; n++) {
      await lease.append(record(`p${n}`));
      const [row] = await sql("select pg_current_wal_insert_lsn() - pg_current_wal_flush_lsn() as bytes");
      behind.push(Number(row?.bytes));
    }
    await sql("alter role postgres reset synchronous_commit");
    // Others write a little of their own now and then.
    expect(behind).toContain(0);
    await lease.release();
    await store.close();
  });

  test("a restart of the server in the middle of a run costs nothing", async () => {
    const store = storeOf();
    const lease = await store.lock({ timeoutMs: 0 });
    await lease.append(record("a"));
    server?.restart();
    await lease.append(record("b"));
    server?.restart();
    await lease.publish();
    await lease.release();
    expect(await names(store)).toEqual(["a", "b"]);
    await store.close();
  });
});

/** Carries bytes to the server, and loses the answer to a chosen statement after the server has carried it out. */
async function losing(
  statement: RegExp,
): Promise<{ readonly server: Server; readonly port: number; armed: boolean; lost: number }> {
  const proxy = createServer((client) => {
    const upstream = new Socket().connect(`${server?.folder}/.s.PGSQL.5432`);
    let losesNext = false;
    client.on("data", (data) => {
      if (self.armed && statement.test(data.toString("latin1"))) losesNext = true;
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (!losesNext) {
        client.write(data);
        return;
      }
      self.armed = false;
      self.lost += 1;
      client.destroy();
      upstream.destroy();
    });
    for (const socket of [client, upstream]) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  const self = {
    server: proxy,
    port: address !== null && typeof address === "object" ? address.port : 0,
    armed: false,
    lost: 0,
  };
  return self;
}

describe.skipIf(server === undefined)(
  "when a connection breaks after a statement was carried out and before its answer",
  () => {
    test.each([
      ["acquiring the lock", /update workspace_state\.states set fence/],
      ["appending", /unnest/],
      ["publishing", /with [\s\S]*moved as/],
      ["beginning a journal", /begun as/],
      ["a sign of life or giving back", /set released/],
    ])("%s finds its own first attempt and continues", async (_, statement) => {
      const proxy = await losing(statement);
      const url = parsePostgresUrl(
        `postgres://postgres@127.0.0.1:${proxy.port}/postgres?state=${state}`,
        "default",
        {},
      );
      const store = openPostgresStore({ ...ports, url });
      await store.read();
      proxy.armed = true;
      const lease = await store.lock({ timeoutMs: 0 });
      expect(await lease.append(record("a"))).toBe(1);
      await Promise.all([lease.append(record("b")), lease.append(record("c"))]);
      expect((await lease.publish()).serial).toBe(1);
      await lease.append(record("d"));
      await lease.release();
      expect(proxy.lost).toBe(1);
      const direct = storeOf();
      expect(await names(direct)).toEqual(["a", "b", "c", "d"]);
      expect((await direct.read()).state.serial).toBe(1);
      await direct.close();
      await store.close();
      proxy.server.close();
    });
  },
);

test("a server that never answers fails after the timeout, without the password in the error", async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const url = parsePostgresUrl(`postgres://ada:s3cret@127.0.0.1:${port}/d?connect_timeout=1`, "default", {});
  const store = openPostgresStore({ ...ports, url });
  const failure = await store.read().catch((problem: unknown) => problem);
  expect(failure).toBeInstanceOf(Failure);
  expect(JSON.stringify(failure)).not.toContain("s3cret");
  expect(failure).toMatchObject({ diagnostics: [{ code: "STATE_IO" }] });
  silent.close();
  await store.close();
});
