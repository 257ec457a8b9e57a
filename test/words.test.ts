// The project's prose as a test: standard terms in docs, messages, comments, and test names.

import { describe, expect, test } from "vitest";
import { allPieces, codePieces, markdownPieces } from "./prose.ts";
import { BANNED, bannedWords } from "./words.ts";

describe("words", () => {
  // Reads the whole project, which takes long while other tests run.
  test("docs, messages, comments, and test names contain no banned words", { timeout: 120_000 }, () => {
    expect(bannedWords(allPieces())).toEqual([]);
  });

  test("every banned pattern matches its example", () => {
    expect(BANNED.filter(([pattern, example]) => !pattern.test(example))).toEqual([]);
  });

  test("pieces of code are strings, comments and test names, without interpolations and code spans", () => {
    const code = [
      "// a comment",
      "// of two lines",
      "const one = `reading ${1 + 1} of \\`kinds\\` now`; /** a docstring */",
      'const two = "word" + "two words";',
    ].join("\n");
    expect(codePieces("src/core/x.ts", code).map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      "string: reading … of … now",
      "string: two words",
      "comment: a comment of two lines",
      "comment: a docstring",
    ]);
    const tested = 'describe("a subject", () => test.each([1])("the subject works", () => use("a string")));';
    expect(codePieces("test/core/x.test.ts", tested).map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      "name of a test: a subject",
      "name of a test: the subject works",
    ]);
  });

  test("pieces of a page are headings, paragraphs, items and rows, without code blocks", () => {
    const page =
      "# A heading\n\nOne `code`\nparagraph.\n\n- an item\n  of two lines\n- [a link](x.md)\n\n```sh\nrun it\n```\n\n| a | row |\n";
    expect(markdownPieces("docs/x.md", page).map(({ text }) => text)).toEqual([
      "A heading",
      "One … paragraph.",
      "an item of two lines",
      "a link",
      "| a | row |",
    ]);
  });
});
