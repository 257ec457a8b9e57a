// The JSON Patch (RFC 6902) from one document to another.

import { diffArrays } from "diff";
import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json } from "../../core/json.ts";
import { type Path, toPointer } from "../../core/pointer.ts";
import type { YamlOperation } from "./patch-yaml.ts";

/** Whether an item that has the position of another one in the list at `path` is that one, changed. */
type IsSameItem = (path: Path, before: Json, after: Json) => boolean;

export function documentPatch(
  before: Json,
  after: Json,
  path: Path = [],
  isSameItem: IsSameItem = () => true,
): readonly YamlOperation[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  if (isObject(before) && isObject(after)) return mapPatch(before, after, path, isSameItem);
  if (Array.isArray(before) && Array.isArray(after)) return listPatch(before, after, path, isSameItem);
  return [{ op: "replace", path: toPointer(path), value: after }];
}

function mapPatch(
  before: { readonly [key: string]: Json },
  after: { readonly [key: string]: Json },
  path: Path,
  isSameItem: IsSameItem,
): readonly YamlOperation[] {
  const operations: YamlOperation[] = [];
  for (const [key, value] of Object.entries(before)) {
    const here = [...path, key];
    if (!Object.hasOwn(after, key)) operations.push({ op: "remove", path: toPointer(here) });
    else operations.push(...documentPatch(value, after[key] ?? null, here, isSameItem));
  }
  for (const [key, value] of Object.entries(after))
    if (!Object.hasOwn(before, key)) operations.push({ op: "add", path: toPointer([...path, key]), value });
  return operations;
}

/** Removed and added items at the same position are one changed item each, unless one leaves, with its comments, and another one comes. */
function listPatch(
  before: readonly Json[],
  after: readonly Json[],
  path: Path,
  isSameItem: IsSameItem,
): readonly YamlOperation[] {
  const operations: YamlOperation[] = [];
  const parts = diffArrays(before.map(canonicalJson), after.map(canonicalJson));
  let at = 0;
  let old = 0;
  let now = 0;
  for (const [index, part] of parts.entries()) {
    const { length } = part.value;
    if (part.removed) {
      const following = parts[index + 1];
      const replaced = Math.min(length, following?.added ? following.value.length : 0);
      for (let step = 0; step < replaced; step++, at++, old++, now++) {
        const [item, value] = [before[old] ?? null, after[now] ?? null];
        if (isSameItem(path, item, value))
          operations.push(...documentPatch(item, value, [...path, at], isSameItem));
        else
          operations.push(
            { op: "add", path: toPointer([...path, at + 1]), value },
            { op: "remove", path: toPointer([...path, at]) },
          );
      }
      for (let step = replaced; step < length; step++, old++)
        operations.push({ op: "remove", path: toPointer([...path, at]) });
      if (following?.added) following.value = following.value.slice(replaced);
    } else if (part.added)
      for (let step = 0; step < length; step++, at++, now++)
        operations.push({ op: "add", path: toPointer([...path, at]), value: after[now] ?? null });
    else {
      at += length;
      old += length;
      now += length;
    }
  }
  return operations;
}
