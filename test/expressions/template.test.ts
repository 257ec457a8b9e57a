import fc from "fast-check";
import { expect, it } from "vitest";
import { escaped, isEvaluated, templateParts } from "../../src/expressions/template.ts";

const expression = (text: string) => ({ expression: text, raw: `\${${text}}` });

it.each([
  ["plain", ["plain"]],
  ["", []],
  ["$", ["$"]],
  ["{a}", ["{a}"]],
  ["${a}", [expression("a")]],
  ["x${a}y${b}z", ["x", expression("a"), "y", expression("b"), "z"]],
  ["$${a}", ["${a}"]],
  ["x$${a}${b}", ["x${a}", expression("b")]],
  ["${a", undefined],
  ["$${a", ["${a"]],
])("%s is split into its parts", (text, parts) => {
  expect(templateParts(text)).toEqual(parts);
});

it("ignores spaces around an expression, and keeps them in the raw string", () => {
  expect(templateParts("${ var.a }")).toEqual([{ expression: "var.a", raw: "${ var.a }" }]);
});

it("tells expressions from references", () => {
  const texts = [
    "${var.a}",
    "${lower(var.a)}",
    "${modules.team/ads.pool}",
    "${pools.a.b}",
    "${varnish.a.b}",
    "var.a",
  ];
  expect(texts.map((text) => isEvaluated(templateParts(text)?.[0] ?? ""))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

it("finds the end of a call behind the braces in its strings", () => {
  expect(templateParts('a${replace(var.a, "}", "{")}b')).toEqual([
    "a",
    { expression: 'replace(var.a, "}", "{")', raw: '${replace(var.a, "}", "{")}' },
    "b",
  ]);
});

it("restores each escaped string, unless a dollar sign was in front of the braces already", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "{", "}", "${", ".") });
  fc.assert(
    fc.property(texts, (text) => {
      expect(templateParts(escaped(text))?.join("")).toBe(text);
    }),
  );
});
