import { expect, test } from "vitest";
import { SourceText } from "../../../src/spec/model/source.ts";
import type { MapNode } from "../../../src/spec/model/tree.ts";
import { placeAt, placesOf } from "../../../src/spec/resolve/resolve.ts";
import { parseBlockYaml } from "../../../src/spec/yaml/block-parser.ts";

const fieldsOf = (text: string): MapNode => {
  const root = parseBlockYaml(new SourceText("f", text));
  if (root === undefined) throw new Error("the text is not plain YAML");
  return root;
};
const fields = fieldsOf("size: 1\ntags: { a/b: x, c: y }\nlist: [{ p: 1 }, { p: 2 }]\n");
const places = placesOf(fields, undefined);
const textAt = (...path: (string | number)[]): string | undefined => {
  const place = placeAt(places, path);
  return place?.source.text.slice(place.start, place.end);
};

test("a value is found by its path, and else the nearest value around it", () => {
  expect(textAt("size")).toBe("1");
  expect(textAt("tags", "a/b")).toBe("x");
  expect(textAt("list", 1, "p")).toBe("2");
  expect(textAt("list", "1")).toBe("{ p: 2 }");
  expect(textAt("size", "inside")).toBe("1");
  expect(textAt("tags", "missing", "deeper")).toBe("{ a/b: x, c: y }");
});

test("a field that the resource does not have has no place, and neither has the whole", () => {
  expect(textAt("missing")).toBeUndefined();
  expect(textAt()).toBeUndefined();
});

test("resources with the same fields share one list of pointers", () => {
  const next = placesOf(fieldsOf("size: 2\ntags: { a/b: z, c: y }\nlist: [{ p: 1 }, { p: 3 }]\n"), places);
  expect(next.pointers).toBe(places.pointers);
  expect(next.spans).not.toBe(places.spans);
  expect(placesOf(fieldsOf("size: 2\n"), places).pointers).toEqual(["/size"]);
});
