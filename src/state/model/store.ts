// Where a state is kept: what any store offers, be it a folder, a database or the workspace itself.

import type { Address } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { LockClaim } from "../lock/lease-rules.ts";
import type { JournalEntry } from "./journal-entry.ts";
import type { State, StateRecord } from "./record.ts";

export interface StateStore {
  /** Where it is, for people: no password is in it. */
  readonly place: string;
  /** The state as it is, without a lock: for looking and planning. Throws Failure when it is damaged or went elsewhere than `to`. */
  read(options?: Pick<LockOptions, "to">): Promise<Loaded>;
  /** Takes the lock and reads the state for writing. Throws Failure with STATE_LOCKED when somebody holds it longer than `timeoutMs`. */
  lock(options: LockOptions): Promise<Lease>;
  /** Who holds the lock now. */
  holder(): Promise<LockClaim | undefined>;
  /** Takes the lock away from the holder with the nonce that `how` names. Throws Failure with STATE_LOCKED when another one holds it. */
  unlock(how: Unlocking): Promise<Unlocked>;
  /** The key for digests of secrets. Made and kept on first use where `make` says so; else one for this run only. */
  key(options: { readonly make: boolean }): Promise<Uint8Array>;
  /** The older states that are kept, the newest first. */
  generations(): Promise<readonly Generation[]>;
  /** Puts an older state in place, also where the present one is damaged; what is there now is kept aside. */
  restore(serial: number, options: LockOptions): Promise<Restored>;
  /** Puts a state from elsewhere in place of the present one. `check` sees both under the lock, and may throw. */
  replace(incoming: Incoming, options: LockOptions): Promise<State>;
  /** Writes everything again under the present key, whatever key the store was told that it was written under. */
  rekey(options: LockOptions): Promise<State>;
  close(): Promise<void>;
}

/** An older state; only its serial where it cannot be read. */
export interface Generation {
  readonly serial: number;
  readonly state?: State;
  readonly diagnostics: readonly Diagnostic[];
}

/** `force` frees a lock whose holder cannot be read; where one can be, only its nonce does. */
export interface Unlocking {
  readonly nonce?: string;
  readonly force?: boolean;
}

export type Unlocked = "unlocked" | "was free";

export interface Restored {
  readonly state: State;
  /** What stood before, where it could be read. */
  readonly before: State | undefined;
  /** Where a copy of what stood before is kept. */
  readonly aside: string;
}

export interface Incoming {
  readonly state: State;
  /** Check of the key that made its digests; empty where it holds none. */
  readonly key: string;
  /** That key itself, where it comes along. */
  readonly digestKey?: Uint8Array;
  check(present: State): void;
  /** Runs under the lock when nothing but the writing is left to do. */
  ready?(present: State): Promise<void>;
}

export interface LockOptions {
  /** How long to wait for another holder; 0 fails at once. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Opens also a state that went to this place, or is on its way there. */
  readonly to?: string;
}

export interface Loaded {
  readonly state: State;
  /** What the next holder of the lock begins with: folding what a run left in the journal counts as a step. */
  readonly nextSerial: number;
  /** Check of the key that made its digests of secrets; empty while there are none. */
  readonly key: string;
  /** Warnings: what a crash left unfinished. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The lock, and the state that it lets its holder write. */
export interface Lease {
  readonly nonce: string;
  readonly fence: number;
  readonly diagnostics: readonly Diagnostic[];
  /** The state with every entry that was appended. */
  state(): State;
  record(address: Address): StateRecord | undefined;
  /** Adds an entry and gives its number once it is durable. Throws Failure when it cannot be; then nothing may be sent any more. */
  append(entry: JournalEntry): Promise<number>;
  /** Adds an entry that becomes durable with the next one that is waited for. */
  note(entry: JournalEntry): void;
  /** Throws Failure with STATE_LOCK_LOST when the lock is gone or nearly over: no request that changes something may leave. */
  assertHeld(): void;
  /** Folds the journal into the state and makes that durable. Does nothing when nothing was added. */
  publish(): Promise<State>;
  /** Leaves a mark that the state went elsewhere, or is on its way: from then on nothing goes on from here. `above`: see `State.movingAbove`. */
  retire(to: string, above?: number): Promise<void>;
  /** Gives the lock back; entries that were appended stay in the journal. */
  release(): Promise<void>;
}
