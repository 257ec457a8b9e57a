// Contents that are too large for a row: bytes in a blob, and their length in a row.

import type { Blobs, Collection } from "../world/world.ts";
import type { BlobBytes } from "./blobs.ts";

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
