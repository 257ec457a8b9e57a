// The stored form of a state, which has digests in place of sensitive values, and the compared form, which has the values of a run.

import type { Address } from "../../core/address.ts";
import { defined } from "../../core/json.ts";
import type { PastRun } from "../../core/past-run.ts";
import { hasDigest } from "../../core/sensitive/digests.ts";
import type { Concealment, SensitiveValues } from "../../core/sensitive/values.ts";
import type { Values } from "../../resource/field-schema.ts";
import type {
  Acknowledgement,
  Intent,
  JournalEntry,
  OpenIntent,
  State,
  StateRecord,
  Sweep,
} from "./record.ts";

function* valuesIn(
  { records, open, sweeps }: State,
  which: "all" | "applied" = "all",
): Generator<readonly [Address, Values]> {
  for (const record of records.values()) {
    yield [record.address, record.applied];
    if (record.status === "ready" && which === "all") yield [record.address, record.seen];
  }
  for (const { address, wanted } of open) yield [address, wanted];
  for (const { address, intent } of sweeps) if (intent !== undefined) yield [address, intent.wanted];
}

/**
 * Marks the places of the digests in a state. Returns whether it has any. `applied`: only of what a spec declared; the state also has a
 * digest where the service has a value that equals a sensitive one.
 */
export function markRecorded(
  state: State,
  sensitive: SensitiveValues,
  which: "all" | "applied" = "all",
): boolean {
  let hasAny = false;
  for (const [address, values] of valuesIn(state, which))
    hasAny = sensitive.record(address, values) || hasAny;
  return hasAny;
}

export function hasSensitiveDigests(state: State): boolean {
  for (const [, values] of valuesIn(state)) if (hasDigest(values)) return true;
  return false;
}

/** Whether every digest of a state is one of a value that the run has. */
export function knowsAll(state: State, sensitive: SensitiveValues): boolean {
  for (const [, values] of valuesIn(state)) if (hasDigest(values) && !sensitive.knows(values)) return false;
  return true;
}

/** Hides the strings at sensitive places: of digests that were revealed, and of values that an earlier version stored. */
export function hideRecorded(state: State, sensitive: SensitiveValues): void {
  for (const [address, values] of valuesIn(state)) sensitive.hide(address, values);
}

type Change = (address: Address, values: Values) => Values;

function changedState(state: State, change: Change): State {
  return {
    ...state,
    records: changedRecords(state.records, change),
    open: state.open.map((intent) => changedIntent(intent, change)),
    sweeps: state.sweeps.map((sweep) => changedSweep(sweep, change)),
  };
}

function changedRecords(records: State["records"], change: Change): State["records"] {
  let changed: Map<Address, StateRecord> | undefined;
  for (const [address, record] of records) {
    const other = changedRecord(record, change);
    if (other === record) continue;
    changed ??= new Map(records);
    changed.set(address, other);
  }
  return changed ?? records;
}

function changedRecord(record: StateRecord, change: Change): StateRecord {
  const applied = change(record.address, record.applied);
  const seen = record.status === "ready" ? change(record.address, record.seen) : undefined;
  if (applied === record.applied && (record.status !== "ready" || seen === record.seen)) return record;
  return record.status === "ready" ? { ...record, applied, seen: seen ?? {} } : { ...record, applied };
}

function changedIntent<T extends Intent | OpenIntent>(intent: T, change: Change): T {
  const wanted = change(intent.address, intent.wanted);
  return wanted === intent.wanted ? intent : { ...intent, wanted };
}

function changedSweep(sweep: Sweep, change: Change): Sweep {
  const intent = sweep.intent === undefined ? undefined : changedIntent(sweep.intent, change);
  return intent === sweep.intent || intent === undefined ? sweep : { ...sweep, intent };
}

/** The state with the values of the run. What it does not have equals nothing. */
export function revealedState(state: State, sensitive: SensitiveValues): State {
  return changedState(state, (_, values) => sensitive.reveal(values));
}

export function revealedRecord(record: StateRecord, sensitive: SensitiveValues): StateRecord {
  return changedRecord(record, (_, values) => sensitive.reveal(values));
}

export function concealedState(
  state: State,
  sensitive: SensitiveValues,
  purpose: Concealment = "stored",
): State {
  const concealed = changedState(state, (address, values) => sensitive.conceal(address, values, purpose));
  const { history, acknowledged } = state;
  return {
    ...concealed,
    ...defined({
      history: history?.map((run) => concealedRun(run, sensitive)),
      acknowledged: acknowledged?.map((accepted) => concealedAcknowledgement(accepted, sensitive)),
    }),
  };
}

/** The user name of who applied can be a sensitive value. */
export function concealedRun(run: PastRun, sensitive: SensitiveValues): PastRun {
  const { actor, caller } = run;
  return { ...run, ...sensitive.masked(defined({ actor, caller })) };
}

function concealedAcknowledgement(
  acknowledgement: Acknowledgement,
  sensitive: SensitiveValues,
): Acknowledgement {
  const { by, reason } = acknowledgement;
  return { ...acknowledgement, ...sensitive.masked({ by, reason }) };
}

export function concealedRecord(record: StateRecord, sensitive: SensitiveValues): StateRecord {
  return changedRecord(record, (address, values) => sensitive.conceal(address, values, "stored"));
}

export function concealedEntry(entry: JournalEntry, sensitive: SensitiveValues): JournalEntry {
  const conceal: Change = (address, values) => sensitive.conceal(address, values, "stored");
  switch (entry.type) {
    case "intent":
      return { ...entry, intent: changedIntent(entry.intent, conceal) };
    case "record":
      return { ...entry, record: changedRecord(entry.record, conceal) };
    case "done":
      return entry.record === undefined ? entry : { ...entry, record: changedRecord(entry.record, conceal) };
    case "sweep":
      return { ...entry, sweep: changedSweep(entry.sweep, conceal) };
    case "run":
      return { ...entry, run: concealedRun(entry.run, sensitive) };
    case "acknowledged":
      return { ...entry, acknowledgement: concealedAcknowledgement(entry.acknowledgement, sensitive) };
    default:
      return entry;
  }
}
