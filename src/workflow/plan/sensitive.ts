// What a run knows of sensitive values: from the spec, from the digests in the state, and from the live objects that have them.

import type { Address } from "../../core/address.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { concealedPlan, type OpenContents } from "../../planner/conceal-plan.ts";
import { declaredForm } from "../../planner/diff/normalize.ts";
import { addressByObject } from "../../planner/model/context.ts";
import type { PlanFacts, PlanInput } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import type { Values } from "../../resource/field-schema.ts";
import { CONTENT_FIELDS } from "../../resource/kind.ts";
import type { Live } from "../../resource/live.ts";
import type { Resource, Spec } from "../../spec/model/spec.ts";
import { hideRecorded, knowsAll, markRecorded, revealedState } from "../../state/model/digests-in-state.ts";
import type { State, StateRecord } from "../../state/model/record.ts";
import { sensitiveValuesOf } from "../session/open-state.ts";

interface SensitiveInput {
  readonly spec: Spec;
  /** The spec of a base, whose plan is compared. */
  readonly base?: Spec | undefined;
  /** The recorded state, also under the addresses of the spec. */
  readonly states: readonly [State, ...State[]];
  readonly key: Uint8Array;
  readonly untrusted?: boolean;
}

/** The sensitive values that the spec declares, and the places that the state records. */
export function openSensitive({ spec, base, states, key, untrusted }: SensitiveInput): SensitiveValues {
  const sensitive = sensitiveValuesOf({ key, lineage: states[0].lineage, texts: spec.sensitive });
  for (const state of states) markRecorded(state, sensitive, untrusted === true ? "applied" : "all");
  const formOf = ({ kind, name, values }: Resource) => declaredForm(registry.get(kind), name, values);
  for (const resource of spec.resources.values())
    if (resource.sensitive !== undefined)
      sensitive.declare(resource.address, resource.values, resource.sensitive, () => formOf(resource));
  sensitive.declareOpen((address) => {
    const resource = spec.resources.get(address);
    return resource && { values: resource.values, form: () => formOf(resource) };
  });
  // A job with one task is compared as the spec writes it, whichever of its two forms the record has.
  sensitive.declareRecorded((address) =>
    states.flatMap(({ records }) => {
      const { applied } = records.get(address) ?? {};
      if (applied === undefined) return [];
      const { planning } = registry.of(address);
      return [applied, planning.normalize?.(applied, spec.resources.get(address)?.values) ?? applied];
    }),
  );
  if (base?.sensitive !== undefined && untrusted !== true) sensitive.texts.addAll(base.sensitive);
  for (const { address, values, sensitive: paths } of base?.resources.values() ?? [])
    if (paths !== undefined) {
      sensitive.alsoSensitive(address, paths);
      if (untrusted !== true) sensitive.hide(address, values);
    }
  return sensitive;
}

/** `untrusted`: the author of the spec may learn nothing of a value, so no part of the spec may be recognized as one. */
interface RevealInput extends Pick<SensitiveInput, "spec" | "key" | "untrusted"> {
  readonly state: State;
  /** The same state under the addresses of the spec. */
  readonly moved: State;
  readonly live: Live;
}

/** The state with the values of the run in place of its digests. Hides those values, and live values in their places, from every output. */
export function revealed(sensitive: SensitiveValues, input: RevealInput): State {
  const { spec, state, moved, live, key, untrusted = false } = input;
  if (sensitive.isEmpty) return state;
  if (untrusted) {
    const recorded = sensitiveValuesOf({ key, lineage: moved.lineage });
    markRecorded(moved, recorded);
    learnLive(recorded, moved, live);
    return revealedState(state, recorded);
  }
  for (const { address, kind, name, values, payload } of spec.resources.values()) {
    // So that a saved plan with hidden digests of contents can be applied.
    for (const field of CONTENT_FIELDS) sensitive.learn(values[field] ?? null);
    if (payload !== undefined && payload.secret === undefined) sensitive.learn(payload.digest);
    if (sensitive.hasPlaces(address)) {
      sensitive.learn(values);
      sensitive.learn(declaredForm(registry.get(kind), name, values));
    }
  }
  hideLive(sensitive, moved, live);
  return sensitive.hasAnyPlace ? revealedState(state, sensitive) : state;
}

/** Hides the values of the state's digests that the live objects have, and live values in their places, from every output. */
export function hideLive(sensitive: SensitiveValues, state: State, live: Live): void {
  if (!sensitive.hasAnyPlace) return;
  const owned = learnLive(sensitive, state, live);
  hideRecorded(revealedState(state, sensitive), sensitive);
  for (const { address, values } of owned) sensitive.hide(address, values);
}

/** Larger contents are not searched, so their digests are hidden. */
const MOST_SEARCHED = 256 * 1024;

/** The plan without sensitive values. `input`: what it was made from, in the clear. */
export function shownPlan(plan: Plan, input: PlanInput & PlanFacts, sensitive: SensitiveValues): Plan {
  return concealedPlan(plan, sensitive, openContents(plan.changes, input, sensitive));
}

/** The digests of those contents of a plan that were searched and contain no sensitive value. */
function openContents(
  changes: Plan["changes"],
  { spec, contents }: Pick<PlanInput & PlanFacts, "spec" | "contents">,
  { isEmpty, texts }: SensitiveValues,
): OpenContents {
  const open = new Set<string>();
  if (isEmpty) return open;
  const add = (values: Values): void => {
    for (const field of CONTENT_FIELDS) if (typeof values[field] === "string") open.add(values[field]);
  };
  for (const change of changes) {
    const read = contents?.get(change.address);
    if (read === undefined) continue;
    if ("before" in change && !texts.isIn(read.before)) add(change.before);
    if ("after" in change && !texts.isIn(read.after)) add(change.after);
  }
  for (const { values, payload } of spec.resources.values()) {
    if (payload === undefined || payload.secret !== undefined || values.content === undefined) continue;
    const bytes = payload.bytes();
    if (bytes.length > MOST_SEARCHED || texts.isIn(new TextDecoder().decode(bytes))) continue;
    add(values);
    open.add(payload.digest);
  }
  return open;
}

/** Makes the values of live objects known that a state may have digests of. Returns those of the objects of its records. */
export function learnLive(sensitive: SensitiveValues, state: State, live: Live): readonly OwnedValues[] {
  const owned = ownedObjects(state, live);
  for (const record of state.records.values())
    if (sensitive.hasPlaces(record.address)) sensitive.learn(recordedValues(record));
  for (const { address, values } of owned) if (sensitive.hasPlaces(address)) sensitive.learn(values);
  // A value may have moved to another object.
  if (!knowsAll(state, sensitive))
    for (const kind of live.values())
      if (kind.readable) for (const { values } of kind.objects) sensitive.learn(values);
  return owned;
}

/** All values that a record has of its object. */
export const recordedValues = (record: StateRecord): Values =>
  record.status === "ready" ? { ...record.seen, ...record.applied } : record.applied;

interface OwnedValues {
  readonly address: Address;
  readonly values: Values;
}

/** The values of the live objects of each record: of the current one, and of replaced ones that still exist. */
function ownedObjects({ records }: State, live: Live): readonly OwnedValues[] {
  const owners = addressByObject(records);
  return [...live].flatMap(([kind, liveKind]) =>
    (liveKind.readable ? liveKind.objects : []).flatMap(({ id, values }) => {
      const address = owners.get(kind, id);
      return address === undefined ? [] : [{ address, values }];
    }),
  );
}

/** For sentences of the planner about one field. */
export function sensitivePlaces(sensitive: SensitiveValues): Pick<PlanInput, "isSensitive"> {
  return sensitive.isEmpty
    ? {}
    : { isSensitive: (address, path, ...values) => sensitive.isSensitive(address, path, ...values) };
}
