// The context for deciding one resource: the input, the live state, and the previous decisions.

import { type Address, kindOf } from "../../core/address.ts";
import type { Json } from "../../core/json.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { ImportEntry } from "../../spec/model/spec.ts";
import type { StateRecord } from "../../state/model/record.ts";
import type { Change } from "./change.ts";
import type { PlanInput } from "./input.ts";
import type { LiveIndex } from "./live-index.ts";

export interface PlanContext {
  readonly input: PlanInput;
  readonly liveIndex: LiveIndex;
  readonly decided: Map<Address, Change>;
  /** Records that are left out of `input`, since they cannot be true. */
  readonly invalidRecords: ReadonlyMap<Address, StateRecord>;
  readonly owners: ObjectOwners;
  readonly imports: ReadonlyMap<Address, ImportEntry>;
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

/** The part of a record that takes part in a comparison, in the kind's own form; none for an unfinished object. */
export function recordedOf(
  provider: PlannedKind,
  record: StateRecord | undefined,
): RecordedValues | undefined {
  if (record === undefined || record.status === "creating") return undefined;
  const { normalize } = provider.planning;
  if (normalize === undefined && record.status === "ready") return record;
  const applied = normalize?.(record.applied) ?? record.applied;
  return { applied, seen: record.status === "ready" ? record.seen : {} };
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
  switch (change.action) {
    case "create":
    case "replace":
      return attribute === provider.idAttribute ? undefined : reached(change, attribute);
    case "update":
    case "compare":
    case "noop":
    case "adopt":
      if (attribute === provider.idAttribute) return change.id;
      return isUnresolved(change, attribute)
        ? undefined
        : (change.after[attribute] ?? change.before[attribute]);
    case "delete":
    case "forget":
    case "report":
      return undefined;
    default:
      return change satisfies never;
  }
}

type Reaching = Extract<Change, { readonly after: unknown }>;

function reached(change: Reaching, attribute: string): Json | undefined {
  return isUnresolved(change, attribute) ? undefined : change.after[attribute];
}

function isUnresolved(change: Reaching, attribute: string): boolean {
  return change.unresolved.some((one) => one.path[0] === attribute);
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
