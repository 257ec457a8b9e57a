// The data of a state: one record for each managed resource, with the values of the last apply, and the journal entries that change it.

import type { Address, RemoteId } from "../../core/address.ts";
import type { PastRun } from "../../core/past-run.ts";
import type { Values } from "../../resource/field-schema.ts";

interface Common {
  readonly address: Address;
  readonly id: RemoteId;
  /** The natural name it was written under. */
  readonly name: string;
  /** What the spec set, as last written: references resolved, names kept as names, secrets as keyed digests. */
  readonly applied: Values;
  readonly depends_on: readonly Address[];
  /** IDs of replaced objects of this address that are still to be deleted (after an interrupted replacement). */
  readonly deposed?: readonly RemoteId[];
  /** The spec that was last applied forbade its deletion: that outlives its block in the spec. */
  readonly prevent_destroy?: true;
  /** Nested kinds whose list here was the spec's own when it was last applied; absent in records that do not tell. */
  readonly owns?: readonly string[];
  /** Its addresses before moves, the latest last: a spec that declares one of them again moves the record back. */
  readonly former?: readonly Address[];
}

/** `creating`: the object exists and is not finished (two-phase creation). `deleting`: its delete was sent and is unproven. */
export type StateRecord =
  | (Common & {
      readonly status: "ready";
      /** Live values first seen of fields that the spec leaves to the server, and witnesses of values that cannot be read. */
      readonly seen: Values;
    })
  | (Common & { readonly status: "creating"; readonly token: string })
  | (Common & { readonly status: "deleting" });

/** A token that was sent and not found; a slow server may still commit it. Kept until `until` (epoch ms). */
export interface Sweep {
  readonly token: string;
  readonly address: Address;
  readonly until: number;
  /** The values that were sent with it, to recognize a late creation and compare it. */
  readonly intent?: OpenIntent;
}

/** An intent without an outcome, after a crash or with an unknown outcome. */
export interface OpenIntent {
  readonly seq: number;
  readonly at: number;
  readonly address: Address;
  readonly operation: string;
  readonly action: "create" | "update" | "delete";
  readonly name: string;
  readonly id?: RemoteId;
  readonly token: string;
  /** Whether an object with this name was live when the intent was written. */
  readonly existed: boolean;
  /** The values to reach (spec form, secrets as digests). */
  readonly wanted: Values;
  readonly depends_on: readonly Address[];
  readonly replaces?: RemoteId;
  /** The number of requests sent, and how many of them succeeded or certainly had no effect. The rest is unresolved. */
  readonly sent?: number;
  readonly succeeded?: number;
  readonly refused?: number;
  /** The ID of the created object, if the service returned it before the change was complete. */
  readonly made?: RemoteId;
}

export interface ReportedDrift {
  readonly address: Address;
  readonly differences: readonly string[];
}

/** Drift that a user acknowledged for a time; it ends when a value changes again. */
export interface Acknowledgement {
  readonly address: Address;
  /** The field, as people write it; absent for every difference that the resource had. */
  readonly field?: string;
  readonly differences: readonly string[];
  /** Epoch ms, as `at`. */
  readonly until: number;
  readonly reason: string;
  readonly by: string;
  readonly at: number;
}

export interface State {
  readonly lineage: string;
  readonly serial: number;
  /** The workspace that the records belong to; empty before the first apply. */
  readonly host: string;
  readonly records: ReadonlyMap<Address, StateRecord>;
  readonly sweeps: readonly Sweep[];
  readonly open: readonly OpenIntent[];
  /** The user name of the caller, by a keyed digest of the credential. */
  readonly caller?: { readonly name: string; readonly credential: string };
  /** Nonces of saved plans that were applied. */
  readonly nonces: readonly string[];
  /** Drift that the last `drift --since last` reported; absent where there is none. */
  readonly reported?: readonly ReportedDrift[];
  readonly acknowledged?: readonly Acknowledgement[];
  /** The last applies, the oldest first; absent before the first. */
  readonly history?: readonly PastRun[];
  /** The location that the state was migrated to. The content here is kept for a restore and not continued. */
  readonly moved?: string;
  /** Set while the migration is incomplete: a state at the new location is complete if its serial is above this. */
  readonly movingAbove?: number;
}

export function sortedRecords({ records }: Pick<State, "records">): readonly StateRecord[] {
  return [...records.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
}

/** The content of an intent; its number and time are those of its line. */
export type Intent = Omit<OpenIntent, "seq" | "at" | "sent" | "succeeded" | "refused" | "made">;

/** `intent` members are the numbers of the lines that opened them. */
export type JournalEntry =
  /** A change begins; its first request may leave once this is durable. */
  | { readonly type: "intent"; readonly intent: Intent }
  /** A further request of the same change may leave. */
  | { readonly type: "request"; readonly intent: number; readonly operation: string }
  | { readonly type: "answer"; readonly intent: number; readonly result: "succeeded" | "refused" }
  /** The object exists under this id and is not finished. */
  | { readonly type: "created"; readonly intent: number; readonly id: RemoteId }
  /** The change is finished: the new record, or the removal of the record. */
  | {
      readonly type: "done";
      readonly intent: number;
      readonly record?: StateRecord;
      readonly gone?: RemovedObject;
    }
  /** The intent is resolved and left no object: it certainly did not happen, or recovery handled it. */
  | { readonly type: "closed"; readonly intent: number }
  | { readonly type: "record"; readonly record: StateRecord }
  | { readonly type: "gone"; readonly gone: RemovedObject }
  | { readonly type: "moved"; readonly from: Address; readonly to: Address }
  | { readonly type: "sweep"; readonly sweep: Sweep }
  | { readonly type: "swept"; readonly token: string }
  | { readonly type: "host"; readonly host: string }
  | { readonly type: "caller"; readonly name: string; readonly credential: string }
  | { readonly type: "nonce"; readonly nonce: string }
  /** Replaces everything that was reported before. */
  | { readonly type: "reported"; readonly reported: readonly ReportedDrift[] }
  /** Replaces an earlier one of the same address and field. */
  | { readonly type: "acknowledged"; readonly acknowledgement: Acknowledgement }
  | { readonly type: "unacknowledged"; readonly address: Address; readonly field?: string }
  /** A run begins to change the workspace, or has ended. */
  | { readonly type: "run"; readonly run: PastRun };

/** An object that no longer exists; without an ID, the whole record of the address. */
export interface RemovedObject {
  readonly address: Address;
  readonly id?: RemoteId;
}

/** An entry with the number and time of its line. Numbers grow over the whole life of a state. */
export interface NumberedEntry {
  readonly seq: number;
  readonly at: number;
  readonly entry: JournalEntry;
}
