// Turns arguments into the options of one command; what does not fit becomes a diagnostic with a suggestion.

import { CommanderError, InvalidArgumentError, Option, Command as Parser } from "commander";
import { error, Failure } from "../core/diagnostic.ts";
import type { Command } from "./command.ts";
import type { OptionSpec } from "./option.ts";
import { ASK_OPTIONS, HOST_OPTIONS, SPEC_OPTIONS, STATE_OPTIONS } from "./options.ts";

export type Parsed =
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
  if (spec.repeats === true)
    option.argParser((text: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      filled(text, spec),
    ]);
  else if (option.required) option.argParser((text: string) => read(filled(text, spec)));
  return option;
}

/** `--state "$PLACE"` where the variable is empty means something else than the default: nobody should get that instead. */
function filled(text: string, { mayBeEmpty }: OptionSpec<unknown>): string {
  if (text === "" && mayBeEmpty !== true)
    throw new InvalidArgumentError("It is empty; leave the option out to get the default.");
  return text;
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
