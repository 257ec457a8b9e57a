// What an apply changed, field by field, for the history of the state: bounded, and without sensitive values.

import { stringifyJson } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import { DETAIL_BYTES, type PastChange, type PastField } from "../../core/past-run.ts";
import { toPointer } from "../../core/pointer.ts";
import { SENSITIVE_TEXT } from "../../core/sensitive.ts";
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
