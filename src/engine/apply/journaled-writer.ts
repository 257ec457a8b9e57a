// The writer that providers use during an apply: it makes an intent durable before each request and records the outcome after it. It also polls until a deadline.

import type { ReadOperation, WriteOperation } from "../../api/contract/operations.ts";
import type { Permit, RequestInput, WriteInput, Writer } from "../../api/contract/reader.ts";
import type { RemoteId } from "../../core/address.ts";
import { Failure, failureOf, warning } from "../../core/diagnostic.ts";
import { poll } from "../../core/duration.ts";
import type { JsonObject } from "../../core/json.ts";
import { NotSent, Refused } from "../../core/request-failure.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { OperationWriter } from "../../resource/operations.ts";
import type { Intent, RemovedObject, StateRecord } from "../../state/model/record.ts";
import type { ApplyLease, Clock } from "../../state/model/store.ts";

/** An intent before its first request, whose operation it gets. */
export type NewIntent = Omit<Intent, "operation">;

/** Certain facts about the requests of one change. */
interface Account {
  /** Requests without an answer that proves anything. */
  readonly open: number;
  readonly succeeded: number;
  readonly begun: boolean;
}

/** The journal of one change. Its first request opens it; a change without requests writes no entry. */
export class JournaledWriter implements OperationWriter {
  readonly #writer: Writer;
  readonly #lease: ApplyLease;
  readonly #intent: NewIntent;
  readonly #ports: JournalPorts;
  #hasSent = false;
  #seq: Promise<number> | undefined;
  /** The requests that the journal has. */
  #announced = 0;
  #succeeded = 0;
  #refused = 0;
  #createdId: RemoteId | undefined;

  constructor(writer: Writer, lease: ApplyLease, intent: NewIntent, ports: JournalPorts) {
    this.#writer = writer;
    this.#lease = lease;
    this.#intent = intent;
    this.#ports = ports;
  }

  get account(): Account {
    const open = this.#announced - this.#succeeded - this.#refused;
    return { open, succeeded: this.#succeeded, begun: this.#announced > 0 };
  }

  get existed(): boolean {
    return this.#intent.existed;
  }

  get wanted(): Values {
    return this.#intent.wanted;
  }

  /** The id of an object that exists and is not finished. */
  get createdId(): RemoteId | undefined {
    return this.#createdId;
  }

  read(operation: ReadOperation, input?: RequestInput): Promise<JsonObject> {
    return this.#writer.read(operation, input);
  }

  async write(operation: WriteOperation, input: WriteInput): Promise<JsonObject> {
    this.#assertMayBegin();
    const intent = await this.#announce(operation);
    try {
      const answer = await this.#writer.write(operation, input, () => {
        this.#assertMayLeave();
        this.#hasSent = true;
      });
      this.#succeeded += 1;
      this.#lease.note({ type: "answer", intent, result: "succeeded" });
      return answer;
    } catch (failure) {
      if (failure instanceof Refused || failure instanceof NotSent) {
        this.#refused += 1;
        this.#lease.note({ type: "answer", intent, result: "refused" });
      }
      throw failure;
    }
  }

  /** Checked right before each request is sent, also before a retry. */
  #assertMayLeave(): void {
    try {
      this.#lease.assertHeld();
    } catch (failure) {
      throw new NotSent(failure);
    }
    this.#assertMayBegin();
  }

  #assertMayBegin(): void {
    if (!this.#hasSent) this.#ports.mayBegin();
  }

  /**
   * No request is sent before its entry is durable, so a failure here certainly had no effect. The entry of a run that was
   * blocked or suspended renews the lock, if no other run has acquired it.
   */
  async #announce(operation: string): Promise<number> {
    const isFirst = this.#seq === undefined;
    this.#seq ??= this.#lease.append({ type: "intent", intent: { ...this.#intent, operation } });
    const seq = await this.#seq;
    if (!isFirst) await this.#lease.append({ type: "request", intent: seq, operation });
    this.#announced += 1;
    return seq;
  }

  async created(id: RemoteId): Promise<void> {
    const seq = await this.#seq;
    if (seq === undefined) throw new Error("created() before any request: nothing can exist yet");
    if (id === this.#createdId) return;
    this.#ports.assertNew(id);
    this.#createdId = id;
    await this.#lease.append({ type: "created", intent: seq, id });
  }

  until<T>(what: string, look: () => Promise<T | undefined>, deadlineMs: number): Promise<T> {
    return waitUntil(what, look, deadlineMs, this.#ports);
  }

  /** The change is finished: durable when this resolves. */
  async done(result: { readonly record?: StateRecord; readonly gone?: RemovedObject }): Promise<void> {
    const intent = await this.#seq;
    if (intent !== undefined) await this.#lease.append({ type: "done", intent, ...result });
    else if (result.record !== undefined) await this.#lease.append({ type: "record", record: result.record });
    else if (result.gone !== undefined) await this.#lease.append({ type: "gone", gone: result.gone });
  }

  /** The change certainly created nothing that is not recorded. */
  async close(): Promise<void> {
    const intent = await this.#seq;
    if (intent !== undefined) await this.#lease.append({ type: "closed", intent });
  }
}

interface JournalPorts extends WaitPorts {
  /** Throws for an ID that is not that of a new object. */
  readonly assertNew: (id: RemoteId) => void;
  /** Checked until the first request of the change is sent. */
  readonly mayBegin: Permit;
}

export interface WaitPorts {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Reported once, when the first read finds nothing. */
  readonly onWait: (what: string) => void;
  /** Runs a pause; lends the caller's slot to others meanwhile. */
  readonly pause: (sleep: () => Promise<void>) => Promise<void>;
}

/** Fails with APPLY_DEADLINE after `deadlineMs`, with APPLY_INTERRUPTED when the run is to stop. */
export async function waitUntil<T>(
  what: string,
  look: () => Promise<T | undefined>,
  deadlineMs: number,
  { clock, signal, onWait, pause }: WaitPorts,
): Promise<T> {
  let pauses = 0;
  const sleep: Clock["sleep"] = (ms, signal) => {
    if (pauses === 0) onWait(what);
    pauses += 1;
    return pause(() => clock.sleep(ms, signal));
  };
  const polling = { signal, firstMs: 1000, longestMs: 15_000, timeoutMs: deadlineMs };
  const result = await poll(look, { ...polling, clock: { elapsed: () => clock.elapsed(), sleep } }, () =>
    failureOf("APPLY_DEADLINE", `timed out after ${Math.round(deadlineMs / 1000)} s waiting for ${what}`, {
      hint: "check the resource in the workspace, then apply again",
    }),
  );
  if (result !== undefined) return result;
  const hint = "apply again to continue";
  throw new Failure(warning("APPLY_INTERRUPTED", `stopped while waiting for ${what}`, { hint }));
}
