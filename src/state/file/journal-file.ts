// The open journal: entries are appended at once and made durable together, one fsync for all that are ready.

import { error, Failure } from "../../core/diagnostic.ts";
import type { Numbered } from "../entry.ts";
import { entryLine } from "../lines.ts";
import type { OpenFile } from "../ports.ts";
import { ioFailure } from "./durable.ts";

export class JournalFile {
  readonly #file: OpenFile;
  /** Looked at before each write; throws when the lock is gone. */
  readonly #check: () => Promise<void>;
  #head: string;
  #lines: string[] = [];
  #turn: Promise<void> | undefined;
  #busy: Promise<void> = Promise.resolve();
  #broken: Failure | undefined;

  constructor(file: OpenFile, head: string, check: () => Promise<void>) {
    this.#file = file;
    this.#head = head;
    this.#check = check;
  }

  /** Digest of the last line, written or about to be. */
  get head(): string {
    return this.#head;
  }

  /** Adds a line; it is written with the next flush. */
  add(one: Numbered): void {
    if (this.#broken !== undefined) throw this.#broken;
    const line = entryLine(this.#head, one);
    this.#head = line.hash;
    this.#lines.push(line.text);
  }

  /** Resolves once every line that was added so far is durable. Calls of one tick share one write and one fsync. */
  flush(): Promise<void> {
    this.#turn ??= this.#next();
    return this.#turn;
  }

  async #next(): Promise<void> {
    const before = this.#busy;
    const turn = (async () => {
      await before;
      this.#turn = undefined;
      await this.#write();
    })();
    // A later flush waits for this one and then finds the journal broken, if it was.
    this.#busy = turn.catch(() => undefined);
    await turn;
  }

  async #write(): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken;
    const lines = this.#lines;
    if (lines.length === 0) return;
    this.#lines = [];
    try {
      await this.#check();
      await this.#file.write(new TextEncoder().encode(lines.join("")));
      await this.#file.sync();
    } catch (failure) {
      this.#broken = ioFailure(failure, "writing the journal");
      throw this.#broken;
    }
  }

  /** After this nothing can be added. */
  async close(): Promise<void> {
    await this.#busy;
    this.#broken ??= new Failure(error("STATE_LOCK_LOST", "the lock on the state was given back"));
    await this.#file.close();
  }
}
