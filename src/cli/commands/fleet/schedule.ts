// `workspace fleet schedule`: makes the schedules in the database equal to those of the fleet file.

import { scheduleChanges } from "../../../fleet/queue/job-queue.ts";
import { printableJson } from "../../../report/text/printable.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { withQueue } from "../../fleet/fleet-database.ts";
import { FLEET_OPTIONS, openFleet } from "./fleet-options.ts";

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
