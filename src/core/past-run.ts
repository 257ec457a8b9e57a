// One recorded apply or destroy: who ran it, when, from what, and what it changed.

import type { Address } from "./address.ts";
import { collectTexts, isObject, type Json } from "./json.ts";
import { toPointer } from "./pointer.ts";
import { SENSITIVE_TEXT, withTexts } from "./sensitive.ts";
import { hasDigest } from "./sensitive-values.ts";

/** `unfinished`: the run ended without a last word, or is still at work. */
export type PastOutcome = "applied" | "failed" | "interrupted" | "unfinished";

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
  readonly fields: readonly PastField[];
}

/** Times are epoch milliseconds. */
export interface PastRun extends ApplyOrigin {
  /** Differs between runs; the entry that ends a run replaces the one that began it. */
  readonly id: string;
  readonly started_at: number;
  readonly ended_at?: number;
  /** The user that the service knew the run by. */
  readonly caller?: string;
  /** SHA-256 of the plan. */
  readonly plan: string;
  readonly outcome: PastOutcome;
  readonly applied: Readonly<Record<string, number>>;
  /** Planned changes that were not applied, whatever the reason. */
  readonly left: number;
  /** The changed addresses, at most `CHANGED_KEPT`, and the number of others. */
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

/** A place of a record whose value was plain and is a digest now. */
interface HiddenValue {
  readonly path: readonly string[];
  readonly value: Json;
}

/** Shorter strings occur in other values by chance; they are hidden at their place only. */
const SHORTEST_TEXT = 4;

/**
 * The history without the values that are plain in `before` and digests in `after`, two versions of what a record has: a value that
 * became sensitive leaves the fields of earlier runs, too. Its strings are hidden wherever they are in the history.
 */
export function withoutNewlySensitive(
  history: readonly PastRun[],
  address: Address,
  before: Json,
  after: Json,
): readonly PastRun[] {
  const hidden = newlySensitive(before, after);
  if (hidden.length === 0) return history;
  const texts = hidden
    .flatMap(({ value }) => [...collectTexts(value)])
    .filter((text) => text.length >= SHORTEST_TEXT);
  const paths = hidden.map(({ path }) => toPointer(path));
  const withoutHidden = (text: string): string =>
    texts.some((hiddenText) => text.includes(hiddenText)) ? SENSITIVE_TEXT : text;
  const fieldWithout = ({ path, before: old, after: changed }: PastField, isHere: boolean): PastField => {
    const isHidden = isHere && paths.some((other) => areNested(path, other));
    const shown = (value: Json | undefined): Json | undefined =>
      value === undefined || !isHidden ? withTexts(value, withoutHidden) : SENSITIVE_TEXT;
    return { path, before: shown(old), after: shown(changed) };
  };
  return history.map((run) => ({
    ...run,
    details: run.details?.map((change) => ({
      ...change,
      fields: change.fields.map((field) => fieldWithout(field, change.address === address)),
    })),
  }));
}

function newlySensitive(before: Json | undefined, after: Json, path: readonly string[] = []): HiddenValue[] {
  if (before === undefined || !hasDigest(after)) return [];
  if (isObject(after) && isObject(before))
    return Object.entries(after).flatMap(([key, value]) =>
      newlySensitive(before[key], value, [...path, key]),
    );
  // The entries of a list have no identity, so a list with a new digest is hidden whole.
  return hasDigest(before) ? [] : [{ path, value: before }];
}

/** Whether one of two JSON Pointers is the other, or leads into its value. */
function areNested(left: string, right: string): boolean {
  return left === right || left.startsWith(`${right}/`) || right.startsWith(`${left}/`);
}

/** Both histories as one, in order. */
export function joinedHistories(
  older: readonly PastRun[] = [],
  newer: readonly PastRun[] = [],
): readonly PastRun[] {
  const all = new Map([...older, ...newer].map((run) => [run.id, run]));
  return [...all.values()].sort((a, b) => a.started_at - b.started_at).slice(-RUNS_KEPT);
}
