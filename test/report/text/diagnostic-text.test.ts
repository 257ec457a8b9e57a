import { expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { error, warning } from "../../../src/core/diagnostic.ts";
import { diagnosticsText, diagnosticTexts } from "../../../src/report/text/diagnostic-text.ts";
import { colorsFor, wrapText } from "../../../src/report/text/terminal.ts";

const unset = (name: string, line: number) =>
  warning("SPEC_SECRET_UNSET", `the value of secrets.a/${name} is unknown`, {
    address: addressOf("secrets", `a/${name}`),
    at: { file: "workspace.yaml", line, column: 3, frame: `> ${line} | ${name}` },
    hint: `set ${name}`,
  });

const plain = colorsFor(false);
const all = [
  unset("A", 1),
  error("SPEC_YAML", "no map"),
  ...["B", "C", "D", "E", "F", "G", "H", "I"].map((name, at) => unset(name, at + 2)),
];

test("of many warnings with one code, the first is whole, three are named, and the others are counted", () => {
  expect(diagnosticsText(all, plain)).toBe(`warning SPEC_SECRET_UNSET: the value of secrets.a/A is unknown
  at workspace.yaml:1:3
  > 1 | A
  hint: set A
  also secrets.a/B (workspace.yaml:2:3), secrets.a/C (workspace.yaml:3:3), secrets.a/D (workspace.yaml:4:3), and 5 more; \`-o json\` lists each

error SPEC_YAML: no map

1 error, 9 warnings
`);
});

test("a whole report has a line for each warning with one code", () => {
  expect(diagnosticsText(all, plain, { isWhole: true })).toContain(
    "  also at workspace.yaml:6:3: the value of secrets.a/F is unknown\n",
  );
});

test("a whole report has each hint that differs from the first", () => {
  const hints = ["pass --shared", "pass --shared", "write it by hand"];
  const warnings = hints.map((hint, at) => warning("DRIFT_NOT_ACCEPTED", `number ${at}`, { hint }));
  expect(diagnosticTexts(warnings, plain, true)).toEqual([
    "warning DRIFT_NOT_ACCEPTED: number 0\n  hint: pass --shared\n  also: number 1\n  also: number 2\n    hint: write it by hand\n",
  ]);
});

test("warnings with one code that are not about resources have their messages", () => {
  const text = diagnosticsText(
    Array.from({ length: 12 }, (_, at) => warning("PLAN_UNCHECKED", `number ${at}`)),
    plain,
  );
  expect(text).toContain("  also: number 6\n  … and 5 more; `-o json` lists each\n\n12 warnings\n");
});

test("165 secrets without values take ten lines at 80 columns", () => {
  const secrets = Array.from({ length: 165 }, (_, at) => unset(`token-${at}`, at + 1));
  expect(wrapText(diagnosticsText(secrets, plain), 80).split("\n").length).toBeLessThanOrEqual(10);
});

test("the violations of a rule share its text", () => {
  const rule = { name: "tags", severity: "cost", at: { file: "rules.yaml", line: 1, column: 1 } };
  const violations = [..."abcdefgh"].map((name) =>
    error("GUARD_RULE", `clusters.${name}: set the tag`, { address: addressOf("clusters", name), rule }),
  );
  expect(diagnosticTexts(violations, plain)).toEqual([
    "error GUARD_RULE: clusters.a: set the tag\n  rule tags (cost) at rules.yaml:1:1\n  also clusters.b, clusters.c, clusters.d, and 4 more; `-o json` lists each\n",
  ]);
});

test("a few warnings with one code, and errors without a rule, are each whole", () => {
  const few = diagnosticsText(["A", "B"].map(unset), plain);
  expect(few.match(/hint: /g)).toHaveLength(2);
  const errors = diagnosticsText(
    Array.from({ length: 5 }, () => error("SPEC_YAML", "no map", { hint: "x" })),
    plain,
  );
  expect(errors.match(/hint: /g)).toHaveLength(5);
});
