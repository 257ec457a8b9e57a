// The graph of a spec in the forms that other tools draw.

import { expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { registry } from "../../../src/providers/index.ts";
import {
  drawnGraph,
  graphDot,
  graphJson,
  graphMermaid,
  graphOf,
} from "../../../src/report/inspect/graph-text.ts";

const a = addressOf("pools", 'p"a\\');
const b = addressOf("clusters", "b");
const graph = graphOf([
  { address: a, dependsOn: [] },
  { address: b, dependsOn: [a] },
]);

test("nodes are sorted, an edge leads from what needs to what is needed", () => {
  expect(graphJson(graph)).toEqual({
    nodes: [
      { address: b, kind: "clusters" },
      { address: a, kind: "pools" },
    ],
    edges: [{ from: b, to: a }],
  });
});

test("DOT quotes what could end a string", () => {
  expect(graphDot(graph)).toContain('"clusters.b" -> "pools.p\\"a\\\\";');
});

test("Mermaid shows special characters as entities", () => {
  expect(graphMermaid(graph)).toContain('n1["pools.p#34;a#92;"]');
});

test("the drawing library draws it", async () => {
  const { instance } = await import("@viz-js/viz");
  expect((await instance()).renderString(graphDot(graph), { format: "svg" })).toContain("<svg");
});

test("a graph of more than 165 resources is drawn by kind and module; its JSON has every resource", () => {
  const pools = Array.from({ length: 100 }, (_, at) => ({
    address: addressOf("pools", at % 2 === 0 ? `p-${at}` : `team/ads/p-${at}`),
    dependsOn: [],
  }));
  const clusters = pools.map(({ address }, at) => ({
    address: addressOf("clusters", `c-${at}`),
    dependsOn: [address],
  }));
  const large = graphOf([...pools, ...clusters]);
  expect(graphMermaid(drawnGraph(large, registry))).toBe(`flowchart RL
  n0["100 clusters"]
  n1["50 pools"]
  n2["50 pools in team"]
  n0 --> n1
  n0 --> n2
`);
  expect(graphDot(drawnGraph(large, registry))).toContain('"clusters.100 clusters" -> "pools.50 pools"');
  expect(drawnGraph(graph, registry)).toBe(graph);
});
