// `workspace state …`: commands that inspect and repair the state. None of them changes the workspace.

import type { CommandGroup } from "../../command/command.ts";
import { moveRecordCommand, removeRecordsCommand, unlockCommand } from "./edit.ts";
import { migrateCommand } from "./migrate.ts";
import { pullCommand, pushCommand } from "./push.ts";
import { listRecordsCommand, showRecordCommand } from "./records.ts";
import { rekeyCommand } from "./rekey.ts";
import { restoreCommand } from "./restore.ts";

export const stateCommand: CommandGroup = {
  name: "state",
  summary: "inspect, repair, and move the state",
  commands: [
    listRecordsCommand,
    showRecordCommand,
    removeRecordsCommand,
    moveRecordCommand,
    unlockCommand,
    pullCommand,
    pushCommand,
    migrateCommand,
    restoreCommand,
    rekeyCommand,
  ],
};
