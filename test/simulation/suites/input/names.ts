// Hostile names: each of 2,000 through every renderer, and one that holds all marks at once through every command.

import { throughCommands } from "../../../cli/hostile/hostile-names.ts";
import { NAMES } from "../../../report/hostile-names.ts";
import { leaksOf, OUTPUTS } from "../../../report/hostile-outputs.ts";
import type { Suite } from "../../run/suite.ts";

const COMMANDS = "commands";

let runs = 0;

export const names: Suite = {
  name: "names",
  what: "names with control, bidirectional, and hidden characters, markup, and commands, in every output",
  unit: "names",
  sample: 100,
  ordered: true,

  cases: async () => [COMMANDS, ...NAMES.map((_, at) => String(at))],

  async run(name) {
    if (name !== COMMANDS) return leaksOf(NAMES[Number(name)] ?? "");
    const told = await throughCommands();
    runs = told.runs;
    return told.leaks;
  },

  notes: async () => [
    `${OUTPUTS.length} outputs each, and one name with every mark through ${runs} commands`,
  ],
};
