// Who objects to a plan: what the spec once protected, and how much may be deleted.

import { describe, expect, test } from "vitest";
import { live, object, plan, record, resource, spec, state } from "../build.ts";

const world = live({
  boxes: [object("b1", "a", { box_name: "a" })],
  labels: [object("a/x", "a/x", { text: "hello" })],
});

describe("an object with prevent_destroy at its last apply", () => {
  const known = state([record("boxes.a", "b1", { box_name: "a" }, { prevent_destroy: true })]);

  test("is not deleted because its block left the spec, and the hint names the next step", () => {
    const made = plan({ spec: spec([]), live: world, state: known });
    expect(made.guards).toMatchObject([
      {
        diagnostic: { code: "GUARD_PREVENT_DESTROY", hint: expect.stringContaining("state rm boxes.a") },
        addresses: ["boxes.a"],
      },
    ]);
  });

  test("is not deleted by a destroy either", () => {
    const made = plan({ spec: spec([]), live: world, state: known, destroy: true });
    expect(made.guards).toMatchObject([{ diagnostic: { code: "GUARD_PREVENT_DESTROY" } }]);
  });

  test("goes once the spec has it without the mark and a destroy is asked for", () => {
    const made = plan({ spec: spec([resource("boxes.a")]), live: world, state: known, destroy: true });
    expect(made.guards).toEqual([]);
  });

  test("is not deleted with its parent", () => {
    const member = record("labels.a/x", "a/x", { text: "hello" }, { prevent_destroy: true });
    const parent = record("boxes.a", "b1", { box_name: "a" });
    const made = plan({ spec: spec([]), live: world, state: state([parent, member]) });
    expect(made.guards).toMatchObject([{ addresses: ["labels.a/x"] }]);
  });
});

describe("an unmanaged object", () => {
  const boxes = ["a", "b", "c", "d"].map((name) => object(`id-${name}`, name, { box_name: name }));
  const found = live({ boxes: [...boxes, object("id-root", "root", { box_name: "root" })] });
  const known = state([record("boxes.a", "id-a", { box_name: "a" })]);
  const made = (policy: Parameters<typeof spec>[1]) =>
    plan({
      spec: spec([resource("boxes.a")], { authoritative: ["boxes"], ...policy }),
      live: found,
      state: known,
    });

  test("is limited by a share of the live objects, however small the spec is", () => {
    expect(made({ max_deletes: { share: 0.3 } }).guards).toMatchObject([
      {
        diagnostic: { code: "GUARD_MAX_DELETES", message: expect.stringContaining("3 of 4 boxes") },
        addresses: ["boxes.d", "boxes.c", "boxes.b"],
      },
    ]);
    expect(made({ max_deletes: { share: 0.75 } }).guards).toEqual([]);
  });

  test("counts with everything else against a number", () => {
    expect(made({ max_deletes: { count: 2 } }).guards).toHaveLength(1);
    expect(made({ max_deletes: { count: 3 } }).guards).toEqual([]);
  });
});
