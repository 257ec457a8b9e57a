// Records an apply in the history of the state, field by field: bounded, and without sensitive values.

import type { Address } from "../../core/address.ts";
import { canonicalJson, startDigest } from "../../core/digest.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import { defined, type Json } from "../../core/json.ts";
import {
  type ApplyOrigin,
  CHANGED_KEPT,
  DETAIL_BYTES,
  type PastChange,
  type PastField,
  type PastRun,
} from "../../core/past-run.ts";
import { fromPointer, type Path, toPointer, valueAt } from "../../core/pointer.ts";
import { withoutDigests } from "../../core/sensitive/digests.ts";
import { SENSITIVE_TEXT, SensitiveTexts } from "../../core/sensitive/texts.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { type Change, isOfReplaced, touches, type Update } from "../../planner/model/change.ts";
import type { ChangeOutcome, Plan } from "../../planner/model/plan.ts";
import { type FieldTable, schemaAt, type Values } from "../../resource/field-schema.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { isSensitive, maskedValue } from "../../resource/masked.ts";
import { concealedRun } from "../../state/model/digests-in-state.ts";
import type { StateRecord } from "../../state/model/record.ts";
import type { ApplyLease, Clock } from "../../state/model/store.ts";

/** SHA-256 of what a plan changes: the same for a saved plan and for the plan that was shown. */
function planDigest({ changes }: Plan): string {
  const sum = startDigest();
  // The canonical text of the list, one change at a time: whole, it would be larger than everything else of the run.
  let separator = "[";
  for (const change of changes.filter(touches)) {
    sum.add(`${separator}${canonicalJson(change as unknown as Json)}`);
    separator = ",";
  }
  sum.add(separator === "[" ? "[]" : "]");
  return sum.end();
}

export interface HistoryInput {
  readonly origin: ApplyOrigin;
  /** With digests in place of sensitive values, because the history has a digest of it. */
  readonly plan: Plan;
}

export interface RecordedLease extends ApplyLease {
  /** Adds how the run ended; it becomes durable with the publication of the state. */
  end(changes: readonly ChangeOutcome[], interrupted: boolean, now: number): void;
}

interface HistoryPorts {
  readonly clock: Clock;
  readonly registry: KindRegistry;
  readonly sensitive: SensitiveValues;
}

/** Records the apply in the history. An apply without changes adds nothing, so every saved plan stays valid. */
export function recordedLease(
  lease: ApplyLease,
  { origin, plan }: HistoryInput,
  { clock, registry, sensitive }: HistoryPorts,
): RecordedLease {
  let begun: PastRun | undefined;
  const recordsBefore = new Map<Address, StateRecord | undefined>();
  const begin = (): PastRun => {
    const run: PastRun = {
      ...origin,
      id: lease.nonce,
      started_at: clock.now(),
      plan: planDigest(plan),
      outcome: "unfinished",
      applied: {},
      left: 0,
      changed: [],
    };
    return concealedRun(run, sensitive);
  };
  return {
    nonce: lease.nonce,
    state: () => lease.state(),
    record: (address) => lease.record(address),
    append(entry) {
      if (begun === undefined) {
        begun = begin();
        hideFormerValues(lease, sensitive);
        lease.note({ type: "run", run: begun });
      }
      if (entry.type === "intent" && !recordsBefore.has(entry.intent.address))
        recordsBefore.set(entry.intent.address, lease.record(entry.intent.address));
      return lease.append(entry);
    },
    note: (entry) => lease.note(entry),
    assertHeld: () => lease.assertHeld(),
    publish: () => lease.publish(),
    end(changes, interrupted, now) {
      if (begun === undefined) {
        hideFormerValues(lease, sensitive);
        return;
      }
      const acted = changes.filter(touches);
      const done = acted.filter(({ result }) => result === "applied");
      const applied: Record<string, number> = {};
      for (const { action } of done) applied[action] = (applied[action] ?? 0) + 1;
      const actions = new Set(done.map(({ address, action }) => `${action} ${address}`));
      // A replacement that failed after the new object was recorded changed the resource, too.
      const hasNewObject = (change: Change): boolean => {
        const id = change.action === "replace" ? lease.record(change.address)?.id : undefined;
        return id !== undefined && "id" in change && id !== change.id;
      };
      const effective = plan.changes.flatMap((change): readonly Change[] => {
        if (actions.has(`${change.action} ${change.address}`) || hasNewObject(change)) return [change];
        const { address } = change;
        return change.action === "update"
          ? partOf(change, recordsBefore.get(address), lease.record(address))
          : [];
      });
      // Of a change with several requests, a part may have succeeded.
      const inJournal = lease.state().history?.find(({ id }) => id === lease.nonce)?.changed ?? [];
      const changed = [...new Set([...[...done, ...effective].map(({ address }) => address), ...inJournal])];
      const details = sensitive.texts.maskedDeep(pastChanges(effective, registry));
      const left = acted.length - done.length;
      const run: PastRun = {
        ...begun,
        ended_at: now,
        outcome: left === 0 ? "applied" : interrupted ? "interrupted" : "failed",
        applied,
        left,
        changed: changed.slice(0, CHANGED_KEPT),
        ...(changed.length > CHANGED_KEPT ? { more: changed.length - CHANGED_KEPT } : {}),
        ...(details.length === 0 ? {} : { details }),
      };
      lease.note({ type: "run", run });
    },
  };
}

/** An update that failed, with the differences after which the record has another value; none if nothing is known of them. */
function partOf(
  change: Update,
  before: StateRecord | undefined,
  after: StateRecord | undefined,
): readonly Update[] {
  if (before === undefined || after === undefined) return [];
  const textAt = (record: StateRecord, path: Path): string =>
    canonicalJson(valueAt(record.applied, path) ?? null);
  const [first, ...rest] = change.diffs.filter(({ path }) => textAt(before, path) !== textAt(after, path));
  return first === undefined ? [] : [{ ...change, diffs: [first, ...rest] }];
}

/** Values that are sensitive in this run leave what earlier runs recorded. */
function hideFormerValues(lease: ApplyLease, sensitive: SensitiveValues): void {
  if (sensitive.isEmpty) return;
  const history = lease.state().history ?? [];
  const changed = withoutSensitive(history, sensitive);
  for (const [at, run] of changed.entries()) if (run !== history[at]) lease.note({ type: "run", run });
}

/** Longer values are recorded by their length. */
const LONGEST = 500;

/** The first changes that fit. `changes`: those that changed something, as planned, with digests in place of sensitive values. */
function pastChanges(changes: readonly Change[], registry: KindRegistry): readonly PastChange[] {
  const past: PastChange[] = [];
  let bytes = 0;
  for (const change of changes) {
    const { address, action } = change;
    const deposed = isOfReplaced(change) ? true : undefined;
    const fields = fieldsOf(change, registry.of(address).fields);
    const detail: PastChange = { address, action, ...defined({ deposed }), fields };
    bytes += stringifyJson(detail).length;
    if (bytes > DETAIL_BYTES) break;
    past.push(detail);
  }
  return past;
}

function fieldsOf(change: Change, fields: FieldTable): readonly PastField[] {
  if ("diffs" in change)
    return change.diffs.map(({ path, before, after }) => {
      const shown = (value: Json | undefined): Json | undefined => {
        if (value === undefined) return undefined;
        return isSensitive(fields, path)
          ? SENSITIVE_TEXT
          : bounded(maskedValue(schemaAt(fields, path), value));
      };
      return { path: toPointer(path), before: shown(before), after: shown(after) };
    });
  const side = (values: Values) =>
    Object.entries(values).map(
      ([name, value]) => [toPointer([name]), bounded(maskedValue(fields[name] ?? {}, value))] as const,
    );
  if (change.action === "create") return side(change.after).map(([path, after]) => ({ path, after }));
  if (change.action === "delete") return side(change.before).map(([path, before]) => ({ path, before }));
  return [];
}

function bounded(value: Json): Json {
  const { length } = stringifyJson(value);
  return length > LONGEST ? `(${length} characters)` : value;
}

/**
 * The runs without the values that are sensitive now, each changed one as a copy: at sensitive places whatever the value was, such as that
 * of a variable before its rotation, and the strings of all of these in any other field, also of deleted resources. Who applied is hidden likewise.
 */
function withoutSensitive(history: readonly PastRun[], sensitive: SensitiveValues): readonly PastRun[] {
  const former = new SensitiveTexts();
  for (const { details = [] } of history)
    for (const { address, fields } of details)
      for (const { path, before, after } of fields)
        for (const side of [before, after])
          if (side !== undefined) sensitive.hide(address, side, { path: placeOf(path), texts: former });
  return history.map((run) => {
    const details = run.details?.map((change) => ({
      ...change,
      fields: change.fields.map(({ path, before, after }) => {
        const masked = (side: Json | undefined): Json | undefined =>
          former.maskedDeep(withoutDigests(sensitive.conceal(change.address, side, "shown", placeOf(path))));
        return { path, before: masked(before), after: masked(after) };
      }),
    }));
    const concealed = concealedRun({ ...run, ...defined({ details }) }, sensitive);
    return textOf(concealed) === textOf(run) ? run : concealed;
  });
}

/** Differences lead into maps only, so a number is a key. */
const placeOf = (pointer: string): Path => fromPointer(pointer).map(String);

const textOf = (run: PastRun): string => canonicalJson(run as unknown as Json);
