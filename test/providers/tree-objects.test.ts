// Objects of the workspace tree, from answers of the service.

import { expect, test } from "vitest";
import { isTreeFolder, treeObject } from "../../src/providers/kit/tree-objects.ts";
import { thrownMessage } from "../failures.ts";

const entry = (object_type: unknown) => ({ path: "/a", object_type }) as never;

test("an object of another type is not one of the kind", () => {
  expect(treeObject(entry("FILE"), "NOTEBOOK", {}, {})).toBeUndefined();
  expect(treeObject(entry("NOTEBOOK"), "NOTEBOOK", {}, {})).toMatchObject({ name: "/a" });
  expect(isTreeFolder(entry("DIRECTORY"))).toBe(true);
});

test.each([[7], [null], [undefined], [["NOTEBOOK"]]])(
  "an answer with %j in place of the type is wrong, and does not prove that the object was deleted",
  (type) => {
    const message = 'the service answered with a "object_type" that is not a string';
    expect(thrownMessage(() => treeObject(entry(type), "NOTEBOOK", {}, {}))).toContain(message);
    expect(thrownMessage(() => isTreeFolder(entry(type)))).toContain(message);
  },
);
