// The operations of a kind in the workspace. They execute what a plan decided and decide nothing.

import type { Reader, SecretValue, Writer } from "../api/contract/reader.ts";
import type { Address, RemoteId } from "../core/address.ts";
import type { Values } from "./field-schema.ts";
import type { LiveObject, OtherObject } from "./live.ts";
import type { Step } from "./planning.ts";

export interface ListScope {
  /** For nested kinds: names of the live parents to read. */
  readonly parents: readonly string[];
  /** Names of this kind in the spec or the state. */
  readonly names: ReadonlySet<string>;
  /** Recorded remote IDs of this kind: for lists that omit objects (terminated clusters, jobs on pages that shifted). */
  readonly ids?: ReadonlySet<string>;
  /** For kinds whose names are paths: called with each known name at which no object of the kind can be. */
  readonly onOther?: (name: string, other: OtherObject) => void;
}

/** Sent with an object so that it can be found again after a crash; absent where the crash class needs none. */
export type Token = string;

/** A finished piece of content behind a value: a secret, or the bytes of a notebook or file. */
export interface Payload {
  readonly digest: string;
  bytes(): Uint8Array;
  /** Set for secrets: the payload of the request instead of bytes. */
  readonly secret?: SecretValue;
}

/** The subject of an operation. */
export interface Task {
  readonly address: Address;
  readonly name: string;
  /** The values to reach, references and names resolved to ids: ready for the wire. */
  readonly values: Values;
  readonly token: Token;
  readonly payload?: Payload;
}

export interface UpdateTask extends Task {
  readonly id: RemoteId;
  readonly live: LiveObject;
  /** The previous object, with IDs instead of names, to compute deltas. */
  readonly before: Values;
  readonly steps: readonly Step[];
}

export interface DeleteTask {
  readonly address: Address;
  readonly id: RemoteId;
  readonly name: string;
  readonly live: LiveObject | undefined;
  /** The object before the first change of the run; absent if it is the same as `live`. */
  readonly observed?: LiveObject;
}

/** The input of write operations, in addition to the writer. */
export interface OperationWriter extends Writer {
  /** Makes the id of an object that exists but is not finished durable (two-phase creation). */
  created(id: RemoteId): Promise<void>;
  /** Polls until `look` gives a value. Fails with APPLY_DEADLINE after the deadline (milliseconds) of the engine's clock. */
  until<T>(what: string, look: () => Promise<T | undefined>, deadlineMs: number): Promise<T>;
}

/** The values that an object had when the plan was made: an apply may have changed it since. Undefined if the plan did not read it. */
export type PlannedFrom = (kind: string, id: RemoteId) => Values | undefined;

/** Decides how an object is read, in addition to what the spec declares of it. */
export interface DetailsContext {
  /** Gives the values of other objects that decide about this one, as the plan saw them. */
  readonly plannedFrom?: PlannedFrom;
  /** Who may have created the object. Their right to manage it, which the service gives its creator, does not count as a difference. */
  readonly creators?: readonly string[];
  /** The record of the object. What it has is compared. */
  readonly recorded?: Values | undefined;
}

export interface ProviderOperations {
  /** Everything of this kind, in as few requests as there can be. */
  list(api: Reader, scope: ListScope): Promise<readonly LiveObject[]>;
  /** More about objects that a list does not tell enough about; only called for those that the spec or the state knows. */
  readDetails?(
    api: Reader,
    object: LiveObject,
    desired: Values | undefined,
    context?: DetailsContext,
  ): Promise<LiveObject>;
  /** True if a list tells everything but fields with requests of their own. */
  readonly listsAll?: true;
  /**
   * The access list of an object. Of a kind with contents, an export reads no other details. `isWhole`: with an empty list and the
   * caller's own right, which a spec need not have.
   */
  readAccess?(api: Reader, object: LiveObject, isWhole?: boolean): Promise<LiveObject>;
  /** For kinds with a field `content`: the bytes of a live object in pieces, in the form that its source file has by its name. */
  readContent?(api: Reader, live: LiveObject): AsyncIterable<Uint8Array>;
  read(api: Reader, id: RemoteId): Promise<LiveObject | undefined>;
  create(api: OperationWriter, task: Task): Promise<RemoteId>;
  update(api: OperationWriter, task: UpdateTask): Promise<void>;
  /** Succeeds if the object no longer exists. */
  delete(api: OperationWriter, task: DeleteTask): Promise<void>;
  /** For "rename-aside": only renames the live object. */
  rename?(
    api: OperationWriter,
    task: { readonly id: RemoteId; readonly live: LiveObject; readonly name: string },
  ): Promise<void>;
}
