// What is recorded of a resource after a change of it, and what the service was seen to have filled in.

import type { RemoteId } from "../core/address.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { setMember } from "../core/pointer.ts";
import type { Change } from "../planner/change.ts";
import { type FieldSchema, type FieldTable, memberSchema, type Values } from "../resource/fields.ts";
import type { LiveObject } from "../resource/provider.ts";
import type { Registry } from "../resource/registry.ts";
import { deposedBy } from "../state/fold.ts";
import type { StateRecord } from "../state/record.ts";
import type { Run } from "./run.ts";
import type { Spec } from "./scope.ts";

type Resource = NonNullable<ReturnType<Spec["resources"]["get"]>>;

/** The record of what a change made or wrote. `replaces`: the object that has to go yet. */
export function recordAfter(
  run: Run,
  change: Change,
  id: RemoteId,
  applied: Values,
  seen: Values,
  replaces?: RemoteId,
): StateRecord {
  const before = run.input.lease.record(change.address);
  const resource = run.input.resources.get(change.address);
  // A deposed object that takes its place again deposes the one that stood there.
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

/** What a spec says of a resource beside its values, and a later plan asks for when the spec no longer says it. */
export function declaredOf(
  registry: Registry,
  { kind, lifecycle, owns }: Resource,
): Pick<StateRecord, "prevent_destroy" | "owns"> {
  const hasMembers = registry.kinds.some(({ nested }) => nested?.kind === kind);
  return {
    ...(lifecycle.prevent_destroy ? { prevent_destroy: true } : {}),
    ...(hasMembers ? { owns } : {}),
  };
}

/** What was seen before and still holds: everything but the witnesses of what is being written. */
export function seenBefore(run: Run, change: Change): Values {
  const record = run.input.lease.record(change.address);
  if (record?.status !== "ready") return {};
  const witnesses = new Set(
    Object.values(run.input.registry.get(change.kind).fields).map((field) => field.witness),
  );
  return Object.fromEntries(Object.entries(record.seen).filter(([name]) => !witnesses.has(name)));
}

/** Whether a kind has anything that must be looked at after an apply. */
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
