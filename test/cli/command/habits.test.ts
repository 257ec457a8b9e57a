// Long options with one dash: which words become options, and which do not.

import { expect, test } from "vitest";
import { translateTerraformFlags } from "../../../src/cli/command/terraform-flags.ts";
import { planCommand } from "../../../src/cli/commands/plan.ts";

const FLAGS = [...Object.values(planCommand.options).map(({ flags }) => flags), "-h, --help"];

test.each([
  [
    ["-out", "x.plan"],
    ["--out", "x.plan"],
  ],
  [["-out=x.plan"], ["--out=x.plan"]],
  [
    ["-var", "a=1", "-var-file=v.yaml"],
    ["--var", "a=1", "--var-file=v.yaml"],
  ],
  [
    ["-destroy", "-help"],
    ["--destroy", "--help"],
  ],
  [
    ["-o", "json"],
    ["-o", "json"],
  ],
  [
    ["-ojson", "-tdev", "-fx.yaml"],
    ["-ojson", "-tdev", "-fx.yaml"],
  ],
  [
    ["--target=dev", "--target", "dev"],
    ["--target=dev", "--target", "dev"],
  ],
  [
    ["--out", "-destroy"],
    ["--out", "-destroy"],
  ],
  [
    ["--var", "-chdir=x"],
    ["--var", "-chdir=x"],
  ],
  [
    ["--", "-out", "-target=x"],
    ["--", "-out", "-target=x"],
  ],
  [["-unknown"], ["-unknown"]],
])("%j is read as %j", (given, read) => {
  expect(translateTerraformFlags(FLAGS, given, new Set())).toEqual({ words: read, problems: [] });
});

test.each([
  ["-target=pools.a", "--only ADDRESS"],
  ["-target", "--only ADDRESS"],
  ["-chdir=x", "--file DIR/workspace.yaml"],
  ["--json", "--output json"],
  ["-refresh-only", "workspace drift"],
])("%s is refused with a hint that names %s", (word, hint) => {
  expect(translateTerraformFlags(FLAGS, [word, "--adopt"], new Set())).toEqual({
    words: ["--adopt"],
    problems: [expect.objectContaining({ code: "CLI_USAGE", hint: expect.stringContaining(hint) })],
  });
});

test("the words after the name of a command do not change", () => {
  const given = ["-out", "plan", "plan", "-out", "x", "-chdir=y"];
  const read = ["--out", "plan", "plan", "-out", "x", "-chdir=y"];
  expect(translateTerraformFlags(FLAGS, given, new Set(["plan"]))).toEqual({ words: read, problems: [] });
});
