// The project's prose as a test: standard terms in docs, messages, comments and test names.
// test/words.json counts what remains by area; a count may only shrink, and UPDATE=1 lowers it.

import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { allPieces, codePieces, markdownPieces } from "./prose.ts";
import words from "./words.json" with { type: "json" };
import { BANNED, bannedWords, countByArea } from "./words.ts";

const pieces = allPieces();
const allowed: Readonly<Record<string, number>> = words.counts;
const exceptions: ReadonlySet<string> = new Set(words.exceptions);

describe("words", () => {
  test("no area contains more banned words than test/words.json allows", () => {
    const hits = bannedWords(pieces, exceptions);
    const counts = countByArea(hits);
    const grown = Object.keys(counts).filter((area) => (counts[area] ?? 0) > (allowed[area] ?? 0));
    const shown = hits.filter((hit) => grown.includes(hit.area));
    expect(shown.map((hit) => `${hit.path}:${hit.line} "${hit.words}" in: ${hit.text}`)).toEqual([]);
    if (process.env.UPDATE === "1")
      writeFileSync("test/words.json", `${JSON.stringify({ ...words, counts }, undefined, 2)}\n`);
  });

  test("every exception in test/words.json matches a piece of prose with a banned word", () => {
    const used = new Set(bannedWords(pieces, new Set()).map((hit) => hit.text));
    expect([...exceptions].filter((text) => !used.has(text))).toEqual([]);
  });

  test("every banned pattern matches one of the examples", () => {
    expect(BANNED.filter((pattern) => !words.examples.some((example) => pattern.test(example)))).toEqual([]);
  });

  test("pieces of code are strings, comments and test names, without interpolations and code spans", () => {
    const code = [
      "// a comment",
      "// of two lines",
      "const one = `reading ${1 + 1} of \\`kinds\\` now`; /** a docstring */",
      'const two = "word" + "two words";',
    ].join("\n");
    expect(codePieces("src/core/x.ts", code).map(({ area, text }) => `${area}: ${text}`)).toEqual([
      "strings src/core: reading … of … now",
      "strings src/core: two words",
      "comments src/core: a comment of two lines",
      "comments src/core: a docstring",
    ]);
    const tested = 'describe("a subject", () => test.each([1])("the subject works", () => use("a string")));';
    expect(codePieces("test/core/x.test.ts", tested).map(({ area, text }) => `${area}: ${text}`)).toEqual([
      "names test/core: a subject",
      "names test/core: the subject works",
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
