// The formatter of YAML: values, comments, and empty lines stay; a second run finds no difference.

import { globSync, readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatYaml } from "../../../src/spec/format/format-yaml.ts";
import { Findings } from "../../../src/spec/model/findings.ts";
import { SourceText } from "../../../src/spec/model/source.ts";
import { plain } from "../../../src/spec/model/tree.ts";
import { readAnyYaml } from "../../../src/spec/yaml/read-yaml.ts";
import { sampleOf } from "../../sample-size.ts";
import { untidyYaml } from "./untidy.ts";

function formatted(text: string): string | readonly string[] {
  const findings = new Findings();
  const found = formatYaml(new SourceText("f", text), findings);
  return found ?? findings.diagnostics().map(({ message }) => message);
}

function dataIn(text: string) {
  const node = readAnyYaml(new SourceText("f", text), new Findings());
  return node === undefined ? undefined : plain(node);
}

const commentsOf = (text: string) => text.match(/(?<=^|\s)#.*$/gm)?.map((one) => one.trimEnd()) ?? [];

/** Fails unless the text can be formatted, keeps its values and comments, and is then stable. */
function holds(text: string): string {
  const once = formatted(text);
  expect({ text, once }).toEqual({ text, once: expect.any(String) });
  expect({ text, again: formatted(String(once)) }).toEqual({ text, again: once });
  expect({ text, value: dataIn(String(once)) }).toEqual({ text, value: dataIn(text) });
  expect(commentsOf(String(once))).toEqual(commentsOf(text));
  expect(String(once)).not.toMatch(/^\n|^\t/);
  return String(once);
}

const wordsOf = (text: string) => text.split("\n").filter((line) => line !== "");

const EXAMPLES = globSync(["examples/**/*.{yaml,yml}", "test/**/*.yaml", "ci/**/*.{yaml,yml}", "*.yaml"]);

describe("formatYaml", () => {
  it("keeps the values, comments, and anchors of random files, and formats twice as once", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (seed) => {
        const text = untidyYaml(seed);
        // Some seeds give invalid YAML, which is refused.
        if (dataIn(text) !== undefined) holds(text);
      }),
      { numRuns: sampleOf(1_000) },
    );
  });

  it("can read most of the random files", () => {
    const seeds = Array.from({ length: 300 }, (_, at) => at + 1);
    expect(seeds.filter((seed) => dataIn(untidyYaml(seed)) !== undefined).length).toBeGreaterThan(200);
  });

  it.each(EXAMPLES)("keeps the values of %s, also with other spaces", (path) => {
    const text = readFileSync(path, "utf8");
    if (dataIn(text) === undefined) return;
    const tidy = holds(text);
    const wide = text.replace(/^ +/gm, (spaces) => spaces.repeat(2)).replace(/\n/g, " \n\n\n");
    // Empty lines inside a scalar would change it.
    if (isDeepStrictEqual(dataIn(wide), dataIn(text))) expect(wordsOf(holds(wide))).toEqual(wordsOf(tidy));
    expect(holds(text.replaceAll("\n", "\r\n"))).toBe(tidy.replaceAll("\n", "\r\n"));
  });

  it.each([
    ["a list under its key", "a:\n- b\n-   c: 1\n    d: 2\n", "a:\n  - b\n  - c: 1\n    d: 2\n"],
    ["flow collections", 'a: {b : 1,"c":[ 1 ,2 ]}\n', 'a: { b: 1, "c": [1, 2] }\n'],
    ["runs of empty lines", "\n\na: 1\n\n\n\nb: 2\n\n", "a: 1\n\nb: 2\n"],
    ["a comment of what follows", "a:\n    b: 1\n# next\nc: 2\n", "a:\n  b: 1\n# next\nc: 2\n"],
    ["a comment at the end of a map", "a:\n    b: 1\n    # last\nc: 2\n", "a:\n  b: 1\n  # last\nc: 2\n"],
    ["a comment in place of a value", "a:\n    # b: 1\nc: 2\n", "a:\n  # b: 1\nc: 2\n"],
    ["a comment that goes on below", "a:    1 # x\n        # y\n", "a: 1 # x\n     # y\n"],
    [
      "block scalars",
      "a:\n    b: |\n        x\n          y\n\n\n    c: 1\n",
      "a:\n  b: |\n    x\n      y\n\n  c: 1\n",
    ],
    [
      "long strings and expressions",
      `a:   "\${local.x.join('-')} ${"word ".repeat(60)}"\n`,
      `a: "\${local.x.join('-')} ${"word ".repeat(60)}"\n`,
    ],
    ["anchors, aliases, and merges", "a:   &x {b: 1}\nc:\n    <<:   *x\n", "a: &x { b: 1 }\nc:\n  <<: *x\n"],
    ["document markers", "---\na:  1\n...\n", "---\na: 1\n...\n"],
    ["an empty file", "\n\n", ""],
  ])("formats %s", (_, text, tidy) => {
    expect(formatted(text)).toBe(tidy);
    expect(formatted(tidy)).toBe(tidy);
  });

  it("takes time in proportion to the size of hostile files", () => {
    const spaces = " ".repeat(400_000);
    for (const text of [
      `a: [${"[],".repeat(20_000)}1]\n`,
      `a: "x${spaces}y\n  z"\n`,
      `a: 'x${spaces}y\n\n  z'\n`,
      `a: |\n  x${spaces}y\n`,
      `a: 1${spaces}# x\n`,
      `${"# c\n".repeat(10_000)}a: 1\n`,
      `a:\n${"  - b: [{ c: d }] # e\n".repeat(2_000)}`,
    ])
      holds(text);
  }, 60_000);

  it("refuses a file with a syntax error, two documents, or a tag", () => {
    expect(formatted("a: [1\n")).not.toBeTypeOf("string");
    expect(formatted("a: 1\n---\nb: 2\n")).not.toBeTypeOf("string");
    expect(formatted("a: !!js x\n")).not.toBeTypeOf("string");
  });
});
