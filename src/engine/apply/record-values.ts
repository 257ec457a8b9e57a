// Resolves the desired values of a change, and builds the record of a resource after it, including values that the service set.

import type { Address, RemoteId } from "../../core/address.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { collectTexts, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { setMember, withValueAt } from "../../core/pointer.ts";
import { comparable, declaredForm } from "../../planner/diff/normalize.ts";
import { referenceValue } from "../../planner/diff/references.ts";
import type { Change, Desiring } from "../../planner/model/change.ts";
import { type FieldSchema, type FieldTable, memberSchema, type Values } from "../../resource/field-schema.ts";
import type { Provider, Registry } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { translateNames } from "../../resource/names.ts";
import { deposedBy } from "../../state/format/fold.ts";
import type { StateRecord } from "../../state/model/record.ts";
import type { DesiredSpec } from "../observe/needed-kinds.ts";
import { withoutWitnesses } from "../recover/proven-values.ts";
import type { ApplyRun } from "./apply-run.ts";

type Resource = NonNullable<ReturnType<DesiredSpec["resources"]["get"]>>;

/** The record of what a change made or wrote. `replaces`: the object that has to go yet. */
export function recordAfter(
  run: ApplyRun,
  change: Change,
  id: RemoteId,
  applied: Values,
  observed: Values,
  replaces?: RemoteId,
): StateRecord {
  const before = run.input.lease.record(change.address);
  const resource = run.input.resources.get(change.address);
  // A deposed object that becomes current again deposes the recorded one.
  const returns = before?.deposed?.includes(id) === true ? before.id : undefined;
  const deposed = deposedBy(before, id, replaces ?? returns);
  return {
    status: "ready",
    address: change.address,
    id,
    name: change.name,
    applied,
    depends_on: resource?.dependsOn ?? change.dependsOn,
    ...(resource && declaredOf(run.input.registry, resource)),
    ...(deposed.length === 0 ? {} : { deposed }),
    seen: observed,
  };
}

/** Declarations of a spec other than values, for a later plan whose spec no longer contains the resource. */
function declaredOf(
  registry: Registry,
  { kind, lifecycle, owns }: Resource,
): Pick<StateRecord, "prevent_destroy" | "owns"> {
  const hasMembers = registry.kinds.some(({ nested }) => nested?.kind === kind);
  return {
    ...(lifecycle.prevent_destroy ? { prevent_destroy: true } : {}),
    ...(hasMembers ? { owns } : {}),
  };
}

/** Previous observations that still hold: all except the witnesses of the values in this write. */
export function previousObservations(run: ApplyRun, change: Change): Values {
  const record = run.input.lease.record(change.address);
  if (record?.status !== "ready") return {};
  return withoutWitnesses(run.input.registry.get(change.kind).fields, record.seen);
}

export function leavesToServer(fields: FieldTable): boolean {
  const leaves = (schema: FieldSchema): boolean =>
    schema.serverDefault === true ||
    schema.witness !== undefined ||
    Object.values(schema.properties ?? {}).some(leaves);
  return Object.values(fields).some(leaves);
}

/** Live values of fields that the spec leaves to the server, and witnesses of values that cannot be read. */
export function seenIn(fields: FieldTable, applied: Values, live: LiveObject): Values {
  const observed: { [key: string]: Json } = {};
  for (const [name, schema] of Object.entries(fields)) {
    const value = unsetIn(schema, applied[name], live.values[name]);
    if (value !== undefined) observed[name] = value;
    const witness = schema.witness === undefined ? undefined : live.facts[schema.witness];
    if (schema.witness !== undefined && witness !== undefined) observed[schema.witness] = witness;
  }
  return observed;
}

function unsetIn(schema: FieldSchema, applied: Json | undefined, live: Json | undefined): Json | undefined {
  if (live === undefined || schema.readOnly === true || schema.source === true) return undefined;
  if (applied === undefined) return wholeOrMembers(schema, live);
  if (!isObject(applied) || !isObject(live)) return undefined;
  if (schema.properties === undefined) {
    const open = schema.serverDefault === true && typeof schema.additionalProperties === "object";
    return open ? members(live, (key) => (Object.hasOwn(applied, key) ? undefined : live[key])) : undefined;
  }
  return members(live, (key) => unsetIn(memberSchema(schema, key), applied[key], live[key]));
}

function wholeOrMembers(schema: FieldSchema, live: Json): Json | undefined {
  if (schema.serverDefault === true) return live;
  if (schema.properties === undefined || !isObject(live)) return undefined;
  return members(live, (key) => unsetIn(memberSchema(schema, key), undefined, live[key]));
}

function members(object: JsonObject, pick: (key: string) => Json | undefined): Json | undefined {
  const out: { [key: string]: Json } = {};
  for (const key of Object.keys(object)) {
    const value = pick(key);
    if (value !== undefined) setMember(out, key, value);
  }
  return Object.keys(out).length === 0 ? undefined : out;
}

/** The next plan then attributes every difference to the spec, not to drift. */
export function recordFromLive(provider: Provider, resource: Resource, liveObject: LiveObject): StateRecord {
  const live = comparable(provider, liveObject, resource.values);
  const applied = asApplied(provider.fields, resource.values, live.values);
  return {
    status: "ready",
    address: resource.address,
    id: live.id,
    name: live.name,
    applied,
    seen: seenIn(provider.fields, applied, live),
    depends_on: resource.dependsOn,
    ...(resource.lifecycle.prevent_destroy ? { prevent_destroy: true as const } : {}),
    // No list of members was applied yet.
    owns: [],
  };
}

function asApplied(fields: FieldTable, declared: Values, live: Values): JsonObject {
  const out: { [field: string]: Json } = {};
  for (const [name, schema] of Object.entries(fields)) {
    const value = taken(schema, declared[name], live[name]);
    if (value !== undefined) out[name] = value;
  }
  return out;
}

/** A server-decided field that is not managed is recorded only if the spec sets part of it. */
function taken(schema: FieldSchema, declared: Json | undefined, live: Json | undefined): Json | undefined {
  if (schema.readOnly === true || schema.source === true) return undefined;
  // Whether a value that cannot be read back is the declared one is unknown, so the next plan writes it.
  if (schema.writeOnly === true) return schema.requestOption === true ? declared : undefined;
  if (live === undefined) return undefined;
  const isManaged = schema.serverDefault !== true && schema.whenAbsent !== "unmanaged";
  if (declared === undefined && !isManaged) return undefined;
  if (schema.properties === undefined || !isObject(live)) return live;
  const inner = asApplied(schema.properties, isObject(declared) ? declared : {}, live);
  return Object.keys(inner).length === 0 && declared === undefined ? undefined : inner;
}

export interface ResolvedValues {
  /** What the spec itself sets, spec form: recorded as applied. */
  readonly applied: Values;
  /** Ids in place of names: for the provider. */
  readonly wire: Values;
}

export async function resolveValues(run: ApplyRun, change: Desiring): Promise<ResolvedValues> {
  const provider = run.input.registry.get(change.kind);
  let values = change.after;
  for (const reference of change.unresolved) {
    const valueByKey = new Map<string, Json>();
    for (const part of reference.parts) {
      if (typeof part === "string") continue;
      valueByKey.set(
        `${part.address}.${part.attribute}`,
        await attributeOf(run, part.address, part.attribute),
      );
    }
    const value = referenceValue(reference, (address, attribute) =>
      valueByKey.get(`${address}.${attribute}`),
    );
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
    const value = record.applied[attribute] ?? (await liveAttribute(run, provider, record.id, attribute));
    if (value !== undefined) return value;
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
  const live = await provider.operations.read(run.input.writer, id);
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
  return declaredPart(declaredForm(provider, resource.name, resource.values), values);
}

function declaredPart(declared: JsonObject, values: JsonObject): JsonObject {
  if (declared === values) return values;
  const out: { [key: string]: Json } = {};
  for (const [key, inner] of Object.entries(declared)) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (value === undefined) continue;
    const kept = isObject(inner) && isObject(value) ? declaredPart(inner, value) : value;
    setMember(out, key, kept);
  }
  return out;
}
