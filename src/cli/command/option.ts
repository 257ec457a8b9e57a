// Options as data: one declaration defines the parser, the help, the completion, and the type of the value. Every wrong value is reported at once.

import { type Diagnostic, error, failureOf } from "../../core/diagnostic.ts";
import { parseDuration } from "../../core/duration.ts";
import { type Filter, rowFilter } from "../../report/view/choice.ts";

/** Reports a value that is not valid; `why` completes `--flag cannot be "text": …`. */
type RefuseValue = (text: string, why: string) => void;

export interface OptionSpec<T> {
  readonly flags: string;
  readonly description: string;
  /** The heading in the help; `Options` without one. */
  readonly group?: string;
  readonly choices?: readonly string[];
  /** Whether the empty string is a valid value. */
  readonly mayBeEmpty?: true;
  /** Reads the value from the given strings, in their order; a flag has an empty string for each occurrence. */
  parse(texts: readonly string[], refuse: RefuseValue): T;
}

export type Options = Readonly<Record<string, OptionSpec<unknown>>>;

export type ValuesOf<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends OptionSpec<infer T> ? T : never;
};

export function flagOption(flags: string, description: string): OptionSpec<boolean> {
  return { flags, description, parse: (texts) => texts.length > 0 };
}

export function textOption(flags: string, description: string): OptionSpec<string | undefined> {
  return { flags, description, parse: (texts) => texts.at(-1) };
}

/** A file or folder to write. `-` is standard output if that is the default; otherwise it is refused. */
export function outOption(
  flags: string,
  description: string,
  dash: "is stdout" | "is refused" = "is stdout",
): OptionSpec<string | undefined> {
  return {
    flags,
    description,
    parse(texts, refuse) {
      const last = texts.at(-1);
      if (last !== "-") return last;
      if (dash === "is refused") refuse(last, "name a file; standard output is not supported");
      return undefined;
    },
  };
}

export function textsOption(flags: string, description: string): OptionSpec<readonly string[]> {
  return { flags, description, parse: (texts) => texts };
}

/** Filters of `--show` and `--hide`. */
export function filtersOption(
  flags: string,
  description: string,
  words?: Parameters<typeof rowFilter>[2],
): OptionSpec<readonly Filter[]> {
  return {
    flags,
    description,
    parse: (texts, refuse) => texts.map((text) => rowFilter(text, (why) => refuse(text, why), words)),
  };
}

/** Values that are passed on unchanged, so an empty one is a value. */
export function valuesOption(flags: string, description: string): OptionSpec<readonly string[]> {
  return { ...textsOption(flags, description), mayBeEmpty: true };
}

export function choiceOption<const C extends string>(
  flags: string,
  description: string,
  choices: readonly [C, ...C[]],
): OptionSpec<C> {
  const { parse, ...rest } = optionalChoiceOption(flags, description, choices);
  return { ...rest, parse: (texts, refuse) => parse(texts, refuse) ?? choices[0] };
}

/** A choice that may be left to something else, such as the environment. */
export function optionalChoiceOption<const C extends string>(
  flags: string,
  description: string,
  choices: readonly [C, ...C[]],
): OptionSpec<C | undefined> {
  return {
    flags,
    description: `${description}: ${choices.join(", ")}`,
    choices,
    parse: (texts, refuse) => texts.map((text) => chosen(text, choices, refuse)).at(-1),
  };
}

function chosen<C extends string>(
  text: string,
  choices: readonly C[],
  refuse: RefuseValue,
  shown = text,
): C | undefined {
  const choice = choices.find((choice) => choice === text);
  if (choice === undefined)
    refuse(shown, choices.length === 1 ? `use ${choices[0]}` : `use one of ${choices.join(", ")}`);
  return choice;
}

/** Of two formats only one would be written: neither is dropped without a word. */
export function oneFormat<T>(spec: OptionSpec<T>): OptionSpec<T> {
  return {
    ...spec,
    parse(texts, refuse) {
      const [first] = texts;
      for (const other of texts.filter((text) => text !== first))
        refuse(other, `the format is already ${first}; run the command once for each format`);
      return spec.parse(texts, refuse);
    },
  };
}

export interface OutputRequest<F> {
  readonly format: F;
  readonly file?: string;
}

/** `-o FORMAT[=FILE]`: at most one format without a file, and one format for each file. */
export function outputsOption<const F extends string>(
  formats: readonly F[],
): OptionSpec<readonly OutputRequest<F>[]> {
  return {
    flags: "-o, --output <format[=file]>",
    description: `output format, to standard output or to a file; repeatable: ${formats.join(", ")}`,
    choices: formats,
    parse: (texts, refuse) =>
      texts.reduce<readonly OutputRequest<F>[]>(
        (before, text) => withOutput(before, text, formats, refuse),
        [],
      ),
  };
}

function withOutput<F extends string>(
  before: readonly OutputRequest<F>[],
  text: string,
  formats: readonly F[],
  refuse: RefuseValue,
): readonly OutputRequest<F>[] {
  const [, name = "", said] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const file = said === "-" ? undefined : said;
  const format = chosen(name, formats, refuse, text);
  if (format === undefined) return before;
  if (file === "") {
    refuse(text, "the file name is empty");
    return before;
  }
  const other = before.find((earlier) => earlier.file === file);
  if (other === undefined) return [...before, { format, file }];
  if (other.format !== format)
    refuse(
      text,
      file === undefined
        ? `standard output already gets ${other.format}; write one format to a file: ${format}=FILE`
        : `${file} already gets ${other.format}; choose another file`,
    );
  return before;
}

export function integerOption(
  flags: string,
  description: string,
  least: number,
  most: number,
): OptionSpec<number | undefined> {
  return lastValueOption(flags, description, `an integer from ${least} to ${most}`, (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? number : undefined;
  });
}

export function durationOption(flags: string, description: string): OptionSpec<number | undefined> {
  return lastValueOption(flags, description, "a duration such as 30s, 5m, or 250ms", parseDuration);
}

function lastValueOption<T>(
  flags: string,
  description: string,
  expected: string,
  read: (text: string) => T | undefined,
): OptionSpec<T | undefined> {
  const checked = (text: string, refuse: RefuseValue): T | undefined => {
    const value = read(text);
    if (value === undefined) refuse(text, `use ${expected}`);
    return value;
  };
  return { flags, description, parse: (texts, refuse) => texts.map((text) => checked(text, refuse)).at(-1) };
}

/** The strings given for each option, by its attribute name (`varFile` for `--var-file`), in the order of the command line. */
export type RawOptions = Readonly<Record<string, readonly string[]>>;

/** `root`: the options before the command; `own`: those after it, which take precedence. */
export function optionValues<O extends Options>(
  spec: O,
  root: RawOptions,
  own: RawOptions,
): { readonly values: ValuesOf<O>; readonly problems: readonly Diagnostic[] } {
  const problems: Diagnostic[] = [];
  const values = Object.entries(spec).map(([name, option]) => {
    const attribute = attributeOf(option);
    const texts = [...(root[attribute] ?? []), ...(own[attribute] ?? [])];
    return [name, readOption(option, texts, problems)] as const;
  });
  return { values: Object.fromEntries(values) as ValuesOf<O>, problems };
}

function readOption(option: OptionSpec<unknown>, texts: readonly string[], problems: Diagnostic[]): unknown {
  const long = longOf(option);
  // `--state "$PLACE"` with an empty variable does not mean the default, so it must not become the default.
  const isEmpty = (text: string) => text === "" && option.flags.includes("<") && option.mayBeEmpty !== true;
  if (texts.some(isEmpty))
    problems.push(error("CLI_USAGE", `${long} is empty`, { hint: "to use the default, omit the option" }));
  return option.parse(
    texts.filter((text) => !isEmpty(text)),
    (text, why) => problems.push(error("CLI_USAGE", `${long} cannot be ${JSON.stringify(text)}: ${why}`)),
  );
}

export function longOf({ flags }: Pick<OptionSpec<unknown>, "flags">): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

/** `varFile` for `--var-file`; `noInput` for `--no-input`, which does not negate `--input`. */
function attributeOf(spec: Pick<OptionSpec<unknown>, "flags">): string {
  return longOf(spec)
    .slice(2)
    .replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Throws Failure with CLI_USAGE if one of `specs`, which have an effect only with `required`, is set. */
export function assertUnused(
  specs: Readonly<Record<string, Pick<OptionSpec<unknown>, "flags">>>,
  values: Readonly<Record<string, unknown>>,
  required: string,
): void {
  const isSet = (value: unknown): boolean =>
    Array.isArray(value) ? value.length > 0 : value === true || value === "json";
  const unused = Object.entries(specs).find(([name]) => isSet(values[name]));
  if (unused !== undefined) throw failureOf("CLI_USAGE", `${longOf(unused[1])} requires ${required}`);
}

/** The number of rows to list. Throws Failure with CLI_USAGE. */
export function listLimit(
  { all, limit }: { readonly all: boolean; readonly limit: number | undefined },
  ordinary: number,
): number {
  if (all && limit !== undefined) throw failureOf("CLI_USAGE", "--all and --limit cannot be used together");
  return all ? Number.POSITIVE_INFINITY : (limit ?? ordinary);
}

interface WaitValues {
  readonly wait: boolean;
  readonly timeout: number | undefined;
  readonly cancelOnInterrupt?: boolean;
}

/** Throws Failure with CLI_USAGE if an option is set that has no effect without --wait. */
export function assertWaits({ wait, timeout, cancelOnInterrupt = false }: WaitValues): void {
  if (!wait && timeout !== undefined) throw failureOf("CLI_USAGE", "--timeout requires --wait");
  if (!wait && cancelOnInterrupt) throw failureOf("CLI_USAGE", "--cancel-on-interrupt requires --wait");
}
