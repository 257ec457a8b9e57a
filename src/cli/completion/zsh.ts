// Completion for zsh, by its own means: `compadd` compares and quotes words, and expands none.

import {
  ADDRESSES,
  type CompletionWord,
  commandCase,
  optionCases,
  TARGETS,
  titled,
  twoWordTitles,
} from "./words.ts";

/** Works as a file \`_workspace\` of \`fpath\`, and where its text is evaluated. */
export function zshScript(words: readonly CompletionWord[]): string {
  const commands = titled(words);
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
  case "$command $before" in
${commands.flatMap((one) => optionCases(one, "compadd --", "_files; ")).join("\n")}
  esac
  case "$before" in
    -t|--target) _workspace_add_lines < <(_workspace_targets); return ;;
    --only) _workspace_add_lines < <(_workspace_addresses); return ;;
  esac
  case "$command" in
${commands.map((one) => commandCase(one, "compadd --")).join("\n")}
    *) compadd -- --help ;;
  esac
}
if [ "$funcstack[1]" = _workspace ]; then _workspace "$@"; else compdef _workspace workspace; fi
`;
}
