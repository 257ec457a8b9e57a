// One open intent, by crash class (design 6): adopted, recorded as unfinished, closed, swept for later, or left open.
// What a cut write left beside its object, found by its token: recorded under its own name, so that the next plan deletes it.

import { type Address, addressOf, kindOf, type RemoteId } from "../../core/address.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject, Provider } from "../../resource/provider.ts";
import { deposedBy } from "../../state/format/fold.ts";
import type { Entry } from "../../state/model/journal-entry.ts";
import type { OpenIntent, StateRecord } from "../../state/model/record.ts";
import {
  type Around,
  carriesToken,
  isWhatWasSent,
  madeBy,
  provable,
  twinsOf,
  withDeposed,
} from "./match-object.ts";

/** How long a slow server may take to commit what it was sent. */
export const SWEEP_MS = 72 * 3600 * 1000;

interface Settled {
  readonly entries: readonly Entry[];
  readonly diagnostic?: Diagnostic;
}

const OPEN: Settled = { entries: [] };

export function settle(intent: OpenIntent, record: StateRecord | undefined, around: Around): Settled {
  const kind = kindOf(intent.address);
  const provider = around.registry.find(kind);
  // What cannot be read may be there or not: the intent waits for a run that can see.
  if (provider === undefined || !around.readable(kind, intent.name)) return OPEN;
  const left = leftoverOf(intent, provider, around);
  const { entries, ...rest } = settledBy(intent, provider, record, around);
  return { entries: [...left, ...entries], ...rest };
}

function settledBy(
  intent: OpenIntent,
  provider: Provider,
  record: StateRecord | undefined,
  around: Around,
): Settled {
  switch (intent.action) {
    case "create":
      return creation(intent, provider, record, around);
    case "update":
      return update(intent, provider, record, around);
    case "delete":
      return deletion(intent, provider, around);
    default:
      return intent.action satisfies never;
  }
}

function closed(intent: OpenIntent, ...others: readonly Entry[]): Settled {
  return { entries: [...others, { type: "closed", intent: intent.seq }] };
}

function update(
  intent: OpenIntent,
  provider: Provider,
  record: StateRecord | undefined,
  around: Around,
): Settled {
  // What a slow server still puts beside the object is looked for later.
  const later = provider.leftover === undefined ? [] : sweepFor(intent, around);
  if (record === undefined || record.status === "creating") return closed(intent, ...later);
  // The record of the address is about another object: this one was an old object, or is taken over again.
  if (intent.id !== undefined && record.id !== intent.id) return closed(intent, ...later);
  const merged = nameAsLive(intent, provider, mergedRecord(provider, record, intent.wanted), record, around);
  return closed(intent, ...later, { type: "record", record: merged });
}

/** A name can be read back, so it is recorded as it is: neither a rename that happened nor one that did not is drift. */
function nameAsLive(
  intent: OpenIntent,
  { kind, nameField = "" }: Provider,
  merged: StateRecord,
  before: StateRecord,
  { world }: Around,
): StateRecord {
  const wanted = intent.wanted[nameField];
  const live = intent.id === undefined ? undefined : world.byId(kind, intent.id)?.name;
  const recorded = before.applied[nameField];
  if (wanted === undefined || recorded === undefined || live === undefined) return merged;
  if (live === recorded) return { ...merged, applied: { ...merged.applied, [nameField]: recorded } };
  return live === wanted ? { ...merged, name: live } : merged;
}

/** The next plan compares live with desired anyway; what may have been written is recorded, so that its removal is noticed. */
export function mergedRecord<R extends StateRecord>(provider: Provider, record: R, wanted: Values): R {
  return { ...record, applied: provable(provider.fields, { ...record.applied, ...wanted }) };
}

function deletion(intent: OpenIntent, provider: Provider, around: Around): Settled {
  const { address, id } = intent;
  if (id === undefined || around.world.byId(provider.kind, id) !== undefined) return closed(intent);
  return closed(intent, { type: "gone", gone: { address, id } });
}

function creation(
  intent: OpenIntent,
  provider: Provider,
  record: StateRecord | undefined,
  around: Around,
): Settled {
  const live = madeBy(intent, provider, around);
  if (live === undefined) return notThere(intent, record, around);
  if (record?.id === live.id && record.status !== "creating") return closed(intent);
  if (carriesToken(provider) || provider.crash === "repeatable" || isOurs(intent, provider, live)) {
    const found = recordOf(intent, provider, record, live);
    return closed(intent, {
      type: "record",
      record: withDeposed(found, twinsOf(intent.token, live, provider, around.world)),
    });
  }
  return around.adopt ? OPEN : { entries: [], diagnostic: collision(intent, provider, live) };
}

/** Adopted only if the service said so, or if nothing was there before and what is there now is what was sent. */
export function isOurs(intent: OpenIntent, provider: Provider, live: LiveObject): boolean {
  return (intent.succeeded ?? 0) > 0 || (!intent.existed && isWhatWasSent(provider, intent.wanted, live));
}

function notThere(intent: OpenIntent, record: StateRecord | undefined, around: Around): Settled {
  const { address, made } = intent;
  const sweep = made === undefined ? sweepFor(intent, around) : [];
  const lost: readonly Entry[] =
    made !== undefined && record?.id === made ? [{ type: "gone", gone: { address, id: made } }] : [];
  return closed(intent, ...sweep, ...lost);
}

/** A token to be looked for on later runs, where a request of the intent has no answer. */
function sweepFor(intent: OpenIntent, around: Around): readonly Entry[] {
  const { address, token } = intent;
  const until = intent.at + SWEEP_MS;
  const unanswered = (intent.sent ?? 1) > (intent.succeeded ?? 0) + (intent.refused ?? 0);
  return unanswered && around.now < until
    ? [{ type: "sweep", sweep: { token, address, until, intent } }]
    : [];
}

/** A thing of ours as it is recorded when it is found; still unfinished where its token shows in a two-phase creation. */
export function recordOf(
  intent: OpenIntent,
  provider: Provider,
  before: StateRecord | undefined,
  live: LiveObject,
): StateRecord {
  const deposed = deposedWith(intent, before, live.id);
  const common = {
    address: intent.address,
    id: live.id,
    name: intent.name,
    applied: provable(provider.fields, intent.wanted),
    depends_on: intent.depends_on,
    ...(before?.prevent_destroy === true ? { prevent_destroy: true as const } : {}),
    ...(before?.owns === undefined ? {} : { owns: before.owns }),
    ...(deposed.length === 0 ? {} : { deposed }),
  };
  return provider.crash === "two-phase" && live.facts.token === intent.token
    ? { ...common, status: "creating", token: intent.token }
    : { ...common, status: "ready", seen: {} };
}

/** An object recorded before stays known until it is deleted, whether or not it was to give way. */
function deposedWith(intent: OpenIntent, before: StateRecord | undefined, id: RemoteId): readonly RemoteId[] {
  return deposedBy(before, id, intent.replaces ?? before?.id);
}

function collision(intent: OpenIntent, provider: Provider, live: LiveObject): Diagnostic {
  return error(
    "PLAN_COLLISION",
    `a ${provider.one} "${live.name}" is there, and it is not certain that we made it: nothing proves what became of our request for that name`,
    {
      address: intent.address,
      hint: `look at it; if it is ours, run: workspace import ${intent.address} ${live.id}; if not, delete or rename it`,
    },
  );
}

export function leftoverOf(
  intent: Pick<OpenIntent, "name" | "token">,
  provider: Provider,
  around: Around,
): readonly Entry[] {
  const name = provider.leftover?.(intent.name, intent.token);
  const live = name === undefined ? undefined : around.world.byName(provider.kind, name)[0];
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
