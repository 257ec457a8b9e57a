// The interfaces of the client: a reader, and a writer that also reads. Planning gets a reader only.

import type { JsonObject } from "../../core/json.ts";
import type { ReadOperation, WriteOperation } from "./operations.ts";

/** Fields of a request: JSON body or query. A path parameter is the field that the path names (`id`). */
export type RequestInput = JsonObject;

export interface Reader {
  /** One read. Retried by the client. Throws Refused or UnknownOutcome (core/request-failure). */
  read(operation: ReadOperation, input?: RequestInput): Promise<JsonObject>;
}

export interface Writer extends Reader {
  /**
   * One write; an intent is durable before it leaves. Throws Refused when it certainly had no effect, UnknownOutcome when that is open.
   * `permit` is asked right before each attempt leaves; where it throws, that attempt is not made.
   * Secret values travel as `Sensitive` members of `input` (see SecretValue) and are revealed by the client only.
   */
  write(operation: WriteOperation, input: WriteInput, permit?: Permit): Promise<JsonObject>;
}

/** Throws if a request that changes something must no longer be sent. */
export type Permit = () => void;

/** Input of a write: JSON, except that a member may be a `Sensitive` or bytes, which the client base64-encodes. */
export type WriteInput = { readonly [field: string]: JsonObject[string] | SecretValue | Uint8Array };

/** The part of core's `Sensitive` that the client needs. */
export interface SecretValue {
  reveal(): Uint8Array;
}
