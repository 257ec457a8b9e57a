// Live fields that a spec does not set: those that a replacement does not copy, and those that a replacing request must repeat.

import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type Path, toDottedPath, toPointer, valueAt, withValueAt } from "../../core/pointer.ts";
import type { FieldSchema, FieldTable, Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { FieldDiff, PlannedChange } from "../../resource/planning.ts";
import { effectOn } from "./problems.ts";

/** Members that the service computes in an object of the workspace tree: no request sets them. */
export const READ_ONLY_IN_TREE: ReadonlySet<string> = new Set([
  "path",
  "object_type",
  "object_id",
  "resource_id",
  "created_at",
  "modified_at",
  "size",
]);

/** The live object with the names of fields that neither `fields` nor `readOnly` (dotted names) contains, if there are any. */
export function withUnknownFields(
  live: LiveObject,
  fields: FieldTable,
  answer: JsonObject,
  readOnly: ReadonlySet<string>,
): LiveObject {
  const names = new Set<string>();
  addUnknown(names, "", fields, answer, readOnly);
  return names.size === 0 ? live : { ...live, unknownFields: [...names].sort() };
}

/** The consequence of a replacement. Names only: a value may be secret. */
export function fieldsNotCopied({ action, live }: PlannedChange, what: string): readonly string[] {
  const names = action === "replace" ? (live?.unknownFields ?? []) : [];
  return effectOn(`the new ${what} does not get fields that this program does not know`, names);
}

/** A replacement loses fields that the spec does not set. `usual`: values of a new object. `elsewhere`: fields that other consequences name. */
export function fieldsNotSet(
  { action, live, after, diffs }: PlannedChange,
  fields: FieldTable,
  what: string,
  { usual = {}, elsewhere = [] }: { readonly usual?: Values; readonly elsewhere?: readonly string[] } = {},
): readonly string[] {
  if (action !== "replace" || live === undefined || after === undefined) return [];
  const names = preservedPaths(fields, live.values, after, diffs)
    .filter((path) => !elsewhere.includes(String(path[0])))
    .filter((path) => {
      const now = valueAt(live.values, path) ?? null;
      return !isEmpty(now) && canonicalJson(now) !== canonicalJson(valueAt(usual, path) ?? null);
    })
    .map(toDottedPath);
  return effectOn(
    `the service chooses new values for fields of the ${what} that the spec does not set`,
    names,
  );
}

/** Loops instead of lists: a workspace may have many users, and nearly all of them have no unknown field. */
function addUnknown(
  names: Set<string>,
  within: string,
  fields: FieldTable,
  answer: JsonObject,
  readOnly: ReadonlySet<string>,
): void {
  for (const name in answer) {
    const value = answer[name] ?? null;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field !== undefined) {
      if (typeof value === "object") addInside(names, `${within}${name}.`, field, value, readOnly);
    } else if (!readOnly.has(within + name) && !isEmpty(value)) names.add(within + name);
  }
}

function addInside(
  names: Set<string>,
  within: string,
  schema: FieldSchema | undefined,
  value: Json,
  readOnly: ReadonlySet<string>,
): void {
  if (Array.isArray(value)) {
    const { items } = schema ?? {};
    if (items?.properties !== undefined)
      for (const item of value as readonly Json[]) addInside(names, within, items, item, readOnly);
  } else if (!isObject(value)) return;
  else if (schema?.properties !== undefined) addUnknown(names, within, schema.properties, value, readOnly);
  else if (typeof schema?.additionalProperties === "object")
    for (const key in value)
      addInside(names, `${within}${key}.`, schema.additionalProperties, value[key] ?? null, readOnly);
}

const isEmpty = (value: Json): boolean =>
  value === null ||
  value === "" ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);

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

export const removesObject = ({ action }: PlannedChange): boolean =>
  action === "delete" || action === "replace";
