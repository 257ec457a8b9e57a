// The commands with JSON output, from the command table.

import type { Command } from "../../../src/cli/command/command.ts";
import { commandsBelow } from "../../../src/cli/command/command.ts";
import { COMMANDS } from "../../../src/cli/commands.ts";

interface JsonCommand {
  /** As users write it: `state list`. */
  readonly name: string;
  /** Its name in `schemas/`; empty if the command names none. */
  readonly schema: string;
}

const printsJson = ({ options }: Command): boolean => options.output?.choices?.includes("json") === true;

export async function jsonCommands(): Promise<readonly JsonCommand[]> {
  const loaded = await Promise.all(
    COMMANDS.map(async ({ name, load }) => {
      const entry = await load();
      const below = commandsBelow(entry).map((command): [string, Command] => [
        `${name} ${command.name}`,
        command,
      ]);
      return "run" in entry ? [[name, entry] as [string, Command], ...below] : below;
    }),
  );
  return loaded
    .flat()
    .filter(([, command]) => printsJson(command))
    .map(([name, { jsonSchema }]) => ({ name, schema: jsonSchema ?? "" }));
}
