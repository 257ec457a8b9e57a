// The order of changes, and sorting by need.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { inOrder, topologicalOrder, transitiveClosure } from "../../../src/planner/model/order.ts";
import { registry } from "../kinds.ts";

function change(action: "create" | "delete" | "forget", text: string, needs: readonly string[] = []): Change {
  const [kind = "", name = ""] = text.split(".");
  return { action, address: text, kind, name, id: text, dependsOn: needs as Address[] } as unknown as Change;
}

const shown = (changes: readonly Change[]) =>
  inOrder(changes, registry).map(({ action, address }) => `${action} ${address}`);

describe("inOrder", () => {
  test.each([
    {
      about: "sorts by kind in the order of the registry, then by address",
      changes: [change("create", "tasks.a"), change("create", "boxes.b"), change("create", "boxes.a")],
      gives: ["create boxes.a", "create boxes.b", "create tasks.a"],
    },
    {
      about: "puts what a change needs before it",
      changes: [change("create", "boxes.a", ["tasks.z"]), change("create", "tasks.z")],
      gives: ["create tasks.z", "create boxes.a"],
    },
    {
      about: "puts deletions last, in reverse",
      changes: [
        change("delete", "boxes.a"),
        change("delete", "tasks.a"),
        change("delete", "tasks.b"),
        change("create", "tasks.z"),
      ],
      gives: ["create tasks.z", "delete tasks.b", "delete tasks.a", "delete boxes.a"],
    },
    {
      about: "forgets where it would delete",
      changes: [change("forget", "boxes.a"), change("create", "tasks.a")],
      gives: ["create tasks.a", "forget boxes.a"],
    },
    {
      about: "ignores a need that is no change",
      changes: [change("create", "boxes.a", ["boxes.other"])],
      gives: ["create boxes.a"],
    },
  ])("$about", ({ changes, gives }) => {
    expect(shown(changes)).toEqual(gives);
    expect(shown(changes.toReversed())).toEqual(gives);
  });
});

describe("topologicalOrder", () => {
  const needs: Readonly<Record<string, readonly string[]>> = { a: ["c"], b: [], c: ["d"], d: [] };

  test("keeps the given order except for needs", () => {
    expect(topologicalOrder(["a", "b", "c", "d"], (one) => needs[one] ?? [])).toEqual(["d", "c", "a", "b"]);
  });

  test("throws on a cycle", () => {
    expect(() => topologicalOrder(["a", "b"], (one) => (one === "a" ? ["b"] : ["a"]))).toThrow();
  });

  test("transitiveClosure gathers needs of needs once", () => {
    expect([...transitiveClosure(["a"], (one) => needs[one] ?? [])].sort()).toEqual(["a", "c", "d"]);
  });
});
