// The order of changes, and sorting by need.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import {
  changeKey,
  inPlanOrder,
  topologicalOrder,
  transitiveClosure,
} from "../../../src/planner/model/work-graph.ts";
import { context, object } from "../build.ts";
import { create, one, remove, update } from "../changes.ts";

function change(action: "create" | "delete" | "forget", text: string, needs: readonly string[] = []): Change {
  return { ...one(text)[action], dependsOn: needs as Address[] } as Change;
}

const shown = (changes: readonly Change[]) =>
  inPlanOrder(context(), changes).map(({ action, address }) => `${action} ${address}`);

describe("inPlanOrder", () => {
  test.each([
    {
      about: "sorts by kind in the order of the registry, then by address",
      changes: [change("create", "tasks.a"), change("create", "boxes.b"), change("create", "boxes.a")],
      gives: ["create boxes.a", "create boxes.b", "create tasks.a"],
    },
    {
      about:
        "sorts by the order of the registry also where it is not that of the alphabet, and back for deletions",
      changes: [
        change("create", "keys.a/k"),
        change("create", "labels.a/x"),
        change("delete", "labels.b/x"),
        change("delete", "keys.b/k"),
      ],
      gives: ["create labels.a/x", "create keys.a/k", "delete keys.b/k", "delete labels.b/x"],
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

const { id } = object("b1", "");

describe("the order of a change that takes a name", () => {
  const from = (freedWhen: "done" | "removed") => ({ address: "boxes.z" as Address, id, freedWhen });
  const changes = (freedWhen: "done" | "removed") => [
    create("boxes.a", { nameFrom: from(freedWhen) }),
    update("boxes.z", { id }),
    update("tasks.z", { id }),
  ];

  test.each(["done", "removed"] as const)(
    "is after the change of the object that has it (%s)",
    (freedWhen) => {
      expect(shown(changes(freedWhen))).toEqual(["update boxes.z", "create boxes.a", "update tasks.z"]);
    },
  );

  test("is its own place when no change of the plan has the object, or it has the name itself", () => {
    expect(shown([create("boxes.b"), create("boxes.a", { nameFrom: from("done") })])).toEqual([
      "create boxes.a",
      "create boxes.b",
    ]);
    expect(shown([update("boxes.a", { id, nameFrom: from("done") })])).toEqual(["update boxes.a"]);
  });
});

test("a replaced object is ordered apart from the change of its successor", () => {
  const old = remove("boxes.a", { deposed: true, id, dependsOn: ["boxes.a"] });
  expect(shown([old, create("boxes.a"), create("tasks.t", { dependsOn: ["boxes.a"] })])).toEqual([
    "create boxes.a",
    "create tasks.t",
    "delete boxes.a",
  ]);
  const keys = [old, remove("boxes.a"), { ...create("boxes.a"), deposed: true } as Change].map(changeKey);
  expect(keys).toEqual(["boxes.a#b1", "boxes.a", "boxes.a"]);
});

test("changes with the same address keep the order in which they were planned", () => {
  const [first, second] = [remove("boxes.a", { deposed: true, id }), remove("boxes.a")];
  expect(inPlanOrder(context(), [first, second])).toEqual([first, second]);
  expect(inPlanOrder(context(), [second, first])).toEqual([second, first]);
});

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
