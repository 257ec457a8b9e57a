// The interface of a state store, the same for every backend, and what a store gets from its machine: clock, randomness, files.

import type { Address } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { JournalEntry, State, StateRecord } from "./record.ts";

export interface StateStore {
  /** Its location for messages; contains no password. */
  readonly location: string;
  /** Reads without a lock. Throws Failure if the state is damaged or was migrated elsewhere than `to`. */
  read(options?: StateReadOptions): Promise<Loaded>;
  /** Acquires the lock. Throws Failure with STATE_LOCKED if another run holds it longer than `timeoutMs`. */
  lock(options: LockOptions): Promise<Lease>;
  lastLock(): Promise<LastLock>;
  /** Force-unlocks the holder in `how`. Throws Failure with STATE_LOCKED if another run holds the lock. */
  unlock(how: UnlockRequest): Promise<UnlockResult>;
  /** The key for digests of secrets. On first use, `make` creates and stores one; otherwise, the key is for this run only. */
  key(options: { readonly make: boolean }): Promise<Uint8Array>;
  /** The older states that are kept, the newest first. */
  generations(): Promise<readonly Generation[]>;
  /** Restores an earlier version, also if the current state is damaged; the current one is kept. `check` may refuse that version. */
  restore(serial: number, options: LockOptions, check?: (older: State) => void): Promise<Restored>;
  /** Replaces the present state. `Incoming.check` runs under the lock, and may throw. */
  replace(incoming: Incoming, options: LockOptions): Promise<State>;
  /** Rewrites everything under the current key, whichever key the store was opened with. `check` runs under the lock, and may throw. */
  rekey(options: LockOptions, check?: (state: State) => void): Promise<Rekeyed>;
  close(): Promise<void>;
}

/** The lock that was acquired last. Between two equal ones without a holder, no run wrote the state. */
export interface LastLock {
  /** 0 before the first. */
  readonly fence: number;
  /** Undefined if the lock is certainly free. */
  readonly heldBy?: Pick<LockWait, "holder" | "silenceMs"> & { readonly nonce: string | undefined };
}

/** An older state; only its serial where it cannot be read. */
export interface Generation {
  readonly serial: number;
  readonly state?: State;
  readonly diagnostics: readonly Diagnostic[];
}

/** `force` releases a lock whose holder cannot be read; a readable holder requires its lock ID. */
export interface UnlockRequest {
  readonly nonce?: string;
  readonly force?: boolean;
}

/** `has ended`: the lock had the ID of the request, but its holder has ended or released it. */
export type UnlockResult = "unlocked" | "was free" | "has ended";

export interface Restored {
  readonly state: State;
  /** The previous state, if it could be read. */
  readonly before: State | undefined;
  readonly copyName: string;
  /** Whether the key of its digests is still here; else every secret and sensitive value counts as changed. */
  readonly keepsDigests: boolean;
}

export interface Incoming {
  readonly state: State;
  /** Verifies the key of its digests; empty if it contains none. */
  readonly key: string;
  /** That key itself, if it moves with the state. */
  readonly digestKey?: Uint8Array;
  check(present: State): void;
  /** Runs under the lock, immediately before the write. */
  ready?(present: State): Promise<void>;
}

export interface LockOptions {
  /** How long to wait for another holder; 0 fails at once. */
  readonly timeoutMs: number;
  /** Called when a wait begins, and again if another run acquires the lock meanwhile. */
  readonly onWait?: (wait: LockWait) => void;
  readonly signal?: AbortSignal;
  /** Also opens a state that was migrated to this location, or is being migrated there. */
  readonly to?: string;
}

export interface StateReadOptions extends Pick<LockOptions, "to"> {
  /** Also reads a state that was migrated anywhere. */
  readonly evenIfMoved?: boolean;
}

export interface LockWait {
  /** Undefined if the claim cannot be read. */
  readonly holder: string | undefined;
  readonly timeoutMs: number;
  /** The lock is free after this time without a heartbeat. */
  readonly silenceMs: number;
}

export interface Loaded {
  readonly state: State;
  /** The serial with which the next holder of the lock begins; folding a leftover journal increases it. */
  readonly nextSerial: number;
  /** Verifies the key of its digests of secrets; empty if it contains none. */
  readonly key: string;
  /** Warnings about what a crash left incomplete. */
  readonly diagnostics: readonly Diagnostic[];
}

/** `diagnostics`: of the state before, because the new one no longer has them. */
export type Rekeyed = Pick<Loaded, "state" | "diagnostics">;

/** The lock, and the state that it lets its holder write. */
export interface Lease {
  readonly nonce: string;
  readonly fence: number;
  readonly diagnostics: readonly Diagnostic[];
  /** The state with every entry that was appended. */
  state(): State;
  record(address: Address): StateRecord | undefined;
  /** Returns the number of the entry when it is durable. Throws Failure if that fails; then no more requests may be sent. */
  append(entry: JournalEntry): Promise<number>;
  /** Adds an entry that becomes durable with the next one that is waited for. */
  note(entry: JournalEntry): void;
  /** Throws Failure with STATE_LOCK_LOST if no request that changes something may be sent any longer. */
  assertHeld(): void;
  /** Folds the journal into the state durably. Has no effect without new entries. */
  publish(): Promise<State>;
  /** Marks the state as migrated, or as being migrated, so that no run continues it here. `above`: `State.movingAbove`. */
  retire(to: string, above?: number): Promise<void>;
  /** Releases the lock; appended entries stay in the journal. */
  release(): Promise<void>;
}

/** What an apply does with its lease. */
export type ApplyLease = Pick<
  Lease,
  "nonce" | "state" | "record" | "append" | "note" | "assertHeld" | "publish"
>;

/** The few file operations that a state needs. Paths are absolute. Every other failure than those named here throws. */
export interface FileSystem {
  /** The content of a file; undefined if it does not exist. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Names in a folder, unordered; none if the folder does not exist. */
  list(folder: string): Promise<readonly string[]>;
  /** Makes a folder, private to its user, and those above it. */
  makeFolder(path: string): Promise<void>;
  /** Opens a file for writing, private to its user: empty (`fresh`), or at its end (`append`). */
  open(path: string, how: "fresh" | "append"): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
  /** Hard-links a file to a second name; false if that name exists. */
  link(from: string, to: string): Promise<boolean>;
  /** Succeeds if the file does not exist. */
  remove(path: string): Promise<void>;
  /** Makes the names in a folder durable. */
  syncFolder(path: string): Promise<void>;
}

export interface OpenFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the written data durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface Clock {
  /** Milliseconds since 1970. Other machines may disagree, and a user or a time server may set it. */
  now(): number;
  /** Milliseconds since an arbitrary moment. Nothing sets this clock, so only its differences mean something. */
  elapsed(): number;
  /** Resolves after the time, or as soon as the signal is given; never fails. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Waits for work, but not longer than a time: the work may still end later. */
export async function withinTime(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const done = new AbortController();
  await Promise.race([work.finally(() => done.abort()), clock.sleep(ms, done.signal)]);
}

/** A moment by both clocks. */
export interface Moment {
  readonly now: number;
  readonly elapsed: number;
}

export function momentOf(clock: Clock): Moment {
  return { now: clock.now(), elapsed: clock.elapsed() };
}

/** The greater age by the two clocks: only `now` counts the time of a suspended machine, and only `elapsed` is never set back. */
export function ageOf(clock: Clock, since: Moment): number {
  return Math.max(clock.now() - since.now, clock.elapsed() - since.elapsed);
}

/** Unguessable bytes. */
export type Random = (count: number) => Uint8Array;

/** Random bytes as lower-case hex digits, two for each byte. */
export function randomHex(random: Random, bytes: number): string {
  return toHex(random(bytes));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
