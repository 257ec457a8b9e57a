// The overview that `workspace` and `workspace --help` print.

import type { CommandGroup } from "./command/command.ts";
import { COMMANDS } from "./commands.ts";

export function programHelp(): string {
  return `Usage: workspace <command> [options]

Compares a YAML spec with a data-analytics workspace, shows an ordered plan, and applies it.

Commands:
${table(COMMANDS)}

Options of most commands:
  -f, --file <path>    the spec (default: workspace.yaml)
  -t, --target <name>  the target of the spec to use
  --host <url>         the workspace, or \`embedded\` for one inside this program
  -h, --help           help for a command
  --version            print the version

Exit codes: 0 done, 1 error, 2 changes or drift, 3 refused by a guard or policy, 4 stale plan,
5 locked, 130 and 143 stopped by a signal.
`;
}

export function groupHelp(group: CommandGroup): string {
  return `Usage: workspace ${group.name} <command> [options]\n\n${group.summary}\n\nCommands:\n${table(group.commands)}\n`;
}

function table(rows: readonly { readonly name: string; readonly summary: string }[]): string {
  const width = Math.max(...rows.map((row) => row.name.length));
  return rows.map((row) => `  ${row.name.padEnd(width)}  ${row.summary}`).join("\n");
}
