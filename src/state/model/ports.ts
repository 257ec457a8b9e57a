// The ports of the state and the engine: durable files, time, randomness. Simulations provide their own.

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
