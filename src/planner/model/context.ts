// The context for deciding one resource: the input without invalid records, the live objects by ID and name, and the previous decisions.

import { type Address, kindOf, memberOf, nameOf, parentOf, type RemoteId } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Json } from "../../core/json.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { foldName, isSameName } from "../../resource/names.ts";
import type { ImportEntry, Spec } from "../../spec/model/spec.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { type Change, isUnresolved } from "./change.ts";
import type { PlanInput } from "./input.ts";

export interface PlanContext {
  readonly input: PlanInput;
  readonly liveIndex: LiveIndex;
  readonly decided: Map<Address, Change>;
  /** Records that are left out of `input`, since they cannot be true. */
  readonly misplacedRecords: ReadonlyMap<Address, StateRecord>;
  readonly owners: ObjectOwners;
  readonly imports: ReadonlyMap<Address, ImportEntry>;
  /** How the spec writes the name of a declared object. */
  readonly declaredName: (provider: PlannedKind, name: string) => string | undefined;
}

export function createContext(
  input: PlanInput,
  misplacedRecords: PlanContext["misplacedRecords"],
): PlanContext {
  return {
    input,
    liveIndex: indexLive(input.live, input.registry),
    decided: new Map(),
    misplacedRecords,
    owners: addressByObject(input.state.records),
    imports: new Map(input.spec.stateEntries?.imports.map((entry) => [entry.to, entry])),
    declaredName: declaredNames(input.spec),
  };
}

/** Indexes the names of a kind when one is asked for. */
export function declaredNames({ resources }: Pick<Spec, "resources">): PlanContext["declaredName"] {
  const kinds = new Map<string, ReadonlyMap<string, string>>();
  const namesOf = (provider: PlannedKind): ReadonlyMap<string, string> => {
    const declared = [...resources.values()].filter(({ kind }) => kind === provider.kind);
    return new Map(declared.map(({ name }) => [foldName(provider, name), name]));
  };
  return (provider, name) => {
    const names = kinds.get(provider.kind) ?? namesOf(provider);
    kinds.set(provider.kind, names);
    return names.get(foldName(provider, name));
  };
}

export function objectKey(kind: string, id: string): string {
  return `${kind}\n${id}`;
}

/** The address of the record that manages a live object. */
export interface ObjectOwners {
  get(kind: string, id: string): Address | undefined;
  has(kind: string, id: string): boolean;
}

export function addressByObject(records: ReadonlyMap<Address, StateRecord>): ObjectOwners {
  // By kind and then by ID, because one string of both for each record takes most of the time.
  const kinds = new Map<string, Map<string, Address>>();
  for (const record of records.values()) {
    const kind = kindOf(record.address);
    const owners = kinds.get(kind) ?? new Map<string, Address>();
    kinds.set(kind, owners);
    owners.set(record.id, record.address);
    for (const id of record.deposed ?? []) owners.set(id, record.address);
  }
  return {
    get: (kind, id) => kinds.get(kind)?.get(id),
    has: (kind, id) => kinds.get(kind)?.has(id) === true,
  };
}

/** The part of a record that takes part in a comparison, in the kind's form, and in that of `like`; none for an unfinished object. */
export function recordedOf(
  provider: PlannedKind,
  record: StateRecord | undefined,
  like?: Values,
): RecordedValues | undefined {
  if (record === undefined || record.status === "creating") return undefined;
  const { normalize } = provider.planning;
  if (normalize === undefined && record.status === "ready") return record;
  const applied = normalize?.(record.applied, like ?? record.applied) ?? record.applied;
  return { applied, seen: record.status === "ready" ? record.seen : {} };
}

/** Whether it is known if an object of this kind and natural name is there. */
export function isRead({ input, liveIndex }: PlanContext, kind: string, name: string): boolean {
  return input.live.has(kind) && liveIndex.unreadable(kind, name) === undefined;
}

/** The value of an attribute of an already decided resource; undefined while only an apply can tell. */
export function plannedAttribute(
  context: PlanContext,
  address: Address,
  attribute: string,
): Json | undefined {
  const provider = context.input.registry.of(address);
  const change = context.decided.get(address);
  if (change === undefined)
    return attribute === provider.idAttribute ? context.input.state.records.get(address)?.id : undefined;
  // The plan deletes the object, or leaves it alone.
  if (!("after" in change)) return undefined;
  const isNew = change.action === "create" || change.action === "replace";
  if (attribute === provider.idAttribute) return isNew ? undefined : change.id;
  if (isUnresolved(change, attribute)) return undefined;
  return change.after[attribute] ?? (isNew ? undefined : change.before[attribute]);
}

/** Whether the kind has a value that the service never returns, so that an adoption would overwrite it. */
export function hasUnreadableValue(provider: PlannedKind): boolean {
  return Object.values(provider.fields).some(
    (field) => field.writeOnly === true && field.witness !== undefined,
  );
}

/** The values of a state record that a comparison uses. */
export interface RecordedValues {
  readonly applied: Values;
  readonly seen: Values;
}

export interface LiveIndex {
  all(kind: string): readonly LiveObject[];
  byId(kind: string, id: RemoteId): LiveObject | undefined;
  /** Every object with this natural name; more than one only for kinds whose names are not unique. */
  byName(kind: string, name: string): readonly LiveObject[];
  /** Why an object with this kind and natural name is unknown; undefined if it could be read. */
  unreadable(kind: string, name: string): Diagnostic | undefined;
}

const NOTHING: readonly LiveObject[] = [];

export function indexLive(live: Live, registry: PlanningRegistry): LiveIndex {
  const ids = new Map<string, ReadonlyMap<string, LiveObject>>();
  const names = new Map<string, ReadonlyMap<string, readonly LiveObject[]>>();
  const all = (kind: string): readonly LiveObject[] => {
    const liveKind = live.get(kind);
    return liveKind?.readable === true ? liveKind.objects : NOTHING;
  };
  return {
    all,
    byId: (kind, id) => {
      const byKey = ids.get(kind) ?? byIds(all(kind));
      ids.set(kind, byKey);
      return byKey.get(id);
    },
    // Most plans find every object by its ID, so names are indexed only when one is asked for.
    byName: (kind, name) => {
      const provider = registry.get(kind);
      const byKey = names.get(kind) ?? Map.groupBy(all(kind), (object) => foldName(provider, object.name));
      names.set(kind, byKey);
      return byKey.get(foldName(provider, name)) ?? NOTHING;
    },
    unreadable: (kind, name) => {
      const liveKind = live.get(kind);
      if (liveKind === undefined) return undefined;
      if (!liveKind.readable) return liveKind.diagnostic;
      return liveKind.unreadableParents.size === 0
        ? undefined
        : liveKind.unreadableParents.get(parentOf(name));
    },
  };
}

function byIds(objects: readonly LiveObject[]): ReadonlyMap<string, LiveObject> {
  const byKey = new Map<string, LiveObject>();
  for (const object of objects) byKey.set(object.id, object);
  return byKey;
}

/** A live object that no resource declares, with the address that it would have. */
export interface UndeclaredObject {
  readonly address: Address;
  readonly live: LiveObject;
}

interface CheckedRecords {
  readonly input: PlanInput;
  /** Records that planning ignores, because their object does not belong to their address. */
  readonly misplacedRecords: ReadonlyMap<Address, StateRecord>;
}

/** The input without records whose address belongs to another object. */
export function dropMisplacedRecords(input: PlanInput): CheckedRecords {
  const misplaced = new Map<Address, StateRecord>();
  for (const record of input.state.records.values())
    if (isMisplaced(input, record)) misplaced.set(record.address, record);
  if (misplaced.size === 0) return { input, misplacedRecords: misplaced };
  const records = new Map([...input.state.records].filter(([address]) => !misplaced.has(address)));
  return { input: { ...input, state: { ...input.state, records } }, misplacedRecords: misplaced };
}

function isMisplaced({ registry, spec }: PlanInput, record: StateRecord): boolean {
  const provider = registry.find(kindOf(record.address));
  if (provider === undefined || provider.nameField !== undefined) return false;
  const meant = spec.resources.get(record.address)?.name;
  if (meant !== undefined) return !isSameName(provider, record.name, meant);
  return (
    !isSameName(provider, ownName(provider, record.name), ownName(provider, nameOf(record.address))) ||
    isElsewhere(registry, provider, record)
  );
}

/** Whether a record may have an address: always, unless the key of the kind is its name. */
export function recordFitsAddress(provider: PlannedKind, record: StateRecord, address: Address): boolean {
  return provider.nameField !== undefined || isSameName(provider, record.name, nameOf(address));
}

/** The name of a nested object without the name of its parent. */
function ownName(provider: PlannedKind, name: string): string {
  return provider.nested === undefined ? name : memberOf(name);
}

/** A member of one parent that is recorded as the member of another. */
function isElsewhere(registry: PlanningRegistry, { nested }: PlannedKind, record: StateRecord): boolean {
  if (nested === undefined || registry.get(nested.kind).nameField !== undefined) return false;
  const parent = record.depends_on.find((address) => kindOf(address) === nested.kind);
  return parent !== undefined && nameOf(parent) !== parentOf(record.name);
}
