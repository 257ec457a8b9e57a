// Merges two files of a spec into one map. Their lists of rules become maps by name, so that rules are merged as resources are.

import type { Findings } from "../model/findings.ts";
import {
  describeNode,
  isNull,
  listAt,
  type MapMember,
  type MapNode,
  mapAt,
  member,
  type SpecNode,
  scalarText,
  withMembers,
} from "../model/tree.ts";

/** How deep the members of a section are shared between files: only one file may declare `pools.shared`. */
const SHARED_DEPTH: Readonly<Record<string, number>> = { targets: 3 };

/** Lists of entries that do not depend on their order. */
const JOINED_LISTS: ReadonlySet<string> = new Set(["moved", "removed", "import"]);

const isJoinedList = (key: string, level: number): boolean => level === 1 && JOINED_LISTS.has(key);

/** The maps of files as one; undefined without any. */
export function joinFiles(roots: readonly MapNode[], findings: Findings): MapNode | undefined {
  const [first, ...others] = roots;
  return first && others.reduce((root, node) => joined(root, node, 1, undefined, findings), first);
}

/** Maps are shared down to the level of resources; below, a key belongs to one file. */
function joined(
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
        value: joined(left.value, right.value, level + 1, within, findings),
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

/** A file of a spec with the rules of the spec, and of its targets, by name. */
export function withNamedRules(root: MapNode, findings: Findings): MapNode {
  const own = named(root, findings);
  const targets = member(own, "targets");
  if (targets?.kind !== "map") return own;
  const members = new Map<string, MapMember>();
  for (const [name, { key, value }] of targets.members)
    members.set(name, { key, value: value.kind === "map" ? named(value, findings) : value });
  const key = own.members.get("targets")?.key ?? targets;
  return withMembers(own, { targets: { key, value: mapAt(targets, members) } });
}

function named(sections: MapNode, findings: Findings): MapNode {
  const mapMember = sections.members.get("rules");
  if (mapMember === undefined || isNull(mapMember.value)) return sections;
  const { key, value } = mapMember;
  return withMembers(sections, { rules: { key, value: rulesByName(value, findings) } });
}

function rulesByName(node: SpecNode, findings: Findings): MapNode {
  const rules = new Map<string, MapMember>();
  if (node.kind !== "list") {
    findings.error("SPEC_RULE", `rules must be a list of rules, not ${describeNode(node)}`, node, {
      hint: "write each rule as an entry: - name: …",
    });
    return mapAt(node, rules);
  }
  for (const item of node.items) {
    const at = member(item, "name");
    const name = scalarText(at);
    if (at === undefined || name === undefined || name === "")
      findings.error("SPEC_RULE", "a rule requires a name, which is a string", at ?? item);
    else if (rules.has(name)) findings.error("SPEC_RULE", `two rules have the name ${name}`, at);
    else rules.set(name, { key: at, value: item });
  }
  return mapAt(node, rules);
}
