// The three-way diff of one resource: desired, live, and recorded values (design 5).

import { isObject, type Json, type JsonObject, ownMember } from "../../core/json.ts";
import { type Path, toPointer, valueAt } from "../../core/pointer.ts";
import { type FieldSchema, type FieldTable, memberSchema, type Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Cause, FieldDiff } from "../../resource/planning.ts";
import type { NonEmpty } from "../model/change.ts";
import type { RecordedValues } from "../model/context.ts";
import { changedByService, isSameValue, normalForm } from "./normalize.ts";

interface Comparison {
  readonly live: LiveObject;
  readonly recorded: RecordedValues | undefined;
  /** JSON Pointers of desired values that are known only after apply. */
  readonly unknown: ReadonlySet<string>;
  readonly diffs: FieldDiff[];
}

interface Inherited {
  readonly replaces: boolean;
  /** Keys that the spec does not set in a map are the server's to decide. */
  readonly serverDefault: boolean;
  /** The last apply did not manage the value, so its earlier value is unknown. */
  readonly unmanaged: boolean;
}

/** Every field in which `live` is not what the spec, or its absence, asks for. In field order. */
export function diffResource(
  fields: FieldTable,
  desired: Values,
  live: LiveObject,
  recorded: RecordedValues | undefined,
  unknown: ReadonlySet<string> = new Set(),
): FieldDiff[] {
  const comparison: Comparison = { live, recorded, unknown, diffs: [] };
  for (const name in fields) {
    const schema = fields[name];
    if (schema === undefined || plainlySame(schema, desired[name], live.values[name])) continue;
    walk(comparison, [name], schema, desired[name], live.values[name], NOTHING_INHERITED);
  }
  return comparison.diffs;
}

const NOTHING_INHERITED: Inherited = { replaces: false, serverDefault: false, unmanaged: false };

/** Most members are nowhere, or the same on both sides; no path and no rule is needed to see that. With the early returns of the audit, this saves 9% of a plan of 100,100 resources. */
function plainlySame(schema: FieldSchema, desired: Json | undefined, live: Json | undefined): boolean {
  if (schema.writeOnly === true) return false;
  if (desired === undefined) return live === undefined && schema.serverDefault !== true;
  return desired === live && typeof desired !== "object";
}

function walk(
  on: Comparison,
  path: Path,
  schema: FieldSchema,
  desired: Json | undefined,
  returned: Json | undefined,
  from: Inherited,
): void {
  if (schema.readOnly === true || schema.source === true) return;
  const inherited = {
    replaces: schema.onChange === undefined ? from.replaces : schema.onChange === "replace",
    serverDefault: from.serverDefault || schema.serverDefault === true,
    unmanaged: from.unmanaged || (schema.whenAbsent === "unmanaged" && !isRecorded(on, path)),
  };
  // A field that the service omits has its default.
  const live = returned === undefined ? schema.default : withoutAdded(schema, desired, returned);
  if (schema.writeOnly === true) diffWriteOnly(on, path, schema, desired, inherited);
  else if (isObject(desired) && isObject(live) && hasMembers(schema))
    members(on, path, schema, desired, live, inherited);
  else {
    const target =
      desired === undefined ? targetOfUnset(on, path, schema, live, inherited) : { value: desired };
    if (target === undefined) return;
    const { value } = target;
    if (value === undefined || !isSameValue(schema, value, live))
      report(on, path, schema, value, live, inherited);
  }
}

function isRecorded({ recorded }: Comparison, path: Path): boolean {
  return valueAt(recorded?.applied, path) !== undefined || valueAt(recorded?.seen, path) !== undefined;
}

function hasMembers(schema: FieldSchema): boolean {
  return schema.properties !== undefined || typeof schema.additionalProperties === "object";
}

function members(
  on: Comparison,
  path: Path,
  schema: FieldSchema,
  desired: JsonObject,
  live: JsonObject,
  inherited: Inherited,
): void {
  const isMap = schema.properties === undefined;
  const below = { ...inherited, serverDefault: isMap && inherited.serverDefault };
  for (const key of keysOf(schema, desired, live)) {
    const inner = memberSchema(schema, key);
    const wanted = ownMember(desired, key);
    const liveMember = ownMember(live, key);
    if (!plainlySame(inner, wanted, liveMember)) walk(on, [...path, key], inner, wanted, liveMember, below);
  }
}

function keysOf(schema: FieldSchema, desired: JsonObject, live: JsonObject): readonly string[] {
  const declared = schema.properties ?? {};
  const names = Object.keys(declared);
  const wanted = Object.keys(desired).filter((key) => !Object.hasOwn(declared, key));
  const liveOnly = Object.keys(live).filter(
    (key) => !Object.hasOwn(declared, key) && !Object.hasOwn(desired, key),
  );
  return [...names, ...wanted.sort(), ...liveOnly.sort()];
}

/** The target of a field that the spec does not set: the default, the server's value, or no value; undefined if any live value will do. */
function targetOfUnset(
  { recorded }: Comparison,
  path: Path,
  schema: FieldSchema,
  live: Json | undefined,
  { serverDefault }: Inherited,
): { readonly value: Json | undefined } | undefined {
  if (schema.whenAbsent === "unmanaged") return undefined;
  if (schema.default !== undefined) return { value: schema.default };
  if (!serverDefault) return valuesLost(schema, live) === undefined ? undefined : { value: undefined };
  if (valueAt(recorded?.applied, path) !== undefined)
    return live === undefined ? undefined : { value: undefined };
  const value = valueAt(recorded?.seen, path);
  return value === undefined ? undefined : { value };
}

/** Live values that a deletion would lose: no defaults, server-decided values, or unmanaged values. */
function valuesLost(schema: FieldSchema, live: Json | undefined): Json | undefined {
  if (!isObject(live) || schema.properties === undefined) return normalForm(schema, live);
  for (const key of Object.keys(live)) {
    const inner = memberSchema(schema, key);
    if (inner.serverDefault === true || inner.whenAbsent === "unmanaged" || inner.readOnly === true) continue;
    if (
      inner.default !== undefined
        ? !isSameValue(inner, inner.default, live[key])
        : valuesLost(inner, live[key]) !== undefined
    )
      return live;
  }
  return undefined;
}

/** A value that the service never returns: compared with the recorded value, and with a witness of writes by others. */
function diffWriteOnly(
  on: Comparison,
  path: Path,
  schema: FieldSchema,
  desired: Json | undefined,
  inherited: Inherited,
): void {
  if (desired === undefined) return;
  if (on.recorded === undefined) {
    if (schema.requestOption !== true) report(on, path, schema, desired, undefined, inherited);
    return;
  }
  const written = valueAt(on.recorded.applied, path);
  const specMoved = !isSameValue(schema, desired, written);
  const liveMoved = schema.witness !== undefined && witnessMoved(on, schema.witness);
  if (!specMoved && !liveMoved) return;
  const cause = specMoved && liveMoved ? "both" : liveMoved ? "drift" : "spec";
  on.diffs.push({
    path,
    before: liveMoved ? undefined : written,
    after: desired,
    cause,
    replaces: inherited.replaces,
  });
}

function witnessMoved(on: Comparison, witness: string): boolean {
  const observedDigest = on.recorded?.seen[witness];
  const now = on.live.facts[witness];
  return observedDigest !== undefined && now !== undefined && String(observedDigest) !== String(now);
}

function report(
  on: Comparison,
  path: Path,
  schema: FieldSchema,
  after: Json | undefined,
  before: Json | undefined,
  inherited: Inherited,
): void {
  const unknown = isUnknown(on.unknown, path);
  on.diffs.push({
    path,
    before,
    after,
    ...(unknown ? { unknown } : {}),
    cause: inherited.unmanaged ? "spec" : causeOf(on, path, schema, after, before),
    replaces: inherited.replaces,
  });
}

function isUnknown(unknown: ReadonlySet<string>, path: Path): true | undefined {
  const here = toPointer(path);
  for (const pointer of unknown) if (pointer === here || pointer.startsWith(`${here}/`)) return true;
  return undefined;
}

/** The side that changed since the last apply. Without a record, or after a change by the service itself, the spec. */
function causeOf(
  on: Comparison,
  path: Path,
  schema: FieldSchema,
  after: Json | undefined,
  before: Json | undefined,
): Cause {
  if (on.recorded === undefined || changedByService(schema, on.live) !== undefined) return "spec";
  const applied = valueAt(on.recorded.applied, path) ?? schema.default ?? valueAt(on.recorded.seen, path);
  const specMoved = !isSameValue(schema, applied, after);
  const liveMoved = !isSameValue(schema, applied, before);
  if (specMoved && liveMoved) return "both";
  return liveMoved ? "drift" : "spec";
}

export function combinedCause([first, ...others]: NonEmpty<FieldDiff>): Cause {
  return others.every(({ cause }) => cause === first.cause) ? first.cause : "both";
}

/** The live value without members of a map that the service added. */
export function withoutAdded(
  { addedByService: added }: FieldSchema,
  desired: Json | undefined,
  live: Json,
): Json | undefined {
  if (added === undefined || !isObject(live)) return live;
  const isAdded = (key: string, value: Json): boolean =>
    Object.hasOwn(added, key) && added[key] === value && !(isObject(desired) && Object.hasOwn(desired, key));
  const own = Object.entries(live).filter(([key, value]) => !isAdded(key, value));
  return own.length === 0 ? undefined : (Object.fromEntries(own) as JsonObject);
}
