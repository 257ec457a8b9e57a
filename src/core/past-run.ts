// One recorded apply or destroy: who ran it, when, from what, and what it changed.

import type { Address } from "./address.ts";
import type { Json } from "./json.ts";

/** `unfinished`: the run ended without a last word, or is still at work. */
type PastOutcome = "applied" | "failed" | "interrupted" | "unfinished";

/** The user of a run and its origin. Everything here comes from the environment, so every text is bounded. */
export interface ApplyOrigin {
  readonly command: "apply" | "destroy";
  /** The person that the CI service names, else the user of this machine. */
  readonly actor: string;
  /** Absent for a spec without targets. */
  readonly target?: string;
  readonly commit?: string;
  /** The page of the CI run. */
  readonly run_url?: string;
  /** The user that the service knew the run by. */
  readonly caller?: string;
}

/** One field that a run changed. Absent sides had, or have, no value. */
export interface PastField {
  /** JSON Pointer in the values of the resource. */
  readonly path: string;
  /** Without sensitive values: a mask, or a digest with the key of the state. A long value is replaced by its length. */
  readonly before?: Json;
  readonly after?: Json;
}

/** A change that a run made, field by field. */
export interface PastChange {
  readonly address: Address;
  readonly action: string;
  /** Of a replaced object of the address. */
  readonly deposed?: true;
  readonly fields: readonly PastField[];
}

/** Times are epoch milliseconds. */
export interface PastRun extends ApplyOrigin {
  /** Differs between runs; the entry that ends a run replaces the one that began it. */
  readonly id: string;
  readonly started_at: number;
  readonly ended_at?: number;
  /** SHA-256 of the plan. */
  readonly plan: string;
  readonly outcome: PastOutcome;
  readonly applied: Readonly<Record<string, number>>;
  /** Planned changes that were not applied, whatever the reason. */
  readonly left: number;
  /** The changed addresses, also of replacements that failed after the new object was made; at most `CHANGED_KEPT`, and the number of others. */
  readonly changed: readonly Address[];
  readonly more?: number;
  /** Of the last runs, and of each run the first changes within `DETAIL_BYTES`. Absent in states of earlier versions. */
  readonly details?: readonly PastChange[];
}

const RUNS_KEPT = 100;
const DETAILED_RUNS = 20;
export const DETAIL_BYTES = 16_384;
export const CHANGED_KEPT = 100;

/** The history once a run is added, or replaced by its later entry; the oldest go. */
export function withRunAdded(history: readonly PastRun[], run: PastRun): readonly PastRun[] {
  const at = history.findIndex(({ id }) => id === run.id);
  const runs = (at < 0 ? [...history, run] : history.with(at, run)).slice(-RUNS_KEPT);
  const oldest = runs.at(-1 - DETAILED_RUNS);
  return oldest?.details === undefined
    ? runs
    : runs.map((past) => (past === oldest ? { ...past, details: undefined } : past));
}

/** The history of a run that may have crashed: what its journal shows as changed. */
export function withChangeAdded(
  history: readonly PastRun[],
  address: Address | undefined,
): readonly PastRun[] {
  const last = history.at(-1);
  if (address === undefined || last?.outcome !== "unfinished" || last.changed.includes(address))
    return history;
  const changed =
    last.changed.length < CHANGED_KEPT
      ? { changed: [...last.changed, address] }
      : { more: (last.more ?? 0) + 1 };
  return [...history.slice(0, -1), { ...last, ...changed }];
}

interface Applied {
  /** The user of the last apply. */
  readonly caller?: { readonly name: string };
  readonly history?: readonly PastRun[];
}

/**
 * The users that the service knew applies by and that may have created the object of an address, each once: those that changed it, or all
 * if none is known to have. The history is read once.
 */
export function possibleCreators({
  caller,
  history = [],
}: Applied): (address: Address | undefined) => readonly string[] {
  const all = distinct([caller?.name, ...history.map((run) => run.caller)]);
  // Of a run with more changes than the history lists, any address may be one.
  const ofAny = history.filter(({ more = 0 }) => more > 0).map((run) => run.caller);
  const changing = new Map<Address, (string | undefined)[]>();
  for (const run of history)
    for (const address of run.changed) changing.set(address, [...(changing.get(address) ?? []), run.caller]);
  const creators = new Map(
    [...changing].map(([address, callers]) => [address, distinct([...callers, ...ofAny])]),
  );
  const others = ofAny.length > 0 ? distinct(ofAny) : all;
  return (address) => (address === undefined ? undefined : creators.get(address)) ?? others;
}

const distinct = (names: readonly (string | undefined)[]): readonly string[] =>
  [...new Set(names.flatMap((name) => name ?? []))].sort();

export function joinedHistories(
  older: readonly PastRun[] = [],
  newer: readonly PastRun[] = [],
): readonly PastRun[] {
  const all = new Map([...older, ...newer].map((run) => [run.id, run]));
  return [...all.values()].sort((a, b) => a.started_at - b.started_at).slice(-RUNS_KEPT);
}
