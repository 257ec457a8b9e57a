// `workspace fleet enqueue`: puts one job for each selected workspace into the queue.

import { error, Failure } from "../../../core/diagnostic.ts";
import { FLEET_COMMANDS, type FleetCommand } from "../../../fleet/model/result.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption } from "../../command/option.ts";
import { withQueue } from "../../fleet/fleet-database.ts";
import { FLEET_OPTIONS, NAMES_ARGUMENT, openFleet } from "./fleet-options.ts";

export const enqueueCommand = defineCommand({
  name: "enqueue",
  summary: "put a command for each workspace into the queue",
  options: {
    ...FLEET_OPTIONS,
    autoApprove: flagOption("--auto-approve", "required to enqueue apply"),
  },
  args: [
    {
      name: "<command>",
      description: `command to run: ${FLEET_COMMANDS.join(", ")}`,
      takes: FLEET_COMMANDS,
    },
    NAMES_ARGUMENT,
  ],
  notes:
    "A workspace has at most one job, queued or running. Exit codes: 0 each workspace has this job now, 1 a workspace has another job already.",
  async run(context, options, [command = "", ...names]) {
    const known = commandOf(command);
    if (known === "apply" && !options.autoApprove)
      throw new Failure(
        error("CLI_CONFIRMATION", "a queued apply cannot ask for approval", {
          hint: "review `workspace fleet plan`, then pass --auto-approve",
        }),
      );
    const { selected } = openFleet(context, options, names);
    return withQueue(context, "send", async (queue) => {
      const present = await queue.enqueue(selected, known);
      context.stdout.write(`Enqueued: ${selected.length - present.length} of ${selected.length}.\n`);
      for (const name of present)
        context.stdout.write(`${name}: not enqueued, because it has a queued or running job\n`);
      return present.length === 0 ? EXIT.ok : EXIT.error;
    });
  },
});

function commandOf(given: string): FleetCommand {
  const found = FLEET_COMMANDS.find((one) => one === given);
  if (found !== undefined) return found;
  throw new Failure(
    error("CLI_USAGE", `"${given}" cannot be enqueued`, { hint: `use ${FLEET_COMMANDS.join(", ")}` }),
  );
}
