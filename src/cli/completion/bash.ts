// Completion for bash. `compgen -W` expands its words as a command line, so words are compared and quoted one by one.

import {
  ADDRESSES,
  type CompletionWord,
  commandCase,
  optionCases,
  TARGETS,
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
      ${twoWordTitles(words)}) command="$command \${COMP_WORDS[2]}" ;;
    esac
  fi
  case "$command $before" in
${commands.flatMap((one) => optionCases(one, "_workspace_add", "")).join("\n")}
  esac
  case "$before" in
    -t|--target) _workspace_add_lines < <(_workspace_targets); return ;;
    --only) _workspace_add_lines < <(_workspace_addresses); return ;;
  esac
  case "$command" in
${commands.map((one) => commandCase(one, "_workspace_add")).join("\n")}
    *) _workspace_add --help ;;
  esac
}
complete -o default -F _workspace workspace
`;
}
