// Finds the command that the arguments name, runs it, and turns whatever ends it into text and an exit code.
// Turns arguments into the options of one command; what does not fit becomes a diagnostic with a suggestion.

import { CommanderError, InvalidArgumentError, Option, Command as Parser } from "commander";
import type { Context } from "../config/environment.ts";
import { error, Failure } from "../core/diagnostic.ts";
import { nearestHint } from "../core/suggest.ts";
import type { Command, CommandGroup } from "./command/command.ts";
import { EXIT } from "./command/exit-codes.ts";
import { commandHabit, withoutHabits } from "./command/habits.ts";
import type { OptionSpec } from "./command/option.ts";
import { ASK_OPTIONS, HOST_OPTIONS, SPEC_OPTIONS, STATE_OPTIONS } from "./command/shared-options.ts";
import { COMMANDS, type Listed } from "./commands.ts";
import { groupHelp, programHelp } from "./help.ts";
import { diagnosticsOf, troubled } from "./output/diagnostics.ts";

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
  const below = loaded.below?.find((one) => one.name === rest[0]);
  if (below !== undefined)
    return runCommand(context, below, `workspace ${name} ${below.name}`, rest.slice(1));
  return runCommand(context, loaded, `workspace ${name}`, rest);
}

function overview(context: Context, rest: readonly string[]): Promise<number> {
  const [asked] = rest.filter((one) => !one.startsWith("-"));
  if (asked !== undefined) return dispatch(context, [asked, "--help"]);
  const wanted = rest.some((one) => /^(-h|--?help)$/.test(one)) || rest.length === 0;
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
    const parsed = parse(command, title, withoutHabits(command, argv), context.stdout.columns);
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

/** The form that standard output was asked for in, also where the other words do not fit the command. */
function formIn(argv: readonly string[]): string {
  const forms = argv.flatMap((word, at) => {
    if (!/^(-o|--output)/.test(word)) return [];
    const [, own] = /^(?:--output=|-o=?)(.+)$/.exec(word) ?? [];
    return [own ?? argv[at + 1] ?? ""];
  });
  return forms.findLast((form) => !form.includes("=")) ?? "";
}

function unknownCommand(shown: string, known: readonly Pick<Listed, "name">[], name = shown) {
  const names = known.map((one) => one.name);
  return error("CLI_USAGE", `there is no command "${shown}"`, {
    hint: commandHabit(name) ?? nearestHint(name, names, "see: workspace --help"),
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

type Parsed =
  | { readonly help: string }
  | { readonly options: Readonly<Record<string, unknown>>; readonly args: readonly string[] };

/** Throws Failure with CLI_USAGE. */
export function parse(command: Command, title: string, argv: readonly string[], columns: number): Parsed {
  const parser = parserOf(command, title, columns);
  try {
    parser.parse([...argv], { from: "user" });
  } catch (problem) {
    if (!(problem instanceof CommanderError)) throw problem;
    if (problem.code === "commander.helpDisplayed")
      return { help: withNotes(parser.helpInformation(), command) };
    throw new Failure(usage(problem.message, title));
  }
  const found = parser.opts<Record<string, unknown>>();
  const options = Object.entries(command.options).map(
    ([name, spec]) => [name, found[attributeOf(spec)] ?? spec.initial] as const,
  );
  return { options: Object.fromEntries(options), args: parser.args };
}

function parserOf(command: Command, title: string, columns: number): Parser {
  const parser = new Parser(title)
    .description(command.summary)
    .exitOverride()
    .configureOutput({
      writeOut: () => undefined,
      writeErr: () => undefined,
      getOutHelpWidth: () => Math.min(columns, 110),
    })
    .helpOption("-h, --help", "show this help")
    .allowExcessArguments(false);
  for (const one of command.args) parser.argument(one.name, one.description);
  for (const spec of Object.values(command.options)) parser.addOption(optionOf(spec));
  for (const spec of unusedBy(command)) parser.addOption(optionOf(spec).hideHelp());
  return parser;
}

/** One list of options serves every command of a pipeline: what a command has no use for, it accepts. What narrows or
 * shapes the answer (`--only`, `--output`) is refused where it would not be heeded. */
function unusedBy(command: Command): readonly OptionSpec<unknown>[] {
  if (!("file" in command.options || "profile" in command.options)) return [];
  const common = { ...SPEC_OPTIONS, ...HOST_OPTIONS, ...STATE_OPTIONS, ...ASK_OPTIONS };
  return Object.entries(common).flatMap(([name, spec]) => (name in command.options ? [] : [spec]));
}

function withNotes(help: string, { notes }: Command): string {
  return notes === undefined ? help : `${help}\n${notes}\n`;
}

function optionOf(spec: OptionSpec<unknown>): Option {
  const option = new Option(spec.flags, spec.description);
  // `--no-input` is an option of its own, not the negative of `--input`.
  option.negate = false;
  const { parse: read = (text) => text } = spec;
  if (spec.gather !== undefined)
    option.argParser((text: string, before: unknown) => spec.gather?.(filled(text, spec), before));
  else if (spec.repeats === true)
    option.argParser((text: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      filled(text, spec),
    ]);
  else if (option.required)
    option.argParser((text: string, before: unknown) => once(read(filled(text, spec)), before, spec));
  return option;
}

/** `--state "$PLACE"` where the variable is empty means something else than the default: nobody should get that instead. */
function filled(text: string, { mayBeEmpty }: OptionSpec<unknown>): string {
  if (text === "" && mayBeEmpty !== true)
    throw new InvalidArgumentError("It is empty; leave the option out to get the default.");
  return text;
}

/** Of two forms of output only one would be written: neither is dropped without a word. */
function once<T>(value: T, before: unknown, { flags }: OptionSpec<unknown>): T {
  if (before !== undefined && before !== value && flags.includes("--output"))
    throw new InvalidArgumentError(`It is ${before} already; run the command once for each form.`);
  return value;
}

function attributeOf(spec: OptionSpec<unknown>): string {
  const option = new Option(spec.flags);
  option.negate = false;
  return option.attributeName();
}

/** `error: unknown option '--targt'` and `(Did you mean --target?)` as a diagnostic. */
function usage(message: string, title: string) {
  const [what = "", ...rest] = message.replace(/^error: /, "").split("\n");
  const suggestion = /\(Did you mean (.*?)\?\)/.exec(rest.join(" "))?.[1];
  const hint = suggestion === undefined ? `see: ${title} --help` : `did you mean ${suggestion}?`;
  return error("CLI_USAGE", what.replace(/\.$/, ""), { hint });
}
