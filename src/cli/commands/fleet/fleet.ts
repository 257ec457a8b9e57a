// `workspace fleet …`: `validate`, `plan`, `drift`, `apply`, and `run` run one command on every selected workspace.

import { failureOf } from "../../../core/diagnostic.ts";
import type { FleetCommand } from "../../../fleet/model/result.ts";
import { parseWaves } from "../../../fleet/run-fleet.ts";
import { type Command, type CommandGroup, defineCommand, type Untitled } from "../../command/command.ts";
import { flagOption, textOption } from "../../command/option.ts";
import { EXISTING_OPTIONS, FORM_OPTION } from "../../command/shared-options.ts";
import { FLEET_RUN_OPTIONS, NAMES_ARGUMENT } from "../../fleet/fleet-options.ts";
import { runSelected } from "../../fleet/run-selected.ts";
import { logsCommand } from "./logs.ts";
import { deadLettersCommand, enqueueCommand, scheduleCommand } from "./queue.ts";
import { fleetReportCommand, listCommand, statusCommand } from "./report.ts";
import { cancelCommand, pauseCommand, resumeCommand } from "./steer.ts";
import { workerCommand } from "./worker.ts";

const SUMMARIES: Readonly<Record<FleetCommand, string>> = {
  validate: "validate the specs of a fleet",
  plan: "plan every workspace of a fleet",
  drift: "detect drift in every workspace of a fleet",
  apply: "apply the specs of a fleet, in waves",
};

const EXIT_CODES =
  "Exit codes: 0 done, 1 a workspace failed or timed out, 2 changes or drift, 3 a workspace is blocked.";

function checkCommand(command: Exclude<FleetCommand, "apply">): Command {
  return defineCommand({
    name: command,
    summary: SUMMARIES[command],
    jsonSchema: "fleet-result",
    options: { ...FLEET_RUN_OPTIONS, ...FORM_OPTION },
    args: [NAMES_ARGUMENT],
    notes: EXIT_CODES,
    run: (context, options, names) => runSelected(context, command, options, names),
  });
}

const applyFleetCommand = defineCommand({
  name: "apply",
  summary: SUMMARIES.apply,
  jsonSchema: "fleet-result",
  options: {
    ...FLEET_RUN_OPTIONS,
    waves: textOption(
      "--waves <sizes>",
      "such as `canary: 1, env=test, then 25%, then rest`; a failed wave stops the run",
    ),
    autoApprove: flagOption("--auto-approve", "apply without approval; required"),
    adopt: EXISTING_OPTIONS.adopt,
    ...FORM_OPTION,
  },
  args: [NAMES_ARGUMENT],
  notes: EXIT_CODES,
  async run(context, options, names) {
    if (!options.autoApprove)
      throw failureOf(
        "CLI_CONFIRMATION",
        "an apply of a fleet requires --auto-approve, because it cannot prompt",
        {
          hint: "review `workspace fleet plan`, then pass --auto-approve",
        },
      );
    const { waves, ...shared } = options;
    const ordered = waves === undefined ? shared : { ...shared, waves: parseWaves(waves) };
    return runSelected(context, "apply", ordered, names);
  },
});

const runDueCommand = defineCommand({
  name: "run",
  summary: "check the workspaces whose schedule is due",
  jsonSchema: "fleet-result",
  options: { ...FLEET_RUN_OPTIONS, ...FORM_OPTION },
  args: [NAMES_ARGUMENT],
  notes: `The command checks each workspace whose schedule matched a time since its last drift run, and ends. Start it every few minutes with a timer; on several machines, use \`workspace fleet worker\`. ${EXIT_CODES}`,
  run: (context, options, names) => runSelected(context, "drift", { ...options, due: true }, names),
});

export const fleetCommand: Untitled<CommandGroup> = {
  commands: [
    listCommand,
    ...(["validate", "plan", "drift"] as const).map(checkCommand),
    applyFleetCommand,
    runDueCommand,
    statusCommand,
    fleetReportCommand,
    logsCommand,
    enqueueCommand,
    cancelCommand,
    pauseCommand,
    resumeCommand,
    workerCommand,
    scheduleCommand,
    deadLettersCommand,
  ],
};
