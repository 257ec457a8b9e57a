// Contents that are too large for a row: their lengths in rows; their bytes in memory or, if the world is persistent, in files.

import { closeSync, mkdirSync, openSync, readdirSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Blobs, Collection } from "../world/world.ts";

/** Raw bytes by id. How many of them count is kept in a row, so bytes past that length are rubbish of an undone request. */
export interface BlobBytes {
  write(id: string, offset: number, bytes: Uint8Array): void;
  read(id: string, offset: number, length: number): Uint8Array;
  remove(id: string): void;
  /** Ids that have bytes here. */
  ids(): readonly string[];
  close(): void;
}

export function fileBlobs(folder: string): BlobBytes {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    write: (id, offset, bytes) =>
      withFile(join(folder, id), offset === 0 ? "w" : "r+", (file) => writeAll(file, offset, bytes)),
    read: (id, offset, length) => withFile(join(folder, id), "r", (file) => readAll(file, offset, length)),
    remove: (id) => rmSync(join(folder, id), { force: true }),
    ids: () => readdirSync(folder),
    close: () => {},
  };
}

function withFile<T>(path: string, flags: string, work: (file: number) => T): T {
  const file = openSync(path, flags, 0o600);
  try {
    return work(file);
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, offset: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done, offset + done);
}

function readAll(file: number, offset: number, length: number): Uint8Array {
  const out = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const count = readSync(file, out, done, length - done, offset + done);
    if (count === 0) throw new Error("a blob is shorter than its row says");
    done += count;
  }
  return out;
}

/** For a world in memory. The pieces of a blob are joined when it is read. */
export function memoryBlobs(): BlobBytes {
  const pieces = new Map<string, Uint8Array[]>();
  const joined = (id: string): Uint8Array => {
    const whole = new Uint8Array(Buffer.concat(pieces.get(id) ?? []));
    pieces.set(id, [whole]);
    return whole;
  };
  return {
    write(id, offset, bytes) {
      const before = pieces.get(id) ?? [];
      const length = before.reduce((sum, piece) => sum + piece.length, 0);
      if (offset === length) pieces.set(id, [...before, bytes.slice()]);
      else pieces.set(id, [joined(id).slice(0, offset), bytes.slice()]);
    },
    read: (id, offset, length) => joined(id).slice(offset, offset + length),
    remove: (id) => pieces.delete(id),
    ids: () => [...pieces.keys()],
    close: () => pieces.clear(),
  };
}

/** Bytes are written before the row that names them, and removed after it: a killed process leaves no row without bytes. */
export class Contents implements Blobs {
  readonly #rows: () => Collection<number>;
  readonly #bytes: BlobBytes;
  readonly #newNumber: () => number;
  #born: string[] = [];
  #dead: string[] = [];

  constructor(rows: () => Collection<number>, bytes: BlobBytes, newNumber: () => number) {
    this.#rows = rows;
    this.#bytes = bytes;
    this.#newNumber = newNumber;
  }

  create(): string {
    const id = `b${this.#newNumber()}`;
    this.#rows().set(id, 0);
    this.#born.push(id);
    return id;
  }

  append(id: string, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const at = this.size(id);
    this.#bytes.write(id, at, bytes);
    this.#rows().set(id, at + bytes.length);
  }

  size(id: string): number {
    const size = this.#rows().get(id);
    if (size === undefined) throw new Error(`blob ${id} does not exist`);
    return size;
  }

  read(id: string, offset: number, length: number): Uint8Array {
    const end = Math.min(this.size(id), offset + length);
    return end <= offset ? new Uint8Array(0) : this.#bytes.read(id, offset, end - offset);
  }

  delete(id: string): void {
    if (this.#rows().delete(id)) this.#dead.push(id);
  }

  /** Puts bytes under an id of their own, as a snapshot has it. */
  put(id: string, bytes: Uint8Array): void {
    this.#bytes.write(id, 0, bytes);
    this.#rows().set(id, bytes.length);
  }

  commit(): void {
    for (const id of this.#dead) if (!this.#rows().has(id)) this.#bytes.remove(id);
    this.#born = [];
    this.#dead = [];
  }

  rollback(): void {
    for (const id of this.#born) this.#bytes.remove(id);
    this.#born = [];
    this.#dead = [];
  }

  /** Removes bytes that no row names, which a process that was killed may have left. */
  sweep(): void {
    const named = new Set(this.#rows().keys());
    for (const id of this.#bytes.ids()) if (!named.has(id)) this.#bytes.remove(id);
  }
}
