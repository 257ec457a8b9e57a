// An API request as an operation of the emulator receives it, and its answer.

import type { JsonObject } from "../../core/json.ts";
import type { World } from "./world.ts";

/** Key of the fields that only a dialect has; no request of the contract can contain it. Stored under the name `extra`. */
export const EXTRA = Symbol("fields that the contract does not have");

/** Those fields as a member of what is kept; nothing where there are none. */
export function extraOf(given: object): { readonly extra?: JsonObject } {
  const extra = (given as { readonly [EXTRA]?: JsonObject })[EXTRA];
  return extra === undefined ? {} : { extra };
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
