// Builds the record of a resource after a change, including values that the service set. An adopted object is recorded like an applied one.

import type { RemoteId } from "../../core/address.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { setMember } from "../../core/pointer.ts";
import { comparable } from "../../planner/diff/fingerprint.ts";
import type { Change } from "../../planner/model/change.ts";
import { type FieldSchema, type FieldTable, memberSchema, type Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Provider } from "../../resource/provider.ts";
import type { Registry } from "../../resource/registry.ts";
import { deposedBy } from "../../state/format/fold.ts";
import type { StateRecord } from "../../state/model/record.ts";
import type { DesiredSpec } from "../observe/needed-kinds.ts";
import type { ApplyRun } from "./apply-run.ts";

type Resource = NonNullable<ReturnType<DesiredSpec["resources"]["get"]>>;

/** The record of what a change made or wrote. `replaces`: the object that has to go yet. */
export function recordAfter(
  run: ApplyRun,
  change: Change,
  id: RemoteId,
  applied: Values,
  seen: Values,
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
    ...(resource === undefined ? {} : declaredOf(run.input.registry, resource)),
    ...(deposed.length === 0 ? {} : { deposed }),
    seen,
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
  const witnesses = new Set(
    Object.values(run.input.registry.get(change.kind).fields).map((field) => field.witness),
  );
  return Object.fromEntries(Object.entries(record.seen).filter(([name]) => !witnesses.has(name)));
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
  const seen: { [key: string]: Json } = {};
  for (const [name, schema] of Object.entries(fields)) {
    const value = unsetIn(schema, applied[name], live.values[name]);
    if (value !== undefined) seen[name] = value;
    const witness = schema.witness === undefined ? undefined : live.facts[schema.witness];
    if (schema.witness !== undefined && witness !== undefined) seen[schema.witness] = witness;
  }
  return seen;
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
export function recordFromLive(provider: Provider, resource: Resource, found: LiveObject): StateRecord {
  const live = comparable(provider, found);
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
  // A value that cannot be read back is assumed to be the declared one, unless a witness shows a change.
  if (schema.writeOnly === true) return schema.witness === undefined ? declared : undefined;
  if (live === undefined) return undefined;
  const isOurs = schema.serverDefault !== true && schema.whenAbsent !== "unmanaged";
  if (declared === undefined && !isOurs) return undefined;
  if (schema.properties === undefined || !isObject(live)) return live;
  const inner = asApplied(schema.properties, isObject(declared) ? declared : {}, live);
  return Object.keys(inner).length === 0 && declared === undefined ? undefined : inner;
}
