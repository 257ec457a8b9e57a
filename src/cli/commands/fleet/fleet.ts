// `workspace fleet …`: runs a command on many workspaces.

import type { CommandGroup } from "../../command/command.ts";
import { applyFleetCommand, checkCommands, runDueCommand } from "./check.ts";
import { deadLettersCommand } from "./dead-letters.ts";
import { enqueueCommand, scheduleCommand } from "./enqueue.ts";
import { fleetReportCommand, listCommand, statusCommand } from "./report.ts";
import { workerCommand } from "./worker.ts";

export const fleetCommand: CommandGroup = {
  name: "fleet",
  summary: "run a command on many workspaces",
  commands: [
    listCommand,
    ...checkCommands,
    applyFleetCommand,
    runDueCommand,
    statusCommand,
    fleetReportCommand,
    enqueueCommand,
    workerCommand,
    scheduleCommand,
    deadLettersCommand,
  ],
};
