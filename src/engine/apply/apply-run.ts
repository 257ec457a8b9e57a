// What all changes of one apply share.
// What an apply is given: the plan, the spec's resources for their payloads, and every port that it acts through.

import type { Writer } from "../../api/contract/reader.ts";
import type { Address, RemoteId } from "../../core/address.ts";
import { type Diagnostic, Failure } from "../../core/diagnostic.ts";
import type { ApplyOrigin } from "../../core/past-run.ts";
import type { Change } from "../../planner/model/change.ts";
import type { ApplyEvent, Plan, Result } from "../../planner/model/plan.ts";
import type { Live } from "../../resource/live.ts";
import type { Registry } from "../../resource/registry.ts";
import { type Clock, type Random, randomHex } from "../../state/model/ports.ts";
import type { Lease } from "../../state/model/store.ts";
import { Slots } from "../concurrency.ts";
import { NotSent } from "../failures.ts";
import { type NameBook, nameBook } from "../name-index.ts";
import type { Spec } from "../observe/scope.ts";
import { Journaled } from "./journaled-writer.ts";
import { stoppedBefore } from "./outcome-log.ts";

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

export interface ApplyInput {
  readonly plan: Plan;
  readonly registry: Registry;
  /** The spec's resources: what they set, and the payloads that go with them. Empty for a destroy. */
  readonly resources: Spec["resources"];
  /** What was live when the plan was made: ids and names of what the plan does not touch. */
  readonly live: Live;
  readonly writer: Writer;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly random: Random;
  readonly parallelism: number;
  readonly onEvent?: (event: ApplyEvent) => void;
  /** Given to stop: what is in flight is finished, nothing new is begun, the state is saved. */
  readonly signal?: AbortSignal;
  /** Who applies, for the history of the state; without it nothing is recorded there. */
  readonly origin?: ApplyOrigin;
}
