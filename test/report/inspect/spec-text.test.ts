// The graph of a spec in the forms that other tools draw.

import { expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { graphDot, graphJson, graphMermaid, graphOf } from "../../../src/report/inspect/spec-text.ts";

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
