// Completion for fish: fish offers each output line of a command substitution and quotes it on insertion.

import { ADDRESSES, type CompletionOption, type CompletionWord, TARGETS } from "./words.ts";

export function fishScript(words: readonly CompletionWord[]): string {
  const lines = [
    // fish expands a leading tilde to the user's home folder.
    `function __workspace_targets\n  sh -c ${quoted(TARGETS)} | string match -v -- '~*'\nend`,
    `function __workspace_addresses\n  ${ADDRESSES}\nend`,
    "complete -c workspace -f",
  ];
  for (const word of words) {
    lines.push(`complete -c workspace -n __fish_use_subcommand -a ${word.name} -d ${quoted(word.summary)}`);
    for (const one of [...word.options, ...word.inner.flatMap((inner) => inner.options)])
      lines.push(option(word.name, one));
    lines.push(...taken(word, [word.name]));
    const absent = word.inner.map(({ name }) => name).join(" ");
    for (const inner of word.inner)
      lines.push(
        `complete -c workspace -n '__fish_seen_subcommand_from ${word.name}; and not __fish_seen_subcommand_from ${absent}' -a ${inner.name} -d ${quoted(inner.summary)}`,
        ...taken(inner, [word.name, inner.name]),
      );
  }
  return `${[...new Set(lines)].join("\n")}\n`;
}

function option(command: string, one: CompletionOption): string {
  const short = one.short === "" ? "" : ` -s ${one.short.slice(1)}`;
  return `complete -c workspace -n '__fish_seen_subcommand_from ${command}'${short} -l ${one.long.slice(2)} -d ${quoted(one.description)}${values(one)}`;
}

function values({ long, choices, path }: CompletionOption): string {
  if (choices.length > 0) return ` -x -a ${quoted(choices.join(" "))}`;
  if (long === "--target") return " -x -a '(__workspace_targets)'";
  if (long === "--only") return " -x -a '(__workspace_addresses)'";
  return path ? " -r -F" : "";
}

/** The arguments of the command after these words. */
function taken({ takes }: CompletionWord, behind: readonly string[]): readonly string[] {
  if (takes.length === 0) return [];
  const offer = takes === "address" ? "(__workspace_addresses)" : takes.join(" ");
  const seen = behind.map((one) => `__fish_seen_subcommand_from ${one}`).join("; and ");
  return [`complete -c workspace -n '${seen}' -a ${quoted(offer)}`];
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
