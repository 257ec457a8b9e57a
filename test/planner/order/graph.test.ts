import { describe, expect, test } from "vitest";
import { topologicalOrder, transitiveClosure } from "../../../src/planner/order/graph.ts";

describe("topologicalOrder", () => {
  const needs: Readonly<Record<string, readonly string[]>> = { a: ["c"], b: [], c: ["d"], d: [] };

  test("keeps the given order except for needs", () => {
    expect(topologicalOrder(["a", "b", "c", "d"], (one) => needs[one] ?? [])).toEqual(["d", "c", "a", "b"]);
  });

  test("has an item after all that it needs, also if some of them come first", () => {
    expect(topologicalOrder(["d", "e", "b"], (one) => (one === "e" ? ["d", "b"] : []))).toEqual([
      "d",
      "b",
      "e",
    ]);
  });

  test("throws on a cycle", () => {
    expect(() => topologicalOrder(["a", "b"], (one) => (one === "a" ? ["b"] : ["a"]))).toThrow(
      "dependency cycle",
    );
  });

  test("has an item once that several need", () => {
    const all: Readonly<Record<string, readonly string[]>> = {
      a: ["b", "c"],
      b: ["d"],
      c: ["d", "b"],
      d: [],
    };
    expect(topologicalOrder(["a"], (one) => all[one] ?? [])).toEqual(["d", "b", "c", "a"]);
  });

  test("transitiveClosure gathers needs of needs once", () => {
    expect([...transitiveClosure(["a"], (one) => needs[one] ?? [])].sort()).toEqual(["a", "c", "d"]);
  });
});
