// Finds invalid records: if the key of a kind is its name, an address can belong to only one object.

import { type Address, kindOf, memberOf, nameOf, parentOf } from "../../core/address.ts";
import { isSameName } from "../../resource/names.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import type { StateRecord } from "../../state/model/record.ts";
import type { PlanInput } from "../model/input.ts";

export interface CheckedRecords {
  readonly input: PlanInput;
  /** Records that planning ignores, because their object does not belong to their address. */
  readonly invalidRecords: ReadonlyMap<Address, StateRecord>;
}

/** The input without records whose address belongs to another object. */
export function dropInvalidRecords(input: PlanInput): CheckedRecords {
  const misfits = new Map<Address, StateRecord>();
  for (const record of input.state.records.values())
    if (isInvalidRecord(input, record)) misfits.set(record.address, record);
  if (misfits.size === 0) return { input, invalidRecords: misfits };
  const records = new Map([...input.state.records].filter(([address]) => !misfits.has(address)));
  return { input: { ...input, state: { ...input.state, records } }, invalidRecords: misfits };
}

function isInvalidRecord({ registry, spec }: PlanInput, record: StateRecord): boolean {
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
  const parent = record.depends_on.find((one) => kindOf(one) === nested.kind);
  return parent !== undefined && nameOf(parent) !== parentOf(record.name);
}
