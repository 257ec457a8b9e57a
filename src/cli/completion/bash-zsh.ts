// Completion for bash and zsh. `compgen -W` expands its words as a command line, so bash compares and quotes them one by one; `compadd` of zsh expands none.

import { ADDRESSES, type CompletionWord, caseBlocks, TARGETS, twoWordTitles } from "./words.ts";

/** The command is found first, because an option has other values in another command. */
export function bashScript(words: readonly CompletionWord[]): string {
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
${caseBlocks(words, "_workspace_add", "")}
}
complete -o default -F _workspace workspace
`;
}

/** Works as a file \`_workspace\` of \`fpath\`, and where its text is evaluated. */
export function zshScript(words: readonly CompletionWord[]): string {
  return `#compdef workspace
_workspace_add_lines() {
  local line
  local -a lines
  while IFS= read -r line; do lines+=("$line"); done
  compadd -a lines
}
_workspace_targets() {
  ${TARGETS}
}
_workspace_addresses() {
  ${ADDRESSES}
}
_workspace() {
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
