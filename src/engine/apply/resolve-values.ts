// Resolves the desired values of a change: references to new objects, and names to IDs.

import type { Address, RemoteId } from "../../core/address.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { collectTexts, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { setMember, withValueAt } from "../../core/pointer.ts";
import { declaredForm } from "../../planner/diff/fingerprint.ts";
import { referenceValue } from "../../planner/diff/references.ts";
import type { Change } from "../../planner/model/change.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Provider } from "../../resource/provider.ts";
import { translateNames } from "../../resource/translate-names.ts";
import type { DesiredSpec } from "../observe/needed-kinds.ts";
import type { ApplyRun } from "./apply-run.ts";

export type ChangeWithValues = Extract<Change, { readonly after: unknown }>;

export interface ResolvedValues {
  /** What the spec itself sets, spec form: recorded as applied. */
  readonly applied: Values;
  /** Ids in place of names: for the provider. */
  readonly wire: Values;
}

export async function resolveValues(run: ApplyRun, change: ChangeWithValues): Promise<ResolvedValues> {
  const provider = run.input.registry.get(change.kind);
  let values = change.after;
  for (const reference of change.unresolved) {
    const known = new Map<string, Json>();
    for (const part of reference.parts) {
      if (typeof part === "string") continue;
      known.set(`${part.address}.${part.attribute}`, await attributeOf(run, part.address, part.attribute));
    }
    const value = referenceValue(reference, (address, attribute) => known.get(`${address}.${attribute}`));
    values = (withValueAt(values, reference.path, value) ?? {}) as Values;
  }
  const applied = appliedValues(provider, run.input.resources.get(change.address), values);
  const before = "before" in change ? change.before : undefined;
  return { applied, wire: onWire(run, provider, change.address, values, before) };
}

/** An attribute of an existing object: its ID, a written value, or a value from the service. */
async function attributeOf(run: ApplyRun, address: Address, attribute: string): Promise<Json> {
  const provider = run.input.registry.of(address);
  const record = run.input.lease.record(address);
  if (record !== undefined) {
    if (attribute === provider.idAttribute) return record.id;
    const found = record.applied[attribute] ?? (await liveAttribute(run, provider, record.id, attribute));
    if (found !== undefined) return found;
  }
  throw failureOf("PLAN_UNKNOWN_NAME", `${address} has no ${attribute}`, {
    address,
    hint: "refer to an attribute that the service returns, or apply again",
  });
}

async function liveAttribute(
  run: ApplyRun,
  provider: Provider,
  id: RemoteId,
  attribute: string,
): Promise<Json | undefined> {
  const live = await provider.operations.read(run.writer, id);
  return live?.values[attribute] ?? live?.facts[attribute];
}

function onWire(
  run: ApplyRun,
  provider: Provider,
  address: Address,
  values: Values,
  before: Values | undefined,
): Values {
  let kept: ReadonlySet<string> | undefined;
  return translateNames(provider.fields, values, (kind, name) => {
    const id = run.names.idOf(kind, name);
    if (id !== undefined) return id;
    kept ??= collectTexts(before);
    // An ID that is in no list was already in the live object and stays.
    if (kept.has(name)) return undefined;
    throw failureOf("PLAN_UNKNOWN_NAME", `${address} refers to "${name}", which does not exist in ${kind}`, {
      address,
      hint: `declare it under ${kind}, or correct the name`,
    });
  });
}

/** Keeps only values that the spec sets. Defaults and values that a write only carries over are not managed. */
export function appliedValues(
  provider: Provider,
  resource: ReturnType<DesiredSpec["resources"]["get"]>,
  values: Values,
): Values {
  if (resource === undefined) return values;
  return declaredOf(declaredForm(provider, resource.name, resource.values), values);
}

function declaredOf(declared: JsonObject, values: JsonObject): JsonObject {
  if (declared === values) return values;
  const out: { [key: string]: Json } = {};
  for (const [key, inner] of Object.entries(declared)) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (value === undefined) continue;
    const kept = isObject(inner) && isObject(value) ? declaredOf(inner, value) : value;
    setMember(out, key, kept);
  }
  return out;
}
