// Resolves one open intent by recovery class (design 6): adopts, records as unfinished, closes, keeps for a later check, or leaves it open.

import { type Address, addressOf, kindOf } from "../../core/address.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Provider } from "../../resource/provider.ts";
import { deposedBy } from "../../state/format/fold.ts";
import type { JournalEntry, OpenIntent, StateRecord } from "../../state/model/record.ts";
import {
  carriesToken,
  confirmableValues,
  duplicatesOf,
  findCreated,
  matchesRequest,
  type RecoveryContext,
  withDeposed,
} from "./match-object.ts";

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
  const left = partialUploadOf(intent, provider, recovery);
  const { entries, ...rest } = settledBy(intent, provider, record, recovery);
  return { entries: [...left, ...entries], ...rest };
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
  const merged = nameAsLive(
    intent,
    provider,
    mergedRecord(provider, record, intent.wanted),
    record,
    recovery,
  );
  return closed(intent, ...later, { type: "record", record: merged });
}

/** A name can be read back, so the live name is recorded. Neither a completed nor a failed rename counts as drift. */
function nameAsLive(
  intent: OpenIntent,
  { kind, nameField = "" }: Provider,
  merged: StateRecord,
  before: StateRecord,
  { liveIndex }: RecoveryContext,
): StateRecord {
  const wanted = intent.wanted[nameField];
  const live = intent.id === undefined ? undefined : liveIndex.byId(kind, intent.id)?.name;
  const recorded = before.applied[nameField];
  if (recorded === undefined || live === undefined) return merged;
  if (live === recorded) return { ...merged, applied: { ...merged.applied, [nameField]: recorded } };
  return live === wanted ? { ...merged, name: live } : merged;
}

/** The next plan compares live with desired anyway; what may have been written is recorded, so that its removal is noticed. */
export function mergedRecord<R extends StateRecord>(provider: Provider, record: R, wanted: Values): R {
  return { ...record, applied: confirmableValues(provider.fields, { ...record.applied, ...wanted }) };
}

function deletion(intent: OpenIntent, provider: Provider, recovery: RecoveryContext): IntentResolution {
  const { address, id } = intent;
  if (id === undefined || recovery.liveIndex.byId(provider.kind, id) !== undefined) return closed(intent);
  return closed(intent, { type: "gone", gone: { address, id } });
}

function creation(
  intent: OpenIntent,
  provider: Provider,
  record: StateRecord | undefined,
  recovery: RecoveryContext,
): IntentResolution {
  const live = findCreated(intent, provider, recovery);
  if (live === undefined) return notThere(intent, record, recovery);
  if (record?.id === live.id && record.status !== "creating") return closed(intent);
  if (
    carriesToken(provider) ||
    provider.recovery === "repeatable" ||
    isCreatedByIntent(intent, provider, live)
  ) {
    const found = recordOf(intent, provider, record, live);
    return closed(intent, {
      type: "record",
      record: withDeposed(found, duplicatesOf(intent.token, live, provider, recovery.liveIndex)),
    });
  }
  return recovery.adopt ? OPEN : { entries: [], diagnostic: collision(intent, provider, live) };
}

/** The service confirmed it, or no object existed before and the current one matches the request. */
export function isCreatedByIntent(intent: OpenIntent, provider: Provider, live: LiveObject): boolean {
  return (intent.succeeded ?? 0) > 0 || (!intent.existed && matchesRequest(provider, intent.wanted, live));
}

function notThere(
  intent: OpenIntent,
  record: StateRecord | undefined,
  recovery: RecoveryContext,
): IntentResolution {
  const { address, made } = intent;
  const sweep = made === undefined ? sweepFor(intent, recovery) : [];
  const lost: readonly JournalEntry[] =
    made !== undefined && record?.id === made ? [{ type: "gone", gone: { address, id: made } }] : [];
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
    applied: confirmableValues(provider.fields, intent.wanted),
    depends_on: intent.depends_on,
    ...(before?.prevent_destroy === true ? { prevent_destroy: true as const } : {}),
    ...(before?.owns === undefined ? {} : { owns: before.owns }),
    ...(deposed.length === 0 ? {} : { deposed }),
  };
  return provider.recovery === "two-phase" && live.facts.token === intent.token
    ? { ...common, status: "creating", token: intent.token }
    : { ...common, status: "ready", seen: {} };
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
