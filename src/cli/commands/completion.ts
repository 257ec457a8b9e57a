// `workspace completion SHELL`: prints a completion script, generated from the declarations of commands and options.

import { failureOf } from "../../core/diagnostic.ts";
import { nearestHint } from "../../core/suggest.ts";
import {
  type Command,
  type CommandEntry,
  commandsBelow,
  defineCommand,
  type Untitled,
} from "../command/command.ts";
import { longOf } from "../command/option.ts";

export const completionOf = (entries: readonly CommandEntry[]): Untitled<Command> =>
  defineCommand({
    options: {},
    args: [{ name: "<shell>", description: "bash, zsh, or fish", takes: SHELLS }],
    notes: 'To use it in bash, run `eval "$(workspace completion bash)"`.',
    async run(context, _options, [shell]) {
      const supported = SHELLS.find((shellName) => shellName === shell);
      if (supported === undefined) {
        const hint = nearestHint(shell ?? "", SHELLS, "use bash, zsh, or fish", "words");
        throw failureOf("CLI_USAGE", `shell "${shell}" is not supported`, { hint });
      }
      context.stdout.write(SCRIPTS[supported](await wordsOf(entries)));
    },
  });

async function wordsOf(entries: readonly CommandEntry[]): Promise<readonly CompletionWord[]> {
  const words: CompletionWord[] = [];
  for (const { load } of entries) {
    const loaded = await load();
    const own = "commands" in loaded ? { ...loaded, options: {}, args: [] } : loaded;
    const inner = commandsBelow(loaded).map((command) => wordOf(command, []));
    words.push(wordOf(own, inner));
  }
  return words;
}

function wordOf(
  { name, summary, options, args }: Pick<Command, "name" | "summary" | "options" | "args">,
  inner: readonly CompletionWord[],
): CompletionWord {
  const takes = args.find((argument) => argument.takes !== undefined)?.takes ?? [];
  return { name, summary, options: optionsOf(options), takes, inner };
}

function optionsOf(options: Command["options"]): CompletionWord["options"] {
  return Object.values(options).map((spec) => ({
    short: /^-\w/.exec(spec.flags)?.[0] ?? "",
    long: longOf(spec),
    description: spec.description,
    choices: spec.choices ?? [],
    path: /<(path|file|folder)>/.test(spec.flags),
  }));
}

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

interface CompletionOption {
  readonly long: string;
  /** Empty where there is none. */
  readonly short: string;
  readonly description: string;
  readonly choices: readonly string[];
  readonly path: boolean;
}

interface CompletionWord {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletionOption[];
  readonly takes: "address" | readonly string[];
  readonly inner: readonly CompletionWord[];
}

const SCRIPTS: Readonly<Record<Shell, (words: readonly CompletionWord[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Prints the addresses that the state manages, one on a line. A record that is not ready has its status behind it. */
const ADDRESSES = "workspace state list 2>/dev/null </dev/null | sed 's/  ([a-z]*)$//'";

/** Prints the targets of the spec in this folder, one on a line. A pipe of that name would keep the shell waiting. */
const TARGETS = `test -f workspace.yaml && awk '
  /^targets:/ { on = 1; next }
  /^[^ #]/ { on = 0 }
  on && /^  [^ #]/ {
    if (match($0, /^  "[^"]*":/) || match($0, /^  \\047[^\\047]*\\047:/)) print substr($0, 4, RLENGTH - 5)
    else { sub(/:( .*)?$/, ""); print substr($0, 3) }
  }' workspace.yaml 2>/dev/null`;

/** Functions of bash and zsh. */
const LOOKUPS = `_workspace_targets() {
  ${TARGETS}
}
_workspace_addresses() {
  ${ADDRESSES}
}
`;

/** The command is found first, because an option has other values in another command. */
function bashScript(words: readonly CompletionWord[]): string {
  return `# Offers a word that continues what is typed, quoted as a word of the command line. Inside quotes only plain words fit.
_workspace_add() {
  local word quoted
  for word in "$@"; do
    [ -n "$word" ] || continue
    printf -v quoted %q "$word"
    case "$current" in
      [\\'\\"]*) [ "$quoted" = "$word" ] && [[ "$word" == "\${current:1}"* ]] && COMPREPLY+=("$word") ;;
      *) if [[ "$word" == "$current"* || "$quoted" == "$current"* ]]; then COMPREPLY+=("$quoted"); fi ;;
    esac
  done
}
_workspace_add_lines() {
  local line
  while IFS= read -r line; do _workspace_add "$line"; done
}
${LOOKUPS}_workspace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _workspace_add ${words.map(({ name }) => name).join(" ")} --help --version
    return
  fi
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "$command \${COMP_WORDS[2]}" in
      ${twoWordTitles(words)}) command="$command \${COMP_WORDS[2]}" ;;
    esac
  fi
${caseBlocks(words, "_workspace_add", "")}
}
complete -o default -F _workspace workspace
`;
}

/** Works as a file \`_workspace\` of \`fpath\`, and where its text is evaluated. */
function zshScript(words: readonly CompletionWord[]): string {
  return `#compdef workspace
_workspace_add_lines() {
  local line
  local -a lines
  while IFS= read -r line; do lines+=("$line"); done
  compadd -a lines
}
${LOOKUPS}_workspace() {
  local before="\${words[CURRENT-1]}" command="\${words[2]}"
  if (( CURRENT == 2 )); then
    compadd -- ${words.map(({ name }) => name).join(" ")} --help --version
    return
  fi
  if (( CURRENT > 3 )); then
    case "$command \${words[3]}" in
      ${twoWordTitles(words)}) command="$command \${words[3]}" ;;
    esac
  fi
${caseBlocks(words, "compadd --", "_files; ")}
}
if [ "$funcstack[1]" = _workspace ]; then _workspace "$@"; else compdef _workspace workspace; fi
`;
}

interface Titled {
  readonly title: string;
  readonly word: CompletionWord;
  readonly names: readonly string[];
}

function titled(words: readonly CompletionWord[]): readonly Titled[] {
  return words.flatMap((word) => [
    { title: word.name, word, names: word.inner.map(({ name }) => name) },
    ...word.inner.map((subcommand) => ({
      title: `${word.name} ${subcommand.name}`,
      word: subcommand,
      names: [],
    })),
  ]);
}

/** The pattern of two words that name a command. What else follows a command is one of its options or arguments. */
function twoWordTitles(words: readonly CompletionWord[]): string {
  return words
    .flatMap(({ name, inner }) => inner.map((subcommand) => `"${name} ${subcommand.name}"`))
    .join("|");
}

/** The words that can follow a command and do not depend on the folder: commands, options, and arguments. */
function followers({ word, names }: Titled): readonly string[] {
  const fixed = word.takes === "address" ? [] : word.takes;
  return [...names, ...word.options.map(({ long }) => long), ...fixed, "--help"];
}

function optionCases({ title, word }: Titled, add: string, paths: string): readonly string[] {
  return word.options.flatMap(({ long, short, choices, path }) => {
    const names = [long, ...(short === "" ? [] : [short])].map((text) => `"${title} ${text}"`).join("|");
    if (choices.length > 0) return [`    ${names}) ${add} ${choices.join(" ")}; return ;;`];
    return path ? [`    ${names}) ${paths}return ;;`] : [];
  });
}

/** What bash and zsh offer after a command. */
function commandCase(titled: Titled, add: string): string {
  const addresses = titled.word.takes === "address" ? "; _workspace_add_lines < <(_workspace_addresses)" : "";
  return `    "${titled.title}") ${add} ${followers(titled).join(" ")}${addresses} ;;`;
}

/** The branches of the scripts of bash and zsh for a command that is known. */
function caseBlocks(words: readonly CompletionWord[], add: string, paths: string): string {
  const commands = titled(words);
  return `  case "$command $before" in
${commands.flatMap((titled) => optionCases(titled, add, paths)).join("\n")}
  esac
  case "$before" in
    -t|--target) _workspace_add_lines < <(_workspace_targets); return ;;
    --only) _workspace_add_lines < <(_workspace_addresses); return ;;
  esac
  case "$command" in
${commands.map((titled) => commandCase(titled, add)).join("\n")}
    *) ${add} --help ;;
  esac`;
}

function fishScript(words: readonly CompletionWord[]): string {
  const lines = [
    // fish expands a leading tilde to the user's home folder.
    `function __workspace_targets\n  sh -c ${quoted(TARGETS)} | string match -v -- '~*'\nend`,
    `function __workspace_addresses\n  ${ADDRESSES}\nend`,
    "complete -c workspace -f",
  ];
  for (const word of words) {
    lines.push(`complete -c workspace -n __fish_use_subcommand -a ${word.name} -d ${quoted(word.summary)}`);
    for (const completionOption of [...word.options, ...word.inner.flatMap((inner) => inner.options)])
      lines.push(option(word.name, completionOption));
    lines.push(...completionsOf(word, [word.name]));
    const absent = word.inner.map(({ name }) => name).join(" ");
    for (const inner of word.inner)
      lines.push(
        `complete -c workspace -n '__fish_seen_subcommand_from ${word.name}; and not __fish_seen_subcommand_from ${absent}' -a ${inner.name} -d ${quoted(inner.summary)}`,
        ...completionsOf(inner, [word.name, inner.name]),
      );
  }
  return `${[...new Set(lines)].join("\n")}\n`;
}

function option(command: string, completed: CompletionOption): string {
  const { short, long, description } = completed;
  const letter = short === "" ? "" : ` -s ${short.slice(1)}`;
  return `complete -c workspace -n '__fish_seen_subcommand_from ${command}'${letter} -l ${long.slice(2)} -d ${quoted(description)}${values(completed)}`;
}

function values({ long, choices, path }: CompletionOption): string {
  if (choices.length > 0) return ` -x -a ${quoted(choices.join(" "))}`;
  if (long === "--target") return " -x -a '(__workspace_targets)'";
  if (long === "--only") return " -x -a '(__workspace_addresses)'";
  return path ? " -r -F" : "";
}

/** The arguments of the command after these words. */
function completionsOf({ takes }: CompletionWord, behind: readonly string[]): readonly string[] {
  if (takes.length === 0) return [];
  const offer = takes === "address" ? "(__workspace_addresses)" : takes.join(" ");
  const seen = behind.map((text) => `__fish_seen_subcommand_from ${text}`).join("; and ");
  return [`complete -c workspace -n '${seen}' -a ${quoted(offer)}`];
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
