// What all changes of one apply share.

import type { RemoteId } from "../core/address.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Change } from "../planner/change.ts";
import type { Result } from "../planner/outcome.ts";
import { randomHex } from "../state/ports.ts";
import type { ApplyInput } from "./apply-input.ts";
import { Journaled } from "./journaled.ts";
import { type NameBook, nameBook } from "./names.ts";
import { Slots } from "./slots.ts";

export interface Run {
  readonly input: ApplyInput;
  readonly book: NameBook;
  readonly slots: Slots;
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
  return {
    input,
    book: nameBook(input.registry, input.live),
    slots: new Slots(input.parallelism),
    halted: undefined,
  };
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
  const { writer, lease, clock, signal } = run.input;
  return new Journaled(writer, lease, intent, {
    clock,
    signal,
    onWait: (what) =>
      run.input.onEvent?.({ type: "apply_waiting", address: change.address, kind: change.kind, what }),
    pause: (sleep) => run.slots.outside(sleep),
  });
}
