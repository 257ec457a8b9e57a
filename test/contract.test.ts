import { beforeAll, describe, expect, test } from "vitest";
import { namesIn } from "../scripts/contract/names.ts";
import {
  type ContractReport,
  claimOf,
  contractReport,
  join,
  pageOf,
  unmatched,
  untested,
} from "../scripts/contract.ts";
import { sections } from "./emulator/contract/rules.ts";
import { section } from "./emulator/contract/section.ts";

describe("docs/internals/contract.md", () => {
  let report: ContractReport;
  beforeAll(() => {
    report = contractReport();
  });

  test("every rule of the contract has a test", () => {
    expect(report.missing).toEqual([]);
  });

  test("no test names a rule that there is not", () => {
    expect(report.unmatched).toEqual([]);
  });

  test("the page is fresh; npm run contract writes it", () => {
    expect(report.stale).toBe(false);
  });

  test("sections are unique, and no subject is both a rule and an open question", () => {
    const ids = sections.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { rules, open } of sections)
      expect(Object.keys(open).filter((subject) => subject in rules)).toEqual([]);
  });
});

describe("reading names", () => {
  const names = (source: string) => namesIn("a.test.ts", source).map(({ name }) => name);

  test("plain tests, in both kinds of quotes; neither skipped ones nor other calls", () => {
    expect(names('test("a: b", () => {});\n  it(`c "d"`, f)')).toEqual(["a: b", 'c "d"']);
    expect(names('test.skip("a", f); test.todo("b"); "x".split(" "); pattern.test("c"); await("d")')).toEqual(
      [],
    );
    expect(names('test.runIf(is("x"))("a", f)')).toEqual(["a"]);
  });

  test("a table of strings, one test for each, inline or as a constant", () => {
    const both = ["A1 x: is 1", "A1 y: is 1"];
    expect(names('test.each(["x", "y"])("A1 %s: is 1", f)')).toEqual(both);
    expect(
      names('const all: T = [["x", 1], ["y", { a: [")"] }]];\ntest.each(all)("A1 %s: is 1", f)'),
    ).toEqual(both);
    expect(names('test.each(["x", "y"].flatMap((a) => g(a, "z")))(\n "A1 %s: is 1", f)')).toEqual(both);
  });

  test("a table that cannot be read leaves the placeholders", () => {
    expect(names('test.each([undefined, "x"])("a %s", f)')).toEqual(["a %s"]);
    expect(names('test.each(others("x"))("a %s", f)')).toEqual(["a %s"]);
    expect(names(`test.each([${'"x", '.repeat(13)}])("a: %s", f)`)).toEqual(["a: %s"]);
  });
});

describe("rules and their tests", () => {
  const small = [
    section("A1", "One", { first: "says so", second: { "and this": /this/, "and that": /that/ } }),
    section("B1.2", "Two", { third: "<one> | two" }, { open: { fourth: ["what", "so"] } }),
  ];
  const claims = (...names: string[]) =>
    names.flatMap((name) => claimOf({ name, file: "test/a.test.ts" }) ?? []);

  test("a name may name several rules, of several sections", () => {
    expect(claims("A1 first, second, B1.2 third: shows this")[0]?.rules).toEqual([
      "A1 first",
      "A1 second",
      "B1.2 third",
    ]);
    expect(claims("A folder: is no rule", "a test", "A conventions BYTES: are")).toHaveLength(1);
  });

  test("each clause requires its own test", () => {
    const joined = join(small, claims("A1 first: x", "A1 second: this", "B1.2 third: y"));
    expect(untested(joined).map(({ says }) => says)).toEqual(["and that"]);
  });

  test("an unknown rule, and a name that begins with only a section, are reported", () => {
    const given = claims("A1 first: x", "A1 fifth: x", "B1.2: x", "B1.2 without a colon", "B1.2 fourth: x");
    expect(unmatched(small, given).map(({ name }) => name)).toEqual([
      "A1 fifth: x",
      "B1.2: x",
      "B1.2 without a colon",
    ]);
  });

  test("the page counts, escapes, and says what is missing", () => {
    const page = pageOf(join(small, claims("A1 first: a < b | c", "B1.2 fourth: shown %s")));
    expect(page).toContain("4 rules of the contract, 3 without a test; 1 open points; 2 tests.");
    expect(page).toContain("| A1 first | says so | a &lt; b \\| c ([test/a](../../test/a.test.ts)) |");
    expect(page).toContain("| A1 second | and that | **missing** |");
    expect(page).toContain("| what | so | shown … ([test/a](../../test/a.test.ts)) |");
  });
});
