// What all changes of one apply share: the plan, the desired resources, every port, and the lease with sensitive values.

import type { Writer } from "../../api/contract/reader.ts";
import type { Address, RemoteId } from "../../core/address.ts";
import { type Diagnostic, error, Failure, warning } from "../../core/diagnostic.ts";
import { NotSent, UnknownOutcome } from "../../core/request-failure.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import type { Change } from "../../planner/model/change.ts";
import { indexLive, type LiveIndex } from "../../planner/model/context.ts";
import type { ApplyEvent, ChangeStatus, Plan } from "../../planner/model/plan.ts";
import type { Registry } from "../../resource/kind.ts";
import type { Live } from "../../resource/live.ts";
import { isIdItsName, isSameName } from "../../resource/names.ts";
import { concealedEntry, revealedRecord, revealedState } from "../../state/model/digests-in-state.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { type ApplyLease, type Clock, type Random, randomHex } from "../../state/model/store.ts";
import { Semaphore } from "../concurrency.ts";
import { addNewNames, createNameIndex, type NameIndex } from "../name-index.ts";
import { detailsContexts } from "../observe/details-context.ts";
import type { DesiredSpec } from "../observe/needed-kinds.ts";
import { JournaledWriter, type NewIntent } from "./journaled-writer.ts";
import { type HistoryInput, type RecordedLease, recordedLease } from "./run-history.ts";

export interface ApplyRun {
  readonly input: ApplyInput;
  readonly names: NameIndex;
  readonly liveIndex: LiveIndex;
  /** Maximum number of changes of a kind in progress. */
  readonly slots: (kind: string) => Semaphore;
  /** The stored record of an address, which has digests in place of sensitive values. */
  readonly stored: (address: Address) => StateRecord | undefined;
  /** Tokens of what this apply made, by the address that it was made for. */
  readonly tokens: Map<Address, string>;
  /** What this apply made, by kind and ID. */
  readonly made: Map<string, Address>;
  /** How an object is read that was recorded before this apply. */
  readonly detailsContext: ReturnType<typeof detailsContexts>;
  /** Absent if the apply is not recorded in the history. */
  readonly endHistory: RecordedLease["end"] | undefined;
  /** Set if no further change may start: the lock is lost, or the journal cannot be written. */
  halted: Diagnostic | undefined;
}

export function startRun(input: ApplyInput): ApplyRun {
  const { parallelism, history, sensitive } = input;
  const recorded = history && recordedLease(input.lease, history, input);
  // From the inside out: the state stores digests; the history gets digests, too; changes see the values.
  const lease = sensitiveLease(recorded ?? input.lease, sensitive);
  const names = createNameIndex(input.registry, input.live);
  addNewNames(names, input.plan.changes);
  return {
    input: { ...input, lease },
    names,
    liveIndex: indexLive(input.live, input.registry),
    slots: slotsOf(parallelism),
    stored: (address) => input.lease.record(address),
    tokens: new Map(),
    made: new Map(),
    detailsContext: detailsContexts(input.lease.state()),
    endHistory: recorded?.end,
    halted: undefined,
  };
}

/** While some changes wait for the disk, others keep the connections busy. */
const CHANGES_PER_REQUEST = 4;

/** Separate slots for each kind, because the service limits the rate of each endpoint. One change at a time is one of all kinds. */
function slotsOf(parallelism: number): ApplyRun["slots"] {
  const slotsByKind = new Map<string, Semaphore>();
  return (kind) => {
    const key = parallelism > 1 ? kind : "";
    const slots =
      slotsByKind.get(key) ?? new Semaphore(parallelism > 1 ? parallelism * CHANGES_PER_REQUEST : 1);
    slotsByKind.set(key, slots);
    return slots;
  };
}

export function isStopped(run: ApplyRun): boolean {
  return run.input.signal.aborted || run.halted !== undefined;
}

export function newToken(run: ApplyRun): string {
  return randomHex(run.input.random, 8);
}

/** A journal for one change. It releases its slot while it waits. */
export function newJournal(run: ApplyRun, change: Change, intent: NewIntent): JournaledWriter {
  const { writer, lease, clock, signal } = run.input;
  return new JournaledWriter(writer, lease, intent, {
    clock,
    signal,
    onWait: (what) =>
      run.input.onEvent({ type: "apply_waiting", address: change.address, kind: change.kind, what }),
    pause: (sleep) => run.slots(change.kind).outside(sleep),
    mayBegin: () => assertMayBegin(run, change, intent),
    assertNew: (id) => assertNew(run, change, id),
  });
}

/**
 * Throws UnknownOutcome unless the ID in the answer to a creation is that of a new object. One that existed before is another object, for example
 * where a proxy repeats an earlier answer; a further request would change that object. Only the object that had the same unique name can come back with its ID.
 */
export function assertNew(run: ApplyRun, { kind, address, name }: Change, id: RemoteId): void {
  if (id === "") throw withoutId(address, "no ID");
  const provider = run.input.registry.get(kind);
  if (isIdItsName(provider)) return;
  const before = run.liveIndex.byId(kind, id);
  const isBack = before !== undefined && provider.unique && isSameName(provider, before.name, name);
  const key = `${kind} ${id}`;
  const maker = run.made.get(key) ?? address;
  if ((before !== undefined && !isBack) || maker !== address)
    throw withoutId(address, "the ID of another object");
  run.made.set(key, address);
}

/** The service made something and did not say which: the intent stays open, and the next run looks. */
function withoutId(address: Address, answered: "no ID" | "the ID of another object"): UnknownOutcome {
  return new UnknownOutcome(
    error("API_PROTOCOL", `the service created ${address} but answered with ${answered}`, {
      address,
      hint: "apply again; the next run searches for it first",
    }),
  );
}

/** After a stop, waiting changes do not start, but a replacement whose old object was already deleted or renamed is still completed. */
function assertMayBegin(run: ApplyRun, change: Change, { action }: NewIntent): void {
  const completesReplacement =
    change.action === "replace" && change.replacing !== "create-first" && action === "create";
  if (isStopped(run) && !completesReplacement) throw new NotSent(new Failure(notStarted(change)));
}

export function notStarted(change: Change): Diagnostic {
  return warning("APPLY_INTERRUPTED", `${change.address} was not started because the run was stopped`, {
    address: change.address,
    hint: "apply again to continue",
  });
}

export interface ApplyInput {
  /** With its sensitive values. */
  readonly plan: Plan;
  readonly registry: Registry;
  /** The desired resources: their values and payloads. Empty for a destroy. */
  readonly resources: DesiredSpec["resources"];
  /** Objects that were live when the plan was made: IDs and names that the plan does not change. */
  readonly live: Live;
  /** The sensitive values of the run; the state has digests in their places. */
  readonly sensitive: SensitiveValues;
  /** The service; its client limits how many requests are in flight. */
  readonly writer: Writer;
  readonly lease: ApplyLease;
  readonly clock: Clock;
  readonly random: Random;
  readonly parallelism: number;
  readonly onEvent: (event: ApplyEvent) => void;
  /** Aborted to stop the apply: requests in flight finish, nothing new starts, and the state is saved. */
  readonly signal: AbortSignal;
  /** Without it, the history of the state does not change. */
  readonly history?: HistoryInput;
}

function sensitiveLease(lease: ApplyLease, sensitive: SensitiveValues): ApplyLease {
  if (sensitive.isEmpty) return lease;
  return {
    nonce: lease.nonce,
    state: () => revealedState(lease.state(), sensitive),
    record(address) {
      const record = lease.record(address);
      return record && revealedRecord(record, sensitive);
    },
    append: (entry) => lease.append(concealedEntry(entry, sensitive)),
    note: (entry) => lease.note(concealedEntry(entry, sensitive)),
    assertHeld: () => lease.assertHeld(),
    publish: () => lease.publish(),
  };
}

export interface ChangeResult {
  readonly result: ChangeStatus;
  readonly id?: RemoteId;
  readonly diagnostic?: Diagnostic;
}
