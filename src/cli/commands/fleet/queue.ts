// `workspace fleet enqueue`, `worker`, and `dead-letters`: runs of a fleet through its queue.

import { error, Failure, failureOf } from "../../../core/diagnostic.ts";
import { count } from "../../../core/sentences.ts";
import { FLEET_COMMANDS, type FleetCommand } from "../../../fleet/model/result.ts";
import { type DeadJob, scheduleChanges, unsettled } from "../../../fleet/queue/job-queue.ts";
import { runWorker } from "../../../fleet/queue/worker.ts";
import { columns, resultLine } from "../../../fleet/report/fleet-documents.ts";
import { printable, printableJson } from "../../../report/text/printable.ts";
import { nodeClock } from "../../../state/backends/file/node-ports.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { durationOption, flagOption, integerOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { withQueue, workerName } from "../../fleet/fleet-database.ts";
import { runWorkspace } from "../../fleet/run-workspace.ts";
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
          : enqueuedText(enqueued.length, present),
      );
      return present.length === 0 ? EXIT.ok : EXIT.error;
    });
  },
});

function enqueuedText(enqueued: number, present: readonly string[]): string {
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

/** After as many failures, a newer job is among those that failed every time. */
const RECENT = 10;

export const deadLettersCommand = defineCommand({
  name: "dead-letters",
  summary: "list, retry, or remove jobs that failed every time",
  options: {
    retry: flagOption("--retry", "put the jobs back into the queue"),
    remove: flagOption("--remove", "remove the jobs"),
    ...FORM_OPTION,
  },
  args: [{ name: "[workspaces...]", description: "names of workspaces (default: all that have such jobs)" }],
  notes:
    "A job is no longer listed once its command succeeded later in the same workspace; --remove removes it too. A workspace that already has a queued or running job keeps its dead letter when you pass --retry.",
  async run(context, { retry, remove, output }, names) {
    if (retry && remove) throw failureOf("CLI_USAGE", "--retry and --remove cannot be used together");
    const asJson = output === "json";
    return withQueue(context, retry || remove ? "send" : "read", async (queue, database) => {
      const dead = await queue.dead();
      const workspaces = [...new Set(dead.map(({ workspace }) => workspace))];
      const all = remove ? dead : unsettled(dead, await database.results.recent(RECENT, workspaces));
      assertKnown(names, all);
      const jobs = names.length === 0 ? all : all.filter(({ workspace }) => names.includes(workspace));
      if (retry) {
        const retried = await queue.retryDead(jobs);
        const text = `Requeued: ${retried} of ${jobs.length}.\n`;
        context.stdout.write(asJson ? `${printableJson({ retried, of: jobs.length })}\n` : text);
      } else if (remove) {
        await queue.removeDead(jobs.map(({ id }) => id));
        const text = `Removed: ${jobs.length}.\n`;
        context.stdout.write(asJson ? `${printableJson({ removed: jobs.length })}\n` : text);
      } else context.stdout.write(asJson ? `${printableJson(jobs, 2)}\n` : deadLettersText(jobs));
      return EXIT.ok;
    });
  },
});

function assertKnown(names: readonly string[], jobs: readonly DeadJob[]): void {
  const unknown = names.filter((name) => !jobs.some(({ workspace }) => workspace === name));
  if (unknown.length === 0) return;
  throw new Failure(
    ...unknown.map((name) =>
      error("CLI_USAGE", `the workspace "${name}" has no job that failed at every attempt`, {
        hint: "to list them, run `workspace fleet dead-letters`",
      }),
    ),
  );
}

function deadLettersText(jobs: readonly DeadJob[]): string {
  if (jobs.length === 0) return "No job failed at every attempt.\n";
  const rows = jobs.map(({ workspace, command, failedAt, attempts, failure }) => {
    const [first] = failure.diagnostics;
    const cause = first === undefined ? (failure.message ?? "no details") : `${first.code}: ${first.message}`;
    return [workspace, command, new Date(failedAt).toISOString(), String(attempts), cause];
  });
  return columns([["WORKSPACE", "COMMAND", "FAILED AT", "ATTEMPTS", "CAUSE"], ...rows]);
}
