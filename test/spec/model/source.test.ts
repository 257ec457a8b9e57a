import { expect, it } from "vitest";
import { SensitiveTexts } from "../../../src/core/sensitive/texts.ts";
import { locationOf, SourceText } from "../../../src/spec/model/source.ts";

const TEXT = "one\n\ttwo: x\n\nfour";

function at(source: SourceText, found: string, length = found.length) {
  const start = source.text.indexOf(found);
  return locationOf({ source, start, end: start + length });
}

it("counts lines and columns from one, and marks the span between its neighbours", () => {
  expect(at(new SourceText("f", TEXT), "two")).toEqual({
    file: "f",
    line: 2,
    column: 2,
    frame: "  1 | one\n> 2 |   two: x\n    |   ^^^",
  });
});

it("marks the end of a file, and an empty file", () => {
  const source = new SourceText("f", "a\n");
  expect(locationOf({ source, start: 2, end: 2 })).toMatchObject({ line: 2, column: 1 });
  expect(locationOf({ source: new SourceText("f", ""), start: 0, end: 0 })).toEqual({
    file: "f",
    line: 1,
    column: 1,
    frame: "> 1 |\n    | ^",
  });
});

it("cuts a long line around the mark", () => {
  const source = new SourceText("f", `${"a".repeat(500)}bad${"c".repeat(500)}`);
  const { frame = "", column } = at(source, "bad");
  const [line = "", mark = ""] = frame.split("\n");
  expect(column).toBe(501);
  expect(line.length).toBeLessThan(140);
  expect(line.slice(mark.indexOf("^"), mark.lastIndexOf("^") + 1)).toBe("bad");
});

it("marks only the beginning of a long value", () => {
  const value = `[${"a, ".repeat(30)}b]`;
  const { frame = "" } = at(new SourceText("f", `tasks: ${value}`), value);
  expect(frame).toBe(`> 1 | tasks: ${value}\n    |        ${"^".repeat(40)}`);
});

it("shows no part of a sensitive text that is longer than a frame is wide", () => {
  const sensitive = new SensitiveTexts();
  const value = Array.from({ length: 60 }, (_, at) => `v${at}`).join("-");
  const source = new SourceText("f", `${"a".repeat(100)}${value} bad ${value}`, "", sensitive);
  sensitive.add(value);
  for (const mark of ["bad", "v30"]) {
    const { frame = "" } = at(source, mark);
    expect(frame).not.toMatch(/v\d/);
    expect(frame).toContain("*".repeat(30));
  }
  const [line = "", caret = ""] = (at(source, "bad").frame ?? "").split("\n");
  expect(line.slice(caret.indexOf("^"), caret.lastIndexOf("^") + 1)).toBe("bad");
});

it("shows what would steer a terminal, or cannot be seen, as a box", () => {
  const source = new SourceText("f", "a\u001b[2J\u202eb\u200bc bad");
  const { frame = "" } = at(source, "bad");
  expect(frame.split("\n")[0]).toBe("> 1 | a\u25a1[2J\u25a1b\u25a1c bad");
});

it("hides what is masked, on every line that it goes over", () => {
  const source = new SourceText("f", "k: |\n  hunter\n  two\nz: 1");
  source.mask({ source, start: 3, end: 19 });
  const { frame = "" } = at(source, "z");
  expect(frame).not.toMatch(/hunter|two/);
  expect(at(source, "hunter").frame).not.toMatch(/hunter|two/);
});
