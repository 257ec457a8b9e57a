// The input of a plan for an untrusted spec. What the state records as sensitive is replaced in the state, in live objects, and in the spec where it
// declares the place as sensitive. A plan then compares none of these values, so it tests no guess.

import { type Address, addressOf, kindOf } from "../../core/address.ts";
import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import { defined, type JsonObject, omit } from "../../core/json.ts";
import { isSamePath } from "../../core/pointer.ts";
import { hasDigest } from "../../core/sensitive/digests.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { listed } from "../../core/sentences.ts";
import { comparable } from "../../planner/diff/normalize.ts";
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
import type { Values } from "../../resource/field-schema.ts";
import { hasContent, type PlannedKind, type PlanningRegistry, secretField } from "../../resource/kind.ts";
import type { Live, LiveKind, LiveObject } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { concealedState, markRecorded } from "../../state/model/digests-in-state.ts";
import type { State, StateRecord } from "../../state/model/record.ts";
import { sensitiveValuesOf } from "../session/open-state.ts";
import { learnLive, recordedValues } from "./sensitive.ts";

/** The input for an untrusted spec, without values of unmanaged objects and without sensitive values. */
export type Redaction = (spec: Spec, state: State, live: Live) => RedactedInput & { readonly state: State };

interface RecordedWorkspace {
  /** The recorded state under the addresses of the spec, and under its own. */
  readonly state: State;
  readonly before: State;
  readonly live: Live;
  readonly key: Uint8Array;
}

/** What the state records as sensitive. */
interface Hiding {
  readonly kinds: PlanningRegistry;
  readonly hidden: SensitiveValues;
  /** The record of an object as the state has it, which may have another address than the spec or its base. */
  readonly storedRecord: (record: StateRecord) => StateRecord | undefined;
}

export function redaction(kinds: PlanningRegistry, recorded: RecordedWorkspace): Redaction {
  const { state: moved, before, key } = recorded;
  const hidden = sensitiveValuesOf({ key, lineage: moved.lineage, ignoresIndexes: true });
  const states = [moved, before];
  const hasDigests = states.map((state) => markRecorded(state, hidden)).includes(true);
  if (!hasDigests && !states.some((state) => hasSecrets(kinds, state))) {
    const hiding = { kinds, hidden, storedRecord: (record: StateRecord) => record };
    return (spec, state, live) => restrictedInput(hiding, spec, state, { live, observed: live });
  }
  const hiding = { kinds, hidden, storedRecord: storedRecordIn(states) };
  hideRecordedValues(hiding, recorded);
  return (spec, state, live) => {
    const concealed = withConcealedRecords(hiding, state);
    const { objects, changedOutside } = concealedObjects(hiding, state, live);
    const memberships = withoutHiddenMemberships(kinds, concealed, objects);
    return restrictedInput(hiding, spec, concealed, { live: memberships, observed: live, changedOutside });
  };
}

function storedRecordIn(states: readonly State[]): Hiding["storedRecord"] {
  return ({ address, id }) =>
    states.map(({ records }) => records.get(address)).find((record) => record?.id === id) ??
    // A base may move it to another address than the spec.
    [...(states[0]?.records.values() ?? [])].find(
      (record) => record.id === id && kindOf(record.address) === kindOf(address),
    );
}

/** Hides the recorded strings, and those of live objects in their places, from every output. */
function hideRecordedValues(hiding: Hiding, { state, live }: RecordedWorkspace): void {
  const { hidden } = hiding;
  const owned = Map.groupBy(learnLive(hidden, state, live), ({ address }) => address);
  for (const record of state.records.values()) {
    const resource = recordedResource(hiding, record.address, recordedValues(record));
    hideRecordedStrings(hidden, resource, resource.revealed);
    for (const { values } of owned.get(record.address) ?? []) hideRecordedStrings(hidden, resource, values);
  }
}

function recordedResource({ kinds, hidden }: Hiding, address: Address, stored: Values) {
  return { address, fields: kinds.of(address).fields, stored, revealed: hidden.reveal(stored) };
}

/** Values of a resource, with a token in place of each that `stored` has as a digest. */
function withTokensOf(hiding: Hiding, { records }: State, address: Address, stored: Values, values: Values) {
  const applied = records.get(address)?.applied ?? {};
  return recordedForm(hiding.hidden, { ...recordedResource(hiding, address, stored), applied }, values);
}

function withConcealedRecords(hiding: Hiding, state: State): State {
  const records = new Map<Address, StateRecord>();
  for (const [address, record] of state.records) {
    const stored = (hiding.storedRecord(record) ?? record).applied;
    const concealed = (values: Values): Values => withTokensOf(hiding, state, address, stored, values);
    const applied = concealed(record.applied);
    if (record.status !== "ready") records.set(address, { ...record, applied });
    else records.set(address, { ...record, applied, seen: concealed(record.seen) });
  }
  return { ...concealedState(state, hiding.hidden, "shown"), records };
}

/** The live objects without sensitive values, and the addresses whose content was changed outside, which is not compared. */
function concealedObjects(hiding: Hiding, state: State, live: Live) {
  const { kinds, hidden, storedRecord } = hiding;
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
    const hiddenValues = withTokensOf(hiding, state, address, stored?.applied ?? {}, same);
    const shown = { values: hiddenValues, facts: withoutShown(provider, object.facts, hiddenValues) };
    // The service can answer with a value also where its kinds and codes are.
    const { unmanageable } = object;
    return { ...object, ...shown, ...defined({ unmanageable: hidden.maskedMessages(unmanageable) }) };
  };
  const objects = mappedLive(live, concealed, (unread) => hidden.maskedMessages(unread));
  return { objects, changedOutside };
}

function withoutHiddenMemberships(kinds: PlanningRegistry, { records }: State, concealed: Live): Live {
  const owners = addressByObject(records);
  const hideMemberships = hidingMemberships(kinds, concealed);
  return mappedLive(concealed, (kind, object) => {
    const address = owners.get(kind, object.id);
    return hideMemberships(kind, object, (address && records.get(address)?.applied) ?? {});
  });
}

/** The input that an untrusted user may see. `observed`: the objects as the service has them, for what is only counted. */
function restrictedInput(
  hiding: Hiding,
  spec: Spec,
  state: State,
  objects: { readonly live: Live; readonly observed: Live; readonly changedOutside?: readonly Address[] },
) {
  const { live, observed, changedOutside = [] } = objects;
  const { resources, unchecked } = withTokens(hiding, spec, state);
  const sources = { registry: hiding.kinds, spec: { ...spec, resources }, state };
  const redacted = redactForUntrusted(sources, live, observed);
  const notes = [
    ...redacted.notes,
    ...noteOf(UNCHECKED, unchecked),
    ...noteOf(CHANGED_OUTSIDE, changedOutside),
  ];
  return { ...redacted, state, notes };
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
function withTokens({ hidden, storedRecord }: Hiding, spec: Spec, state: State) {
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
