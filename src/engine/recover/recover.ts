// Recovers from an interrupted run: resolves its open intents and unanswered tokens, and moves the records that the spec moves.

import { type Address, addressOf, isInModule, kindOf, nameOf, type RemoteId } from "../../core/address.ts";
import { type Diagnostic, error, type Location } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import { indexLive } from "../../planner/model/context.ts";
import type { KindRegistry, Provider, Registry } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { addressesOf } from "../../resource/names.ts";
import { add, draftOf, stateOf } from "../../state/format/fold.ts";
import type { JournalEntry, OpenIntent, State, StateRecord, Sweep } from "../../state/model/record.ts";
import type { Lease } from "../../state/model/store.ts";
import {
  carriesToken,
  findCreated,
  isCreatedByIntent,
  partialUploadOf,
  type RecoveryContext,
  recordOf,
  resolveIntent,
} from "./resolve-intent.ts";

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
  const draft = draftOf(input.state);
  const liveIndex = indexLive(input.live, input.registry);
  const entries: JournalEntry[] = [];
  const diagnostics: Diagnostic[] = [];
  const take = (resolution: {
    readonly entries: readonly JournalEntry[];
    readonly diagnostic?: Diagnostic;
  }): void => {
    for (const entry of resolution.entries) add(draft, { seq: 0, at: input.now, entry });
    entries.push(...resolution.entries);
    if (resolution.diagnostic !== undefined) diagnostics.push(resolution.diagnostic);
  };
  const readable = (kind: string, name: string): boolean =>
    input.live.get(kind)?.readable === true && liveIndex.unreadable(kind, name) === undefined;
  const recovery: RecoveryContext = {
    registry: input.registry,
    liveIndex,
    readable,
    owner: (kind, id) => ownerOf(draft.records, kind, id),
    now: input.now,
    adopt: input.adopt === true,
  };
  for (const intent of input.state.open)
    take(resolveIntent(intent, draft.records.get(intent.address), recovery));
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

/** Makes durable what recovery found, and what else has to be known before anything is sent. To be done under the lock. */
export async function recordRecovery(lease: Lease, entries: readonly JournalEntry[]): Promise<void> {
  await Promise.all(entries.map((entry) => lease.append(entry)));
}

interface Swept {
  readonly entries: readonly JournalEntry[];
}

const NOT_YET: Swept = { entries: [] };

function sweep(
  openSweep: Sweep,
  records: ReadonlyMap<Address, StateRecord>,
  recovery: RecoveryContext,
): Swept {
  const done: JournalEntry = { type: "swept", token: openSweep.token };
  const later = recovery.now > openSweep.until ? { entries: [done] } : NOT_YET;
  const provider = recovery.registry.find(kindOf(openSweep.address));
  const { intent } = openSweep;
  if (provider === undefined || intent === undefined) return later;
  const left = partialUploadOf(intent, provider, recovery);
  if (left.length > 0) return { entries: [...left, done] };
  if (intent.action === "update") return later;
  const live = findCreated(intent, provider, recovery);
  if (live === undefined) return later;
  if (isRecorded(records.get(openSweep.address), live)) return { entries: [done] };
  const record = claimed(intent, provider, records.get(openSweep.address), live);
  if (record !== undefined) return { entries: [{ type: "record", record }, done] };
  return later;
}

function isRecorded(record: StateRecord | undefined, live: LiveObject): boolean {
  return record !== undefined && (record.id === live.id || record.deposed?.includes(live.id) === true);
}

/** Returns the record of a late creation; undefined if its origin is not certain. */
function claimed(
  intent: OpenIntent,
  provider: Provider,
  record: StateRecord | undefined,
  live: LiveObject,
): StateRecord | undefined {
  const certain =
    carriesToken(provider) || provider.recovery === "repeatable" || isCreatedByIntent(intent, provider, live);
  if (!certain) return undefined;
  if (record === undefined) return recordOf(intent, provider, undefined, live);
  if (record.id === intent.replaces) return recordOf(intent, provider, record, live);
  // The address has another object by now: this one is a leftover, which the next plan deletes.
  return { ...record, deposed: [...(record.deposed ?? []), live.id] };
}

/** An entry of `moved`; both addresses may be of modules. */
export interface Move {
  readonly from: Address;
  readonly to: Address;
  readonly at: Location;
}

export interface MoveRules {
  readonly registry: KindRegistry;
  readonly declared: { has(address: Address): boolean };
}

/** The last address of a path, and the first entry on it; without an entry, the path ends where it begins. */
interface PathEnd {
  readonly to: Address;
  readonly first?: Move;
}

interface Step {
  readonly move: Move;
  readonly from: Address;
  readonly to: Address;
}

export class MovePaths {
  readonly #byFrom: ReadonlyMap<Address, Move>;
  readonly #rules: MoveRules;
  /** The ends of paths that were followed, so that the addresses of a long chain are followed once. */
  readonly #ends = new Map<Address, PathEnd>();
  readonly #used = new Set<Move>();

  constructor(moves: readonly Move[], rules: MoveRules) {
    this.#byFrom = new Map(moves.map((move) => [move.from, move]));
    this.#rules = rules;
  }

  /** The entries on the paths that were followed. */
  get used(): ReadonlySet<Move> {
    return this.#used;
  }

  follow(from: Address): PathEnd {
    const steps: Step[] = [];
    const passed = new Set<Move>();
    let to = from;
    let unsure: number | undefined;
    for (;;) {
      const pathEnd = this.#ends.get(to);
      if (pathEnd !== undefined) {
        if (steps.length === 0) return pathEnd;
        to = pathEnd.to;
        break;
      }
      const step = this.#stepFrom(to);
      if (step === undefined || passed.has(step.move)) break;
      if (isNested(step.move)) unsure ??= steps.length;
      passed.add(step.move);
      steps.push(step);
      to = step.to;
    }
    // `team/ads/shared` may be the resource of an instance, or that of a module in the module.
    if (unsure !== undefined && !this.#rules.declared.has(to)) {
      steps.length = unsure;
      to = steps.at(-1)?.to ?? from;
    }
    for (const { move } of steps) this.#used.add(move);
    if (unsure === undefined) for (const step of steps) this.#ends.set(step.from, { to, first: step.move });
    return pathEnd(to, steps[0]?.move);
  }

  /** The entry of an address itself, or else of the innermost module that contains it. */
  #stepFrom(address: Address): Step | undefined {
    const { registry, declared } = this.#rules;
    for (const ownerAddress of addressesOf(registry.find(kindOf(address)), address)) {
      const move = this.#byFrom.get(ownerAddress);
      if (move === undefined || (isNested(move) && declared.has(address))) continue;
      const rest = nameOf(address).slice(nameOf(ownerAddress).length);
      return { move, from: address, to: addressOf(kindOf(address), `${nameOf(move.to)}${rest}`) };
    }
    return undefined;
  }
}

function pathEnd(to: Address, first: Move | undefined): PathEnd {
  return first === undefined ? { to } : { to, first };
}

/** Whether one module of an entry is inside the other: `modules.team` to `modules.team/ads`. */
function isNested({ from, to }: Move): boolean {
  return isInModule(from, to) || isInModule(to, from);
}

export interface RecoveredAndMoved extends Recovered {
  /** Absent if nothing is moved. */
  readonly moved?: { readonly origins: ReadonlyMap<Address, Address>; readonly before: State };
}

/** A move that was applied before, or whose resource is not in the state, has no effect. */
export function moveRecords(
  moves: readonly Move[],
  recovered: Recovered,
  rules: MoveRules,
): RecoveredAndMoved {
  const before = recovered.state;
  if (moves.length === 0) return recovered;
  const diagnostics: Diagnostic[] = [];
  const origins = new Map<Address, Address>();
  const paths = new MovePaths(moves, rules);
  for (const from of [...before.records.keys()].sort()) {
    const { to, first } = paths.follow(from);
    if (to === from) continue;
    const problem = problemOf(before, from, to, origins.get(to));
    if (problem === undefined) origins.set(to, from);
    else
      diagnostics.push(
        error("PLAN_STATE_ENTRY", problem, {
          address: to,
          at: first?.at,
          hint: `to keep one of the records, run \`workspace state rm ${shellWord(from)}\``,
        }),
      );
  }
  if (origins.size === 0) return { ...recovered, diagnostics: [...recovered.diagnostics, ...diagnostics] };
  const entries = [...origins].map(([to, from]): JournalEntry => ({ type: "moved", from, to }));
  const draft = draftOf(before);
  for (const entry of entries) add(draft, { seq: 0, at: 0, entry });
  return {
    state: stateOf(draft),
    entries: [...recovered.entries, ...entries],
    diagnostics: [...recovered.diagnostics, ...diagnostics],
    moved: { origins, before },
  };
}

function problemOf(state: State, from: Address, to: Address, other: Address | undefined): string | undefined {
  if (state.records.has(to)) return `${from} cannot be moved to ${to}, because the state records both`;
  if (other !== undefined) return `${from} and ${other} cannot both be moved to ${to}`;
  if (state.open.some(({ address }) => address === from || address === to))
    return `${from} cannot be moved to ${to} while an interrupted change of it is unresolved`;
  return undefined;
}
