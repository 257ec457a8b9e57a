// The words of completion scripts as data, and the parts that all shells share.

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export interface CompletionOption {
  readonly long: string;
  /** Empty where there is none. */
  readonly short: string;
  readonly description: string;
  readonly choices: readonly string[];
  readonly path: boolean;
}

export interface CompletionWord {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletionOption[];
  readonly takes: "address" | readonly string[];
  readonly inner: readonly CompletionWord[];
}

/** Prints the addresses that the state manages, one on a line. A record that is not ready has its status behind it. */
export const ADDRESSES = "workspace state list 2>/dev/null </dev/null | sed 's/  ([a-z]*)$//'";

/** Prints the targets of the spec in this folder, one on a line. A pipe of that name would keep the shell waiting. */
export const TARGETS = `test -f workspace.yaml && awk '
  /^targets:/ { on = 1; next }
  /^[^ #]/ { on = 0 }
  on && /^  [^ #]/ {
    if (match($0, /^  "[^"]*":/) || match($0, /^  \\047[^\\047]*\\047:/)) print substr($0, 4, RLENGTH - 5)
    else { sub(/:( .*)?$/, ""); print substr($0, 3) }
  }' workspace.yaml 2>/dev/null`;

interface Titled {
  readonly title: string;
  readonly word: CompletionWord;
  readonly names: readonly string[];
}

function titled(words: readonly CompletionWord[]): readonly Titled[] {
  return words.flatMap((word) => [
    { title: word.name, word, names: word.inner.map(({ name }) => name) },
    ...word.inner.map((one) => ({ title: `${word.name} ${one.name}`, word: one, names: [] })),
  ]);
}

/** The pattern of two words that name a command. What else follows a command is one of its options or arguments. */
export function twoWordTitles(words: readonly CompletionWord[]): string {
  return words.flatMap(({ name, inner }) => inner.map((one) => `"${name} ${one.name}"`)).join("|");
}

/** The words that can follow a command and do not depend on the folder: commands, options, and arguments. */
function followers({ word, names }: Titled): readonly string[] {
  const fixed = word.takes === "address" ? [] : word.takes;
  return [...names, ...word.options.map(({ long }) => long), ...fixed, "--help"];
}

function optionCases({ title, word }: Titled, add: string, paths: string): readonly string[] {
  return word.options.flatMap(({ long, short, choices, path }) => {
    const names = [long, ...(short === "" ? [] : [short])].map((one) => `"${title} ${one}"`).join("|");
    if (choices.length > 0) return [`    ${names}) ${add} ${choices.join(" ")}; return ;;`];
    return path ? [`    ${names}) ${paths}return ;;`] : [];
  });
}

/** What bash and zsh offer after a command. */
function commandCase(one: Titled, add: string): string {
  const addresses = one.word.takes === "address" ? "; _workspace_add_lines < <(_workspace_addresses)" : "";
  return `    "${one.title}") ${add} ${followers(one).join(" ")}${addresses} ;;`;
}

/** The branches of the scripts of bash and zsh for a command that is known. */
export function caseBlocks(words: readonly CompletionWord[], add: string, paths: string): string {
  const commands = titled(words);
  return `  case "$command $before" in
${commands.flatMap((one) => optionCases(one, add, paths)).join("\n")}
  esac
  case "$before" in
    -t|--target) _workspace_add_lines < <(_workspace_targets); return ;;
    --only) _workspace_add_lines < <(_workspace_addresses); return ;;
  esac
  case "$command" in
${commands.map((one) => commandCase(one, add)).join("\n")}
    *) ${add} --help ;;
  esac`;
}
