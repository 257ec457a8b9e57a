// Text on a terminal: lines break between words, and their rest is indented.

import { expect, test } from "vitest";
import { colorsFor, wrapText } from "../../../src/report/text/terminal.ts";

test("a long line breaks between words, and its rest is indented more than its start", () => {
  const line = "  hint: check for a missing file or target, or raise policy.max_deletes if you intend it";
  expect(wrapText(line, 50).split("\n")).toEqual([
    "  hint: check for a missing file or target, or",
    "      raise policy.max_deletes if you intend it",
  ]);
});

test("the mark of a note is on the line of its first word", () => {
  const line = "      instance_pool_id  ${pools.shared.instance_pool_id}  # known after apply";
  expect(wrapText(line, 60).split("\n")).toEqual([
    "      instance_pool_id  ${pools.shared.instance_pool_id}",
    "          # known after apply",
  ]);
  const dim = colorsFor(true).dim("# known after apply");
  expect(wrapText(line.replace("# known after apply", dim), 60).split("\n")[1]).toBe(`          ${dim}`);
});

test("colors take no room, and lines that fit do not change", () => {
  const colors = colorsFor(true);
  const line = `  ${colors.red("one two three four five six seven eight nine")}`;
  expect(wrapText(line, 46)).toBe(line);
  expect(wrapText("short\nlines\n", 60)).toBe("short\nlines\n");
});

test("a word that is longer than a line is not broken", () => {
  const address = "x".repeat(70);
  expect(wrapText(`error: ${address} is here`, 60).split("\n")).toEqual([
    "error:",
    `    ${address}`,
    "    is here",
  ]);
});

test("lines of a spec that fit are not changed", () => {
  const frame = `  > 12 | ${"key: value, ".repeat(9)}\n       | ${" ".repeat(60)}^^^^^`;
  expect(wrapText(frame, 130)).toBe(frame);
});

test("a spec line that is too long is shortened, and the carets stay below what they mark", () => {
  const long = `  > 8 |   adhoc: { ${"spark_version: x, ".repeat(6)}size: 3, name: none }`;
  const caret = (word: string) =>
    `    ${" ".repeat(2)}|${" ".repeat(long.indexOf(word) - 7)}${"^".repeat(word.length)}`;
  for (const word of ["adhoc", "size", "none"]) {
    const fitted = wrapText(`error: wrong\n${long}\n${caret(word)}\n  hint: x`, 60).split("\n");
    const [, line = "", marks = ""] = fitted;
    expect(fitted.every(({ length }) => length <= 60)).toBe(true);
    expect(line.slice(marks.indexOf("^"), marks.lastIndexOf("^") + 1)).toBe(word);
    expect(line).toContain("…");
  }
});

test("a long line of a content ends with an ellipsis at the width of the terminal", () => {
  const { green } = colorsFor(true);
  const content = `+print("${"word ".repeat(20)}")`;
  const cut = `        +print("${"word ".repeat(6)}`;
  expect(wrapText(`        ${content}`, 46)).toBe(`${cut.slice(0, 45)}…`);
  expect(wrapText(`        ${green(content)}`, 46)).toBe(green(`${cut.slice(0, 45)}…`));
  expect(wrapText(`        ${content}`, 46, true)).not.toContain("…");
  expect(wrapText(`        ${content.slice(0, 30)}`, 46)).toBe(`        ${content.slice(0, 30)}`);
});
