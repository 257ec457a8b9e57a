// The lease of a state: the held lock, the entries that are recorded under it, and their publication as a new state; how a lease is opened, and how its journal is written.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, type Failure, failureOf } from "../../core/diagnostic.ts";
import type { Cipher } from "../format/encryption.ts";
import { applyEntry, type Draft, draftOf, emptyState, stateOf } from "../format/fold.ts";
import { beginLine, entryLine } from "../format/journal.ts";
import { snapshotText } from "../format/snapshot.ts";
import { LockKeeper } from "../lock/heartbeat.ts";
import { acquireLock, type LockEnvironment } from "../lock/lock.ts";
import {
  FORMAT_VERSION,
  ioFailure,
  type JournalSink,
  type LockClaim,
  type StateBackend,
} from "../model/backend.ts";
import type { JournalEntry, NumberedEntry, State, StateRecord } from "../model/record.ts";
import { type Lease, type LockOptions, randomHex, withinTime } from "../model/store.ts";
import { type LoadedState, loadFrom } from "./load.ts";

/** Which key makes the digests of secrets: its check, and where the state itself keeps it, the key. */
export interface DigestKey {
  readonly check: string;
  readonly hex?: string;
}

interface LeaseInput {
  readonly backend: StateBackend;
  readonly environment: LockEnvironment;
  readonly cipher: Cipher;
  readonly claim: LockClaim;
  readonly loaded: LoadedState;
  readonly digestKey: () => DigestKey;
  /** The serial that the place is at, where the state in it cannot be read. */
  readonly standing?: number;
}

/** Entries that nothing waits for are written when there are as many, so that they do not fill the memory. */
const MOST_NOTED = 1_000;

/** How long a run whose state could not be written waits until its lock is released. */
const RELEASE_MS = 10_000;

class HeldLease implements Lease {
  readonly nonce: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly #backend: StateBackend;
  readonly #environment: LockEnvironment;
  readonly #cipher: Cipher;
  readonly #digestKey: () => DigestKey;
  readonly #hold: LockKeeper;
  #draft: Draft;
  /** Serial and digest of the current state; the digest is empty before the first state. */
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

  constructor({ backend, environment, cipher, claim, loaded: loadedState, digestKey, standing }: LeaseInput) {
    this.nonce = claim.nonce;
    this.diagnostics = loadedState.diagnostics;
    this.#backend = backend;
    this.#environment = environment;
    this.#cipher = cipher;
    this.#carried = claim.seq ?? 0;
    this.#hold = new LockKeeper(backend, environment, claim, () => Math.max(this.#durable, this.#carried));
    this.#durable = loadedState.seq;
    this.#digestKey = digestKey;
    this.#draft = draftOf(loadedState.state);
    const serial = standing ?? (loadedState.snapshot ?? loadedState).state.serial;
    this.#standing = { serial, digest: loadedState.snapshot?.digest ?? "" };
    this.#folded = loadedState.head;
    this.#seq = loadedState.seq;
    this.#dirty = loadedState.unfolded;
  }

  get fence(): number {
    return this.claim.fence;
  }

  /** The claim that it rests on, as last renewed. */
  get claim(): LockClaim {
    return this.#hold.claim;
  }

  /** Folds the remains of an earlier run, then starts a new journal. */
  async begin(): Promise<void> {
    if (this.#dirty) {
      await this.#backend.syncJournal();
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
    const numbered = { seq: this.#seq + 1, at: this.#environment.clock.now(), entry };
    this.#openJournal().add(numbered);
    this.#seq = numbered.seq;
    this.#dirty = true;
    applyEntry(this.#draft, numbered);
    return numbered;
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
      await this.#backend.putState(await this.#hold.heldClaim(), {
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
    const claim = await this.#hold.heldClaim();
    const line = beginLine({
      format_version: FORMAT_VERSION,
      lineage: this.#draft.lineage,
      serial: this.#draft.serial,
      state: this.#standing.digest,
      fence: claim.fence,
      seq: this.#seq,
    });
    try {
      const sink = await this.#backend.beginJournal(claim, encryptedLine(this.#cipher, "", line.text));
      this.#journal = new JournalWriter(sink, line.hash, this.#cipher, () => this.#hold.heldClaim());
    } catch (failure) {
      throw ioFailure(failure, "beginning the journal");
    }
  }

  async release(): Promise<void> {
    if (!this.#failed) return this.#release();
    // The caller has reported the failure, and the lease expires: a state that cannot be reached is not waited for again.
    await withinTime(this.#environment.clock, RELEASE_MS, this.#release());
  }

  async #release(): Promise<void> {
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

export interface StoreContext {
  readonly backend: StateBackend;
  readonly environment: LockEnvironment;
  readonly cipher: Cipher;
}

export function emptyLoadedState({ environment }: Pick<StoreContext, "environment">): LoadedState {
  const state = emptyState(randomHex(environment.random, 16));
  return { state, snapshot: undefined, seq: 0, head: "", fence: 0, unfolded: false, diagnostics: [] };
}

/** Acquires the lock, even if the state cannot be read. */
export async function claimLock(
  { backend, environment }: Pick<StoreContext, "backend" | "environment">,
  options: LockOptions,
  readState: () => Promise<LoadedState | undefined>,
): Promise<LockClaim> {
  try {
    await backend.prepare();
    const above = (await readState())?.fence ?? 0;
    return await acquireLock(backend, environment, { ...options, above });
  } catch (failure) {
    throw ioFailure(failure, "acquiring the lock");
  }
}

/** Runs work under a new claim; if it fails, releases the lock. */
export async function withClaim<T>(
  backend: StateBackend,
  claim: LockClaim,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    await backend.renew({ ...claim, released: true }).catch(() => undefined);
    throw failure;
  }
}

/** Takes the lock and opens the state that is there. `lineage`: of what will be put there; a place without a state begins with it. */
export async function lockAndOpen(
  storeContext: StoreContext,
  options: LockOptions,
  check: (loadedState: LoadedState) => void,
  digestKey: (loadedState: LoadedState) => DigestKey,
  lineage?: string,
): Promise<HeldLease> {
  const { backend, cipher } = storeContext;
  const load = (): Promise<LoadedState | undefined> => loadFrom(backend, cipher);
  const claim = await claimLock(storeContext, options, load);
  return withClaim(backend, claim, async () => {
    const loadedState = begunAs(lineage, (await load()) ?? emptyLoadedState(storeContext));
    check(loadedState);
    const ofState = () => digestKey(loadedState);
    const lease = new HeldLease({ ...storeContext, claim, loaded: loadedState, digestKey: ofState });
    await lease.begin();
    return lease;
  });
}

/** A journal of one lineage next to a state of another would look like damage to a run that reads in between. */
function begunAs(lineage: string | undefined, loadedState: LoadedState): LoadedState {
  if (lineage === undefined || loadedState.snapshot !== undefined || loadedState.unfolded) return loadedState;
  return { ...loadedState, state: { ...loadedState.state, lineage } };
}

/** Opens a backend whose current state is discarded: from the first write on, it contains `state`. */
export async function openLeaseWith(requirements: LeaseInput, state: State, seq: number): Promise<HeldLease> {
  const lease = new HeldLease(requirements);
  lease.substitute(state, seq);
  await lease.begin();
  return lease;
}

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
