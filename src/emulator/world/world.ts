// The emulated workspace as data: durable collections, timers, file contents, and new IDs.

import type { Json, JsonObject } from "../../core/json.ts";

/** A durable table of JSON objects by id. Values are frozen; to change one, `set` a new object. */
export interface Collection<T> {
  get(id: string): T | undefined;
  has(id: string): boolean;
  set(id: string, value: T): void;
  delete(id: string): boolean;
  /** Entries in the order in which their ids were first set. */
  entries(): IterableIterator<[string, T]>;
  values(): IterableIterator<T>;
  keys(): IterableIterator<string>;
  readonly size: number;
}

/** Contents too large for a row, kept on disk: written in pieces, read by ranges. */
export interface Blobs {
  create(): string;
  append(id: string, bytes: Uint8Array): void;
  size(id: string): number;
  read(id: string, offset: number, length: number): Uint8Array;
  delete(id: string): void;
}

/** Work to be done at a time of the clock. A timer with the same id is replaced. Durable. */
export interface Timers {
  set(id: string, at: number, type: string, payload: JsonObject): void;
  cancel(id: string): void;
}

/** The whole world. An operation is one transaction, undone when it throws. `now`: the time of the request or timer. */
export interface World {
  collection<T>(name: string): Collection<T>;
  readonly blobs: Blobs;
  readonly timers: Timers;
  readonly now: number;
  /** The next number of a durable sequence, starting at `from` (default 1). */
  next(sequence: string, from?: number): number;
  /** A random lower-case hex string from the world's (injectable) random source. */
  hex(length: number): string;
  /** Encrypts with the world's own key (secret values at rest); base64 in and out. */
  seal(plain: string): string;
  unseal(sealed: string): string;
  /** Notes an e-mail, for `GET /__emulator/mails`. */
  mail(mail: {
    readonly to: readonly string[];
    readonly subject: string;
    readonly event: string;
    readonly details: Json;
  }): void;
}
