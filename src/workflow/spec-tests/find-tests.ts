// Finds test files below a folder, and the tests whose names match a pattern.

import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileFailure } from "../../config/files.ts";
import { type Diagnostic, Failure, failureOf } from "../../core/diagnostic.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import { matching } from "../../spec/files/patterns.ts";
import type { PathObserver } from "../../spec/files/spec-folder.ts";
import { LIMITS } from "../../spec/model/limits.ts";
import { readTests } from "../../spec/testing/read-tests.ts";
import type { SpecTest, SpecTestFile } from "../../spec/testing/spec-test.ts";

const PATTERN = "**/*.test.yaml";
const MOST_FILES = 2000;

export interface FoundTests {
  /** In the order of their paths, and of the tests in each. */
  readonly files: readonly { readonly file: SpecTestFile; readonly tests: readonly SpecTest[] }[];
  readonly diagnostics: readonly Diagnostic[];
  /** Specs outside of this folder are not read. */
  readonly boundary: string;
}

export interface TestSelection {
  /** A folder or a test file, as the command line names it. */
  readonly folder: string | undefined;
  readonly filters: readonly string[];
  readonly seen?: PathObserver;
}

/** Throws Failure if no test is found. */
export function findTests(cwd: string, { folder = ".", filters, seen }: TestSelection): FoundTests {
  const path = resolve(cwd, folder);
  if (!existsSync(path))
    throw failureOf("CLI_FILE", `${folder} does not exist`, { hint: "name a folder or a test file" });
  const isFolder = statSync(path).isDirectory();
  const paths = isFolder
    ? matching(path, () => true, [PATTERN], ".", []).map((one) => join(path, one))
    : [path];
  if (paths.length === 0)
    throw failureOf("TEST_NOT_FOUND", `no file in ${folder} matches ${PATTERN}`, {
      hint: "name test files NAME.test.yaml; `workspace schema --test` prints their JSON Schema",
    });
  if (paths.length > MOST_FILES)
    throw failureOf("TEST_NOT_FOUND", `${folder} has ${paths.length} test files (limit: ${MOST_FILES})`, {
      hint: "name a folder with fewer test files",
    });
  const diagnostics: Diagnostic[] = [];
  for (const one of paths) seen?.(one);
  const files = paths.flatMap((one) => {
    try {
      return [readOne(cwd, one)];
    } catch (problem) {
      if (!(problem instanceof Failure)) throw problem;
      diagnostics.push(...problem.diagnostics);
      return [];
    }
  });
  const selected = files.map((file) => ({
    file,
    tests: file.tests.filter(({ name }) => isSelected(`${file.file}: ${name}`, filters)),
  }));
  if (diagnostics.length === 0 && selected.every(({ tests }) => tests.length === 0))
    throw failureOf(
      "TEST_NOT_FOUND",
      `no test matches ${filters.map((one) => `--filter ${JSON.stringify(one)}`).join(", ")}`,
      { hint: "a filter is text that `FILE: NAME` contains; * matches any text" },
    );
  return {
    files: selected.filter(({ tests }) => tests.length > 0),
    diagnostics,
    boundary: boundaryOf(cwd, path, isFolder),
  };
}

function readOne(cwd: string, path: string): SpecTestFile {
  const near = relative(cwd, path);
  const file = near.startsWith("..") ? path : near;
  try {
    return readTests({ file, path, bytes: readRegularFile(path, LIMITS.fileBytes) });
  } catch (problem) {
    if (problem instanceof Failure) throw problem;
    throw fileFailure(`the test file ${file} cannot be read`, problem);
  }
}

/** The current folder, or that of test files outside of it. */
function boundaryOf(cwd: string, path: string, isFolder: boolean): string {
  const way = relative(realpathSync(cwd), realpathSync(path));
  if (way !== ".." && !way.startsWith(`..${sep}`)) return cwd;
  return isFolder ? path : dirname(path);
}

/** Whether the text contains the parts of one of the patterns in order. */
function isSelected(text: string, patterns: readonly string[]): boolean {
  const lower = text.toLowerCase();
  const has = (pattern: string): boolean => {
    let from = 0;
    return pattern
      .toLowerCase()
      .split("*")
      .every((part) => {
        const at = lower.indexOf(part, from);
        from = at + part.length;
        return at >= 0;
      });
  };
  return patterns.length === 0 || patterns.some(has);
}
