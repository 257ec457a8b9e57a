// Where one state lies: what a folder, a database or the workspace brings, so that everything above it is the same for all.

import type { LockClaim } from "../lock/lease-rules.ts";

/** One stored thing: bytes, and the name that messages call it by. */
export interface StoredText {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface StoredState {
  readonly state?: StoredText;
  readonly journal?: StoredText;
}

/** What messages call the state and the journal where they are missing, the key, and the place itself. */
export interface BackendNames {
  readonly place: string;
  readonly state: string;
  readonly journal: string;
  readonly key: string;
}

/** The greatest claim; `unreadable` where it is torn or from another program. `released`: that it was given back is known all the same. */
export type LatestClaim =
  | { readonly fence: number; readonly claim: LockClaim }
  | {
      readonly fence: number;
      readonly unreadable: string;
      readonly name: string;
      readonly released: boolean;
    };

export interface StateWrite {
  readonly text: string;
  readonly serial: number;
  /** The serial that it follows; 0 when it is the first. The place must still be at it. */
  readonly before: number;
  /** Whether what is there now is a state that is worth keeping as a generation. */
  readonly keepsBefore: boolean;
}

/** An open journal. */
export interface JournalSink {
  /** Resolves once the lines are durable. Throws STATE_LOCK_LOST when another claim rules by now; then nothing was written. */
  write(lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** A claim is whoever's `fence` and `nonce` it carries; every write asserts that no greater fence stands. */
export interface StateBackend {
  readonly names: BackendNames;
  /** How far apart the clocks of those who share the place may be. */
  readonly skewMs: number;
  /** Epoch ms by the clock that claims are dated by. */
  now(): Promise<number>;
  /** Makes what the first write needs. */
  prepare(): Promise<void>;
  /** State and journal as they are now; a reader without the lock may catch them in the middle of a publication. */
  load(): Promise<StoredState>;
  /** Makes durable what a load showed: a run that died may have written it and not waited. */
  settle(): Promise<void>;
  /** The serial that the place is at, where it keeps that apart from the state: the next write has to follow it. */
  serial(): Promise<number | undefined>;
  top(): Promise<LatestClaim | undefined>;
  /** Takes a fence number that nobody has taken, over the claim that was seen; false when somebody was faster. */
  claim(claim: LockClaim, over: LatestClaim | undefined): Promise<boolean>;
  /** Writes one's own claim again: a sign of life, or its release. */
  renew(claim: LockClaim): Promise<void>;
  /** Puts a state in place of the present one, which stays as a generation. Readers see the old or the new, never a mixture. */
  putState(claim: LockClaim, put: StateWrite): Promise<void>;
  /** Puts a journal with one line in place. Whatever still comes for the old one is read by nobody. */
  beginJournal(claim: LockClaim, line: string): Promise<JournalSink>;
  /** Serials of the older states that are kept, the newest first. */
  generations(): Promise<readonly number[]>;
  generation(serial: number): Promise<StoredText | undefined>;
  /** Writes an older state again, in another form. */
  putGeneration(claim: LockClaim, serial: number, text: string): Promise<void>;
  /** Keeps a copy of state and journal as they are, damaged or not; a name for where. */
  keepAside(claim: LockClaim): Promise<string>;
  key(): Promise<string | undefined>;
  /** Only where there is none; somebody else's that was faster wins. */
  makeKey(text: string): Promise<void>;
  /** Replaces the key; without a text it goes. */
  putKey(claim: LockClaim, text: string | undefined): Promise<void>;
  close(): Promise<void>;
}

/** How many older states a place keeps. */
export const GENERATIONS = 5;
