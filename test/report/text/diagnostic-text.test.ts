import { expect, test } from "vitest";
import { error, warning } from "../../../src/core/diagnostic.ts";
import { diagnosticsText } from "../../../src/report/text/diagnostic-text.ts";
import { colorsFor } from "../../../src/report/text/terminal.ts";

const unset = (name: string, line: number) =>
  warning("SPEC_SECRET_UNSET", `the value of secrets.a/${name} is unknown`, {
    at: { file: "workspace.yaml", line, column: 3, frame: `> ${line} | ${name}` },
    hint: `set ${name}`,
  });

test("of many warnings with one code, the first is whole and each other has a line beneath it", () => {
  const all = [
    unset("A", 1),
    error("SPEC_YAML", "no map"),
    ...["B", "C", "D"].map((name, at) => unset(name, at + 2)),
  ];
  expect(
    diagnosticsText(all, colorsFor(false)),
  ).toBe(`warning SPEC_SECRET_UNSET: the value of secrets.a/A is unknown
  at workspace.yaml:1:3
  > 1 | A
  hint: set A
  also at workspace.yaml:2:3: the value of secrets.a/B is unknown
  also at workspace.yaml:3:3: the value of secrets.a/C is unknown
  also at workspace.yaml:4:3: the value of secrets.a/D is unknown

error SPEC_YAML: no map

1 error, 4 warnings
`);
});

test("a few warnings with one code, and errors, are each whole", () => {
  const few = diagnosticsText(["A", "B", "C"].map(unset), colorsFor(false));
  expect(few.match(/hint: /g)).toHaveLength(3);
  const errors = diagnosticsText(
    Array.from({ length: 5 }, () => error("SPEC_YAML", "no map", { hint: "x" })),
    colorsFor(false),
  );
  expect(errors.match(/hint: /g)).toHaveLength(5);
});
