// The list of rules of a file as a map by name, so that files and targets merge rules as they merge resources.

import type { Findings } from "../model/findings.ts";
import {
  isNull,
  type MapMember,
  type MapNode,
  mapAt,
  member,
  type SpecNode,
  scalarText,
  withMembers,
} from "../model/tree.ts";

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
  const found = sections.members.get("rules");
  if (found === undefined || isNull(found.value)) return sections;
  const { key, value } = found;
  return withMembers(sections, { rules: { key, value: rulesByName(value, findings) } });
}

function rulesByName(node: SpecNode, findings: Findings): MapNode {
  const rules = new Map<string, MapMember>();
  if (node.kind !== "list") {
    findings.wrongType("rules", "a list of rules", node, { hint: "write each rule as an entry: - name: …" });
    return mapAt(node, rules);
  }
  for (const item of node.items) {
    const at = member(item, "name");
    const name = scalarText(at);
    if (at === undefined || name === undefined || name === "")
      findings.error("SPEC_RULE", "a rule needs a name, which is a string", at ?? item);
    else if (rules.has(name)) findings.error("SPEC_RULE", `two rules have the name ${name}`, at);
    else rules.set(name, { key: at, value: item });
  }
  return mapAt(node, rules);
}
