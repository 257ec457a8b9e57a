// Documents in pieces: joined, they are the text of the whole value, at every depth.

import { describe, expect, test } from "vitest";
import { canonicalJson, canonicalPieces, keyedDigest } from "../../src/core/digest.ts";
import { indentedPieces, parseJson, stringifyJson } from "../../src/core/exact-json.ts";
import { PrintedList, printableJson, printablePieces } from "../../src/report/text/printable.ts";

const VALUE = {
  b: [{ z: 1, a: "line\nend", gone: undefined }, [], {}, [1, [2, null]]],
  a: { "10": true, "9": "::warning::\u202e", nested: { deep: { deeper: [1.5, "x"] } } },
  big: 12345678901234567890n,
  empty: {},
  none: [],
  missing: undefined,
};

describe("pieces", () => {
  test.each([0, 1, 2, 3, 9])("down to depth %i are the indented text of the whole value", (depth) => {
    expect([...indentedPieces(VALUE, depth)].join("")).toBe(stringifyJson(VALUE, 1));
  });

  test.each([0, 1, 2, 3, 9])("down to depth %i are the canonical text, and have its digest", (depth) => {
    const canonical = canonicalJson(parseJson(stringifyJson(VALUE)));
    expect([...canonicalPieces(VALUE, depth)].join("")).toBe(canonical);
    const key = new Uint8Array(32).fill(1);
    expect(keyedDigest(key, canonicalPieces(VALUE, depth))).toBe(keyedDigest(key, canonical));
  });

  test("of a document with lists are its printable text", () => {
    const items = Array.from({ length: 3_000 }, (_, at) => ({
      at,
      text: `${at} ::error::\u200b`,
      list: [{ at }],
    }));
    const document = (list: unknown) => ({ first: 1, gone: undefined, list, none: [], last: { a: [1] } });
    const pieces = [
      ...printablePieces(document(new PrintedList(items, ({ text, ...rest }) => ({ ...rest, text })))),
    ];
    const whole = document(items.map(({ text, ...rest }) => ({ ...rest, text })));
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join("")).toBe(printableJson(whole, 2));
    expect([...printablePieces({ list: new PrintedList([], String) })].join("")).toBe(
      printableJson({ list: [] }, 2),
    );
    expect([...printablePieces({})].join("")).toBe("{}");
  });
});
