// Preserved fields: live fields of a kind that the spec does not set. A request that replaces all fields repeats them; a replacement loses them.

import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type Path, toDottedPath, toPointer, valueAt, withValueAt } from "../../core/pointer.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import type { FieldDiff, PlannedChange } from "../../resource/planning.ts";
import { effectOn } from "./problems.ts";
import { isEmpty } from "./unknown-fields.ts";

/** A field of a kind. Its path is made once, not for each of 50,000 resources. */
interface FieldNode {
  readonly path: Path;
  readonly isKept: boolean;
  readonly inner: readonly FieldNode[];
}

const treeOfKind = new WeakMap<FieldTable, readonly FieldNode[]>();

function treeOf(fields: FieldTable): readonly FieldNode[] {
  const tree = treeOfKind.get(fields) ?? nodesIn(fields, []);
  treeOfKind.set(fields, tree);
  return tree;
}

const nodesIn = (fields: FieldTable, within: Path): readonly FieldNode[] =>
  Object.entries(fields).map(([name, { properties = {}, serverDefault, whenAbsent }]) => {
    const path = [...within, name];
    const isKept = serverDefault === true || whenAbsent === "unmanaged";
    return { path, isKept, inner: nodesIn(properties, path) };
  });

/** Paths of live values that the server decided or that are not managed, which `after` does not have and no diff resets. */
export function preservedPaths(
  fields: FieldTable,
  live: Values,
  after: Values,
  diffs: readonly FieldDiff[],
): readonly Path[] {
  const reset = new Set(diffs.filter((diff) => diff.after === undefined).map((diff) => toPointer(diff.path)));
  const paths: Path[] = [];
  const visit = ({ path, isKept, inner }: FieldNode): void => {
    if (valueAt(live, path) === undefined || (reset.size > 0 && reset.has(toPointer(path)))) return;
    const wanted = valueAt(after, path);
    if (wanted === undefined) {
      if (isKept) paths.push(path);
    } else if (isObject(wanted)) inner.forEach(visit);
  };
  treeOf(fields).forEach(visit);
  // A copy, because an array that grew has room for 16 more.
  return [...paths];
}

export function withPreserved(after: Values, live: Values, paths: readonly Path[]): Values {
  let values: Json = after;
  for (const path of paths) values = withValueAt(values, path, valueAt(live, path)) ?? {};
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

/** A replacement loses fields that the spec does not set. `ofNewObject`: values that a new object has, which are not lost. `elsewhere`: fields that other consequences name. */
export function unsetFieldsLost(
  { action, live, after, diffs }: PlannedChange,
  fields: FieldTable,
  what: string,
  {
    ofNewObject = {},
    elsewhere = [],
  }: { readonly ofNewObject?: Values; readonly elsewhere?: readonly string[] } = {},
): readonly string[] {
  if (action !== "replace" || live === undefined || after === undefined) return [];
  const names = preservedPaths(fields, live.values, after, diffs)
    .filter((path) => !elsewhere.includes(String(path[0])))
    .filter((path) => {
      const now = valueAt(live.values, path) ?? null;
      return !isEmpty(now) && canonicalJson(now) !== canonicalJson(valueAt(ofNewObject, path) ?? null);
    })
    .map(toDottedPath);
  return effectOn(
    `the service chooses new values for fields of the ${what} that the spec does not set`,
    names,
  );
}
