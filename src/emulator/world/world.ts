// The emulated workspace as data, and a request as its operations receive it, with the answer.

import { defined, type Json, type JsonObject } from "../../core/json.ts";

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

/** Key of the fields that only a dialect has; no request of the contract can contain it. Stored under the name `extra`. */
export const EXTRA = Symbol("fields that the contract does not have");

/** Those fields as a member of what is kept; nothing where there are none. */
export function extraOf(input: object): { readonly extra?: JsonObject } {
  const extra = (input as { readonly [EXTRA]?: JsonObject })[EXTRA];
  return defined({ extra });
}

/** The authenticated user behind a request. `admin` is read from the (nested) group `admins` when the request arrives. */
export interface Caller {
  readonly userId: string;
  readonly userName: string;
  readonly admin: boolean;
}

export interface FilePart {
  readonly name: string;
  readonly content: Uint8Array;
}

/** One request, authenticated, routed, and validated. `input`: the JSON body, the typed query fields, or the text fields of a form. */
export interface Call {
  readonly operation: string;
  readonly params: Readonly<Record<string, string>>;
  readonly input: JsonObject;
  readonly files: Readonly<Record<string, FilePart>>;
  readonly caller: Caller;
  readonly now: number;
  /** Where a dialect allows more than the contract. */
  readonly allows?: {
    readonly scopeNames?: RegExp;
    readonly groupNames?: true;
    readonly largeFiles?: true;
    readonly mountedPaths?: true;
  };
}

/** A JSON answer, or raw bytes (direct_download). `status` is 200 unless said otherwise. */
export type Reply =
  | {
      readonly status?: number;
      readonly json: JsonObject;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | {
      readonly status?: number;
      readonly bytes: Uint8Array;
      readonly contentType: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** One operation of the contract, keyed by its `operationId` in openapi.yaml. Synchronous, so that a request is atomic. */
export type Operation = (call: Call, world: World) => Reply;
/** An operation that answers `{}`. */
export type SilentOperation = (call: Call, world: World) => void;
export const EMPTY_REPLY: Reply = { json: {} };

export type Operations = Readonly<Record<string, Operation | SilentOperation>>;

/** Work that becomes due on the world's clock: `run` is called with the payload that was scheduled. */
export type TimerRun = (world: World, payload: JsonObject, at: number) => void;

/** A control request of an area (`POST /__emulator/NAME`): not part of the service, for those who test against it. */
export type ControlRun =
  | ((world: World, input: JsonObject) => JsonObject)
  | ((world: World, input: JsonObject) => void);

/** What an area of the contract brings to the app: its operations, its background work, and what a new world holds. */
export interface Area {
  readonly operations: Operations;
  /** By the type that `world.timers.set` was given; types are unique among all areas. */
  readonly timers?: Readonly<Record<string, TimerRun>>;
  readonly seed?: (world: World) => void;
  readonly control?: Readonly<Record<string, ControlRun>>;
}
