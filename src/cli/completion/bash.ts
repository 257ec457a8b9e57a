// Completion for bash. `compgen -W` expands its words as a command line, so words are compared and quoted one by one.

import {
  ADDRESSES,
  type CompletionOption,
  type CompletionWord,
  followers,
  TARGETS,
  type Titled,
  titled,
  twoWordTitles,
} from "./words.ts";

/** The command is found first, because an option has other values in another command. */
export function bashScript(words: readonly CompletionWord[]): string {
  const commands = titled(words);
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
_workspace_targets() {
  ${TARGETS}
}
_workspace_addresses() {
  ${ADDRESSES}
}
_workspace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _workspace_add ${words.map(({ name }) => name).join(" ")} --help --version
    return
  fi
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "$command \${COMP_WORDS[2]}" in
      ${quotedTitles(words)}) command="$command \${COMP_WORDS[2]}" ;;
    esac
  fi
  case "$command $before" in
${commands.flatMap(({ title, word }) => word.options.flatMap((one) => values(title, one))).join("\n")}
  esac
  case "$before" in
    -t|--target) _workspace_add_lines < <(_workspace_targets); return ;;
    --only) _workspace_add_lines < <(_workspace_addresses); return ;;
  esac
  case "$command" in
${commands.map((one) => `    "${one.title}") ${afterCommand(one)} ;;`).join("\n")}
    *) _workspace_add --help ;;
  esac
}
complete -o default -F _workspace workspace
`;
}

function quotedTitles(words: readonly CompletionWord[]): string {
  return twoWordTitles(words)
    .map((title) => `"${title}"`)
    .join("|");
}

/** An offer that is empty leaves paths to the shell, which quotes them. */
function values(title: string, { long, short, choices, path }: CompletionOption): readonly string[] {
  const names = [long, ...(short === "" ? [] : [short])].map((one) => `"${title} ${one}"`).join("|");
  if (choices.length > 0) return [`    ${names}) _workspace_add ${choices.join(" ")}; return ;;`];
  return path ? [`    ${names}) return ;;`] : [];
}

function afterCommand(one: Titled): string {
  const addresses = one.word.takes === "address" ? "; _workspace_add_lines < <(_workspace_addresses)" : "";
  return `_workspace_add ${followers(one).join(" ")}${addresses}`;
}
