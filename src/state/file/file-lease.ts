// The lock of a folder while it is held: sign of life, journal, and publication of the folded state.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import type { Entry, Numbered } from "../entry.ts";
import { add, type Draft, draftOf, stateOf } from "../fold.ts";
import { type Claim, lockLost, mayWrite, renewEveryMs } from "../lock.ts";
import type { State, StateRecord } from "../record.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Lease } from "../store.ts";
import { assertTop, rewriteClaim, type Surroundings } from "./claims.ts";
import { inFolder, ioFailure } from "./durable.ts";
import { JournalFile } from "./journal-file.ts";
import { JOURNAL_FILE, type OnDisk } from "./load.ts";
import { putJournal, putState } from "./publish.ts";

/** Opens the folder for writing under a claim: folds what an earlier run left, then begins a journal of its own. */
export async function openLease(
  folder: string,
  around: Surroundings,
  claim: Claim,
  disk: OnDisk,
  keyCheck: () => string,
): Promise<Lease> {
  const lease = new FileLease(folder, around, claim, disk, keyCheck);
  await lease.begin();
  return lease;
}

class FileLease implements Lease {
  readonly nonce: string;
  readonly fence: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly #folder: string;
  readonly #around: Surroundings;
  readonly #keyCheck: () => string;
  readonly #ending = new AbortController();
  readonly #draft: Draft;
  #claim: Claim;
  #snapshot: Snapshot | undefined;
  #folded: string;
  #seq: number;
  #dirty: boolean;
  #journal: JournalFile | undefined;
  #lost: Failure | undefined;
  #beating: Promise<void> = Promise.resolve();

  constructor(folder: string, around: Surroundings, claim: Claim, disk: OnDisk, keyCheck: () => string) {
    this.nonce = claim.nonce;
    this.fence = claim.fence;
    this.diagnostics = disk.diagnostics;
    this.#folder = folder;
    this.#around = around;
    this.#claim = claim;
    this.#keyCheck = keyCheck;
    this.#draft = draftOf(disk.state);
    this.#snapshot = disk.snapshot;
    this.#folded = disk.head;
    this.#seq = disk.seq;
    this.#dirty = disk.unfolded;
  }

  async begin(): Promise<void> {
    if (this.#dirty) await this.#putState();
    await this.#putJournal();
    this.#beating = this.#beat();
  }

  state(): State {
    return stateOf(this.#draft);
  }

  record(address: Address): StateRecord | undefined {
    return this.#draft.records.get(address);
  }

  async append(entry: Entry): Promise<number> {
    const { seq } = this.#add(entry);
    await this.#openJournal().flush();
    return seq;
  }

  note(entry: Entry): void {
    this.#add(entry);
  }

  #add(entry: Entry): Numbered {
    const one = { seq: this.#seq + 1, at: this.#around.clock.now(), entry };
    this.#openJournal().add(one);
    this.#seq = one.seq;
    this.#dirty = true;
    add(this.#draft, one);
    return one;
  }

  #openJournal(): JournalFile {
    if (this.#journal !== undefined) return this.#journal;
    throw new Failure(error("STATE_IO", "the journal is not open: writing the state failed before"));
  }

  assertHeld(): void {
    if (this.#lost !== undefined) throw this.#lost;
    if (!mayWrite(this.#around.times, this.#claim.renewed_at, this.#around.clock.now()))
      throw new Failure(lockLost("it was not renewed in time"));
  }

  async publish(): Promise<State> {
    if (this.#dirty) {
      const journal = this.#openJournal();
      await journal.flush();
      this.#folded = journal.head;
      await journal.close();
      this.#journal = undefined;
      await this.#putState();
      await this.#putJournal();
    }
    return this.state();
  }

  async #putState(): Promise<void> {
    const { fs } = this.#around;
    try {
      await assertTop(fs, this.#folder, this.fence);
      this.#draft.serial += 1;
      const next = { state: this.state(), seq: this.#seq, folded: this.#folded, key: this.#keyCheck() };
      const digest = await putState(fs, this.#folder, next, this.#snapshot, this.nonce);
      this.#snapshot = { ...next, digest };
      this.#dirty = false;
    } catch (failure) {
      throw ioFailure(failure, "writing the state");
    }
  }

  async #putJournal(): Promise<void> {
    const { fs } = this.#around;
    const { lineage, serial } = this.#draft;
    const from = { lineage, serial, state: this.#snapshot?.digest ?? "", fence: this.fence, seq: this.#seq };
    try {
      await assertTop(fs, this.#folder, this.fence);
      const line = await putJournal(fs, this.#folder, from, this.nonce);
      const file = await fs.open(inFolder(this.#folder, JOURNAL_FILE), "append");
      this.#journal = new JournalFile(file, line.hash, () => assertTop(fs, this.#folder, this.fence));
    } catch (failure) {
      throw ioFailure(failure, "beginning the journal");
    }
  }

  /** Signs of life until the lease is given back. A failure only lets the lease run out. */
  async #beat(): Promise<void> {
    const { clock, fs, times } = this.#around;
    const { signal } = this.#ending;
    for (;;) {
      await clock.sleep(renewEveryMs(times), signal);
      if (signal.aborted) return;
      try {
        await assertTop(fs, this.#folder, this.fence);
        const renewed = { ...this.#claim, renewed_at: clock.now() };
        await rewriteClaim(fs, this.#folder, renewed);
        this.#claim = renewed;
      } catch (failure) {
        if (failure instanceof Failure) this.#lost = failure;
      }
    }
  }

  async release(): Promise<void> {
    this.#ending.abort();
    await this.#beating;
    try {
      if (this.#lost === undefined) await this.#journal?.flush();
      await this.#journal?.close();
      if (this.#lost === undefined)
        await rewriteClaim(this.#around.fs, this.#folder, { ...this.#claim, released: true });
    } catch (failure) {
      throw ioFailure(failure, "giving the lock back");
    }
  }
}
