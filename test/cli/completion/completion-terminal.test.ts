// Names of a spec and a state are data: TAB inserts them as one word, in real shells, and nothing of them is executed.

import { describe, test } from "vitest";
import { SHELLS, type Shell } from "../../../src/cli/commands/completion.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";
import { isInstalled, type Pressing, pressTab } from "./completion-terminal.ts";

const NAMES = [
  "$(touch${IFS}X)",
  "`touch X`",
  "a$(touch X)b",
  "a;touch X;b",
  "a|touch X&",
  "a>X",
  "it's",
  'say "X"',
  "two words",
  " led by a space",
  "-rf",
  "--output=json",
  "*",
  "?[a-z]*",
  "~",
  "~root/x",
  "{a,b}",
  "!!",
  "a!b",
  "#a",
  "a\\nb",
  "a\\$(touch X)",
  "${HOME}",
  "=ls",
  "<(touch X)",
  "@a:b=c",
  "ünï",
];

async function scriptOf(shell: Shell): Promise<string> {
  const context = contextWith();
  await runProgram(context, ["completion", shell]);
  return context.out();
}

// A test waits for its terminal most of the time, so they run side by side.
describe.concurrent.each(SHELLS)("completion in %s", (shell) => {
  const runs = isInstalled("zsh") && isInstalled(shell);

  test.runIf(runs)(
    "inserts a recorded address as one word and executes nothing of it",
    async ({ expect }) => {
      const pressing = NAMES.map((name) => ({
        typed: "workspace state show jobs",
        addresses: `jobs.${name}\n`,
      }));
      const pressed = await pressTab(shell, await scriptOf(shell), pressing);
      expect(pressed).toEqual(
        NAMES.map((name) => ({ args: ["state", "show", `jobs.${name}`], appeared: [] })),
      );
    },
    60_000,
  );

  test.runIf(runs)(
    "inserts a target of the spec as one word and executes nothing of it",
    async ({ expect }) => {
      // Names that need an escape in YAML, and those that fish would take for a home folder, are not offered.
      const skipped = shell === "fish" ? /["\\\\]|^~/ : /["\\\\]/;
      const names = NAMES.filter((name) => !skipped.test(name));
      const pressing = names.map(
        (name): Pressing => ({
          typed: "workspace plan -t ",
          spec: `targets:\n  "${name}": {}\npools: {}\n`,
        }),
      );
      const pressed = await pressTab(shell, await scriptOf(shell), pressing);
      expect(pressed).toEqual(names.map((name) => ({ args: ["plan", "-t", name], appeared: [] })));
    },
    60_000,
  );
});
