// What a run knows of sensitive values: from the spec, from the digests in the state, and from the live objects that have them.

import { type Address, addressOf, kindOf } from "../../core/address.ts";
import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import { defined, type JsonObject, omit } from "../../core/json.ts";
import { isSamePath } from "../../core/pointer.ts";
import { hasDigest, type SensitiveValues } from "../../core/sensitive-values.ts";
import { listed } from "../../core/sentences.ts";
import { concealedPlan, type OpenContents } from "../../planner/conceal-plan.ts";
import { comparable, declaredForm } from "../../planner/diff/normalize.ts";
import { withOtherValues } from "../../planner/mode/compare-secrets.ts";
import {
  hideRecordedStrings,
  hidingMemberships,
  recordedForm,
  withRecordedTokens,
  withUnreadTokens,
} from "../../planner/mode/recorded-form.ts";
import { type RedactedInput, redactForUntrusted } from "../../planner/mode/untrusted.ts";
import { addressByObject } from "../../planner/model/context.ts";
import type { PlanFacts, PlanInput } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import type { Values } from "../../resource/field-schema.ts";
import {
  CONTENT_FIELDS,
  hasContent,
  type PlannedKind,
  type PlanningRegistry,
  secretField,
} from "../../resource/kind.ts";
import type { Live, LiveKind, LiveObject } from "../../resource/live.ts";
import type { Resource, Spec } from "../../spec/model/spec.ts";
import {
  concealedState,
  hideRecorded,
  knowsAll,
  markRecorded,
  revealedState,
} from "../../state/model/conceal-state.ts";
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

interface RevealInput {
  readonly spec: Spec;
  readonly state: State;
  /** The same state under the addresses of the spec. */
  readonly moved: State;
  readonly live: Live;
  readonly key: Uint8Array;
  /** Whether the author of the spec may learn nothing of a value, so no part of the spec may be recognized as one. */
  readonly untrusted?: boolean;
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

function learnLive(sensitive: SensitiveValues, state: State, live: Live): readonly OwnedValues[] {
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

/** The input for an untrusted spec, without values of unmanaged objects and without sensitive values. */
export type Redaction = (spec: Spec, state: State, live: Live) => RedactedInput & { readonly state: State };

/**
 * Replaces what the state records as sensitive, in the state, in live objects, and in the spec where it declares the place
 * as sensitive. A plan then compares none of these values, so it tests no guess.
 */
export function redaction(
  kinds: PlanningRegistry,
  recorded: {
    /** The recorded state under the addresses of the spec, and under its own. */
    readonly state: State;
    readonly before: State;
    readonly live: Live;
    readonly key: Uint8Array;
  },
): Redaction {
  const { lineage } = recorded.state;
  const hidden = sensitiveValuesOf({ key: recorded.key, lineage, ignoresIndexes: true });
  const states = [recorded.state, recorded.before];
  const hasDigests = states.map((state) => markRecorded(state, hidden)).includes(true);
  if (!hasDigests && !states.some((state) => hasSecrets(kinds, state)))
    return (spec, state, live) => {
      const { resources, unchecked } = withTokens(hidden, spec, state, (record) => record);
      const sources = { registry: kinds, spec: { ...spec, resources }, state };
      const redacted = redactForUntrusted(sources, live);
      return { ...redacted, state, notes: [...redacted.notes, ...noteOf(UNCHECKED, unchecked)] };
    };
  const owned = Map.groupBy(learnLive(hidden, recorded.state, recorded.live), ({ address }) => address);
  const storedRecord = ({ address, id }: StateRecord): StateRecord | undefined =>
    states.map(({ records }) => records.get(address)).find((record) => record?.id === id) ??
    // A base may move it to another address than the spec.
    [...recorded.state.records.values()].find(
      (record) => record.id === id && kindOf(record.address) === kindOf(address),
    );
  const resourceOf = (address: Address, stored: Values) => ({
    address,
    fields: kinds.of(address).fields,
    stored,
    revealed: hidden.reveal(stored),
  });
  for (const record of recorded.state.records.values()) {
    const resource = resourceOf(record.address, recordedValues(record));
    hideRecordedStrings(hidden, resource, resource.revealed);
    for (const { values } of owned.get(record.address) ?? []) hideRecordedStrings(hidden, resource, values);
  }
  return (spec, state, live) => {
    const formOf = (address: Address, stored: Values, values: Values): Values => {
      const applied = state.records.get(address)?.applied ?? {};
      return recordedForm(hidden, { ...resourceOf(address, stored), applied }, values);
    };
    const records = new Map<Address, StateRecord>();
    for (const [address, record] of state.records) {
      const stored = (storedRecord(record) ?? record).applied;
      const applied = formOf(address, stored, record.applied);
      if (record.status !== "ready") records.set(address, { ...record, applied });
      else records.set(address, { ...record, applied, seen: formOf(address, stored, record.seen) });
    }
    const withoutValues = { ...concealedState(state, hidden, "shown"), records };
    const owners = addressByObject(state.records);
    const changedOutside: Address[] = [];
    const concealed = (kind: string, object: LiveObject): LiveObject => {
      const address = owners.get(kind, object.id) ?? addressOf(kind, object.name);
      const record = state.records.get(address);
      const stored = record && (storedRecord(record) ?? record);
      const provider = kinds.get(kind);
      const { values } = comparable(provider, object, stored?.applied);
      const same =
        hasContent(provider) && stored !== undefined
          ? withRecordedContent(values, recordedValues(stored))
          : values;
      if (same !== values) changedOutside.push(address);
      const hiddenValues = formOf(address, stored?.applied ?? {}, same);
      const shown = { values: hiddenValues, facts: withoutShown(provider, object.facts, hiddenValues) };
      // The service can answer with a value also where its kinds and codes are.
      const { unmanageable } = object;
      return { ...object, ...shown, ...defined({ unmanageable: hidden.maskedMessages(unmanageable) }) };
    };
    const { resources, unchecked } = withTokens(hidden, spec, withoutValues, storedRecord);
    const sources = { registry: kinds, spec: { ...spec, resources }, state: withoutValues };
    const concealedLive = mappedLive(live, concealed, (unread) => hidden.maskedMessages(unread));
    const hideMemberships = hidingMemberships(kinds, concealedLive);
    const shown = mappedLive(concealedLive, (kind, object) => {
      const address = owners.get(kind, object.id);
      return hideMemberships(kind, object, (address && records.get(address)?.applied) ?? {});
    });
    const redacted = redactForUntrusted(sources, shown, live);
    const notes = [
      ...redacted.notes,
      ...noteOf(UNCHECKED, unchecked),
      ...noteOf(CHANGED_OUTSIDE, changedOutside),
    ];
    return { ...redacted, state: withoutValues, notes };
  };
}

/** The facts without those that show the value of a hidden field. */
function withoutShown({ fields }: PlannedKind, facts: JsonObject, values: Values): JsonObject {
  const shown = Object.entries(fields).flatMap(([name, { shownBy = [] }]) =>
    shownBy.length > 0 && hasDigest(values[name]) ? shownBy : [],
  );
  return shown.length === 0 ? facts : omit(facts, shown);
}

const hasSecrets = (kinds: PlanningRegistry, { records, open }: State): boolean =>
  [...records.values(), ...open].some(({ address }) => secretField(kinds.of(address)) !== undefined);

/** A content that was changed outside can contain a secret or a sensitive value, so a comparison with it would test a guess. */
function withRecordedContent(values: Values, { content }: Values): Values {
  if (values.content === undefined || values.content === content) return values;
  const { content: _live, ...others } = values;
  return content === undefined ? others : { ...others, content };
}

const recordedValues = (record: StateRecord): Values =>
  record.status === "ready" ? { ...record.seen, ...record.applied } : record.applied;

function mappedLive(
  live: Live,
  change: (kind: string, object: LiveObject) => LiveObject,
  changeDiagnostic = (unread: Diagnostic) => unread,
): Live {
  const kinds = new Map<string, LiveKind>();
  for (const [kind, list] of live)
    kinds.set(
      kind,
      list.readable
        ? { ...list, objects: list.objects.map((object) => change(kind, object)) }
        : { ...list, diagnostic: changeDiagnostic(list.diagnostic) },
    );
  return kinds;
}

/**
 * The desired resources with a token at each place that the spec declares as sensitive: the recorded one, or another one for a value that
 * was not read, so that no guard takes the default of a variable for it.
 */
function withTokens(
  hidden: SensitiveValues,
  spec: Spec,
  state: State,
  storedRecord: (record: StateRecord) => StateRecord | undefined,
) {
  const resources = new Map(spec.resources);
  const unchecked: Address[] = [];
  for (const resource of spec.resources.values()) {
    if (resource.sensitive === undefined) continue;
    const record = state.records.get(resource.address);
    const stored = (record && storedRecord(record)?.applied) ?? {};
    const recorded = withRecordedTokens(hidden, resource, { stored, form: record?.applied ?? {} });
    const unread = withUnreadTokens(hidden, { ...resource, values: recorded.values }, stored);
    const { values } = unread;
    const replaced = [...recorded.replaced, ...unread.replaced];
    if (replaced.length === 0) continue;
    const references = resource.references.filter(
      (reference) => !replaced.some((path) => isSamePath(reference.path, path)),
    );
    unchecked.push(resource.address);
    resources.set(resource.address, { ...withOtherValues(resource, values), references });
  }
  return { resources, unchecked };
}

const UNCHECKED = "sensitive values are not compared, so changes to them are not checked";

const CHANGED_OUTSIDE =
  "contents that were changed outside can contain secrets or sensitive values, so they are not compared";

function noteOf(message: string, addresses: readonly Address[]): readonly Diagnostic[] {
  return addresses.length === 0 ? [] : [warning("PLAN_MODE", `${message}: ${listed(addresses)}`)];
}

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
