// The record of a live object that is taken over as it is: as if a spec that says exactly this had been applied.

import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { comparable } from "../planner/fingerprint.ts";
import type { FieldSchema, FieldTable, Values } from "../resource/fields.ts";
import type { LiveObject, Provider } from "../resource/provider.ts";
import type { StateRecord } from "../state/record.ts";
import { seenIn } from "./record.ts";
import type { Spec } from "./scope.ts";

type Resource = NonNullable<ReturnType<Spec["resources"]["get"]>>;

/** The next plan then tells every difference from the spec as the spec's own, and nothing as drift. */
export function recordAsLive(provider: Provider, resource: Resource, found: LiveObject): StateRecord {
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

/** What the server decides and what nobody manages is ours only where the spec says something of it. */
function taken(schema: FieldSchema, declared: Json | undefined, live: Json | undefined): Json | undefined {
  if (schema.readOnly === true || schema.source === true) return undefined;
  // What cannot be read back counts as it is declared, unless something tells whether it is.
  if (schema.writeOnly === true) return schema.witness === undefined ? declared : undefined;
  if (live === undefined) return undefined;
  const isOurs = schema.serverDefault !== true && schema.whenAbsent !== "unmanaged";
  if (declared === undefined && !isOurs) return undefined;
  if (schema.properties === undefined || !isObject(live)) return live;
  const inner = asApplied(schema.properties, isObject(declared) ? declared : {}, live);
  return Object.keys(inner).length === 0 && declared === undefined ? undefined : inner;
}
