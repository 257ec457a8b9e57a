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
