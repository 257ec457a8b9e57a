// Live fields that a replacing request must repeat, because the spec neither sets nor resets them.

import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type Path, toPointer, valueAt, withValueAt } from "../../core/pointer.ts";
import type { FieldSchema, FieldTable, Values } from "../../resource/field-schema.ts";
import type { FieldDiff, PlannedChange } from "../../resource/planning.ts";

/** Paths of live values that the server decided or that are not managed, which `after` does not have and no diff resets. */
export function preservedPaths(
  fields: FieldTable,
  live: Values,
  after: Values,
  diffs: readonly FieldDiff[],
): readonly Path[] {
  const reset = new Set(diffs.filter((diff) => diff.after === undefined).map((diff) => toPointer(diff.path)));
  const kept: Path[] = [];
  const walk = (path: Path, schema: FieldSchema): void => {
    const now = valueAt(live, path);
    if (now === undefined || reset.has(toPointer(path))) return;
    const wanted = valueAt(after, path);
    if (wanted === undefined) {
      if (schema.serverDefault === true || schema.whenAbsent === "unmanaged") kept.push(path);
    } else if (isObject(wanted) && schema.properties !== undefined) {
      for (const [name, member] of Object.entries(schema.properties)) walk([...path, name], member);
    }
  };
  for (const [name, schema] of Object.entries(fields)) walk([name], schema);
  return kept;
}

export function withPreserved(after: Values, live: Values, kept: readonly Path[]): Values {
  let values: Json = after;
  for (const path of kept) values = withValueAt(values, path, valueAt(live, path)) ?? {};
  return isObject(values) ? values : after;
}

/** The paths that a step carries in its detail, as they come back out of a saved plan. */
export function preservedIn(detail: JsonObject | undefined): readonly Path[] {
  const keep = detail?.keep;
  if (!Array.isArray(keep)) return [];
  return keep.flatMap((path: Json) =>
    Array.isArray(path)
      ? [path.filter((key: Json) => typeof key === "string" || typeof key === "number")]
      : [],
  );
}

export const removesObject = ({ action }: PlannedChange): boolean =>
  action === "delete" || action === "replace";
