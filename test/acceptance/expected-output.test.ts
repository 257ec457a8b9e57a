// What `npm run test:update` writes, refuses, and prints.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectedText, type Rewrite, summaryLines } from "./expected-output.ts";

const SCENARIO = `# A plan.

$ workspace validate
    Valid.
$ workspace plan
    1 to create.
= exit 2
`;

describe("expected output", () => {
  let folder = "";
  let path = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "expected-"));
    path = join(folder, "plan.txt");
    writeFileSync(path, SCENARIO);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const written = () => readFileSync(path, "utf8");
  const rewrite = (now: string, update: string | undefined) =>
    expectedText(path, SCENARIO, now, { update, log: join(folder, "log") });
  const rewrites = (): readonly Rewrite[] =>
    readFileSync(join(folder, "log"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Rewrite);

  test("without an update the file is what a test expects, and it is not written", () => {
    expect(rewrite(SCENARIO.replace("1 to", "2 to"), undefined)).toBe(SCENARIO);
    expect(written()).toBe(SCENARIO);
  });

  test("an update writes another text of the same exit codes", () => {
    const now = SCENARIO.replace("1 to", "2 to");
    expect(rewrite(now, "1")).toBe(now);
    expect(written()).toBe(now);
  });

  test("an update refuses a changed exit code and leaves the file", () => {
    expect(() => rewrite(SCENARIO.replace("exit 2", "exit 3"), "1")).toThrow(
      "`workspace plan` exits with 3, not 2",
    );
    expect(() => rewrite(SCENARIO.replace("= exit 2\n", ""), "1")).toThrow("exits with 0, not 2");
    expect(() => rewrite(SCENARIO.replace("    Valid.\n", "    Valid.\n= exit 1\n"), "1")).toThrow(
      "`workspace validate` exits with 1, not 0",
    );
    expect(written()).toBe(SCENARIO);
  });

  test("an update refuses an internal error with an unchanged exit code", () => {
    const now = SCENARIO.replace("    1 to create.", "  ! error CLI_INTERNAL: internal error");
    expect(() => rewrite(now, "1")).toThrow("`workspace plan` reports CLI_INTERNAL");
    expect(() => rewrite(now.replaceAll("CLI_INTERNAL", "RULES_INTERNAL"), "1")).toThrow("RULES_INTERNAL");
    expect(written()).toBe(SCENARIO);
  });

  test("an internal error in a page is refused", () => {
    const page = join(folder, "page.md");
    writeFileSync(page, "text\n");
    expect(() =>
      expectedText(page, "text\n", "error CLI_INTERNAL: internal error\n", { update: "1" }),
    ).toThrow("reports CLI_INTERNAL");
    expect(readFileSync(page, "utf8")).toBe("text\n");
  });

  test("the second flag accepts both", () => {
    const now = SCENARIO.replace("exit 2", "exit 5").replace("1 to create", "error CLI_INTERNAL: x");
    expect(rewrite(now, "failures")).toBe(now);
    expect(written()).toBe(now);
  });

  test("the summary names what changed by exit code and by diagnostic code, and what was refused", () => {
    rewrite(SCENARIO.replace("1 to create.", "error SPEC_TYPE: a\n    error SPEC_TYPE: b"), "1");
    expect(() => rewrite(SCENARIO.replace("exit 2", "exit 3"), "1")).toThrow("exits with 3");
    expect(
      summaryLines(rewrites()).map((line) => line.replaceAll(relative(process.cwd(), path), "plan.txt")),
    ).toEqual([
      "Files rewritten: 1. Commands with another exit code: 1; with other diagnostic codes: 1.",
      "  exit 2 → 3  plan.txt: workspace plan",
      "  SPEC_TYPE +2  plan.txt: workspace plan",
      "Files refused, and not written: 1. If a change is right, run `npm run test:update -- --accept-failures`.",
      "  plan.txt: `workspace plan` exits with 3, not 2",
    ]);
  });

  test("words in capitals count only if they are diagnostic codes", () => {
    rewrite(SCENARIO.replace("1 to create", "INTERNAL_ERROR WORKSPACE_TOKEN"), "1");
    expect(rewrites()[0]?.commands).toEqual([]);
  });
});
