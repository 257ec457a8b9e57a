// Messages that show a part of a long text: a sensitive value in it is hidden also where its end is left out.

import { expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const VALUE = `CANARY-${"k9".repeat(200)}`;
test.each([
  ["the pattern of an include that leads out", `include: ["../${VALUE}/*.yaml"]`],
  ["the pattern of an include", `include: ["${VALUE}**x.yaml"]`],
  ["the pattern of a source folder", `notebooks: { /n: { source_dir: ., include: ["../${VALUE}*"] } }`],
  ["a string in place of a list", `groups: { g: { members: ${VALUE} } }`],
  ["an expression", `groups: { g: { members: ["\${f('${VALUE}')}"] } }`],
  ["a regular expression", `rules: [{ name: r, assert: "'a'.matches('(${VALUE}')" }]`],
])("validate shows no beginning of a sensitive value in %s", async (_, text) => {
  const folder = folderWith(`variables: { long: { type: string, sensitive: true } }\n${text}\n`);
  for (const form of ["text", "json", "sarif"]) {
    const context = contextWith({ WORKSPACE_VAR_long: VALUE }, folder);
    const code = await runProgram(context, ["validate", "-o", form]);
    const output = context.out() + context.err();
    const leak = /CANARY.*/.exec(output)?.[0];
    expect({ code, leak, isMasked: output.includes("(sensitive)…") }).toEqual({
      ...{ code: 1, leak: undefined, isMasked: true },
    });
  }
});
