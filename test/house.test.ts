// The layout of src/ as a test: unique names, small folders, one direction within a room, no cycles, citations that
// resolve.

import { globSync } from "node:fs";
import { basename, join, matchesGlob } from "node:path";
import { describe, expect, test } from "vitest";
import { NOCKED } from "../vitest.config.ts";
import { brokenPaths, citingFiles, missingSections, otherSpellings } from "./citations.ts";
import { foldersTooLarge, MOST_FILES, wrongDirections } from "./house.ts";
import { circleGroups, importGraph, readSource, readSources, sharedNames } from "./sources.ts";

const sources = readSources();

test("an exported name stands once in the program", () => {
  expect([...sharedNames(sources)], "each of these has several owners").toEqual([]);
});

test(`a folder of src and test has at most ${MOST_FILES} files`, () => {
  const files = globSync("{src,test}/**/*", { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(foldersTooLarge(files)).toEqual([]);
});

test("a folder with one file too many is reported, unless it holds only data", () => {
  const files = (folder: string, extension: string) =>
    Array.from({ length: MOST_FILES + 1 }, (_, at) => `${folder}/${at}.${extension}`);
  expect(foldersTooLarge([...files("test/a", "ts"), ...files("test/b", "txt")])).toEqual([
    `test/a: ${MOST_FILES + 1} files`,
  ]);
});

test("within a room imports go down, and model/ imports nothing else of its room", () => {
  expect(wrongDirections(sources)).toEqual([]);
});

test("no import cycle exists, including type and dynamic imports", () => {
  expect(circleGroups(importGraph(sources))).toEqual([]);
});

test("nock, which replaces the HTTP client of its process, is reached only by tests that run in such a process", () => {
  const files = globSync("test/**/*.ts").map(readSource);
  const edges = importGraph(files);
  const reached = new Set(
    files.filter(({ imports }) => imports.some(({ to }) => to === "nock")).map(({ path }) => path),
  );
  for (let before = 0; before < reached.size; ) {
    before = reached.size;
    for (const [path, imported] of edges) if (imported.some((to) => reached.has(to))) reached.add(path);
  }
  const tests = [...reached].filter((path) => path.endsWith(".test.ts"));
  expect(tests.length).toBeGreaterThan(10);
  const elsewhere = tests.filter((path) => !NOCKED.some((pattern) => matchesGlob(path, pattern)));
  expect(elsewhere).toEqual([]);
});

describe("citations", () => {
  const files = citingFiles();

  test("cited files and links exist", () => {
    expect(brokenPaths(files)).toEqual([]);
  });

  test("cited sections, rules, and decisions exist", () => {
    expect(missingSections(files)).toEqual([]);
  });

  test("each decision has another number", () => {
    const numbers = globSync("docs/internals/decisions/*.md").map((path) => basename(path).slice(0, 4));
    expect(numbers.length).toBeGreaterThan(30);
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([]);
  });

  test("a citation has one spelling: contract A 4.1 rule 2, design 5, facts 4.7, decision 0012", () => {
    expect(otherSpellings(files)).toEqual([]);
  });

  test("a wrong citation is reported with its file, also where it is wrapped or names several rules", () => {
    const cited = (text: string) => missingSections([{ path: "src/a.ts", text }]);
    expect(
      cited("// contract A 4.5 rules 1, 3 and 4; contract A conventions; facts 4.7; decision 0012"),
    ).toEqual([]);
    expect(cited("// contract A 4.6")).toEqual(["src/a.ts: contract A 4.6"]);
    expect(cited("/** (contract A 4.5 rules 1 and 99) */")).toEqual([
      "src/a.ts: contract A 4.5 rules 1 and 99",
    ]);
    expect(cited("// (design\n// 55; facts 9.9), decision 9999")).toEqual([
      "src/a.ts: design 55",
      "src/a.ts: facts 9.9",
      "src/a.ts: decision 9999",
    ]);
    expect(cited('const text = "contract A 4.6";')).toEqual([]);
    expect(brokenPaths([{ path: "docs/a.md", text: "see [here](nowhere.md) and src/none.ts" }])).toEqual([
      "docs/a.md: src/none.ts",
      "docs/a.md: nowhere.md",
    ]);
    expect(
      brokenPaths([
        { path: "docs/a.md", text: "## A `b`, c\n[here](#a-b-c) [not](#a-b) [index](README.md#none)" },
      ]),
    ).toEqual(["docs/a.md: #a-b", "docs/a.md: README.md#none"]);
  });

  test.each([
    "part A, 4.5",
    "Part B, section 8",
    "part B section 7",
    "A 4.5",
    "B, 2.3",
    "B2.3",
    "4.4 rule 3",
    "contract: part A, 2.1",
    "contract 4.1",
    "design section 5",
    "facts, 4.7",
    "decision 12",
    "decisions 0012",
    "docs/internals/decisions/0012",
  ])("%s is another spelling, so it is reported", (text) => {
    expect(otherSpellings([{ path: "src/a.ts", text: `// Of a page (${text}).` }])).not.toEqual([]);
  });
});
