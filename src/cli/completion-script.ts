// Completion scripts for shells, from the commands and options that there are.

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
  /** What its arguments are: addresses, or one of these words. */
  readonly takes: "address" | readonly string[];
  readonly inner: readonly CompletionWord[];
}

export function completionScript(shell: Shell, words: readonly CompletionWord[]): string {
  switch (shell) {
    case "bash":
      return bash(words);
    case "zsh":
      return `#compdef workspace\nautoload -U +X bashcompinit && bashcompinit\n${bash(words)}`;
    case "fish":
      return fish(words);
  }
  return shell satisfies never;
}

/** The words of a command are looked at first: an option has other values in another command. */
function bash(words: readonly CompletionWord[]): string {
  const commands = words.flatMap((word) => [
    { title: word.name, word, names: word.inner.map((one) => one.name) },
    ...word.inner.map((one) => ({ title: `${word.name} ${one.name}`, word: one, names: [] })),
  ]);
  const groups = words.filter((word) => word.inner.length > 0).map((word) => word.name);
  return `_workspace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words="" command="\${COMP_WORDS[1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${words.map((word) => word.name).join(" ")} --help --version" -- "$current"))
    return
  fi
  case " ${groups.join(" ")} " in
    *" $command "*) [ "$COMP_CWORD" -gt 2 ] && command="$command \${COMP_WORDS[2]}" ;;
  esac
  case "$before" in
    -t|--target) words="$(awk '/^targets:/{on=1;next} /^[^ #]/{on=0} on&&/^  [^ #]/{sub(/:.*/,"");print $1}' workspace.yaml 2>/dev/null)" ;;
    --only) words="$(workspace state list 2>/dev/null)" ;;
  esac
  case "$command $before" in
${commands.flatMap(({ title, word }) => word.options.flatMap((one) => bashValues(title, one))).join("\n")}
  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case "$command" in
${commands.map(({ title, word, names }) => `    "${title}") words="${[...names, ...longs(word)].join(" ")}${bashArguments(word)}" ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words --help" -- "$current"))
}
complete -o default -F _workspace workspace
`;
}

function bashValues(title: string, { long, short, choices, path }: CompletionOption): readonly string[] {
  const names = [long, ...(short === "" ? [] : [short])].map((one) => `"${title} ${one}"`).join("|");
  if (choices.length > 0) return [`    ${names}) words="${choices.join(" ")}" ;;`];
  return path ? [`    ${names}) COMPREPLY=($(compgen -f -- "$current")); return ;;`] : [];
}

/** Addresses are those of the state: they are read at once. */
function bashArguments({ takes }: CompletionWord): string {
  if (takes === "address") return " $(workspace state list 2>/dev/null)";
  return takes.length === 0 ? "" : ` ${[...takes].join(" ")}`;
}

function longs(word: CompletionWord): readonly string[] {
  return word.options.map((one) => one.long);
}

function fish(words: readonly CompletionWord[]): string {
  const lines = ["complete -c workspace -f"];
  for (const word of words) {
    lines.push(`complete -c workspace -n __fish_use_subcommand -a ${word.name} -d ${fishText(word.summary)}`);
    for (const one of [...word.options, ...word.inner.flatMap((inner) => inner.options)])
      lines.push(fishOption(word.name, one));
    for (const inner of word.inner) {
      const absent = word.inner.map((one) => one.name).join(" ");
      lines.push(
        `complete -c workspace -n '__fish_seen_subcommand_from ${word.name}; and not __fish_seen_subcommand_from ${absent}' -a ${inner.name} -d ${fishText(inner.summary)}`,
      );
    }
  }
  return `${[...new Set(lines)].join("\n")}\n`;
}

function fishOption(command: string, one: CompletionOption): string {
  const values =
    one.choices.length > 0 ? ` -x -a ${fishText(one.choices.join(" "))}` : one.path ? " -r -F" : "";
  const short = one.short === "" ? "" : ` -s ${one.short.slice(1)}`;
  return `complete -c workspace -n '__fish_seen_subcommand_from ${command}'${short} -l ${one.long.slice(2)} -d ${fishText(one.description)}${values}`;
}

function fishText(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
