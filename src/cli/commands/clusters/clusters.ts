// `workspace clusters …`: operates clusters that the spec manages, by their addresses.

import type { CommandGroup } from "../../command/command.ts";
import { eventsCommand } from "./events.ts";
import { resizeCommand } from "./resize.ts";
import { restartCommand } from "./restart.ts";
import { startCommand } from "./start.ts";
import { terminateCommand } from "./terminate.ts";

export const clustersCommand: CommandGroup = {
  name: "clusters",
  summary: "start, stop, resize, and inspect managed clusters",
  commands: [startCommand, restartCommand, resizeCommand, terminateCommand, eventsCommand],
};
