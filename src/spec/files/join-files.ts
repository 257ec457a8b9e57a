// Merges two files of a spec into one map.

import type { Findings } from "../model/findings.ts";
import { isNull, listAt, type MapMember, type MapNode, mapAt } from "../model/tree.ts";

/** How deep the members of a section are shared between files: `pools.shared` may stand in one file only. */
const SHARED_DEPTH: Readonly<Record<string, number>> = { targets: 3 };

/** Lists of entries that do not depend on their order. */
const JOINED_LISTS: ReadonlySet<string> = new Set(["moved", "removed", "import"]);

const isJoinedList = (key: string, level: number): boolean => level === 1 && JOINED_LISTS.has(key);

/** Two files' maps as one. Maps are shared down to the level of resources; below, a key belongs to one file. */
export function joinFiles(
  a: MapNode,
  b: MapNode,
  level: number,
  section: string | undefined,
  findings: Findings,
): MapNode {
  const members = new Map(a.members);
  for (const [key, right] of b.members) {
    if (level === 1 && key === "include") continue;
    const left = members.get(key);
    const within = section ?? key;
    if (left === undefined || isNull(left.value)) members.set(key, right);
    else if (isNull(right.value) && level === 1) continue;
    else if (isJoinedList(key, level) && left.value.kind === "list" && right.value.kind === "list")
      members.set(key, {
        key: left.key,
        value: listAt(left.value, [...left.value.items, ...right.value.items]),
      });
    else if (level <= (SHARED_DEPTH[within] ?? 1) && left.value.kind === "map" && right.value.kind === "map")
      members.set(key, {
        key: left.key,
        value: joinFiles(left.value, right.value, level + 1, within, findings),
      });
    else collision(section, key, left, right, findings);
  }
  return mapAt(a, members);
}

function collision(
  section: string | undefined,
  key: string,
  left: MapMember,
  right: MapMember,
  findings: Findings,
): void {
  const { file } = left.key.source;
  const line = left.key.source.lineOf(left.key.start) + 1;
  const name = section === undefined ? key : `${section}.${key}`;
  findings.error("SPEC_DUPLICATE_KEY", `${name} is defined in two files`, right.key, {
    hint: `it is first defined in ${file}:${line}`,
  });
}
