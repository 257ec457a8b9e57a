// What an apply changed, field by field, for the history of the state: bounded, and without sensitive values.

import { canonicalJson } from "../../core/digest.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import { DETAIL_BYTES, type PastChange, type PastField, type PastRun } from "../../core/past-run.ts";
import { fromPointer, type Path, toPointer } from "../../core/pointer.ts";
import { SENSITIVE_TEXT, SensitiveTexts } from "../../core/sensitive.ts";
import { type SensitiveValues, withoutDigests } from "../../core/sensitive-values.ts";
import type { Change } from "../../planner/model/change.ts";
import { type FieldTable, schemaAt, type Values } from "../../resource/field-schema.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { isSensitive, maskedValue } from "../../resource/masked.ts";

/** Longer values are recorded by their length. */
const LONGEST = 500;

/** The first changes that fit. `changes`: those that were applied, as planned, with digests in place of sensitive values. */
export function pastChanges(changes: readonly Change[], registry: KindRegistry): readonly PastChange[] {
  const past: PastChange[] = [];
  let bytes = 0;
  for (const change of changes) {
    const detail = pastChange(change, registry.of(change.address).fields);
    bytes += stringifyJson(detail).length;
    if (bytes > DETAIL_BYTES) break;
    past.push(detail);
  }
  return past;
}

function pastChange(change: Change, fields: FieldTable): PastChange {
  return { address: change.address, action: change.action, fields: fieldsOf(change, fields) };
}

function fieldsOf(change: Change, fields: FieldTable): readonly PastField[] {
  if ("diffs" in change)
    return change.diffs.map(({ path, before, after }) => {
      const shown = (value: Json | undefined): Json | undefined => {
        if (value === undefined) return undefined;
        return isSensitive(fields, path)
          ? SENSITIVE_TEXT
          : bounded(maskedValue(schemaAt(fields, path), value));
      };
      return fieldOf(toPointer(path), shown(before), shown(after));
    });
  const side = (values: Values) =>
    Object.entries(values).map(
      ([name, value]) => [toPointer([name]), bounded(maskedValue(fields[name] ?? {}, value))] as const,
    );
  if (change.action === "create")
    return side(change.after).map(([path, value]) => fieldOf(path, undefined, value));
  if (change.action === "delete")
    return side(change.before).map(([path, value]) => fieldOf(path, value, undefined));
  return [];
}

function fieldOf(path: string, before: Json | undefined, after: Json | undefined): PastField {
  return { path, before, after };
}

function bounded(value: Json): Json {
  const { length } = stringifyJson(value);
  return length > LONGEST ? `(${length} characters)` : value;
}

/**
 * The runs without the values that are sensitive now, each changed one as a copy: at sensitive places whatever the value was, such as that
 * of a variable before its rotation, and the strings of all of these in any other field, also of deleted resources.
 */
export function withoutSensitive(
  history: readonly PastRun[],
  sensitive: SensitiveValues,
): readonly PastRun[] {
  const former = new SensitiveTexts();
  for (const { details = [] } of history)
    for (const { address, fields } of details)
      for (const { path, before, after } of fields)
        for (const side of [before, after])
          if (side !== undefined) sensitive.hide(address, side, { path: placeOf(path), texts: former });
  return history.map((run) => {
    const details = run.details?.map((change) => ({
      ...change,
      fields: change.fields.map(({ path, before, after }) => {
        const masked = (side: Json | undefined): Json | undefined =>
          former.maskedDeep(withoutDigests(sensitive.conceal(change.address, side, "shown", placeOf(path))));
        return fieldOf(path, masked(before), masked(after));
      }),
    }));
    return textOf(details) === textOf(run.details) ? run : { ...run, details };
  });
}

/** Differences lead into maps only, so a number is a key. */
const placeOf = (pointer: string): Path => fromPointer(pointer).map(String);

const textOf = (details: PastRun["details"]): string => canonicalJson((details ?? []) as unknown as Json);
