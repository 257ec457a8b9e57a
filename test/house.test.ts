// The layout of src/ as a test: unique names, small folders, one direction within a room, no cycles, citations that
// resolve.

import { expect, test } from "vitest";
import { brokenCitations, foldersTooLarge, MOST_FILES, missingSections, wrongDirections } from "./house.ts";
import { circleGroups, importGraph, readSources, sharedNames } from "./sources.ts";

const sources = readSources();

test("an exported name stands once in the program", () => {
  expect([...sharedNames(sources)], "each of these has several owners").toEqual([]);
});

test(`a folder has at most ${MOST_FILES} files`, () => {
  expect(foldersTooLarge(sources)).toEqual([]);
});

test("within a room imports go down, and model/ imports nothing else of its room", () => {
  expect(wrongDirections(sources)).toEqual([]);
});

test("no import cycle exists, including type and dynamic imports", () => {
  expect(circleGroups(importGraph(sources))).toEqual([]);
});

test("cited files, decisions, and links exist", () => {
  expect(brokenCitations()).toEqual([]);
});

test("every document that the code cites is in the repository", () => {
  expect(missingSections(sources)).toEqual([]);
});
