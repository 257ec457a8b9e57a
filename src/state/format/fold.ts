// Applies journal entries to a state. The cost of an entry does not depend on the size of the state.

import type { Address, RemoteId } from "../../core/address.ts";
import { defined } from "../../core/json.ts";
import { type PastRun, withChangeAdded, withRunAdded } from "../../core/past-run.ts";
import type {
  Acknowledgement,
  JournalEntry,
  NumberedEntry,
  OpenIntent,
  RemovedObject,
  State,
  StateRecord,
  Sweep,
} from "../model/record.ts";

export interface Draft {
  lineage: string;
  serial: number;
  host: string;
  readonly records: Map<Address, StateRecord>;
  readonly sweeps: Map<string, Sweep>;
  readonly open: Map<number, OpenIntent>;
  readonly nonces: Set<string>;
  reported: NonNullable<State["reported"]>;
  acknowledged: readonly Acknowledgement[];
  history: readonly PastRun[];
  caller: State["caller"];
  moved: State["moved"];
  movingAbove: State["movingAbove"];
}

/** Saved plans expire long before this many others were applied. */
const NONCES_KEPT = 1000;

/** Of one resource. */
const FORMER_KEPT = 10;

export function emptyState(lineage: string): State {
  return { lineage, serial: 0, host: "", records: new Map(), sweeps: [], open: [], nonces: [] };
}

export function draftOf(state: State): Draft {
  return {
    lineage: state.lineage,
    serial: state.serial,
    host: state.host,
    records: new Map(state.records),
    sweeps: new Map(state.sweeps.map((sweep) => [sweep.token, sweep])),
    open: new Map(state.open.map((intent) => [intent.seq, intent])),
    nonces: new Set(state.nonces),
    reported: state.reported ?? [],
    acknowledged: state.acknowledged ?? [],
    history: state.history ?? [],
    caller: state.caller,
    moved: state.moved,
    movingAbove: state.movingAbove,
  };
}

export function stateOf(draft: Draft): State {
  return {
    lineage: draft.lineage,
    serial: draft.serial,
    host: draft.host,
    records: new Map(draft.records),
    sweeps: [...draft.sweeps.values()],
    open: [...draft.open.values()],
    nonces: [...draft.nonces].slice(-NONCES_KEPT),
    ...(draft.reported.length === 0 ? {} : { reported: draft.reported }),
    ...(draft.acknowledged.length === 0 ? {} : { acknowledged: draft.acknowledged }),
    ...(draft.history.length === 0 ? {} : { history: draft.history }),
    ...defined({ caller: draft.caller, moved: draft.moved, movingAbove: draft.movingAbove }),
  };
}

export function fold(state: State, entries: Iterable<NumberedEntry>): State {
  let draft: Draft | undefined;
  for (const numberedEntry of entries) {
    draft ??= draftOf(state);
    applyEntry(draft, numberedEntry);
  }
  return draft === undefined ? state : stateOf(draft);
}

/** The state with entries that the journal does not have yet. None may be an intent, which needs the number and the time of its entry. */
export function withEntries(state: State, entries: readonly JournalEntry[]): State {
  return fold(
    state,
    entries.map((entry) => ({ seq: 0, at: 0, entry })),
  );
}

export function applyEntry(draft: Draft, { seq, at, entry }: NumberedEntry): void {
  switch (entry.type) {
    case "intent":
      draft.open.set(seq, { ...entry.intent, seq, at, sent: 1 });
      return;
    case "request":
      edit(draft, entry.intent, (open) => ({
        ...open,
        operation: entry.operation,
        sent: (open.sent ?? 0) + 1,
      }));
      return;
    case "answer":
      addAnswered(draft, entry);
      edit(draft, entry.intent, (open) => ({ ...open, [entry.result]: (open[entry.result] ?? 0) + 1 }));
      return;
    case "created":
      edit(draft, entry.intent, (open) => ({ ...open, made: entry.id }));
      created(draft, entry.intent, entry.id);
      return;
    case "done":
      if (!isCounted(draft.open.get(entry.intent)))
        draft.history = withChangeAdded(draft.history, (entry.record ?? entry.gone)?.address);
      draft.open.delete(entry.intent);
      if (entry.record !== undefined) setRecord(draft, entry.record);
      if (entry.gone !== undefined) remove(draft, entry.gone);
      return;
    case "closed":
      draft.open.delete(entry.intent);
      return;
    case "record":
      addRecovered(draft, entry.record.address, "create");
      setRecord(draft, entry.record);
      return;
    case "gone":
      addRecovered(draft, entry.gone.address, "delete");
      remove(draft, entry.gone);
      return;
    case "moved":
      move(draft, entry);
      return;
    case "sweep":
      draft.sweeps.set(entry.sweep.token, entry.sweep);
      return;
    case "swept":
      draft.sweeps.delete(entry.token);
      return;
    case "host":
      draft.host = entry.host;
      return;
    case "caller":
      draft.caller = { name: entry.name, credential: entry.credential };
      return;
    case "nonce":
      draft.nonces.add(entry.nonce);
      return;
    case "reported":
      draft.reported = entry.reported;
      return;
    case "acknowledged":
      draft.acknowledged = [...others(draft, entry.acknowledgement), entry.acknowledgement];
      endReported(draft, entry.acknowledgement);
      return;
    case "unacknowledged":
      draft.acknowledged = others(draft, entry);
      return;
    case "run":
      draft.history = withRunAdded(draft.history, entry.run);
      return;
    default:
      entry satisfies never;
  }
}

function others(
  { acknowledged }: Draft,
  { address, field }: Pick<Acknowledgement, "address" | "field">,
): readonly Acknowledgement[] {
  return acknowledged.filter(
    (acknowledgement) => acknowledgement.address !== address || acknowledgement.field !== field,
  );
}

/** A request that succeeded changed the object, also if a later one of the same change is refused. */
function addAnswered(
  draft: Draft,
  { intent, result }: Extract<JournalEntry, { readonly type: "answer" }>,
): void {
  const open = draft.open.get(intent);
  if (result === "succeeded" && open !== undefined && !isCounted(open))
    draft.history = withChangeAdded(draft.history, open.address);
}

/** Whether the history has the change of an intent. */
const isCounted = (open: OpenIntent | undefined): boolean => (open?.succeeded ?? 0) > 0;

/** An object that recovery found created or deleted was changed by the run that left its intent open. */
function addRecovered(draft: Draft, address: Address, action: OpenIntent["action"]): void {
  const open = [...draft.open.values()].find((intent) => intent.address === address);
  if (open?.action === action && !isCounted(open)) draft.history = withChangeAdded(draft.history, address);
}

/** The record is what the last apply left, so no earlier difference of its address exists. */
function setRecord(draft: Draft, record: StateRecord): void {
  draft.records.set(record.address, withFormer(record, draft.records.get(record.address)));
  endKnownDrift(draft, record.address);
}

/** A change of a resource does not know its earlier addresses. */
function withFormer(record: StateRecord, before: StateRecord | undefined): StateRecord {
  return before?.former === undefined ? record : { ...record, former: before.former };
}

function endKnownDrift(draft: Draft, ended: Address): void {
  const isOther = ({ address }: { readonly address: Address }): boolean => address !== ended;
  if (draft.reported.length > 0) draft.reported = draft.reported.filter(isOther);
  if (draft.acknowledged.length > 0) draft.acknowledged = draft.acknowledged.filter(isOther);
}

/** Acknowledged drift does not count as reported, so it is new when the acknowledgement ends. */
function endReported(draft: Draft, { address, differences }: Acknowledgement): void {
  draft.reported = draft.reported.flatMap((reportedDrift): Draft["reported"] => {
    if (reportedDrift.address !== address) return [reportedDrift];
    const left = reportedDrift.differences.filter((digest) => !differences.includes(digest));
    return left.length === 0 ? [] : [{ ...reportedDrift, differences: left }];
  });
}

function edit(draft: Draft, seq: number, change: (open: OpenIntent) => OpenIntent): void {
  const open = draft.open.get(seq);
  if (open !== undefined) draft.open.set(seq, change(open));
}

function created(draft: Draft, seq: number, id: RemoteId): void {
  const open = draft.open.get(seq);
  if (open === undefined) return;
  const { address, name, wanted, depends_on, token } = open;
  const before = draft.records.get(address);
  const deposed = deposedBy(before, id, open.replaces);
  const record = { status: "creating", address, id, name, applied: wanted, depends_on, token } as const;
  draft.records.set(address, withFormer(deposed.length === 0 ? record : { ...record, deposed }, before));
}

/** The ids that still have to go once `id` takes the place of what was recorded. */
export function deposedBy(
  before: StateRecord | undefined,
  id: RemoteId,
  replaces: RemoteId | undefined,
): readonly RemoteId[] {
  const ids = new Set(before?.deposed ?? []);
  if (replaces !== undefined) ids.add(replaces);
  ids.delete(id);
  return [...ids];
}

/** Takes one object from a record. Where the recorded object itself goes and deposed ones remain, the record lives on for them. */
function remove(draft: Draft, gone: RemovedObject): void {
  const record = draft.records.get(gone.address);
  if (record === undefined || gone.id === undefined || gone.id === record.id)
    endKnownDrift(draft, gone.address);
  if (record === undefined) return;
  if (gone.id === undefined) endOpen(draft, gone.address);
  const { deposed = [], ...rest } = record;
  const left = deposed.filter((id) => id !== gone.id);
  const [next, ...others] = left;
  if (gone.id !== undefined && gone.id !== record.id)
    draft.records.set(gone.address, withDeposed(rest, left));
  else if (gone.id === undefined || next === undefined) draft.records.delete(gone.address);
  else draft.records.set(gone.address, withDeposed({ ...rest, id: next }, others));
}

/** Nothing is recovered of a resource that leaves the state whatever its objects are. */
function endOpen(draft: Draft, ended: Address): void {
  for (const [seq, { address }] of [...draft.open]) if (address === ended) draft.open.delete(seq);
  for (const [token, { address }] of [...draft.sweeps]) if (address === ended) draft.sweeps.delete(token);
}

function withDeposed(record: StateRecord, deposed: readonly RemoteId[]): StateRecord {
  return deposed.length === 0 ? record : { ...record, deposed };
}

function move(draft: Draft, { from, to }: Extract<JournalEntry, { readonly type: "moved" }>): void {
  const rename = (address: Address): Address => (address === from ? to : address);
  const moved = <T extends { readonly address: Address }>(of: T): T => ({
    ...of,
    address: rename(of.address),
  });
  draft.reported = draft.reported.map(moved);
  draft.acknowledged = draft.acknowledged.map(moved);
  draft.history = draft.history.map((run) => ({
    ...run,
    changed: run.changed.map(rename),
    details: run.details?.map(moved),
  }));
  const movedIntent = (intent: OpenIntent): OpenIntent => ({
    ...moved(intent),
    depends_on: intent.depends_on.map(rename),
  });
  for (const [seq, intent] of [...draft.open]) draft.open.set(seq, movedIntent(intent));
  for (const [token, sweep] of [...draft.sweeps])
    draft.sweeps.set(token, {
      ...moved(sweep),
      ...defined({ intent: sweep.intent && movedIntent(sweep.intent) }),
    });
  const records = [...draft.records];
  draft.records.delete(from);
  for (const [address, record] of records) {
    if (address !== from && !record.depends_on.includes(from)) continue;
    const depends_on = record.depends_on.map(rename);
    const former = [...(record.former ?? []).filter((address) => address !== from && address !== to), from];
    draft.records.set(
      rename(address),
      address === from
        ? { ...record, address: to, depends_on, former: former.slice(-FORMER_KEPT) }
        : { ...record, depends_on },
    );
  }
}
