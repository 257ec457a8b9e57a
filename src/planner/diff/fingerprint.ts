// A digest of the live values that a change is based on. An apply does not change an object with another digest.

import { fingerprint } from "../../core/canonical.ts";
import type { Json } from "../../core/json.ts";
import type { SensitiveValues } from "../../core/sensitive-values.ts";
import type { FieldSchema, FieldTable, Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { Change } from "../model/change.ts";
import type { RecordedValues } from "../model/context.ts";
import { changedByService } from "./diff.ts";
import { normalForm, withIgnoredFromLive } from "./normalize.ts";

/**
 * Unmanaged fields count only if `after` sets them. Without `after` (a delete), every field counts except unmanaged
 * memberships, because other changes of the same plan alter those, as when a user leaves with its group. Witnesses of
 * values that cannot be read count too. `live.values` must contain names where fields have `names`.
 */
export function liveFingerprint(
  fields: FieldTable,
  live: Pick<LiveObject, "values" | "facts">,
  after: Values | undefined,
): string {
  const parts: { [key: string]: Json } = {};
  for (const [name, schema] of Object.entries(fields)) {
    if (schema.readOnly === true || schema.source === true) continue;
    if (
      schema.whenAbsent === "unmanaged" &&
      after?.[name] === undefined &&
      (after !== undefined || namesOthers(schema))
    )
      continue;
    const value =
      schema.writeOnly === true ? live.facts[schema.witness ?? ""] : normalForm(schema, live.values[name]);
    if (value !== undefined) parts[name] = value;
  }
  return fingerprint(parts);
}

/** Whether an object is the one that a change rests on. A delete also accepts fields that the service set since. With `sensitive`, the fingerprint may be keyed. */
export function isAsPlanned(
  { fields }: PlannedKind,
  live: Pick<LiveObject, "values" | "facts">,
  change: Existing,
  sensitive?: Pick<SensitiveValues, "keyed">,
): boolean {
  const isPlanned = (print: string): boolean =>
    print === change.fingerprint || sensitive?.keyed(print) === change.fingerprint;
  if ("after" in change) return isPlanned(liveFingerprint(fields, live, change.after));
  const values = Object.entries(fields).flatMap(([name, schema]) => {
    const value = changedByService(schema, live) === undefined ? undefined : change.before[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const asBefore = { ...live, values: { ...live.values, ...Object.fromEntries(values) } };
  return isPlanned(liveFingerprint(fields, asBefore, undefined));
}

type Existing = Extract<Change, { readonly fingerprint: string }>;

function namesOthers(schema: FieldSchema): boolean {
  return (
    schema.names !== undefined ||
    (schema.items !== undefined && namesOthers(schema.items)) ||
    Object.values(schema.properties ?? {}).some(namesOthers)
  );
}

/** What a spec declares, as the kind wants it compared: the natural name filled in, without what the kind itself leaves out. */
export function declaredForm(provider: PlannedKind, name: string, values: Values): Values {
  const field = provider.nameField;
  const named = field === undefined || values[field] !== undefined ? values : { ...values, [field]: name };
  return provider.planning.normalize?.(named) ?? named;
}

/** The live object, normalized by its kind. Takes about 2 µs for a job, so the result is not cached. */
export function comparable(provider: PlannedKind, live: LiveObject): LiveObject {
  if (provider.planning.normalize === undefined) return live;
  return { ...live, values: provider.planning.normalize(live.values) };
}

/** Values with what is live in ignored fields, in the kind's form: a cluster that others moved to a pool has the pool's node type. */
export function withIgnored(
  { planning }: PlannedKind,
  values: Values,
  live: Values,
  ignored: readonly string[],
): Values {
  if (ignored.length === 0) return values;
  const kept = withIgnoredFromLive(values, live, ignored);
  return planning.normalize?.(kept) ?? kept;
}

export function recordedWithIgnored(
  provider: PlannedKind,
  recorded: RecordedValues,
  live: Values,
  ignored: readonly string[],
): RecordedValues {
  const kept = (values: Values): Values => withIgnored(provider, values, live, ignored);
  return { applied: kept(recorded.applied), seen: kept(recorded.seen) };
}
