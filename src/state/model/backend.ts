// The interface of a state backend and a claim on its lock, the version of state files, and the diagnostics for damaged files and failed operations.

import { Failure, failureOf, thrownText } from "../../core/diagnostic.ts";
import { isOutOfFiles, TOO_MANY_FILES } from "../../core/request-failure.ts";

export interface StoredText {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface StoredState {
  readonly state?: StoredText;
  readonly journal?: StoredText;
}

/** Names in messages for the state and the journal if they are missing, the key, and the location. */
export interface BackendNames {
  readonly location: string;
  readonly state: string;
  readonly journal: string;
  readonly key: string;
}

/** The greatest claim; `unreadable` if it is incomplete or from another program. */
export type LatestClaim =
  | { readonly fence: number; readonly claim: LockClaim }
  | {
      readonly fence: number;
      readonly unreadable: string;
      readonly name: string;
      readonly released: boolean;
    };

export interface StateWrite {
  /** In pieces, each made when it is needed; together the text of the state. */
  readonly text: Iterable<string>;
  readonly serial: number;
  /** The serial that it follows; 0 when it is the first. The place must still be at it. */
  readonly before: number;
  /** Whether the current content is a state worth keeping as a version. */
  readonly keepsBefore: boolean;
}

/** `claim`: the present one of the run that began the journal; it changes when the run acquires an expired lock again. */
export interface JournalSink {
  /** Resolves once the lines are durable. Throws STATE_LOCK_LOST when another claim rules by now; then nothing was written. */
  write(claim: LockClaim, lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** `fence` and `nonce` identify the holder of a claim; every write asserts that no greater fencing token exists. */
export interface StateBackend {
  readonly names: BackendNames;
  /** Epoch ms by the clock of the server, which dates every heartbeat. Missing if each run dates its own. */
  serverNow?(): Promise<number>;
  prepare(): Promise<void>;
  /** The current state and journal; a reader without the lock may read them during a publication. */
  load(): Promise<StoredState>;
  /** Makes loaded data durable, because a crashed run may have written it without a sync. */
  syncJournal(): Promise<void>;
  /** The serial that the place is at, where it keeps that apart from the state: the next write has to follow it. */
  serial(): Promise<number | undefined>;
  latestClaim(): Promise<LatestClaim | undefined>;
  /** Acquires an unused fencing token, over the claim that was read; false if another run was faster. */
  claim(claim: LockClaim, over: LatestClaim | undefined): Promise<boolean>;
  /** Rewrites the own claim: a heartbeat or its release. */
  renew(claim: LockClaim): Promise<void>;
  /** Replaces the current state and keeps it as a version. Readers see the old or the new state, never a mixture. */
  putState(claim: LockClaim, put: StateWrite): Promise<void>;
  /** Replaces the journal by one with a single line. Later writes to the old one are never read. */
  beginJournal(claim: LockClaim, line: string): Promise<JournalSink>;
  /** Serials of the older states that are kept, the newest first. */
  generations(): Promise<readonly number[]>;
  generation(serial: number): Promise<StoredText | undefined>;
  /** Writes an older state again, in another form. */
  putGeneration(claim: LockClaim, serial: number, text: Iterable<string>): Promise<void>;
  /** Keeps a copy of state and journal unchanged, damaged or not; returns the name of its location. */
  keepAside(claim: LockClaim): Promise<string>;
  /** Locations of all such copies. */
  copies(): Promise<readonly string[]>;
  key(): Promise<string | undefined>;
  /** Only if none exists; if another run was faster, its key is used. */
  makeKey(text: string): Promise<void>;
  /** Replaces the key; deletes it if `text` is undefined. */
  putKey(claim: LockClaim, text: string | undefined): Promise<void>;
  close(): Promise<void>;
}

export const GENERATIONS = 5;

export interface LockOwner {
  readonly user: string;
  readonly host: string;
  readonly pid: number;
  /** Names a machine, boot and process space in which `pid` means one process; empty where the system tells none. */
  readonly machine: string;
  /** Distinguishes two processes with the same PID; empty if the system does not provide it. */
  readonly started: string;
  /** The page of the CI run that the process belongs to. */
  readonly run_url?: string;
}

/** One acquisition of the lock. `fence` grows with each; the greatest one holds the lock. Epoch ms by the clock of its holder or of the server. */
export interface LockClaim {
  readonly fence: number;
  readonly nonce: string;
  readonly owner: LockOwner;
  readonly taken_at: number;
  readonly renewed_at: number;
  /** Number of heartbeats, so that each changes the claim, even if the clock of its holder has stopped. */
  readonly beat: number;
  readonly lease_ms: number;
  /** The longest time that a request of the holder may take after its lease expired. */
  readonly request_ms: number;
  readonly released?: true;
  /** Number of the last entry that was durable when the claim was last written. */
  readonly seq?: number;
}

/** When a lease counts: how long it lasts, how often it is renewed, how long its last request may take. */
export interface LeaseTimes {
  readonly leaseMs: number;
  readonly requestMs: number;
}

/** Written into every state and journal. A higher one comes from a newer version of the program. */
export const FORMAT_VERSION = 4;

/** The most bytes of a state.json, a journal, and what `state push` takes: some 240,000 resources. */
export const STATE_BYTES = 256 * 1024 * 1024;

/** Throws STATE_CORRUPT for a file that is larger than any state. Asked before it is read where its size is known. */
export function assertStateSize(file: string, bytes: number): void {
  if (bytes <= STATE_BYTES) return;
  throw failureOf("STATE_CORRUPT", `${file} has ${bytes} bytes; the limit is ${STATE_BYTES}`, {
    hint: "check the location in --state; to return to an earlier version, run `workspace state restore`",
  });
}

/** For a location that no run has written to. `so`: what is then not possible. */
export function stateNotFound(location: string, so: string): Failure {
  return failureOf("STATE_NOT_FOUND", `no state exists at ${location}, so ${so}`, {
    hint: "check --state, WORKSPACE_STATE, and --target, or restore the lost state; if nothing has been applied yet, run `workspace apply`; on a CI runner, use `--state workspace:/FOLDER` or PostgreSQL",
  });
}

/** `offset` counts bytes from the start of the file. */
export function corrupt(file: string, offset: number, what: string): Failure {
  return failureOf("STATE_CORRUPT", `${file} is damaged at byte ${offset}: ${what}`, {
    hint: "back up the file, then run `workspace state restore` to return to an earlier version",
  });
}

/** For a location at which a run had written a state, although neither the state nor its journal is left. */
export function allMissing({ location, state, journal }: BackendNames): Failure {
  const message = `${state} is damaged at byte 0: it and ${journal} are missing, but a run had written them`;
  const hint = `to return to an earlier version, run \`workspace state restore\`; to begin without a state, delete ${location}`;
  return failureOf("STATE_CORRUPT", message, { hint });
}

export function newerFormat(file: string, version: number): Failure {
  return failureOf(
    "STATE_FORMAT",
    `${file} has format ${version}; this version of workspace supports formats up to ${FORMAT_VERSION}`,
    { hint: "use the version of workspace that wrote it, or a newer one" },
  );
}

/** Passes diagnostics unchanged. */
export function ioFailure(failure: unknown, doing: string): Failure {
  if (failure instanceof Failure) return failure;
  const cause = thrownText(failure);
  const hint = isOutOfFiles(failure)
    ? TOO_MANY_FILES[2]
    : "check that this user can write to the state's folder and that its disk has space, or set another location with --state";
  return failureOf("STATE_IO", `${doing} failed`, { cause, hint });
}
