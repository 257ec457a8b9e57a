// `workspace fleet …`: many workspaces, one command.

import type { CommandGroup } from "../../command/command.ts";
import { applyFleetCommand, checkCommands } from "./check.ts";
import { fleetReportCommand, listCommand, statusCommand } from "./report.ts";

export const fleetCommand: CommandGroup = {
  name: "fleet",
  summary: "run a command on many workspaces",
  commands: [listCommand, ...checkCommands, applyFleetCommand, statusCommand, fleetReportCommand],
};
