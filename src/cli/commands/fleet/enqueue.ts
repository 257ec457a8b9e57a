// `workspace fleet enqueue` and `schedule`: adds jobs to the queue, and writes the schedules of the fleet file to its database.

import { failureOf } from "../../../core/diagnostic.ts";
import { FLEET_COMMANDS, type FleetCommand } from "../../../fleet/model/result.ts";
import { scheduleChanges } from "../../../fleet/queue/job-queue.ts";
import { printableJson } from "../../../report/text/printable.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { withQueue } from "../../fleet/fleet-database.ts";
import { FLEET_OPTIONS, NAMES_ARGUMENT, openFleet } from "./fleet-options.ts";

export const enqueueCommand = defineCommand({
  name: "enqueue",
  summary: "put a command for each workspace into the queue",
  options: {
    ...FLEET_OPTIONS,
    autoApprove: flagOption("--auto-approve", "required to enqueue apply"),
    ...FORM_OPTION,
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
      throw failureOf(
        "CLI_CONFIRMATION",
        "a queued apply requires --auto-approve, because it cannot prompt",
        {
          hint: "review `workspace fleet plan`, then pass --auto-approve",
        },
      );
    const { selected } = openFleet(context, options, names);
    return withQueue(context, "send", async (queue) => {
      const present = await queue.enqueue(selected, known);
      const refused = new Set(present);
      const enqueued = selected.flatMap(({ name }) => (refused.has(name) ? [] : [name]));
      context.stdout.write(
        options.output === "json"
          ? `${printableJson({ enqueued, not_enqueued: present })}\n`
          : textOf(enqueued.length, present),
      );
      return present.length === 0 ? EXIT.ok : EXIT.error;
    });
  },
});

function textOf(enqueued: number, present: readonly string[]): string {
  return [
    `Enqueued: ${enqueued} of ${enqueued + present.length}.\n`,
    ...present.map((name) => `${name}: not enqueued, because it has a queued or running job\n`),
  ].join("");
}

function commandOf(given: string): FleetCommand {
  const found = FLEET_COMMANDS.find((one) => one === given);
  if (found !== undefined) return found;
  throw failureOf("CLI_USAGE", `"${given}" cannot be enqueued`, { hint: `use ${FLEET_COMMANDS.join(", ")}` });
}

export const scheduleCommand = defineCommand({
  name: "schedule",
  summary: "write the schedules of the fleet file to the queue",
  options: { fleet: FLEET_OPTIONS.fleet, ...FORM_OPTION },
  notes:
    "Adds, changes, and removes schedules until the database has exactly those of the fleet file. Workers start the drift runs; a run that came due while no worker ran starts once.",
  async run(context, options) {
    const { selected } = openFleet(context, { ...options, select: [] }, []);
    return withQueue(context, "send", async (queue) => {
      const { added, changed, removed, unchanged } = scheduleChanges(selected, await queue.schedules());
      for (const workspace of [...added, ...changed]) await queue.putSchedule(workspace);
      for (const name of removed) await queue.removeSchedule(name);
      const names = (of: typeof added) => of.map(({ name }) => name);
      const changes = { added: names(added), changed: names(changed), removed, unchanged };
      context.stdout.write(
        options.output === "json"
          ? `${printableJson(changes)}\n`
          : `Schedules: ${added.length} added, ${changed.length} changed, ${removed.length} removed, ${unchanged} unchanged.\n`,
      );
      return EXIT.ok;
    });
  },
});
