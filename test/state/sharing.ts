// One state as several processes share it, for each form of store: what the tests of all stores are run against.

import { createClient } from "../../src/api/client.ts";
import { openFileStore } from "../../src/state/backends/file/file-backend.ts";
import { type Database, parsePostgresUrl } from "../../src/state/backends/postgres/database.ts";
import { openPgDatabase } from "../../src/state/backends/postgres/pg-database.ts";
import { PostgresBackend } from "../../src/state/backends/postgres/postgres-backend.ts";
import { openWorkspaceStore } from "../../src/state/backends/workspace-file/workspace-backend.ts";
import type { LockOwner } from "../../src/state/model/backend.ts";
import type { Clock, StateStore } from "../../src/state/model/store.ts";
import { BackedStateStore } from "../../src/state/store/state-store.ts";
import { ADMIN_TOKEN, startWorld, type TestWorld } from "../emulator/harness.ts";
import type { PostgresServer } from "./backends/postgres/server.ts";
import { ADA, counting, FOLDER, TIMES } from "./build.ts";
import { Disk, memoryFiles } from "./memory-files.ts";
import { OffsetClock, VirtualClock } from "./virtual-clock.ts";

export interface Process {
  readonly clock?: Clock;
  readonly owner?: LockOwner;
  readonly seed?: number;
  readonly isCrashed?: (owner: LockOwner) => boolean;
  readonly keyText?: string;
  readonly oldKeyText?: string;
  /** Called before each operation on the place, and after each whose answer may be lost; may never settle. */
  readonly step?: Step;
}

export type Step = (what: string) => Promise<void> | undefined;

/** A stored file or row, to be damaged. */
export interface Part {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface Shared {
  readonly form: "file" | "postgres" | "workspace";
  /** The store of one more process. */
  store(process?: Process): StateStore;
  /** Whether work is pending that no clock waits for. */
  busy(): boolean;
  /** The files or rows of state and journal, in the order of writing. */
  parts(): Promise<readonly Part[]>;
  /** Replaces a part; without bytes it goes. */
  damage(name: string, bytes: Uint8Array | undefined): Promise<void>;
  /** Replaces what the greatest claim says. */
  damageLock(text: string): Promise<void>;
  close(): Promise<void>;
}

export const NOW = 1_000_000;

function options(process: Process, seed: number) {
  const { clock = new VirtualClock(NOW), owner = ADA, isCrashed, keyText, oldKeyText } = process;
  return {
    clock,
    owner,
    random: counting(process.seed ?? seed),
    times: TIMES,
    ...(isCrashed === undefined ? {} : { isCrashed }),
    ...(keyText === undefined ? {} : { keyText }),
    ...(oldKeyText === undefined ? {} : { oldKeyText }),
  };
}

export async function onDisk(): Promise<Shared> {
  const disk = new Disk();
  let seed = 0;
  return {
    form: "file",
    store(process = {}) {
      const fs = memoryFiles(disk, { before: (operation, path) => process.step?.(`${operation} ${path}`) });
      return openFileStore({ folder: FOLDER, fs, ...options(process, ++seed) });
    },
    busy: () => false,
    parts: async () =>
      ["state.json", "journal.jsonl"].flatMap((name) => {
        const bytes = disk.bytes(`${FOLDER}/${name}`);
        return bytes === undefined ? [] : [{ name, bytes }];
      }),
    damage: async (name, bytes) => {
      if (bytes === undefined) disk.names.delete(`${FOLDER}/${name}`);
      else disk.put(`${FOLDER}/${name}`, bytes);
    },
    damageLock: async (text) => {
      for (const path of [...disk.names.keys()].filter((name) => /\/lock\.\d+$/.test(name)))
        disk.put(path, new TextEncoder().encode(text));
    },
    close: async () => undefined,
  };
}

let states = 0;
const databases = new Map<PostgresServer, Database>();

/** A separate state in a database that others use, too. */
export async function onPostgres(server: PostgresServer | undefined): Promise<Shared> {
  if (server === undefined) throw new Error("tests without a server are skipped");
  states += 1;
  const url = parsePostgresUrl(server.url(`state ${states}`), "default", {});
  let under = 0;
  let seed = 0;
  const database = databases.get(server) ?? openPgDatabase({ url, clock: new VirtualClock(NOW) });
  databases.set(server, database);
  const counted = async <T>(what: string, step: Step | undefined, work: () => Promise<T>): Promise<T> => {
    await step?.(`before ${what}`);
    under += 1;
    const done = await work().finally(() => {
      under -= 1;
    });
    await step?.(`after ${what}`);
    return done;
  };
  const databaseOf = (step: Step | undefined): Database => ({
    query: (sql, values) => counted(sql, step, () => database.query(sql, values)),
    script: (statements) => counted("tables", step, () => database.script(statements)),
    close: async () => undefined,
  });
  const sql = (text: string, ...values: readonly (string | number)[]) =>
    database.query(text, [url.state, ...values]);
  return {
    form: "postgres",
    store: (process = {}) => {
      const given = options(process, ++seed);
      // The server has one clock, whatever the machines say.
      const server = given.clock instanceof OffsetClock ? given.clock.base : given.clock;
      const now = (): number => server.now();
      return new BackedStateStore(
        new PostgresBackend({ database: databaseOf(process.step), url, now }),
        given,
      );
    },
    busy: () => under > 0,
    async parts() {
      const made = await database.query(
        "select to_regclass('workspace_state.states') is not null as made",
        [],
      );
      if (made.rows[0]?.made !== true) return [];
      const { rows: bodies } = await sql(
        "select g.body from workspace_state.generations g join workspace_state.states s using (name, serial) where name = $1",
      );
      const { rows: lines } = await sql(
        "select n, line from workspace_state.journal where name = $1 order by n",
      );
      const part = (name: string, text: unknown): Part => ({
        name,
        bytes: new TextEncoder().encode(String(text)),
      });
      return [
        ...bodies.map((row) => part("state", row.body)),
        ...lines.map((row) => part(String(row.n), row.line)),
      ];
    },
    async damage(name, bytes) {
      const isState = name === "state";
      if (bytes === undefined) {
        const current = "serial = (select serial from workspace_state.states where name = $1)";
        const row = isState ? current : `n = ${Number(name)}`;
        await sql(
          `delete from workspace_state.${isState ? "generations" : "journal"} where name = $1 and ${row}`,
        );
        return;
      }
      const [into, from, conflict] = isState
        ? [
            "generations (name, serial, fence, body)",
            "name, serial, fence, $2",
            "(name, serial) do update set body",
          ]
        : [
            "journal (name, journal, n, line)",
            `name, journal, ${Number(name)}, $2`,
            "(name, journal, n) do update set line",
          ];
      await sql(
        `insert into workspace_state.${into} select ${from} from workspace_state.states where name = $1 on conflict ${conflict} = $2`,
        new TextDecoder().decode(bytes),
      );
    },
    damageLock: async (text) => {
      await sql("update workspace_state.states set claim = $2 where name = $1", text);
    },
    close: async () => undefined,
  };
}

const IN_WORKSPACE = "/Shared/.states/etl";

export async function inWorkspace(): Promise<Shared> {
  const world = await startWorld();
  let under = 0;
  let seed = 0;
  const api = (clock: Clock, step: Step | undefined) =>
    createClient({
      transport: async ({ method, path, headers, body }) => {
        const what = `${method} ${path.replace(/\?.*/, "")}`;
        await step?.(`before ${what}`);
        under += 1;
        const answer = await world
          .app({ method, path, headers, ...(body === undefined ? {} : { body }) })
          .finally(() => {
            under -= 1;
          });
        await step?.(`after ${what}`);
        return answer;
      },
      host: "http://workspace.test",
      token: ADMIN_TOKEN,
      clock: () => clock.now(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      random: () => 0.5,
    }).writer;
  return {
    form: "workspace",
    store: (process = {}) => {
      const given = options(process, ++seed);
      return openWorkspaceStore({
        api: api(given.clock, process.step),
        folder: IN_WORKSPACE,
        ...given,
      });
    },
    busy: () => under > 0,
    parts: () => partsIn(world),
    damage: async (name, bytes) => {
      const path = `${IN_WORKSPACE}/${name}`;
      if (bytes === undefined) await world.post("fs/delete", { path });
      else
        await world.post("fs/put", {
          path,
          contents: Buffer.from(bytes).toString("base64"),
          overwrite: true,
        });
    },
    damageLock: async (text) => {
      const { body } = await world.get("fs/list", { path: IN_WORKSPACE });
      const paths = (body.files ?? []).map((file: { path: string }) => file.path);
      for (const path of paths.filter((one: string) => /\/lock\.\d+$/.test(one)))
        await world.post("fs/put", {
          path,
          contents: Buffer.from(text).toString("base64"),
          overwrite: true,
        });
    },
    close: async () => world.close(),
  };
}

async function partsIn(world: TestWorld): Promise<readonly Part[]> {
  const list = async (path: string): Promise<readonly string[]> => {
    const { body } = await world.get("fs/list", { path });
    return (body.files ?? []).map((file: { path: string }) => file.path);
  };
  const top = await list(IN_WORKSPACE);
  const journal = top.filter((path) => path.includes("/journal.")).at(-1) ?? "";
  const base = /\.(\d+\.\d+)$/.exec(journal)?.[1];
  const order = (path: string): number => Number(path.split("/").at(-1));
  const segments = [...(await list(journal))].sort((a, b) => order(a) - order(b));
  const paths = [...top.filter((path) => path.endsWith(`/state.${base}`)), ...segments];
  return Promise.all(
    paths.map(async (path) => {
      const { body } = await world.get("fs/read", { path, length: 1_000_000 });
      return {
        name: path.slice(IN_WORKSPACE.length + 1),
        bytes: new Uint8Array(Buffer.from(body.data, "base64")),
      };
    }),
  );
}
