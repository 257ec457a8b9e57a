import fc from "fast-check";
import { expect, it } from "vitest";
import {
  escaped,
  isEvaluated,
  templateParts,
  valuePathOf,
  withoutReserved,
} from "../../src/expressions/template.ts";

const expression = (text: string) => expect.objectContaining({ expression: text, raw: `\${${text}}` });

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
  expect(templateParts("${ var.a }")).toEqual([
    { expression: "var.a", raw: "${ var.a }", text: "${ var.a }", start: 3, isReference: false },
  ]);
});

it.each([
  ["${var.a}", true],
  ["${size(var.a)}", true],
  ["${modules.team/ads.pool}", true],
  ["${[1, 2]}", true],
  ['${{"a": 1}}', true],
  ["${!var.a}", true],
  ["${optional.none()}", true],
  ["${cel.bind(a, 1, a)}", true],
  ["${name}", true],
  ["${pools.a.b}", false],
  ["${varnish.a.b}", false],
  ["${pools.a-${var.b}.c}", false],
  ["${jobs./a b/c.d}", false],
])("%s is evaluated: %j", (text, isCel) => {
  expect(isEvaluated(templateParts(text)?.[0] ?? "")).toBe(isCel);
});

it.each([
  ['a${var.a.replace("}", "{")}b', 'var.a.replace("}", "{")'],
  ['${{"a": {"b": var.c}}}', '{"a": {"b": var.c}}'],
  ["${'it\\'s }' + var.a}", "'it\\'s }' + var.a"],
  ['${"""a " } b""" + var.a}', '"""a " } b""" + var.a'],
  ["${'''it's }'''}", "'''it's }'''"],
  ['${r"\\d}" + var.a}', 'r"\\d}" + var.a'],
  ["${1 // }\n + 2}", "1 // }\n + 2"],
  ["${a.b-${var.c}.d}", "a.b-${var.c}.d"],
])("the end of %s is behind braces in maps, strings, and references", (text, inside) => {
  expect(templateParts(text)).toContainEqual(expression(inside));
});

it("an expression whose string is not closed ends nowhere, or at its brace", () => {
  expect(templateParts('${"a')).toBeUndefined();
  expect(templateParts('${"a}')).toEqual([expression('"a')]);
});

it.each([
  ["var.env", { root: "var", path: ["env"] }],
  ["local.my-list[0].a", { root: "local", path: ["my-list", 0, "a"] }],
  [`local.map["a b"]['c\\'d']`, { root: "local", path: ["map", "a b", "c'd"] }],
  ["modules.team/ads.pool_id", { root: "modules", path: ["team/ads", "pool_id"] }],
  ["var.count-1", { root: "var", path: ["count-1"] }],
  ["var.count - 1", undefined],
  ["var.a/var.b", undefined],
  ["local.sizes[var.env]", undefined],
  ["local.", undefined],
  ["pools.a.b", undefined],
])("the path of %s is %j", (text, path) => {
  expect(valuePathOf(text)).toEqual(path);
});

it.each([
  ["var.a + var.b", "_v_.a + _v_.b"],
  ['"var.a" + local.var + local.?var', '"var.a" + local.var + local.?var'],
  ["var.var.variable + vary", "_v_.var.variable + vary"],
])("%s without the reserved word is %s", (text, other) => {
  expect(withoutReserved(text)).toBe(other);
});

it("restores each escaped string, unless a dollar sign was in front of the braces already", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "{", "}", "${", ".") });
  fc.assert(
    fc.property(texts, (text) => {
      expect(templateParts(escaped(text))?.join("")).toBe(text);
    }),
  );
});
