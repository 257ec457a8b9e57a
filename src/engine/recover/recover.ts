// Recovers from an interrupted run: finds out what became of its open intents and unanswered tokens, and the live objects that they made.
// Whether an object is certainly the created one, `isCertainlyCreated` also decides for a creation without an answer in the present run
// (engine/apply/change-actions).

import { type Address, addressOf, kindOf, parentOf, type RemoteId } from "../../core/address.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { shellWord } from "../../core/sentences.ts";
import { diffResource } from "../../planner/diff/diff.ts";
import { comparable } from "../../planner/diff/normalize.ts";
import { indexLive, type LiveIndex } from "../../planner/model/context.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Provider, Registry } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { applyEntry, deposedBy, draftOf, stateOf } from "../../state/format/fold.ts";
import type { JournalEntry, OpenIntent, State, StateRecord, Sweep } from "../../state/model/record.ts";
import type { Lease } from "../../state/model/store.ts";
import { confirmableValues, provenValues, updatedRecord } from "./proven-values.ts";

interface RecoverInput {
  readonly registry: Registry;
  readonly state: State;
  readonly live: Live;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly adopt?: boolean;
}

export interface Recovered {
  /** The state once the entries are added. */
  readonly state: State;
  /** To be appended to the journal before anything else is written. */
  readonly entries: readonly JournalEntry[];
  readonly diagnostics: readonly Diagnostic[];
}

export function recover(input: RecoverInput): Recovered {
  if (input.state.open.length === 0 && input.state.sweeps.length === 0)
    return { state: input.state, entries: [], diagnostics: [] };
  // Each decision sees the entries of those before it, in one draft, because a copy of a large state takes long.
  const draft = draftOf(input.state);
  const liveIndex = indexLive(input.live, input.registry);
  const entries: JournalEntry[] = [];
  const diagnostics: Diagnostic[] = [];
  const take = (newEntries: readonly JournalEntry[]): void => {
    for (const entry of newEntries) applyEntry(draft, { seq: 0, at: input.now, entry });
    entries.push(...newEntries);
  };
  const readable = (kind: string, name: string): boolean =>
    input.live.get(kind)?.readable === true && liveIndex.unreadable(kind, name) === undefined;
  const recovery: RecoveryContext = {
    registry: input.registry,
    liveIndex,
    readable,
    owner: (kind, id) => ownerOf(draft.records, kind, id),
    membersOf: (kind, name) => membersIn(draft.records, input.registry, kind, name),
    now: input.now,
    adopt: input.adopt === true,
  };
  for (const intent of input.state.open) {
    const resolved = resolveIntent(intent, draft.records.get(intent.address), recovery);
    take(resolved.entries);
    if (resolved.diagnostic !== undefined) diagnostics.push(resolved.diagnostic);
  }
  for (const openSweep of [...draft.sweeps.values()]) take(sweep(openSweep, draft.records, recovery));
  return { state: stateOf(draft), entries, diagnostics };
}

/** Asked only of objects that an open intent or a late token may have made: few, so no index is kept. */
function ownerOf(
  records: ReadonlyMap<Address, StateRecord>,
  kind: string,
  id: RemoteId,
): Address | undefined {
  for (const { address, id: recorded, deposed } of records.values())
    if (kindOf(address) === kind && (recorded === id || deposed?.includes(id) === true)) return address;
  return undefined;
}

function membersIn(
  records: ReadonlyMap<Address, StateRecord>,
  registry: Registry,
  kind: string,
  name: string,
): readonly StateRecord[] {
  const kinds = new Set(
    registry.kinds.flatMap((member) => (member.nested?.kind === kind ? [member.kind] : [])),
  );
  if (kinds.size === 0) return [];
  return [...records.values()].filter(
    (record) => kinds.has(kindOf(record.address)) && parentOf(record.name) === name,
  );
}

/** Makes durable what recovery found, and what else has to be known before anything is sent. To be done under the lock. */
export async function recordBeforeWrites(lease: Lease, entries: readonly JournalEntry[]): Promise<void> {
  await Promise.all(entries.map((entry) => lease.append(entry)));
}

/** Looks for what a request without an answer may have created late, until the time of its token is over. */
function sweep(
  openSweep: Sweep,
  records: ReadonlyMap<Address, StateRecord>,
  recovery: RecoveryContext,
): readonly JournalEntry[] {
  const done: JournalEntry = { type: "swept", token: openSweep.token };
  const notFound = recovery.now > openSweep.until ? [done] : [];
  const provider = recovery.registry.find(kindOf(openSweep.address));
  const { intent } = openSweep;
  if (provider === undefined || intent === undefined) return notFound;
  const partial = partialUploadOf(intent, provider, recovery);
  if (partial.length > 0) return [...partial, done];
  if (intent.action === "update") return notFound;
  const live = findCreated(intent, provider, recovery);
  if (live === undefined) return notFound;
  const recorded = records.get(openSweep.address);
  if (recorded?.id === live.id || recorded?.deposed?.includes(live.id) === true) return [done];
  const record = claimed(intent, provider, recorded, live);
  return record === undefined ? notFound : [{ type: "record", record }, done];
}

/** Returns the record of a late creation; undefined if its origin is not certain. */
function claimed(
  intent: OpenIntent,
  provider: Provider,
  record: StateRecord | undefined,
  live: LiveObject,
): StateRecord | undefined {
  if (!isCertainlyCreated(intent, provider, live)) return undefined;
  if (record === undefined || record.id === intent.replaces) return recordOf(intent, provider, record, live);
  // The address has another object by now: this one is a leftover, which the next plan deletes.
  return withDeposed(record, [live.id]);
}

/** Maximum time after which a slow server may still commit a request. */
const SWEEP_MS = 72 * 3600 * 1000;

interface IntentResolution {
  readonly entries: readonly JournalEntry[];
  readonly diagnostic?: Diagnostic;
}

const OPEN: IntentResolution = { entries: [] };

export function resolveIntent(
  intent: OpenIntent,
  record: StateRecord | undefined,
  recovery: RecoveryContext,
): IntentResolution {
  const kind = kindOf(intent.address);
  const provider = recovery.registry.find(kind);
  // What cannot be read may be there or not: the intent waits for a run that can see.
  if (provider === undefined || !recovery.readable(kind, intent.name)) return OPEN;
  const partial = partialUploadOf(intent, provider, recovery);
  const { entries, ...rest } = settledBy(intent, provider, record, recovery);
  return { entries: [...partial, ...entries], ...rest };
}

function settledBy(
  intent: OpenIntent,
  provider: Provider,
  record: StateRecord | undefined,
  recovery: RecoveryContext,
): IntentResolution {
  switch (intent.action) {
    case "create":
      return creation(intent, provider, record, recovery);
    case "update":
      return update(intent, provider, record, recovery);
    case "delete":
      return deletion(intent, provider, recovery);
    default:
      return intent.action satisfies never;
  }
}

function closed(intent: OpenIntent, ...others: readonly JournalEntry[]): IntentResolution {
  return { entries: [...others, { type: "closed", intent: intent.seq }] };
}

function update(
  intent: OpenIntent,
  provider: Provider,
  record: StateRecord | undefined,
  recovery: RecoveryContext,
): IntentResolution {
  // A later run checks for objects that a slow server creates afterwards.
  const later = provider.planning.content?.partialUploadName === undefined ? [] : sweepFor(intent, recovery);
  if (record === undefined || record.status === "creating") return closed(intent, ...later);
  // The record of the address is about another object: this one was replaced, or is being adopted again.
  if (intent.id !== undefined && record.id !== intent.id) return closed(intent, ...later);
  const live = recovery.liveIndex.byId(provider.kind, record.id);
  return closed(intent, ...later, {
    type: "record",
    record: updatedRecord(provider, record, intent.wanted, live),
  });
}

function deletion(intent: OpenIntent, provider: Provider, recovery: RecoveryContext): IntentResolution {
  const { address, id } = intent;
  if (id === undefined || recovery.liveIndex.byId(provider.kind, id) !== undefined) return closed(intent);
  // The service deletes an object with its members.
  const gone = [{ address, id }, ...recovery.membersOf(provider.kind, intent.name)];
  return closed(
    intent,
    ...gone.map(({ address, id }): JournalEntry => ({ type: "gone", gone: { address, id } })),
  );
}

function creation(
  intent: OpenIntent,
  provider: Provider,
  record: StateRecord | undefined,
  recovery: RecoveryContext,
): IntentResolution {
  const live = findCreated(intent, provider, recovery);
  if (live === undefined) return notFound(intent, record, recovery);
  if (record?.id === live.id && record.status !== "creating") return closed(intent);
  if (isCertainlyCreated(intent, provider, live)) {
    const created = recordOf(intent, provider, record, live);
    return closed(intent, {
      type: "record",
      record: withDeposed(created, duplicatesOf(intent.token, live, provider, recovery.liveIndex)),
    });
  }
  return recovery.adopt ? OPEN : { entries: [], diagnostic: collision(intent, provider, live) };
}

/**
 * Whether a live object that `findCreated` found is certainly what an intent created: it has its token, a repeated request creates no other
 * object, the service confirmed a request, or no object had the name before and this one matches the request.
 */
export function isCertainlyCreated(
  { succeeded = 0, existed, wanted }: Pick<OpenIntent, "succeeded" | "existed" | "wanted">,
  provider: Provider,
  live: LiveObject,
): boolean {
  if (carriesToken(provider) || provider.creationRecovery === "repeatable") return true;
  return succeeded > 0 || (!existed && matchesRequest(provider, wanted, live));
}

function notFound(
  intent: OpenIntent,
  record: StateRecord | undefined,
  recovery: RecoveryContext,
): IntentResolution {
  const { address, made: createdId } = intent;
  const sweep = createdId === undefined ? sweepFor(intent, recovery) : [];
  const lost: readonly JournalEntry[] =
    createdId !== undefined && record?.id === createdId
      ? [{ type: "gone", gone: { address, id: createdId } }]
      : [];
  return closed(intent, ...sweep, ...lost);
}

/** A token to be looked for on later runs, where a request of the intent has no answer. */
function sweepFor(intent: OpenIntent, recovery: RecoveryContext): readonly JournalEntry[] {
  const { address, token } = intent;
  const until = intent.at + SWEEP_MS;
  const unanswered = (intent.sent ?? 1) > (intent.succeeded ?? 0) + (intent.refused ?? 0);
  return unanswered && recovery.now < until
    ? [{ type: "sweep", sweep: { token, address, until, intent } }]
    : [];
}

/** Returns the record of a recovered object; still unfinished if its token remains after a two-phase creation. */
export function recordOf(
  intent: OpenIntent,
  provider: Provider,
  before: StateRecord | undefined,
  live: LiveObject,
): StateRecord {
  // A recorded object stays recorded until it is deleted, even if it was to be replaced.
  const deposed = deposedBy(before, live.id, intent.replaces ?? before?.id);
  const common = {
    address: intent.address,
    id: live.id,
    name: intent.name,
    depends_on: intent.depends_on,
    ...(before?.prevent_destroy === true ? { prevent_destroy: true as const } : {}),
    ...defined({ owns: before?.owns }),
    ...(deposed.length === 0 ? {} : { deposed }),
  };
  const { wanted, token } = intent;
  return provider.creationRecovery === "two-phase" && live.facts.token === token
    ? { ...common, status: "creating", applied: confirmableValues(provider.fields, wanted), token }
    : { ...common, status: "ready", applied: provenValues(provider, undefined, wanted, live), seen: {} };
}

function collision(intent: OpenIntent, provider: Provider, live: LiveObject): Diagnostic {
  const message = `${provider.singular} "${live.name}" exists, but it is unknown whether an interrupted run created it`;
  return error("PLAN_COLLISION", message, {
    address: intent.address,
    hint: `to adopt it, run \`workspace import ${shellWord(intent.address)} ${shellWord(live.id)}\`; otherwise, rename or delete it`,
  });
}

export function partialUploadOf(
  intent: Pick<OpenIntent, "name" | "token">,
  provider: Provider,
  recovery: RecoveryContext,
): readonly JournalEntry[] {
  const nameOfPart = provider.planning.content?.partialUploadName;
  if (nameOfPart === undefined) return [];
  const [live] = recovery.liveIndex.byName(provider.kind, nameOfPart(intent.name, intent.token));
  if (live === undefined) return [];
  const address: Address = addressOf(provider.kind, live.name);
  const record: StateRecord = {
    status: "creating",
    address,
    id: live.id,
    name: live.name,
    applied: {},
    depends_on: [],
    token: intent.token,
  };
  return [{ type: "record", record }];
}

export interface RecoveryContext {
  readonly registry: Registry;
  readonly liveIndex: LiveIndex;
  /** Whether a missing object is known to be missing. */
  readonly readable: (kind: string, name: string) => boolean;
  readonly now: number;
  /** The address that manages a live object in the state. */
  readonly owner: (kind: string, id: RemoteId) => Address | undefined;
  /** The recorded members of the object with this natural name: the ACLs and secrets of a scope. */
  readonly membersOf: (kind: string, name: string) => readonly StateRecord[];
  /** `--adopt` is set, so an unknown origin does not block. */
  readonly adopt: boolean;
}

export function carriesToken(provider: Provider): boolean {
  return provider.creationRecovery === "tagged" || provider.creationRecovery === "two-phase";
}

/** Whether only its natural name identifies what a request created. */
export function isFoundByName({ creationRecovery, unique }: Provider): boolean {
  return creationRecovery === "client-named" && unique;
}

/** The created object by ID, token, or natural name; an object that another address records does not count. */
export function findCreated(
  intent: Pick<OpenIntent, "address" | "name" | "token" | "made">,
  provider: Provider,
  { liveIndex, owner }: Pick<RecoveryContext, "liveIndex" | "owner">,
): LiveObject | undefined {
  const { kind } = provider;
  if (intent.made !== undefined) return liveIndex.byId(kind, intent.made);
  if (carriesToken(provider))
    return liveIndex.all(kind).find((liveObject) => liveObject.facts.token === intent.token);
  return liveIndex
    .byName(kind, intent.name)
    .find((liveObject) => (owner(kind, liveObject.id) ?? intent.address) === intent.address);
}

/** Other objects under the same token: the service got the same request more than once. */
export function duplicatesOf(
  token: string,
  live: Pick<LiveObject, "id">,
  provider: Provider,
  world: Pick<LiveIndex, "all">,
): readonly RemoteId[] {
  if (!carriesToken(provider)) return [];
  return world
    .all(provider.kind)
    .filter((liveObject) => liveObject.facts.token === token && liveObject.id !== live.id)
    .map((liveObject) => liveObject.id);
}

/** The record with further objects that have to go. */
export function withDeposed(record: StateRecord, ids: readonly RemoteId[]): StateRecord {
  const deposed = [...new Set([...(record.deposed ?? []), ...ids])];
  return deposed.length === 0 ? record : { ...record, deposed };
}

/** Whether a live object matches the request; values that cannot be read back, or that a later request writes, count as equal. */
export function matchesRequest(provider: Provider, wanted: Values, live: LiveObject): boolean {
  const fieldDiffs = diffResource(provider.fields, wanted, comparable(provider, live, wanted), undefined);
  return fieldDiffs.every(({ path: [name] }) => {
    const { writeOnly, separateRequest } = provider.fields[String(name)] ?? {};
    return writeOnly === true || separateRequest === true;
  });
}
