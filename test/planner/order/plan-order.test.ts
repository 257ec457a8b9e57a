// The order in which a plan lists its changes.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { type Change, changeKey } from "../../../src/planner/model/change.ts";
import { inPlanOrder } from "../../../src/planner/order/plan-order.ts";
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
