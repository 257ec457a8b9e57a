// The held lock for any backend: heartbeats, the journal, and publication of the folded state.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, type Failure, failureOf } from "../../core/diagnostic.ts";
import type { Cipher } from "../format/encryption.ts";
import { add, type Draft, draftOf, stateOf } from "../format/fold.ts";
import { beginLine, entryLine } from "../format/journal.ts";
import { snapshotText } from "../format/snapshot.ts";
import { type LockEnvironment, LockKeeper } from "../lock/lock.ts";
import type { JournalSink, LockClaim, StateBackend } from "../model/backend.ts";
import { FORMAT_VERSION, ioFailure } from "../model/failures.ts";
import type { JournalEntry, NumberedEntry, State, StateRecord } from "../model/record.ts";
import type { Lease } from "../model/store.ts";
import type { LoadedState } from "./load.ts";

/** Which key makes the digests of secrets: its check, and where the state itself keeps it, the key. */
export interface DigestKey {
  readonly check: string;
  readonly hex?: string;
}

export interface LeaseInput {
  readonly backend: StateBackend;
  readonly environment: LockEnvironment;
  readonly cipher: Cipher;
  readonly claim: LockClaim;
  readonly found: LoadedState;
  readonly digestKey: () => DigestKey;
  /** The serial that the place is at, where the state in it cannot be read. */
  readonly standing?: number;
}

/** Entries that nothing waits for are written when there are as many, so that they do not fill the memory. */
const MOST_NOTED = 1_000;

export class HeldLease implements Lease {
  readonly nonce: string;
  readonly fence: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly #backend: StateBackend;
  readonly #environment: LockEnvironment;
  readonly #cipher: Cipher;
  readonly #digestKey: () => DigestKey;
  readonly #hold: LockKeeper;
  #draft: Draft;
  /** Serial and digest of the state that stands; the digest is empty before there is one. */
  #standing: { readonly serial: number; readonly digest: string };
  #folded: string;
  #seq: number;
  /** Number of the last entry that is known to be durable. */
  #durable: number;
  /** The same of the run before, which may have known of entries that the journal lost; until this run writes. */
  #carried: number;
  #dirty: boolean;
  #journal: JournalWriter | undefined;
  /** Whether a caller got a failure to write. */
  #failed = false;
  /** Entries since the last flush. */
  #noted = 0;

  constructor({ backend, environment, cipher, claim, found, digestKey, standing }: LeaseInput) {
    this.nonce = claim.nonce;
    this.fence = claim.fence;
    this.diagnostics = found.diagnostics;
    this.#backend = backend;
    this.#environment = environment;
    this.#cipher = cipher;
    this.#carried = claim.seq ?? 0;
    this.#hold = new LockKeeper(backend, environment, claim, () => Math.max(this.#durable, this.#carried));
    this.#durable = found.seq;
    this.#digestKey = digestKey;
    this.#draft = draftOf(found.state);
    const serial = standing ?? (found.snapshot ?? found).state.serial;
    this.#standing = { serial, digest: found.snapshot?.digest ?? "" };
    this.#folded = found.head;
    this.#seq = found.seq;
    this.#dirty = found.unfolded;
  }

  /** The claim that it rests on, as last renewed. */
  get claim(): LockClaim {
    return this.#hold.claim;
  }

  async begin(): Promise<void> {
    if (this.#dirty) {
      await this.#backend.settle();
      await this.#putState();
    }
    await this.#beginJournal();
    this.#hold.begin();
  }

  state(): State {
    return stateOf(this.#draft);
  }

  record(address: Address): StateRecord | undefined {
    return this.#draft.records.get(address);
  }

  async append(entry: JournalEntry): Promise<number> {
    const { seq } = this.#add(entry);
    await this.#reported(this.#flush());
    return seq;
  }

  note(entry: JournalEntry): void {
    this.#add(entry);
    this.#noted += 1;
    // A failure is kept by the journal, and thrown by the next entry that is waited for.
    if (this.#noted >= MOST_NOTED) this.#flush().catch(() => undefined);
  }

  /** The caller reports the failure of `work`. */
  async #reported<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (failure) {
      this.#failed = true;
      throw failure;
    }
  }

  async #flush(): Promise<void> {
    const seq = this.#seq;
    this.#noted = 0;
    try {
      await this.#openJournal().flush();
    } catch (failure) {
      this.#hold.noticed(failure);
      throw failure;
    }
    if (seq > this.#durable) this.#carried = 0;
    this.#durable = Math.max(this.#durable, seq);
  }

  #add(entry: JournalEntry): NumberedEntry {
    const one = { seq: this.#seq + 1, at: this.#environment.clock.now(), entry };
    this.#openJournal().add(one);
    this.#seq = one.seq;
    this.#dirty = true;
    add(this.#draft, one);
    return one;
  }

  #openJournal(): JournalWriter {
    if (this.#journal !== undefined) return this.#journal;
    throw failureOf("STATE_IO", "the journal is not open because writing the state failed before");
  }

  assertHeld(): void {
    this.#hold.assertHeld();
  }

  /** Everything that is recorded becomes `state`, with the next publication. Its serial is higher than both. */
  substitute(state: State, seq = 0): void {
    const serial = Math.max(this.#draft.serial, state.serial);
    this.#draft = draftOf({ ...state, serial });
    this.#carried = 0;
    this.#seq = Math.max(this.#seq, seq, ...state.open.map((intent) => intent.seq));
    this.#dirty = true;
  }

  async retire(to: string, above?: number): Promise<void> {
    this.#draft.moved = to;
    this.#draft.movingAbove = above;
    this.#dirty = true;
    await this.publish();
  }

  publish(): Promise<State> {
    return this.#reported(this.#published());
  }

  async #published(): Promise<State> {
    if (this.#dirty) {
      const journal = this.#openJournal();
      await this.#flush();
      this.#folded = journal.head;
      await journal.close();
      this.#journal = undefined;
      await this.#putState();
      await this.#beginJournal();
    }
    return this.state();
  }

  async #putState(): Promise<void> {
    try {
      this.#draft.serial += 1;
      const { check, hex } = this.#digestKey();
      const { text, digest } = snapshotText({
        state: this.state(),
        seq: this.#seq,
        folded: this.#folded,
        key: check,
        digestKey: hex,
      });
      const { serial } = this.#draft;
      await this.#backend.putState(this.claim, {
        text: this.#cipher.encryptPieces(text),
        serial,
        before: this.#standing.serial,
        keepsBefore: this.#standing.digest !== "",
      });
      this.#standing = { serial, digest };
      this.#dirty = false;
    } catch (failure) {
      throw ioFailure(failure, "writing the state");
    }
  }

  async #beginJournal(): Promise<void> {
    const line = beginLine({
      format_version: FORMAT_VERSION,
      lineage: this.#draft.lineage,
      serial: this.#draft.serial,
      state: this.#standing.digest,
      fence: this.fence,
      seq: this.#seq,
    });
    try {
      const sink = await this.#backend.beginJournal(this.claim, encryptedLine(this.#cipher, "", line.text));
      this.#journal = new JournalWriter(sink, line.hash, this.#cipher);
    } catch (failure) {
      throw ioFailure(failure, "beginning the journal");
    }
  }

  async release(): Promise<void> {
    await this.#hold.end();
    try {
      if (!this.#hold.isLost && this.#journal !== undefined && !this.#failed) await this.#flush();
      await this.#journal?.close();
      if (!this.#hold.isLost) await this.#hold.release();
    } catch (failure) {
      // A full disk also prevents the release, and the caller has reported it. The lease expires.
      if (!this.#failed) throw ioFailure(failure, "releasing the lock");
    }
  }
}

export class JournalWriter {
  readonly #sink: JournalSink;
  readonly #cipher: Cipher;
  #head: string;
  #lines: string[] = [];
  #turn: Promise<void> | undefined;
  #busy: Promise<void> = Promise.resolve();
  #broken: Failure | undefined;

  constructor(sink: JournalSink, head: string, cipher: Cipher) {
    this.#sink = sink;
    this.#head = head;
    this.#cipher = cipher;
  }

  /** Digest of the last line, written or about to be. */
  get head(): string {
    return this.#head;
  }

  add(one: NumberedEntry): void {
    if (this.#broken !== undefined) throw this.#broken;
    const line = entryLine(this.#head, one);
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
      await this.#sink.write(lines);
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
