// Nothing in a name or value steers what a reader sees.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markdownCode, markdownText, printable, printableJson } from "../../../src/report/text/printable.ts";

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

describe("printable", () => {
  test.each([
    ["\u001b[31mred", "\\u001b[31mred"],
    ["a\nb\r\tc", "a\\nb\\r\\tc"],
    ["\u202egnp.exe", "\\u202egnp.exe"],
    ["zero\u200bwidth", "zero\\u200bwidth"],
    ["\u{e0041}tag", "\\u{e0041}tag"],
    ["no\u00a0break", "no\\u00a0break"],
    ["\ud800", "\\ud800"],
    ["::set-output name=x::y", ":\\u003aset-output name=x:\\u003ay"],
    ["at http://[::1]:80/x", "at http://[::1]:80/x"],
    ["https://[2001:db8::ffff:1.2.3.4] ::stop", "https://[2001:db8::ffff:1.2.3.4] :\\u003astop"],
    ["//[::add-mask::x]", "//[:\\u003aadd-mask:\\u003ax]"],
    ["[::1] //[::1", "[:\\u003a1] //[:\\u003a1"],
    ["##[group]x", "#\\u0023[group]x"],
    ["##vso[task.setvariable]x", "#\\u0023vso[task.setvariable]x"],
    ["Grüße, 世界 👋", "Grüße, 世界 👋"],
  ])("%j is shown as %s", (given, shown) => {
    expect(printable(given)).toBe(shown);
  });

  test("output has no hidden character and no command", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (given) => {
        const shown = printable(given);
        expect(shown).not.toMatch(HIDDEN);
        expect(shown).not.toContain("::");
      }),
    );
  });

  test("JSON reads back as the same value and hides nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (given) => {
        const text = printableJson({ given });
        expect(JSON.parse(text)).toEqual({ given });
        expect(text).not.toMatch(HIDDEN);
        expect(text).not.toContain("::");
      }),
    );
  });

  test("integers beyond 2^53 keep their digits in JSON", () => {
    expect(printableJson({ id: 9007199254740993n })).toBe('{"id":9007199254740993}');
  });

  test("a code span holds any number of backticks", () => {
    expect(markdownCode("a``b")).toBe("```a``b```");
    expect(markdownCode("`")).toBe("`` ` ``");
  });

  test("running text has no markup, tag, link or mention", () => {
    const shown = markdownText("<b>*x*</b> @all https://evil.example [a](b)");
    expect(shown).not.toMatch(/<b>|\*|@all|https:|\[a\]/);
  });
});
