// A key that was renamed: the plan says how the object is kept, and says nothing where it is not certain which one.

import { expect, test } from "vitest";
import { live, object, plan, record, reference, resource, spec, state } from "../build.ts";

const fields = (name: string) => ({ box_name: name, material: "steel" });
const world = live({ boxes: [object("b1", "a", fields("a")), object("b2", "c", fields("c"))] });
const consequences = (made: ReturnType<typeof plan>) =>
  made.changes.flatMap((change) => (change.action === "delete" ? change.consequences : []));

test("a delete with the fields of a create says that state mv keeps the object", () => {
  const made = plan({
    spec: spec([resource("boxes.b", { values: { material: "steel" } })]),
    live: world,
    state: state([record("boxes.a", "b1", fields("a"))]),
  });
  expect(consequences(made)).toEqual([
    "it has the same fields as boxes.b; if it was only renamed, run `workspace state mv boxes.a boxes.b` to keep it",
  ]);
});

test("values known only after apply are not compared", () => {
  const wanted = (key: string) =>
    resource(key, {
      values: { box: "${boxes.n.box_id}", steps: ["one"] },
      references: [reference(["box"], "boxes.n", "box_id")],
      dependsOn: ["boxes.n"],
    });
  const made = plan({
    spec: spec([resource("boxes.n"), wanted("tasks.new")]),
    live: live({ tasks: [object("t1", "old", { name: "old", box: "b1", steps: ["one"] })] }),
    state: state([record("tasks.old", "t1", { name: "old", box: "b1", steps: ["one"] })]),
  });
  expect(consequences(made)).toMatchObject([expect.stringContaining("state mv tasks.old tasks.new")]);
});

test("nothing is said where two would fit, other fields are wanted, or there is nothing to compare", () => {
  const both = state([record("boxes.a", "b1", fields("a")), record("boxes.c", "b2", fields("c"))]);
  const made = (values: Record<string, string>, known = both) =>
    plan({ spec: spec([resource("boxes.b", { values })]), live: world, state: known });
  expect(consequences(made({ material: "steel" }))).toEqual([]);
  expect(consequences(made({ material: "wood" }, state([record("boxes.a", "b1", fields("a"))])))).toEqual([]);
  expect(consequences(made({}, state([record("boxes.a", "b1", { box_name: "a" })])))).toEqual([]);
});
