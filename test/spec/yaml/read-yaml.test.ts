import { expect, it } from "vitest";
import { Findings } from "../../../src/spec/model/findings.ts";
import { SourceText } from "../../../src/spec/model/source.ts";
import { keySpanOf, plain, spanOf } from "../../../src/spec/model/tree.ts";
import { readYaml } from "../../../src/spec/yaml/read-yaml.ts";

function read(text: string) {
  const findings = new Findings();
  const source = new SourceText("f", text);
  const node = readYaml(source, findings);
  return {
    node,
    value: node === undefined ? undefined : plain(node),
    told: findings.diagnostics().map(({ message }) => message),
    source,
  };
}

it("reads every kind of text, list and map", () => {
  const { value, told } = read(`
plain: a b
single: 'it''s'
double: "a\\tb\\u00e9"
literal: |
  one
   two
folded: >-
  one
  two
quoted-number: "12"
12: number as key
list:
- a
- [b, {c: d}]
empty:
? explicit
: value
`);
  expect(told).toEqual([]);
  expect(value).toEqual({
    "12": "number as key",
    plain: "a b",
    single: "it's",
    double: "a\tbé",
    literal: "one\n two\n",
    folded: "one two",
    "quoted-number": "12",
    list: ["a", ["b", { c: "d" }]],
    empty: null,
    explicit: "value",
  });
});

it("follows aliases, and merges what is not there yet, the earlier map first", () => {
  const { value, told } = read(`
x-a: &a { k: 1, l: 2 }
x-b: &b { k: 3, m: [&text t, *text] }
one: { <<: *a, k: own }
two: { <<: [*b, *a] }
three: *b
quoted: { "<<": x }
`);
  expect(told).toEqual([]);
  expect(value).toMatchObject({
    one: { l: 2, k: "own" },
    two: { k: 3, m: ["t", "t"], l: 2 },
    three: { k: 3, m: ["t", "t"] },
    quoted: { "<<": "x" },
  });
});

it("takes an anchor that stands again for the later one, as YAML does", () => {
  expect(read("a: &x 1\nb: *x\nc: &x 2\nd: *x").value).toEqual({ a: 1, b: 1, c: 2, d: 2 });
});

it("places keys and values, also those of an alias", () => {
  const { node, source } = read("x: &a\n  key: value\ny: *a\n");
  if (node === undefined) throw new Error("not read");
  const lines = (path: readonly string[]) =>
    [keySpanOf(node, path), spanOf(node, path)].map(({ start }) => [
      source.lineOf(start) + 1,
      start - source.startOf(source.lineOf(start)) + 1,
    ]);
  expect(lines(["x", "key"])).toEqual([
    [2, 3],
    [2, 8],
  ]);
  expect(lines(["y", "key"])).toEqual([
    [2, 3],
    [2, 8],
  ]);
  expect(lines(["y", "none"])).toEqual([
    [2, 3],
    [2, 3],
  ]);
});

it.each([
  ["a: 'open", "a character is missing"],
  ["a: [1, 2", "a bracket or brace is not closed, or its content is not indented enough"],
  ["\ta: 1", "a tab is used for indentation"],
  ["a: b: c", "the line contains a second key"],
  ["a: @b", "a string cannot start with this character"],
  ['a: "\\q"', "the string contains an unknown escape sequence"],
  ["a: 1\n b: 2", "the line contains a second key"],
  ["a: {<<: 3}", "<< requires a map or a list of maps"],
  ["--- a\n--- b", "the file contains more than one YAML document"],
])("%j is reported in plain words", (text, message) => {
  expect(read(text).told[0]).toBe(message);
});

it("reports an unresolved merge conflict once, and not its consequences", () => {
  const conflict = "a:\n<<<<<<< HEAD\n  b: 1\n||||||| base\n  b: 2\n=======\n  b: 3\n>>>>>>> other\n  c: 1\n";
  expect(read(conflict).told).toEqual(["the file contains an unresolved merge conflict"]);
  expect(read("a: |\n  <<<<<<< HEAD\n  =======\n").told).toEqual([]);
});

it("reports tabs once for all lines that are indented with tabs", () => {
  expect(read("a:\n\tb: 1\n\tc: 2\n\td:\n\t\te: 1\n").told).toEqual([
    "a tab is used for indentation (and in 3 other lines)",
  ]);
});

it("reads sixty levels, and no more than sixty-four", () => {
  const nest = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  expect(read(nest(60)).told).toEqual([]);
  expect(read(nest(65)).told).toEqual(["lists and maps are nested more than 64 levels deep"]);
});

it("counts what aliases nest as if it were written out", () => {
  const lines = ["x0: &a0 [[[[[[[[[[1]]]]]]]]]]"];
  for (let at = 1; at < 8; at++) lines.push(`x${at}: &a${at} [[[[[[[[[[*a${at - 1}]]]]]]]]]]`);
  expect(read(lines.join("\n")).told).toEqual(["aliases are repeated too often"]);
});

it("reports an unquoted expression in a flow map or list, and not its consequences", () => {
  const { told, value } = read("a: { b: ${x.y}, c: { d: 1 } }\ne: [${x.z}, { f: 1 }]\ng: { h: 1 }\n");
  expect(value).toBeUndefined();
  expect(new Set(told)).toEqual(new Set(["an expression inside { } or [ ] must be quoted"]));
});

it("reports one syntax error for each line", () => {
  expect(read("a: { b: 1 } c: 2, d: }\n").told).toEqual(["unexpected text"]);
});
