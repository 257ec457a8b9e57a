// The graph of the resources of a spec as DOT, Mermaid, and JSON.

import { type Address, addressOf, kindOf, nameOf } from "../../core/address.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { printable } from "../text/printable.ts";
import { groupedGraph, moduleEntryOf } from "../view/graph-groups.ts";

export interface Graph {
  readonly nodes: readonly Address[];
  readonly edges: readonly (readonly [Address, Address])[];
  /** Of nodes that are not resources. */
  readonly labels?: ReadonlyMap<Address, string>;
}

interface Node {
  readonly address: Address;
  readonly dependsOn: readonly Address[];
}

/** Nodes sorted by address, so that the order of the YAML does not matter. */
export function graphOf(resources: Iterable<Node>): Graph {
  const sorted = [...resources].sort((a, b) => (a.address < b.address ? -1 : 1));
  return {
    nodes: sorted.map((node) => node.address),
    edges: sorted.flatMap((node) => node.dependsOn.map((need) => [node.address, need] as const)),
  };
}

/** More nodes are drawn as groups: they are a knot on a screen, and Mermaid draws 500 arrows at most. */
const MOST_DRAWN = 165;
const MOST_GROUPS = 80;

/** The same graph if it can be read as a picture; else one with a node for the resources of a kind and module, by its label. */
export function drawnGraph(graph: Graph, registry: Pick<KindRegistry, "find">): Graph {
  if (graph.nodes.length <= MOST_DRAWN) return graph;
  const { groups, edges } = groupedGraph(
    graph.nodes,
    graph.edges,
    (address) => moduleEntryOf(address, registry),
    MOST_GROUPS,
  );
  const nodes = groups.map(({ kind, label }) => addressOf(kind, label));
  const ends = (at: number): readonly Address[] => nodes.slice(at, at + 1);
  return {
    nodes,
    labels: new Map(groups.flatMap(({ label }, at) => ends(at).map((node) => [node, label] as const))),
    edges: edges.flatMap(({ from, to }) =>
      ends(from).flatMap((source) => ends(to).map((target) => [source, target] as const)),
    ),
  };
}

export function graphDot(graph: Graph): string {
  const lines = [
    "digraph workspace {",
    "  rankdir=RL;",
    '  node [shape=box, style="rounded,filled", fillcolor="#f4f6f8", color="#8795a1", fontname="sans-serif", margin="0.3,0.1"];',
  ];
  for (const kind of new Set(graph.nodes.map(kindOf))) {
    lines.push(
      `  subgraph ${dotText(`cluster_${kind}`)} {`,
      `    label=${dotText(kind)}; color="#d0d7de"; fontname="sans-serif";`,
    );
    for (const node of graph.nodes)
      if (kindOf(node) === kind) lines.push(`    ${dotText(node)} [label=${dotText(nameOf(node))}];`);
    lines.push("  }");
  }
  for (const [from, to] of graph.edges) lines.push(`  ${dotText(from)} -> ${dotText(to)};`);
  return `${[...lines, "}"].join("\n")}\n`;
}

/** A quoted DOT string; a backslash begins an escape there. */
function dotText(text: string): string {
  return `"${printable(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

export function graphMermaid(graph: Graph): string {
  const ids = new Map(graph.nodes.map((node, at) => [node, `n${at}`]));
  const nodes = graph.nodes.map(
    (node) => `  ${ids.get(node)}["${mermaidText(graph.labels?.get(node) ?? node)}"]`,
  );
  const edges = graph.edges.map(([from, to]) => `  ${ids.get(from)} --> ${ids.get(to)}`);
  return `${["flowchart RL", ...nodes, ...edges].join("\n")}\n`;
}

/** Everything but plain characters as an entity: labels are Markdown and HTML there. */
function mermaidText(text: string): string {
  return printable(text).replace(/[^\w .@/-]/gu, (character) => `#${character.codePointAt(0)};`);
}

export function graphJson(graph: Graph): Record<string, unknown> {
  return {
    nodes: graph.nodes.map((address) => ({ address, kind: kindOf(address) })),
    edges: graph.edges.map(([from, to]) => ({ from, to })),
  };
}
