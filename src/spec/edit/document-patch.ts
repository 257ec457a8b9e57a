// The JSON Patch from one document to another: the fewest operations on maps by key, and on lists by item, so that comments stay with
// the items that they describe.

import { diffArrays } from "diff";
import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json } from "../../core/json.ts";
import { type Path, toPointer } from "../../core/pointer.ts";
import type { YamlOperation } from "./patch-yaml.ts";

export function documentPatch(before: Json, after: Json, path: Path = []): readonly YamlOperation[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  if (isObject(before) && isObject(after)) return mapPatch(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return listPatch(before, after, path);
  return [{ op: "replace", path: toPointer(path), value: after }];
}

function mapPatch(
  before: { readonly [key: string]: Json },
  after: { readonly [key: string]: Json },
  path: Path,
): readonly YamlOperation[] {
  const operations: YamlOperation[] = [];
  for (const [key, value] of Object.entries(before)) {
    const here = [...path, key];
    if (!Object.hasOwn(after, key)) operations.push({ op: "remove", path: toPointer(here) });
    else operations.push(...documentPatch(value, after[key] ?? null, here));
  }
  for (const [key, value] of Object.entries(after))
    if (!Object.hasOwn(before, key)) operations.push({ op: "add", path: toPointer([...path, key]), value });
  return operations;
}

/** Removed and added items at the same position are one changed item each. */
function listPatch(before: readonly Json[], after: readonly Json[], path: Path): readonly YamlOperation[] {
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
      for (let step = 0; step < replaced; step++, at++, old++, now++)
        operations.push(...documentPatch(before[old] ?? null, after[now] ?? null, [...path, at]));
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
