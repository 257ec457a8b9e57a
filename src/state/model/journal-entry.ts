// The entries of a journal: one for each step of a run, in order.

import type { Address, RemoteId } from "../../core/address.ts";
import type { PastRun } from "../../core/past-run.ts";
import type { Acknowledgement, OpenIntent, ReportedDrift, StateRecord, Sweep } from "./record.ts";

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
