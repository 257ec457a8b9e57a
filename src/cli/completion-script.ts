// Completion scripts for shells, from the commands and options that there are.

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export interface CompletionWord {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly {
    readonly long: string;
    readonly description: string;
    readonly choices: readonly string[];
    readonly path: boolean;
  }[];
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

function bash(words: readonly CompletionWord[]): string {
  const cases = words.flatMap((word) => [
    `    ${word.name}) words="${[...word.inner.map((one) => one.name), ...longs(word)].join(" ")}" ;;`,
    ...word.inner.map((one) => `    "${word.name} ${one.name}") words="${longs(one).join(" ")}" ;;`),
  ]);
  const values = new Map(
    words
      .flatMap((word) => [word, ...word.inner])
      .flatMap((word) =>
        word.options.filter((one) => one.choices.length > 0).map((one) => [one.long, one.choices] as const),
      ),
  );
  const paths = new Set(
    words
      .flatMap((word) => [word, ...word.inner])
      .flatMap((word) => word.options.filter((one) => one.path).map((one) => one.long)),
  );
  return `_workspace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words="" command="\${COMP_WORDS[1]}"
  COMPREPLY=()
  case "$before" in
${[...values].map(([long, choices]) => `    ${long}) COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$current")); return ;;`).join("\n")}
    ${[...paths].join("|")}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${words.map((word) => word.name).join(" ")} --help --version" -- "$current"))
    return
  fi
  case "${words
    .filter((word) => word.inner.length > 0)
    .map((word) => word.name)
    .join(" ")}" in
    *"$command"*) [ "$COMP_CWORD" -gt 2 ] && command="$command \${COMP_WORDS[2]}" ;;
  esac
  case "$command" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words --help" -- "$current"))
}
complete -o default -F _workspace workspace
`;
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

function fishOption(command: string, one: CompletionWord["options"][number]): string {
  const values =
    one.choices.length > 0 ? ` -x -a ${fishText(one.choices.join(" "))}` : one.path ? " -r -F" : "";
  return `complete -c workspace -n '__fish_seen_subcommand_from ${command}' -l ${one.long.slice(2)} -d ${fishText(one.description)}${values}`;
}

function fishText(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
