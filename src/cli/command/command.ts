// What a command is: a name, a summary, its options and arguments as data, and what it does.

import type { Context } from "../../config/environment.ts";
import type { ReportEnding } from "../output/failure-documents.ts";
import type { Options, ValuesOf } from "./option.ts";

/** A positional argument, as commander writes it: `<address>`, `[planfile]`, `[names...]`. */
export interface ArgumentSpec {
  readonly name: string;
  readonly description: string;
  /** What a shell offers for it: what the state manages, or these words. */
  readonly takes?: "address" | readonly string[];
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Shown under the options in its help. */
  readonly notes?: string;
  readonly options: Options;
  readonly args: readonly ArgumentSpec[];
  /** Commands under this one's name: `drift acknowledge`. */
  readonly below?: readonly Command[];
  /** Help that depends on the arguments; shown before the command's own. */
  moreHelp?(args: readonly string[]): Promise<string>;
  /** For commands with forms for machines: what their reader gets where the run ended before its answer. */
  readonly ending?: ReportEnding;
  /** Gives the exit code. */
  run(context: Context, options: Readonly<Record<string, unknown>>, args: readonly string[]): Promise<number>;
}

interface Definition<O extends Options> {
  readonly name: string;
  readonly summary: string;
  readonly notes?: string;
  readonly options: O;
  readonly args?: readonly ArgumentSpec[];
  readonly below?: readonly Command[];
  readonly ending?: ReportEnding;
  moreHelp?(args: readonly string[]): Promise<string>;
  run(context: Context, options: ValuesOf<O>, args: readonly string[]): Promise<number>;
}

/** The parser fills exactly the declared options, so `run` may count on their types. */
export function defineCommand<const O extends Options>(definition: Definition<O>): Command {
  return {
    args: [],
    ...definition,
    run: (context, options, args) => definition.run(context, options as ValuesOf<O>, args),
  };
}

/** Commands under one word: `state list`, `state rm`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
}
