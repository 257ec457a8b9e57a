// The help: each command has examples, each example is a command line of the program, and what it refers to exists.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandsBelow } from "../../../src/cli/command/command.ts";
import { HELP_TEXTS, helpText } from "../../../src/cli/command/help.ts";
import { optionValues } from "../../../src/cli/command/option.ts";
import { buildProgram, parseArguments } from "../../../src/cli/command/parser.ts";
import { COMMANDS } from "../../../src/cli/commands.ts";

const ROOT = join(import.meta.dirname, "../../..");

async function titles(): Promise<readonly string[]> {
  const below = await Promise.all(
    COMMANDS.map(async ({ name, load }) => [
      `workspace ${name}`,
      ...commandsBelow(await load()).map((one) => `workspace ${name} ${one.name}`),
    ]),
  );
  return ["workspace", ...below.flat()];
}

async function problemsOf(line: string): Promise<readonly string[]> {
  const words = (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ""));
  const given = words.slice(1).filter((word) => !word.startsWith("<"));
  const called = await parseArguments(buildProgram(COMMANDS), given);
  const { command } = called;
  if (command === undefined || "commands" in command) return [`${line} names no command`];
  const { problems } = optionValues(command.options, called.root, called.own);
  return [...called.problems, ...problems].map(({ message }) => `${line}: ${message}`);
}

test("every command has examples and related commands", async () => {
  expect(Object.keys(HELP_TEXTS).sort()).toEqual([...(await titles())].sort());
  for (const { examples, seeAlso } of Object.values(HELP_TEXTS))
    expect([examples.length, seeAlso.length]).not.toContain(0);
});

test("every example is a command line that the program accepts", async () => {
  const lines = Object.values(HELP_TEXTS).flatMap(({ examples }) => examples.map(([line]) => line));
  expect((await Promise.all(lines.map(problemsOf))).flat()).toEqual([]);
});

test("every related command and page exists", async () => {
  const known = new Set(await titles());
  const missing = Object.values(HELP_TEXTS)
    .flatMap(({ seeAlso }) => seeAlso)
    .filter((one) => {
      if (one.startsWith("docs/")) return !existsSync(join(ROOT, one));
      return !known.has(one.replace(/ (--?|[A-Z]).*$/, ""));
    });
  expect(missing).toEqual([]);
});

test("the help of a command has its summary, usage, options by group, examples, and related commands in this order", async () => {
  const { parser } = await parseArguments(buildProgram(COMMANDS), ["apply", "--help"]);
  const headings = helpText(parser, 100).match(/^[A-Z][\w ]*:/gm);
  expect(headings).toEqual([
    "Usage:",
    "Arguments:",
    "Options:",
    "Spec:",
    "Workspace:",
    "State:",
    "Output:",
    "Approval:",
    "Exit codes:",
    "Examples:",
    "See also:",
  ]);
});

test.each([
  ["drift acknowledge", ["such as 5d (required)", "each report (required)"]],
  ["clusters resize", ["--workers, or both --min and --max: one of them is required"]],
  ["runs get", ["required without --job"]],
  ["runs cancel", ["required without --job"]],
  ["login", ["required unless the profile or WORKSPACE_HOST names it"]],
  ["explain", ["required by --output"]],
  ["fleet apply", ["apply without approval; required"]],
  ["fleet cancel", ["required without names and without --select"]],
] as const)("the help of %s says what is required", async (line, phrases) => {
  const { parser } = await parseArguments(buildProgram(COMMANDS), [...line.split(" "), "--help"]);
  const text = helpText(parser, 100).replace(/\s+/g, " ");
  for (const phrase of phrases) expect(text).toContain(phrase);
});
