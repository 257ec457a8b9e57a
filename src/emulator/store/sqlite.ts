// The rows of a world in one SQLite file: a write-ahead log, one transaction per request, one process at a time.

import { randomBytes } from "node:crypto";
import { chmodSync, closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { stringifyJson } from "../../core/exact-json.ts";
import { makeFolder } from "../../core/regular-file.ts";
import { fileBlobs } from "./blobs.ts";
import { type Disk, KEY_BYTES, Store, type StoreParts } from "./store.ts";

export class DataInUse extends Error {}

/** Opens or creates the world in a folder. Throws `DataInUse` when another process has it open. */
export function openStore(folder: string, random?: StoreParts["random"]): Store {
  makeFolder(folder, 0o700);
  const disk = openDisk(join(folder, "world.sqlite"));
  return new Store({
    disk,
    blobs: fileBlobs(join(folder, "blobs")),
    key: keptBytes(join(folder, "key"), () => randomBytes(KEY_BYTES).toString("base64"), "base64"),
    random,
  });
}

/** The text of a small private file next to the data; created if it is missing. */
export function keptText(folder: string, name: string, make: () => string): string {
  makeFolder(folder, 0o700);
  return keptBytes(join(folder, name), make, "utf8").toString("utf8");
}

function keptBytes(path: string, make: () => string, encoding: "utf8" | "base64"): Buffer {
  // A crash can leave an empty file.
  if (!existsSync(path) || statSync(path).size === 0) writeFileSync(path, make(), { mode: 0o600 });
  return Buffer.from(readFileSync(path, "utf8").trim(), encoding);
}

/** Creates the file, because SQLite would give it the permissions of its folder; the log file gets the permissions of this one. */
function makePrivate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`])
    if (existsSync(file)) chmodSync(file, 0o600);
}

function openDisk(path: string): Disk {
  makePrivate(path);
  const db = new DatabaseSync(path);
  try {
    db.exec(
      "PRAGMA busy_timeout = 200; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL",
    );
    db.exec(
      "CREATE TABLE IF NOT EXISTS rows (seq INTEGER PRIMARY KEY, tbl TEXT NOT NULL, id TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (tbl, id)) STRICT",
    );
    // The lock is taken by the first write; take it now, so that a second process fails here and not in a request.
    db.exec("BEGIN IMMEDIATE; COMMIT");
  } catch (error) {
    db.close();
    if (error instanceof Error && /locked|busy/i.test(error.message))
      throw new DataInUse(`${path} is in use by another process`, { cause: error });
    throw error;
  }
  return diskOver(db);
}

function diskOver(db: DatabaseSync): Disk {
  const put = db.prepare(
    "INSERT INTO rows (tbl, id, value) VALUES (?, ?, ?) ON CONFLICT (tbl, id) DO UPDATE SET value = excluded.value",
  );
  const drop = db.prepare("DELETE FROM rows WHERE tbl = ? AND id = ?");
  const read = db.prepare("SELECT id, value FROM rows WHERE tbl = ? ORDER BY seq");
  const names = db.prepare("SELECT DISTINCT tbl FROM rows");
  return {
    tables: () => names.all().map((row) => String(row.tbl)),
    rows: (table) => read.all(table).map((row) => [String(row.id), String(row.value)] as const),
    write(changes) {
      db.exec("BEGIN");
      try {
        for (const { table, removed, written } of changes) {
          for (const id of removed) drop.run(table, id);
          for (const [id, value] of written) put.run(table, id, stringifyJson(value));
        }
        db.exec("COMMIT");
      } catch (error) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => db.close(),
  };
}
