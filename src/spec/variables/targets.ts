// Merges the selected target over the rest: maps merge, other values replace, and null removes.

import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import {
  isNull,
  type MapMember,
  type MapNode,
  mapAt,
  member,
  type SpecNode,
  withMembers,
} from "../model/tree.ts";
import { withoutSettings } from "./target-settings.ts";

/** Sections that a target cannot hold. */
const OUTSIDE_TARGETS = new Set(["include", "targets"]);

export interface TargetedSpec {
  /** The spec with its target applied, and without the section `targets`. */
  readonly root: MapNode;
  /** The target's values of variables: values, where the spec's own section holds declarations. */
  readonly variables: SpecNode | undefined;
}

/** The spec with the sections of a target over its own; `name` is undefined where there is none. */
export function applyTarget(root: MapNode, name: string | undefined, findings: Findings): TargetedSpec {
  const rest = withMembers(root, { targets: undefined });
  const targets = targetsOf(member(root, "targets"), findings);
  const chosen = name === undefined ? undefined : targets.get(name);
  if (chosen === undefined) return { root: rest, variables: undefined };
  const over = withMembers(withoutSettings(chosen), { variables: undefined });
  return { root: overlaid(rest, over, [], findings), variables: member(chosen, "variables") };
}

function targetsOf(section: SpecNode | undefined, findings: Findings): ReadonlyMap<string, MapNode> {
  const targets = new Map<string, MapNode>();
  for (const [name, { value }] of findings.names("targets", section)) {
    if (isNull(value)) targets.set(name, mapAt(value, new Map()));
    else if (value.kind !== "map") findings.wrongType(`the target ${name}`, "a map of sections", value);
    else targets.set(name, allowed(name, value, findings));
  }
  return targets;
}

function allowed(name: string, target: MapNode, findings: Findings): MapNode {
  for (const [key, { key: at }] of target.members)
    if (OUTSIDE_TARGETS.has(key))
      findings.error("SPEC_TARGET", `the target ${name} cannot contain ${key}`, at);
  return withMembers(target, { include: undefined, targets: undefined });
}

function overlaid(base: MapNode, over: MapNode, path: readonly string[], findings: Findings): MapNode {
  const members = new Map(base.members);
  for (const [key, right] of over.members) {
    const left = members.get(key);
    const here = [...path, key];
    if (isNull(right.value)) removed(members, key, right.key, here, findings);
    else if (right.value.kind === "map") {
      const under = left?.value.kind === "map" ? left.value : mapAt(right.value, new Map());
      members.set(key, { key: left?.key ?? right.key, value: overlaid(under, right.value, here, findings) });
    } else members.set(key, right);
  }
  return mapAt(base, members);
}

function removed(
  members: Map<string, MapMember>,
  key: string,
  at: Span,
  path: readonly string[],
  findings: Findings,
): void {
  if (members.delete(key) || path.length === 1) return;
  findings.error("SPEC_TARGET", `the target removes ${path.join(".")}, which is not in the spec`, at, {
    hint: "to add a resource without fields, write {}",
  });
}
