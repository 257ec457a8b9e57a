// `workspace clusters …`: operates clusters that the spec manages, by their addresses.

import type { CommandGroup } from "../../command/command.ts";
import { eventsCommand } from "./events.ts";
import { resizeCommand } from "./resize.ts";
import { restartCommand, startCommand, terminateCommand } from "./start-stop.ts";

export const clustersCommand: CommandGroup = {
  name: "clusters",
  summary: "start, stop, resize, and inspect managed clusters",
  commands: [startCommand, restartCommand, resizeCommand, terminateCommand, eventsCommand],
};
