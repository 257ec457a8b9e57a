// The commander program: shared options are on the root, and the options of a command are added when it is used.

import { Command as CommanderCommand, CommanderError, Option, type ParseOptionsResult } from "commander";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { nearestHint, suggester } from "../../core/suggest.ts";
import { type Command, type CommandEntry, type CommandGroup, commandsBelow } from "./command.ts";
import { flagOption, longOf, type OptionSpec, type RawOptions } from "./option.ts";
import { PIPELINE_OPTIONS, ROOT_OPTIONS } from "./shared-options.ts";
import { commandHint, translateTerraformFlags } from "./terraform-flags.ts";

const HELP = flagOption("-h, --help", "show help");
const VERSION = flagOption("-V, --version", "show the version");

/** The command that the arguments name, and its strings. */
export interface ParsedCommand {
  /** Absent for the program itself. */
  readonly command: Command | CommandGroup | undefined;
  readonly parser: Parser;
  /** The options before the command, and after it. */
  readonly root: RawOptions;
  readonly own: RawOptions;
  readonly args: readonly string[];
  /** What does not fit, except for the values of options. */
  readonly problems: readonly Diagnostic[];
}

export class Parser extends CommanderCommand {
  /** Absent for the program itself, and for a command whose file is not loaded. */
  definition: Command | CommandGroup | undefined;
  unknown: readonly string[] = [];
  terraformFlags: readonly Diagnostic[] = [];
  /** Of the root: the command that the arguments name. */
  active: Parser = this;

  get path(): readonly Parser[] {
    return this.parent === null ? [this] : [...(this.parent as Parser).path, this];
  }

  /** `workspace state rm`. */
  get title(): string {
    return this.path.map((parser) => parser.name()).join(" ");
  }

  override createCommand(name?: string): Parser {
    return new Parser(name);
  }

  override parseOptions(argv: string[]): ParseOptionsResult {
    const [root = this] = this.path;
    root.active = this;
    const commands = new Set(this.commands.map((command) => command.name()));
    const flags = this.options.map((option) => option.flags);
    const { words, problems } = translateTerraformFlags(flags, argv, commands);
    this.terraformFlags = problems;
    const parsed = super.parseOptions([...words]);
    this.unknown = parsed.unknown;
    return parsed;
  }
}

export function buildProgram(entries: readonly CommandEntry[]): Parser {
  const program = new Parser("workspace")
    .summary("compare a YAML spec with a Databricks workspace, show an ordered plan, and apply it")
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    .enablePositionalOptions()
    .helpOption(false)
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() });
  addOptions(program, [...ROOT_OPTIONS, VERSION]);
  hideOptions(program, new Set(["--file", "--target", "--host", "--version", "--help"]));
  collectWords(program.usage("<command> [options]"));
  for (const { name, summary, group } of entries) program.command(name).summary(summary).helpGroup(group);
  collectWords(program.command("help", { hidden: true }));
  program.hook("preSubcommand", async (_program, named) => {
    const entry = entries.find(({ name }) => name === named.name());
    if (entry !== undefined) define(named as Parser, await entry.load());
  });
  return program;
}

function define(parser: Parser, loaded: Command | CommandGroup): void {
  parser.definition = loaded;
  parser.summary(loaded.summary);
  for (const command of commandsBelow(loaded)) define(parser.command(command.name) as Parser, command);
  if ("commands" in loaded) {
    addOptions(parser, ROOT_OPTIONS);
    hideOptions(parser, new Set(["--help"]));
    collectWords(parser.usage("<command> [options]"));
    return;
  }
  const specs = Object.values(loaded.options);
  addOptions(parser, [...specs.filter(isOwn), ...specs.filter((spec) => !isOwn(spec))]);
  const own = new Set(parser.options.map((option) => option.long));
  for (const spec of PIPELINE_OPTIONS)
    if (isPipelineCommand(loaded) && !own.has(longOf(spec))) parser.addOption(optionOf(spec).hideHelp());
  for (const argument of loaded.args) parser.argument(argument.name, argument.description);
  // Which options are unknown is checked later, with everything else.
  parser
    .allowUnknownOption()
    .allowExcessArguments(false)
    .action(() => undefined);
}

/** Options of a group are listed after those of the command itself. */
const isOwn = ({ group }: OptionSpec<unknown>): boolean => group === undefined;

/** One list of options serves every command of a pipeline: a command accepts and ignores the ones that it does not use. */
function isPipelineCommand({ options }: Command): boolean {
  return "file" in options || "profile" in options;
}

function collectWords(parser: Parser): void {
  parser
    .allowUnknownOption()
    .argument("[words...]")
    .action(() => undefined);
}

function hideOptions(parser: Parser, shown: ReadonlySet<string>): void {
  for (const option of parser.options) option.helpGroup("Options:").hideHelp(!shown.has(option.long ?? ""));
}

function addOptions(parser: Parser, specs: readonly OptionSpec<unknown>[]): void {
  for (const spec of [...specs, HELP]) parser.addOption(optionOf(spec));
}

function optionOf(spec: OptionSpec<unknown>): Option {
  const option = new Option(spec.flags, spec.description);
  // `--no-input` is not the negative of an option `--input`.
  option.negate = false;
  if (spec.group !== undefined) option.helpGroup(`${spec.group}:`);
  return option.argParser((text: string | undefined, before: readonly string[] = []) => [
    ...before,
    text ?? "",
  ]);
}

/** Returns all that does not fit, instead of throwing. */
export async function parseArguments(program: Parser, argv: readonly string[]): Promise<ParsedCommand> {
  const problems: Diagnostic[] = [];
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (problem) {
    if (!(problem instanceof CommanderError)) throw problem;
    problems.push(error("CLI_USAGE", messageOf(problem, program.active)));
  }
  const { active } = program;
  if (active.title === "workspace help") return parseArguments(program, [...active.args, "--help"]);
  const root = optionsBefore(active);
  const unknown = [
    ...active.path.flatMap((parser) => parser.terraformFlags),
    ...unknownOptions(active, root),
  ];
  const strange = unknownCommand(active);
  return {
    command: active.definition,
    parser: active,
    root,
    own: active.opts<RawOptions>(),
    args: active.args,
    // After an unknown option it is not known which words are arguments.
    problems: strange.length > 0 ? strange : unknown.length > 0 ? unknown : problems,
  };
}

function messageOf({ code, message }: CommanderError, { args, registeredArguments }: Parser): string {
  switch (code) {
    case "commander.excessArguments":
      return `unexpected argument ${JSON.stringify(args[registeredArguments.length])}`;
    case "commander.optionMissingArgument":
      return `${/--[\w-]+/.exec(message)?.[0]} needs a value`;
    default:
      return message.replace(/^error: |\.$/g, "");
  }
}

function optionsBefore({ path }: Parser): RawOptions {
  const merged: Record<string, readonly string[]> = {};
  for (const parser of path.slice(0, -1))
    for (const [name, texts] of Object.entries(parser.opts<RawOptions>()))
      merged[name] = [...(merged[name] ?? []), ...texts];
  return merged;
}

function unknownOptions(active: Parser, root: RawOptions): readonly Diagnostic[] {
  const unused = active.path
    .slice(0, -1)
    .flatMap(({ options }) => options)
    .filter((option) => root[option.attributeName()] !== undefined)
    .flatMap(({ long }) => (active.options.some((option) => option.long === long) ? [] : [long ?? ""]));
  const words = active.unknown.filter((word) => /^-./.test(word)).map((word) => word.replace(/=.*$/s, ""));
  const options = active.options.flatMap(({ long, hidden }) => (long === undefined || hidden ? [] : [long]));
  return [...new Set([...unused, ...words])].map((word) => {
    const near = word.startsWith("--") ? suggester()(word, options, "words") : undefined;
    const hint = near === undefined ? adviceFor(active, word) : { hint: `did you mean ${near}?` };
    return error("CLI_USAGE", `unknown option '${word}'`, hint);
  });
}

/** An option that only one command has, before that command. */
function adviceFor({ title, commands, unknown }: Parser, word: string): { readonly hint?: string } {
  const named = unknown.find((text) => commands.some((command) => command.name() === text));
  return { hint: named && `write it after the command: \`${title} ${named} ${word}\`` };
}

function unknownCommand(active: Parser): readonly Diagnostic[] {
  const { definition, args } = active;
  const [name] = args;
  if ((definition !== undefined && !("commands" in definition)) || name === undefined || name.startsWith("-"))
    return [];
  const shown = [...active.path.slice(1).map((parser) => parser.name()), name].join(" ");
  const names = active.commands.map((command) => command.name()).filter((text) => text !== "help");
  const hint = commandHint(name) ?? nearestHint(name, names, `run \`${active.title} --help\``, "words");
  return [error("CLI_USAGE", `unknown command "${shown}"`, { hint })];
}
