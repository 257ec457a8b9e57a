// A graph that is too large to read: one node for the resources of a kind that one entry of `modules` declares.

import { type Address, kindOf, nameOf, parentOf } from "../../core/address.ts";
import { grouped } from "../../core/sentences.ts";
import type { KindRegistry } from "../../resource/kind.ts";

export interface GraphGroup {
  /** `40 pools`, or `40 pools in team`. */
  readonly label: string;
  readonly kind: string;
  readonly module: string | undefined;
  readonly members: readonly Address[];
}

/** `count`: the dependencies between members of the two groups, of which the graph has one arrow. */
export interface GroupEdge {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface GroupedGraph {
  readonly groups: readonly GraphGroup[];
  /** Without dependencies inside a group. */
  readonly edges: readonly GroupEdge[];
}

/** More groups than `most` are those of the kinds alone. */
export function groupedGraph(
  nodes: readonly Address[],
  edges: readonly (readonly [Address, Address])[],
  moduleOf: (address: Address) => string | undefined,
  most: number,
): GroupedGraph {
  const byModule = groupsOf(nodes, moduleOf);
  const groups = byModule.length <= most ? byModule : groupsOf(nodes, () => undefined);
  const positions = new Map(groups.flatMap(({ members }, at) => members.map((member) => [member, at])));
  const counts = new Map<string, { from: number; to: number; count: number }>();
  for (const [source, target] of edges) {
    const [from, to] = [positions.get(source), positions.get(target)];
    if (from === undefined || to === undefined || from === to) continue;
    const edge = counts.get(`${from} ${to}`) ?? { from, to, count: 0 };
    counts.set(`${from} ${to}`, { ...edge, count: edge.count + 1 });
  }
  return { groups, edges: [...counts.values()] };
}

function groupsOf(
  nodes: readonly Address[],
  moduleOfNode: (address: Address) => string | undefined,
): readonly GraphGroup[] {
  const alike = Map.groupBy(nodes, (address) => JSON.stringify([kindOf(address), moduleOfNode(address)]));
  return [...alike.values()].flatMap((members) => {
    const [first] = members;
    if (first === undefined) return [];
    const [kind, module] = [kindOf(first), moduleOfNode(first)];
    const label = `${grouped(members.length)} ${kind}${module === undefined ? "" : ` in ${module}`}`;
    return [{ label, kind, module, members }];
  });
}

/** `team` for `pools.team/ads/shared`. Paths and the names of nested resources have slashes for other reasons. */
export function moduleEntryOf(address: Address, registry: Pick<KindRegistry, "find">): string | undefined {
  const name = nameOf(address);
  const own = registry.find(kindOf(address))?.nested === undefined ? name : parentOf(name);
  return own.indexOf("/") > 0 ? own.slice(0, own.indexOf("/")) : undefined;
}
