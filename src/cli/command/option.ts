// Options as data: one declaration gives the parser, the help, the completion and the type of the value.

import { InvalidArgumentError } from "commander";

export interface OptionSpec<T> {
  /** As commander writes them: `-f, --file <path>`. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly repeats?: true;
  /** Whether "" is a value as others are. */
  readonly mayBeEmpty?: true;
  readonly initial: T;
  readonly parse?: (text: string) => T;
  /** For options that repeat: the value with one more text. The default collects the texts. */
  gather?(text: string, before: T | undefined): T;
}

export type Options = Readonly<Record<string, OptionSpec<unknown>>>;

/** The values of declared options, by the name of their declaration. */
export type ValuesOf<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends OptionSpec<infer T> ? T : never;
};

export function flag(flags: string, description: string): OptionSpec<boolean> {
  return { flags, description, initial: false };
}

export function text(flags: string, description: string): OptionSpec<string | undefined> {
  return { flags, description, initial: undefined };
}

export function texts(flags: string, description: string): OptionSpec<readonly string[]> {
  return { flags, description, initial: [], repeats: true };
}

/** Values that are handed on as they are, so an empty one is a value. */
export function values(flags: string, description: string): OptionSpec<readonly string[]> {
  return { ...texts(flags, description), mayBeEmpty: true };
}

export function choice<const C extends string>(
  flags: string,
  description: string,
  choices: readonly [C, ...C[]],
): OptionSpec<C> {
  const parse = (given: string): C => {
    const found = choices.find((one) => one === given);
    if (found === undefined) throw new InvalidArgumentError(`Allowed are ${choices.join(", ")}.`);
    return found;
  };
  return { flags, description: `${description}: ${choices.join(", ")}`, choices, initial: choices[0], parse };
}

/** A choice that may be left to something else, such as the environment. */
export function choiceIfGiven<const C extends string>(
  flags: string,
  description: string,
  choices: readonly [C, ...C[]],
): OptionSpec<C | undefined> {
  return { ...choice(flags, description, choices), initial: undefined };
}

/** One report: on standard output, or in a file. */
export interface OutputWish<F> {
  readonly format: F;
  readonly file?: string;
}

/** `-o FORMAT[=FILE]`: at most one format without a file, and one format for each file. */
export function outputs<const F extends string>(formats: readonly F[]): OptionSpec<readonly OutputWish<F>[]> {
  const gather = (given: string, before: readonly OutputWish<F>[] = []): readonly OutputWish<F>[] => {
    const [, name = "", file] = /^([^=]*)(?:=(.*))?$/s.exec(given) ?? [];
    const format = formats.find((one) => one === name);
    if (format === undefined) throw new InvalidArgumentError(`Allowed are ${formats.join(", ")}.`);
    if (file === "") throw new InvalidArgumentError("The file has no name.");
    const other = before.find((one) => one.file === file);
    if (other !== undefined && other.format !== format)
      throw new InvalidArgumentError(
        file === undefined
          ? `Standard output is ${other.format} already; write one of them to a file: ${format}=FILE.`
          : `${file} is ${other.format} already; name another file.`,
      );
    return other === undefined ? [...before, { format, ...(file === undefined ? {} : { file }) }] : before;
  };
  return {
    flags: "-o, --output <format[=file]>",
    description: `output format, to standard output or to a file; repeatable: ${formats.join(", ")}`,
    choices: formats,
    repeats: true,
    initial: [],
    gather,
  };
}

export function whole(
  flags: string,
  description: string,
  least: number,
  most: number,
): OptionSpec<number | undefined> {
  const parse = (given: string): number => {
    const number = /^\d+$/.test(given) ? Number(given) : Number.NaN;
    if (!(number >= least && number <= most))
      throw new InvalidArgumentError(`A whole number from ${least} to ${most}.`);
    return number;
  };
  return { flags, description, initial: undefined, parse };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `30`, `30s`, `5m`, `250ms`; undefined when the text is none of these. */
export function milliseconds(given: string): number | undefined {
  const [, number, unit] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h)?$/.exec(given) ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit ?? "s"] ?? 1000);
}

export function time(flags: string, description: string): OptionSpec<number | undefined> {
  const parse = (given: string): number => {
    const ms = milliseconds(given);
    if (ms === undefined) throw new InvalidArgumentError("A time such as 30s, 5m or 250ms.");
    return ms;
  };
  return { flags, description, initial: undefined, parse };
}
