// What all changes of one apply share.

import type { Address, RemoteId } from "../core/address.ts";
import { type Diagnostic, Failure } from "../core/diagnostic.ts";
import type { Change } from "../planner/change.ts";
import type { Result } from "../planner/outcome.ts";
import type { Writer } from "../resource/verbs.ts";
import { randomHex } from "../state/ports.ts";
import type { Lease } from "../state/store.ts";
import type { ApplyInput } from "./apply-input.ts";
import { Journaled } from "./journaled.ts";
import { type NameBook, nameBook } from "./names.ts";
import { NotSent } from "./problem.ts";
import { Slots } from "./slots.ts";
import { stoppedBefore } from "./tally.ts";

export interface Run {
  readonly input: ApplyInput;
  readonly book: NameBook;
  /** Changes under way: more than requests, because each waits for the journal before and after them. */
  readonly slots: Slots;
  /** The service, with at most `parallelism` requests at once. */
  readonly writer: Writer;
  /** Tokens of what this apply made, by the address that it was made for. */
  readonly tokens: Map<Address, string>;
  /** Set where nothing more may be begun: the lock is lost, or the journal cannot be written. */
  halted: Diagnostic | undefined;
}

/** How one change, or one part of it, ended. */
export interface Ended {
  readonly result: Result;
  readonly id?: RemoteId;
  readonly diagnostic?: Diagnostic;
}

export function startRun(input: ApplyInput): Run {
  const { parallelism } = input;
  return {
    input,
    book: nameBook(input.registry, input.live),
    slots: new Slots(parallelism > 1 ? parallelism * CHANGES_PER_REQUEST : 1),
    writer: bounded(input.writer, new Slots(parallelism), input.lease),
    tokens: new Map(),
    halted: undefined,
  };
}

/** While some changes wait for the disk, others keep the connections busy. */
const CHANGES_PER_REQUEST = 4;

/** The last look at the lock is the one right before a write leaves, be it for the first time or again. */
function bounded(writer: Writer, requests: Slots, lease: Lease): Writer {
  return {
    read: (operation, input) => requests.inside(() => writer.read(operation, input)),
    write: (operation, input, asked) =>
      requests.inside(async () => {
        const permit = (): void => {
          assertHeld(lease);
          asked?.();
        };
        permit();
        return writer.write(operation, input, permit);
      }),
  };
}

function assertHeld(lease: Lease): void {
  try {
    lease.assertHeld();
  } catch (failure) {
    throw new NotSent(failure);
  }
}

/** Whether nothing more may be begun. */
export function isStopped(run: Run): boolean {
  return run.input.signal?.aborted === true || run.halted !== undefined;
}

export function newToken(run: Run): string {
  return randomHex(run.input.random, 8);
}

type IntentOf = ConstructorParameters<typeof Journaled>[2];

/** A journal for one change; a wait of it lends its slot to others. */
export function journalOf(run: Run, change: Change, intent: IntentOf): Journaled {
  const { lease, clock, signal } = run.input;
  return new Journaled(run.writer, lease, intent, {
    clock,
    signal,
    onWait: (what) =>
      run.input.onEvent?.({ type: "apply_waiting", address: change.address, kind: change.kind, what }),
    pause: (sleep) => run.slots.outside(sleep),
    mayBegin: () => assertMayBegin(run, change, intent),
  });
}

/** After a stop a change that only waited for its turn is not begun; a successor whose predecessor has given way is still made. */
function assertMayBegin(run: Run, change: Change, { action }: IntentOf): void {
  const goesOn = change.action === "replace" && change.replacing !== "create-first" && action === "create";
  if (isStopped(run) && !goesOn) throw new NotSent(new Failure(stoppedBefore(change)));
}
