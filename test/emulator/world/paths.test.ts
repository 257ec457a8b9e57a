import { expect, test } from "vitest";
import { childPath, pathOfSegments, segmentsOf } from "../../../src/emulator/world/encoding.ts";
import { ApiError } from "../../../src/emulator/world/errors.ts";

test.each([
  ["/", []],
  ["/a", ["a"]],
  ["/a/b c/é", ["a", "b c", "é"]],
  ["/a/b/", ["a", "b"]],
  ["/...", ["..."]],
])("the path %s has the segments %j", (path, segments) => {
  expect(segmentsOf(path)).toEqual(segments);
});

test.each(["", "a", "a/b", "//", "//a", "/a//b", "/a//", "/.", "/..", "/a/../b", "/a/.", "/a\0b"])(
  "the path %j is refused",
  (path) => {
    expect(() => segmentsOf(path)).toThrow(ApiError);
  },
);

test("segments make the path again", () => {
  expect(pathOfSegments([])).toBe("/");
  expect(pathOfSegments(["a", "b"])).toBe("/a/b");
  expect(childPath("/", "a")).toBe("/a");
  expect(childPath("/a", "b")).toBe("/a/b");
});
