// Finds the command that the arguments name, runs it, and turns whatever ends it into text and an exit code.

import { error, Failure } from "../core/diagnostic.ts";
import type { Command, CommandGroup } from "./command.ts";
import { COMMANDS, type Listed } from "./commands.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit.ts";
import { groupHelp, programHelp } from "./help.ts";
import { nearestHint } from "./nearest.ts";
import { parse } from "./parse.ts";
import { diagnosticsOf, troubled } from "./trouble.ts";

/** Runs to the end, or to the moment a signal ends it; the exit code. Never throws. */
export async function runProgram(context: Context, argv: readonly string[]): Promise<number> {
  const work = dispatch(context, argv).catch((problem: unknown) => troubled(context, problem));
  const code = await Promise.race([work, context.signals.ended]);
  return context.signals.exitCode ?? code;
}

async function dispatch(context: Context, argv: readonly string[]): Promise<number> {
  const { name, rest } = splitCommand(argv);
  if (name === undefined || name === "help") return overview(context, rest);
  const found = COMMANDS.find((one) => one.name === name);
  if (found === undefined) throw new Failure(unknownCommand(name, COMMANDS));
  const loaded = await found.load();
  if ("commands" in loaded) return runGroup(context, loaded, rest);
  return runCommand(context, loaded, `workspace ${name}`, rest);
}

function overview(context: Context, rest: readonly string[]): Promise<number> {
  const [asked] = rest.filter((one) => !one.startsWith("-"));
  if (asked !== undefined) return dispatch(context, [asked, "--help"]);
  const wanted = rest.some((one) => one === "--help" || one === "-h") || rest.length === 0;
  if (!wanted)
    throw new Failure(error("CLI_USAGE", `unknown option '${rest[0]}'`, { hint: "see: workspace --help" }));
  context.stdout.write(programHelp());
  return Promise.resolve(EXIT.ok);
}

async function runGroup(context: Context, group: CommandGroup, rest: readonly string[]): Promise<number> {
  const [name, ...others] = rest;
  if (name === undefined || name.startsWith("-")) {
    const asked = name === "--help" || name === "-h";
    (asked ? context.stdout : context.stderr).write(groupHelp(group));
    return asked ? EXIT.ok : EXIT.error;
  }
  const found = group.commands.find((one) => one.name === name);
  if (found === undefined) throw new Failure(unknownCommand(`${group.name} ${name}`, group.commands, name));
  return runCommand(context, found, `workspace ${group.name} ${name}`, others);
}

async function runCommand(
  context: Context,
  command: Command,
  title: string,
  argv: readonly string[],
): Promise<number> {
  try {
    const parsed = parse(command, title, argv, context.stdout.columns);
    if ("help" in parsed) return await help(context, command, argv, parsed.help);
    return await command.run(context, parsed.options, parsed.args);
  } catch (problem) {
    await command.ending?.(context, formIn(argv), diagnosticsOf(problem));
    throw problem;
  }
}

async function help(
  context: Context,
  command: Command,
  argv: readonly string[],
  text: string,
): Promise<number> {
  const words = argv.filter((word) => !word.startsWith("-"));
  if (command.moreHelp !== undefined && words.length > 0)
    context.stdout.write(`${await command.moreHelp(words)}\n`);
  context.stdout.write(text);
  return EXIT.ok;
}

/** The form that was asked for, also where the other words do not fit the command. */
function formIn(argv: readonly string[]): string {
  const at = argv.findLastIndex((word) => /^(-o|--output)/.test(word));
  const [, own] = /^(?:--output=|-o=?)(.+)$/.exec(argv[at] ?? "") ?? [];
  return own ?? argv[at + 1] ?? "";
}

function unknownCommand(shown: string, known: readonly Pick<Listed, "name">[], name = shown) {
  const names = known.map((one) => one.name);
  return error("CLI_USAGE", `there is no command "${shown}"`, {
    hint: nearestHint(name, names, "see: workspace --help"),
  });
}

/** Common options that take a value; they may stand before the command. */
const VALUED = new Set([
  "-f",
  "--file",
  "-t",
  "--target",
  "--var",
  "--var-file",
  "--host",
  "--profile",
  "--state",
  "-o",
  "--output",
  "--parallelism",
  "--only",
  "--lock-timeout",
]);

/** The command is the first word that is neither an option nor an option's value. What stands before it moves behind it. */
export function splitCommand(argv: readonly string[]): {
  readonly name: string | undefined;
  readonly rest: readonly string[];
} {
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (VALUED.has(word)) at += 1;
    else if (!word.startsWith("-"))
      return { name: word, rest: [...argv.slice(at + 1), ...argv.slice(0, at)] };
  }
  return { name: undefined, rest: argv };
}
