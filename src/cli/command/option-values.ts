// Reads the values of the declared options from the command line, and reports every wrong value at once.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { OptionSpec, Options, ValuesOf } from "./option.ts";

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
    const given = [...(root[attribute] ?? []), ...(own[attribute] ?? [])];
    return [name, readOption(option, given, problems)] as const;
  });
  return { values: Object.fromEntries(values) as ValuesOf<O>, problems };
}

function readOption(option: OptionSpec<unknown>, given: readonly string[], problems: Diagnostic[]): unknown {
  const long = longOf(option);
  // `--state "$PLACE"` with an empty variable does not mean the default, so it must not become the default.
  const isEmpty = (text: string) => text === "" && takesValue(option) && option.mayBeEmpty !== true;
  if (given.some(isEmpty))
    problems.push(error("CLI_USAGE", `${long} is empty`, { hint: "to use the default, omit the option" }));
  return option.parse(
    given.filter((text) => !isEmpty(text)),
    (text, why) => problems.push(error("CLI_USAGE", `${long} cannot be ${JSON.stringify(text)}: ${why}`)),
  );
}

export function longOf({ flags }: Pick<OptionSpec<unknown>, "flags">): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

/** `varFile` for `--var-file`; `noInput` for `--no-input`, which does not negate `--input`. */
export function attributeOf(spec: Pick<OptionSpec<unknown>, "flags">): string {
  return longOf(spec)
    .slice(2)
    .replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function takesValue({ flags }: Pick<OptionSpec<unknown>, "flags">): boolean {
  return flags.includes("<");
}
