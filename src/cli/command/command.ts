// A command: its name, summary, options, and arguments as data, and the function that runs it.

import type { CommandContext } from "../../config/environment.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { RunInfo } from "../../report/text/run-info.ts";
import type { Invocation } from "../../workflow/invocation/invocation.ts";
import { EXIT } from "./exit-codes.ts";
import type { Options, ValuesOf } from "./option.ts";
import type { OutputSchema } from "./output-schemas.ts";

/** A command gets the streams of the process and what the invocation works on. */
export interface ConsoleContext extends CommandContext, Invocation {}

export type RunOrigin = Omit<RunInfo, "host" | "partial" | "modes">;

/** Writes what ended a run in the form that was asked for; nothing where stderr has said it all. */
export type FailureDocument = (
  context: ConsoleContext,
  form: string,
  diagnostics: readonly Diagnostic[],
  /** Absent for a run that ended before its options were understood. */
  origin?: RunOrigin,
) => Promise<void>;

/** A positional argument, as commander writes it: `<address>`, `[planfile]`, `[names...]`. */
interface ArgumentSpec {
  readonly name: string;
  readonly description: string;
  /** Completion of the value: managed addresses, or these words. */
  readonly takes?: "address" | readonly string[];
}

interface Titled {
  readonly name: string;
  /** A lowercase imperative phrase without a period. */
  readonly summary: string;
}

/** A command as its file defines it, if `cli/commands.ts` has its title: help lists titles without loading a file. */
export type Untitled<C extends Titled> = Omit<C, keyof Titled> & { readonly [Key in keyof Titled]?: never };

interface Described {
  readonly notes?: string;
  /** Of commands with `-o json`: the name of its schema in `schemas/`. */
  readonly jsonSchema?: OutputSchema;
}

export interface Command extends Titled, Described {
  readonly options: Options;
  readonly args: readonly ArgumentSpec[];
  /** Commands under this one's name: `drift acknowledge`. */
  readonly below?: readonly Command[];
  /** Help that depends on the arguments; shown before the command's own. */
  moreHelp?(args: readonly string[]): Promise<string>;
  /** For commands with machine-readable formats: the output of a run that ended before its answer. */
  readonly failureDocument?: FailureDocument;
  run(
    context: ConsoleContext,
    options: Readonly<Record<string, unknown>>,
    args: readonly string[],
  ): Promise<number>;
}

interface Definition<O extends Options> extends Partial<Omit<Command, "options" | "run" | keyof Titled>> {
  readonly options: O;
  /** The exit code, unless it is 0. */
  run(
    context: ConsoleContext,
    options: ValuesOf<O>,
    args: readonly string[],
  ): Promise<number> | Promise<void>;
}

/** The parser fills exactly the declared options, so `run` may count on their types. */
export function defineCommand<const O extends Options>(definition: Titled & Definition<O>): Command;
export function defineCommand<const O extends Options>(definition: Definition<O>): Untitled<Command>;
export function defineCommand<const O extends Options>(
  definition: Definition<O>,
): Omit<Command, keyof Titled> {
  return {
    args: [],
    ...definition,
    async run(context, options, args) {
      const code = await definition.run(context, options as ValuesOf<O>, args);
      return typeof code === "number" ? code : EXIT.ok;
    },
  };
}

export interface CommandGroup extends Titled, Described {
  readonly commands: readonly Command[];
}

export function commandsBelow(loaded: Command | CommandGroup): readonly Command[] {
  return "commands" in loaded ? loaded.commands : (loaded.below ?? []);
}

export interface CommandEntry extends Titled {
  readonly group: string;
  load(): Promise<Command | CommandGroup>;
}
