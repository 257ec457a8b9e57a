// `workspace fleet worker`: runs jobs of the queue until a signal ends it.

import { count } from "../../../core/sentences.ts";
import type { FleetCommand } from "../../../fleet/model/result.ts";
import { runWorker } from "../../../fleet/queue/worker.ts";
import { resultLine } from "../../../fleet/report/fleet-documents.ts";
import { printable, printableJson } from "../../../report/text/printable.ts";
import { nodeClock } from "../../../state/backends/file/node-ports.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { durationOption, integerOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { withQueue, workerName } from "../../fleet/fleet-database.ts";
import { runWorkspace } from "../../fleet/run-workspace.ts";
import { FLEET_OPTIONS, openFleet } from "./fleet-options.ts";

const PARALLELISM = 4;
const DRAIN_MS = 30_000;
/** Short: the next worker observes the state lock of a killed one for this time before it acquires the lock. */
const STATE_LEASE = "20s";

export const workerCommand = defineCommand({
  name: "worker",
  summary: "run jobs of the queue until a signal ends it",
  options: {
    fleet: FLEET_OPTIONS.fleet,
    parallelism: integerOption("--parallelism <number>", "workspaces at the same time (default: 4)", 1, 64),
    drain: durationOption(
      "--drain <duration>",
      "time for running jobs after SIGTERM, before they are stopped (default: 30s)",
    ),
    ...FORM_OPTION,
  },
  notes:
    "Start any number of workers, on any machine, with the same fleet file. On SIGTERM or Ctrl-C, the worker accepts no more jobs, lets running jobs finish, and stops those that take longer than --drain; another worker repeats them. A second signal ends the worker at once.",
  async run(context, options) {
    const { fleet, selected } = openFleet(context, { ...options, select: [] }, []);
    const name = workerName();
    return withQueue(context, "work", async (queue, { leases, results }) => {
      await context.signals.during(async (drain) => {
        context.stderr.write(`Worker ${name} takes jobs of ${count(selected.length, "workspace")}.\n`);
        await runWorker(
          {
            name,
            workspaces: selected,
            queue,
            leases,
            results,
            clock: nodeClock,
            parallelism: options.parallelism ?? PARALLELISM,
            drain,
            drainMs: options.drain ?? DRAIN_MS,
            execute: (workspace, command, signal) =>
              runWorkspace(
                { context, fleet, command, extra: extraOf(command), worker: name, stateLease: STATE_LEASE },
                workspace,
                signal,
              ),
          },
          observerOf(context, options.output === "json"),
        );
      }, "Finishing the running jobs. Press Ctrl-C again to exit immediately.\n");
      context.stderr.write(`Worker ${name} ended.\n`);
      return EXIT.ok;
    });
  },
});

function extraOf(command: FleetCommand): readonly string[] {
  return command === "apply" ? ["--lock-timeout", "90s"] : [];
}

function observerOf(context: ConsoleContext, asJson: boolean): Parameters<typeof runWorker>[1] {
  return {
    finished: (result) => context.stdout.write(asJson ? `${printableJson(result)}\n` : resultLine(result)),
    released: ({ workspace, attempt }, { message }) => {
      const line = printable(`${workspace}: attempt ${attempt} was not finished: ${message}`);
      context.stderr.write(`${line}\n`);
    },
  };
}
