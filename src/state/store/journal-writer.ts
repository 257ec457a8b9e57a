// Writes the journal of a held lock: entries of one turn of the event loop share a write, and after a failure nothing more is added.

import { type Failure, failureOf } from "../../core/diagnostic.ts";
import type { Cipher } from "../format/encryption.ts";
import { entryLine } from "../format/journal.ts";
import { ioFailure, type JournalSink, type LockClaim } from "../model/backend.ts";
import type { NumberedEntry } from "../model/record.ts";

export class JournalWriter {
  readonly #sink: JournalSink;
  readonly #cipher: Cipher;
  readonly #heldClaim: () => Promise<LockClaim>;
  #head: string;
  #lines: string[] = [];
  #turn: Promise<void> | undefined;
  #busy: Promise<void> = Promise.resolve();
  #broken: Failure | undefined;

  /** `heldClaim`: asked before each write; throws Failure with STATE_LOCK_LOST. */
  constructor(sink: JournalSink, head: string, cipher: Cipher, heldClaim: () => Promise<LockClaim>) {
    this.#sink = sink;
    this.#heldClaim = heldClaim;
    this.#head = head;
    this.#cipher = cipher;
  }

  /** Digest of the last line, written or about to be. */
  get head(): string {
    return this.#head;
  }

  add(numberedEntry: NumberedEntry): void {
    if (this.#broken !== undefined) throw this.#broken;
    const line = entryLine(this.#head, numberedEntry);
    this.#lines.push(encryptedLine(this.#cipher, this.#head, line.text));
    this.#head = line.hash;
  }

  /** Resolves when every line added before is durable. Calls in one turn of the event loop share one write. */
  flush(): Promise<void> {
    this.#turn ??= this.#next();
    return this.#turn;
  }

  async #next(): Promise<void> {
    const before = this.#busy;
    const turn = (async () => {
      await before;
      // Other answers that arrived in this turn add their lines: a first apply of 840 needs 290 writes, not 420.
      await new Promise((resolve) => setImmediate(resolve));
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
      await this.#sink.write(await this.#heldClaim(), lines);
    } catch (failure) {
      this.#broken = ioFailure(failure, "writing the journal");
      throw this.#broken;
    }
  }

  /** No entry can be added afterwards. */
  async close(): Promise<void> {
    await this.#busy;
    this.#broken ??= failureOf("STATE_LOCK_LOST", "the state lock was released");
    await this.#sink.close();
  }
}

/** `text` ends its line; so does the result. */
export function encryptedLine(cipher: Cipher, previous: string, text: string): string {
  return cipher.encrypts ? `${cipher.encrypt("journal", previous, text.slice(0, -1))}\n` : text;
}
