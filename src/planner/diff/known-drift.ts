// Known drift: each difference has a digest of its live value, so what was reported or acknowledged ends if that value changes.
// An apply also ends it at what it writes: `state/format/fold.ts`.

import { type Address, kindOf, nameOf } from "../../core/address.ts";
import { canonicalJson, type KeyedDigest } from "../../core/digest.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { overlaps, type Path, toDottedPath, toPointer } from "../../core/pointer.ts";
import { type FieldTable, schemaAt, type Values } from "../../resource/field-schema.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import type { Live } from "../../resource/live.ts";
import type { FieldDiff, PlanningRules } from "../../resource/planning.ts";
import type { Acknowledgement, JournalEntry, ReportedDrift, State } from "../../state/model/record.ts";
import { type Change, isOfReplaced, type RevertedDrift } from "../model/change.ts";
import { indexLive } from "../model/context.ts";
import { isSelected, type PlanInput } from "../model/input.ts";
import type { Drift, DriftMark, Plan } from "../model/plan.ts";
import { transitiveClosure } from "../order/graph.ts";
import { normalForm } from "./normalize.ts";

export interface KnownDrift {
  readonly reported: readonly ReportedDrift[];
  /** Those that have not ended. */
  readonly acknowledged: readonly Acknowledgement[];
}

/** `now` in epoch ms. An acknowledgement ends at its time. */
export function knownDrift(
  { reported = [], acknowledged = [] }: Pick<State, "reported" | "acknowledged">,
  now: number,
): KnownDrift {
  return { reported, acknowledged: acknowledged.filter(({ until }) => now < until) };
}

/** One digest for each difference, keyed, because readers of a state could test guesses of a sensitive value; one for an object that was deleted or appeared. */
export function driftDigests(drift: Drift, fields: FieldTable, keyed: KeyedDigest): readonly string[] {
  const { what, id, values = {}, facts, digests } = drift;
  if (digests !== undefined) return digests;
  if (drift.diffs.length > 0) return drift.diffs.map((diff) => keyed(differenceText(drift, diff, fields)));
  if (what !== "appeared" || id === undefined) return [keyed(canonicalJson([what]))];
  const witnesses = Object.values(fields).flatMap(({ witness }) => (witness === undefined ? [] : [witness]));
  const written = witnesses.map((witness) => String(facts?.[witness] ?? ""));
  return [keyed(canonicalJson([what, id, lastingValues(fields, values), ...written]))];
}

/** What others set of an object, memberships included: the service itself stops a cluster, and starts it for a job. */
function lastingValues(fields: FieldTable, values: Values): JsonObject {
  const lasting = Object.entries(fields).flatMap(([name, schema]) => {
    if (schema.readOnly === true || schema.source === true || schema.atRest !== undefined) return [];
    const value = normalForm(schema, values[name]);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(lasting);
}

/** The plan with the digests of its drift. Its values must be in the clear. */
export function withDriftDigests(plan: Plan, registry: PlanningRegistry, keyed: KeyedDigest): Plan {
  const drift = plan.drift.map((item) => ({
    ...item,
    digests: driftDigests(item, registry.of(item.address).fields, keyed),
  }));
  return { ...plan, drift };
}

function differenceText({ what, facts }: Drift, { path, before }: FieldDiff, fields: FieldTable): string {
  const witness = fields[String(path[0])]?.witness;
  // The value of a secret is never read; the time of its last write distinguishes changes.
  const written = witness === undefined ? undefined : facts?.[witness];
  const value = normalForm(schemaAt(fields, path), before) ?? null;
  const live: Json[] = [value, written === undefined ? null : String(written)];
  return canonicalJson([what, toPointer(path), ...live]);
}

/** Which differences of a resource `field` covers: the field itself and what is inside it, never a field whose name only begins alike. */
export function isInField(path: Path, field: string): boolean {
  return path.some((_, at) => toDottedPath(path.slice(0, at + 1)) === field);
}

/** The mark of each difference of a resource: reported, acknowledged, or neither. */
export function marksOf(
  drift: Drift,
  fields: FieldTable,
  knownDrift: KnownDrift,
  keyed: KeyedDigest,
): readonly DriftMark[] {
  const reported = new Set(
    knownDrift.reported
      .filter(({ address }) => address === drift.address)
      .flatMap(({ differences }) => differences),
  );
  const acknowledged = knownDrift.acknowledged.filter(({ address }) => address === drift.address);
  const marks = marksOfSpec(drift);
  if (reported.size === 0 && acknowledged.length === 0) return marks;
  return driftDigests(drift, fields, keyed).map((digest, at) => {
    const mark = { ...marks[at], reported: reported.has(digest) };
    const path = drift.diffs[at]?.path;
    const accepted = acknowledged.findLast(
      ({ field, differences }) =>
        differences.includes(digest) &&
        (field === undefined || (path !== undefined && isInField(path, field))),
    );
    if (accepted === undefined) return mark;
    const { until, by, reason } = accepted;
    return { ...mark, acknowledged: { until, by, reason } };
  });
}

/** The plan with the marks of its drift, and with the acknowledged drift that each change reverts. */
export function withKnownDrift(
  plan: Plan,
  registry: PlanningRegistry,
  knownDrift: KnownDrift,
  keyed: KeyedDigest,
): Plan {
  if (plan.drift.length === 0) return plan;
  const drift = plan.drift.map((item) => ({
    ...item,
    marks: marksOf(item, registry.of(item.address).fields, knownDrift, keyed),
  }));
  const accepted = new Map(
    drift
      .filter(({ marks }) => marks.some(({ acknowledged }) => acknowledged !== undefined))
      .map((item) => [item.address, item]),
  );
  if (accepted.size === 0) return { ...plan, drift };
  return { ...plan, drift, changes: plan.changes.map((change) => withReverts(change, accepted, registry)) };
}

function withReverts(
  change: Change,
  accepted: ReadonlyMap<Address, Drift>,
  registry: PlanningRegistry,
): Change {
  const drift = accepted.get(change.address);
  if (drift === undefined || isOfReplaced(change)) return change;
  const [first, ...more] = revertsOf(change, drift, registry.of(change.address).planning);
  return first === undefined ? change : { ...change, reverts: [first, ...more] };
}

function revertsOf(
  change: Change,
  { what, diffs, marks = [] }: Drift,
  planning: PlanningRules,
): readonly RevertedDrift[] {
  if (what !== "changed") {
    const reverts = change.action === (what === "deleted" ? "create" : "delete");
    return reverts ? marks.flatMap(({ acknowledged }) => acknowledged ?? []) : [];
  }
  if (change.action !== "update" && change.action !== "replace") return [];
  return marks.flatMap(({ acknowledged }, at) => {
    const path = diffs[at]?.path ?? [];
    const isWritten = change.diffs.some((diff) => isSamePlace(planning, diff.path, path));
    return acknowledged === undefined || !isWritten ? [] : [{ path, ...acknowledged }];
  });
}

/** Whether a path of a change and one of drift lead to the same: the spec and the last apply can write it in two ways. */
function isSamePlace({ placeOf }: PlanningRules, planned: Path, drifted: Path): boolean {
  if (overlaps(planned, drifted)) return true;
  const [a, b] = [placeOf?.(planned), placeOf?.(drifted)];
  // Without a holder, the resource has only one.
  const isOtherForm =
    a?.holder !== undefined && b?.holder !== undefined && (a.holder.length === 0) !== (b.holder.length === 0);
  return isOtherForm && overlaps(a.place, b.place);
}

/** The drift that a run compared: of an address that it did not read, nothing is known. */
export interface ComparedDrift {
  readonly drift: readonly Drift[];
  readonly live: Live;
  readonly only: ((address: Address) => boolean) | undefined;
  /** Of entries of the spec that the state may not have yet; the drift has the new addresses. */
  readonly moves: ReadonlyMap<Address, Address>;
}

/** The addresses that a plan of this input compares, also what it takes along for a selected address; undefined for all. */
export function comparedIn(
  input: Pick<PlanInput, "only" | "exclude" | "spec">,
  changes: readonly Pick<Change, "address">[],
): ComparedDrift["only"] {
  const { only, exclude } = input;
  if (only === undefined && exclude === undefined) return undefined;
  if (only === undefined) return (address) => isSelected(input, address);
  const { resources } = input.spec;
  const declared = [...resources.keys()].filter((address) => isSelected(input, address));
  const needed = transitiveClosure(
    [...declared, ...changes.map(({ address }) => address)],
    (address) => resources.get(address)?.dependsOn ?? [],
  );
  return (address) => isSelected(input, address) || (needed.has(address) && exclude?.(address) !== true);
}

export function pendingMoves(entries: readonly JournalEntry[]): ComparedDrift["moves"] {
  return new Map(entries.flatMap((entry) => (entry.type === "moved" ? [[entry.from, entry.to]] : [])));
}

/** The address of a record before the moves that are not in the state yet. */
export function recordedAddress(
  { records }: Pick<State, "records">,
  moves: ComparedDrift["moves"],
  address: Address,
): Address {
  for (const [from, to] of moves) if (to === address && records.has(from)) return from;
  return address;
}

/** Ends acknowledgements that are over: at their time, or because the difference no longer exists with this live value. */
export function endedAcknowledgements(
  acknowledged: readonly Acknowledgement[],
  { drift, live, only, moves }: ComparedDrift,
  registry: PlanningRegistry,
  keyed: KeyedDigest,
  now: number,
): readonly JournalEntry[] {
  if (acknowledged.length === 0) return [];
  const index = indexLive(live, registry);
  const isCompared = (address: Address): boolean =>
    live.has(kindOf(address)) &&
    index.unreadable(kindOf(address), nameOf(address)) === undefined &&
    only?.(address) !== false;
  const present = new Map(
    drift.map((item) => [item.address, new Set(driftDigests(item, registry.of(item.address).fields, keyed))]),
  );
  return acknowledged.flatMap((accepted): readonly JournalEntry[] => {
    const { address, field, differences, until } = accepted;
    const compared = moves.get(address) ?? address;
    const isLeft = (digest: string): boolean => present.get(compared)?.has(digest) === true;
    const left = isCompared(compared) ? differences.filter(isLeft) : differences;
    if (until <= now || left.length === 0) return [{ type: "unacknowledged", address, field }];
    if (left.length === differences.length) return [];
    return [{ type: "acknowledged", acknowledgement: { ...accepted, differences: left } }];
  });
}

/** What the spec alone says of each difference, or of the object: without reports and acknowledgements. */
export function marksOfSpec({ diffs, marks = [] }: Pick<Drift, "diffs" | "marks">): readonly DriftMark[] {
  return Array.from({ length: Math.max(1, diffs.length) }, (_, at) =>
    marks[at]?.declared === true ? { reported: false, declared: true } : { reported: false },
  );
}

/** Whether the spec has each live value already. */
export const isAgreedBySpec = (drift: Pick<Drift, "diffs" | "marks">): boolean =>
  marksOfSpec(drift).every(({ declared }) => declared === true);

/**
 * Drift of resources without a change, because the spec agrees with the workspace: an apply only records it. What refers to a value that
 * is known after the apply is recorded by a later one.
 */
export function driftToRecord({ changes, drift }: Pick<Plan, "changes" | "drift">): readonly Drift[] {
  const recorded = new Set(
    changes.flatMap((change) =>
      change.action === "noop" && change.unresolved.length === 0 ? [change.address] : [],
    ),
  );
  return drift.filter(
    ({ address, marks = [] }) => recorded.has(address) && marks.some(({ declared }) => declared === true),
  );
}

/** The drift with what the spec has already: an accepted value or deletion, or a value that was set in the workspace before the spec was applied. */
export function withAgreedBySpec(
  drift: readonly Drift[],
  changes: readonly Change[],
  registry: PlanningRegistry,
): readonly Drift[] {
  const ofCurrent = changes.filter((change) => !isOfReplaced(change));
  const byAddress = Map.groupBy(ofCurrent, ({ address }) => address);
  return drift.map((item) => {
    const [change, ...others] = byAddress.get(item.address) ?? [];
    if (change === undefined || others.length > 0) return item;
    const declared = declaredIn(change, item, registry.of(item.address).planning);
    if (!declared.includes(true)) return item;
    return {
      ...item,
      marks: declared.map((declared) => ({ reported: false, ...(declared && { declared }) })),
    };
  });
}

function declaredIn(change: Change, { what, diffs }: Drift, planning: PlanningRules): readonly boolean[] {
  if (what === "deleted") return [change.action === "forget"];
  if (what === "appeared" || (change.action !== "noop" && change.action !== "update")) return [];
  const written = "diffs" in change ? change.diffs : [];
  return diffs.map(({ path }) => !written.some((diff) => isSamePlace(planning, diff.path, path)));
}
