// The reader of everyday YAML: whatever it reads, the whole reader reads as the same tree, with the same places.

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { Findings } from "../../../src/spec/model/findings.ts";
import { SourceText, type Span } from "../../../src/spec/model/source.ts";
import { plain, type SpecNode } from "../../../src/spec/model/tree.ts";
import { parseBlockYaml } from "../../../src/spec/yaml/block-parser.ts";
import { readAnyYaml } from "../../../src/spec/yaml/read-yaml.ts";
import { sampleOf } from "../../sample-size.ts";
import { DAMAGING_TEXTS } from "../damage.ts";

const WHOLE = readFileSync(new URL("../whole.yaml", import.meta.url), "utf8");

/** A tree as data: values and the places of scalars, keys and brackets; of blocks the start and the line they end in. */
function shape(node: SpecNode): unknown {
  const here = (span: Span) => [span.start, span.end];
  switch (node.kind) {
    case "scalar":
      return [node.value, ...here(node)];
    case "list":
      return { list: node.items.map(shape), start: node.start };
    case "map":
      return {
        map: [...node.members].map(([name, { key, value }]) => [name, here(key), shape(value)]),
        start: node.start,
      };
    default:
      return node satisfies never;
  }
}

function whole(source: SourceText): { readonly shape: unknown; readonly told: readonly string[] } {
  const findings = new Findings();
  const node = readAnyYaml(source, findings);
  return {
    shape: node === undefined ? undefined : shape(node),
    told: findings.diagnostics().map(({ message }) => message),
  };
}

/** Whether the text was everyday; fails where the two readers differ. */
function agrees(text: string): boolean {
  const source = new SourceText("f", text);
  const node = parseBlockYaml(source);
  if (node === undefined) return false;
  expect({ text, ...whole(source) }).toEqual({ text, shape: shape(node), told: [] });
  return true;
}

describe("common YAML", () => {
  it.each([
    "a: 1\n",
    "a: 1",
    "a:\n  b: x y  # note\n\n# more\n  c: 'it''s'\nd: \"\"\n",
    "a:\n- 1\n- b: 2\n  c:\n    d: e\n-\n  - x\n- \nf:\n  - [a, {b: c, 'd': -1}, \"e\"]\ng: {}\nh: []\n",
    "a:\nb:   # none\nc: ~\n",
    'person@example.com:\nhttp://x/y:z: a:b\n"k: l": a#b\n- x: 1\n'.replace("- x: 1\n", ""),
    "# first\n\na: ${var.x}\nb: a, b] c} [d\nc: - \n".replace("c: - \n", "c: -1\nd: -x\n"),
    "a: 0x1F\nb: 1e3\nc: 12345678901234567890\nd: TRUE\ne: .5\n",
  ])("%j is read by both the same", (text) => {
    expect(agrees(text)).toBe(true);
  });

  it("the example of a team is one", () => {
    expect(agrees(WHOLE)).toBe(true);
  });

  it("generated YAML is read equally by both", () => {
    const word = fc.stringMatching(/^[ -~é😀]{0,12}$/u);
    const leaf = fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null), fc.double({ noNaN: true }));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("tree")), fc.dictionary(word, tie("tree"))),
    }));
    let everydays = 0;
    fc.assert(
      fc.property(fc.dictionary(word, tree, { minKeys: 1 }), (value) => {
        if (agrees(stringify(value, { lineWidth: 0 }))) everydays++;
      }),
      { numRuns: sampleOf(500) },
    );
    expect(everydays).toBeGreaterThan(sampleOf(10));
  });
});

describe("other YAML", () => {
  it.each([
    "",
    "- a\n",
    "a: |\n  b\n",
    "a: &x 1\nb: *x\n",
    "<<: {}\n",
    "a: !!str 1\n",
    "a: b\n  c\n",
    "a: 1\na: 2\n",
    "__proto__: 1\n",
    "a: [1,\n 2]\n",
    'a: "\\u0041"\n',
    "? a\n: b\n",
    "---\na: 1\n",
    "a: 1\n---\nb: 2\n",
    "a:\t1\n",
    "a: 1\r\n",
    "a: b: c\n",
    "a: 'b' c\n",
    "a : 1\n",
    "a: 1\n b: 2\n",
    `a: ${"[".repeat(40)}${"]".repeat(40)}\n`,
    `${"k".repeat(2000)}: 1\n`,
  ])("%j is left to the whole reader", (text) => {
    expect(parseBlockYaml(new SourceText("f", text))).toBeUndefined();
  });
});

it("a file with more characters than the token limit is parsed if it has fewer tokens", () => {
  const long = `a: ${"word".repeat(800_000)}\nb: { c: d }\n`;
  expect(parseBlockYaml(new SourceText("f", long))?.members.size).toBe(2);
  expect(parseBlockYaml(new SourceText("f", `a: [${",".repeat(3_000_001)}]\n`))).toBeUndefined();
});

it("randomly damaged YAML is read equally by both, or left to the other", () => {
  const odd = [...DAMAGING_TEXTS, "\n- ", ", ", " ", "  ", "${x}", "!", "&a "];
  const damage = fc.array(fc.tuple(fc.nat(WHOLE.length), fc.constantFrom(...odd), fc.nat(3)), {
    minLength: 1,
    maxLength: 4,
  });
  let read = 0;
  fc.assert(
    fc.property(fc.constantFrom(WHOLE, SMALL), damage, (text, damages) => {
      const broken = damages.reduce((now, [where, piece, cut]) => {
        const at = where % now.length;
        return now.slice(0, at) + piece + now.slice(at + cut);
      }, text);
      // A cut can divide a surrogate pair, which no decoded file contains.
      if (agrees(broken.toWellFormed())) read++;
    }),
    { numRuns: sampleOf(1_500) },
  );
  expect(read).toBeGreaterThan(sampleOf(100));
});

const SMALL = `a:
  b: one two  # note
  c: [x, { d: 'e' }]
  f:
  - g: 1
    h: "i"
  - j
k: {}
`;

it("a tree of it is the plain value that it looks like", () => {
  const node = parseBlockYaml(new SourceText("f", SMALL));
  expect(node === undefined ? undefined : plain(node)).toEqual({
    a: { b: "one two", c: ["x", { d: "e" }], f: [{ g: 1, h: "i" }, "j"] },
    k: {},
  });
});
