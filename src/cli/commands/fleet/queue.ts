// The queue of a fleet: `enqueue`, `cancel`, `pause`, `resume`, `schedule`, and `dead-letters`.

import { userInfo } from "node:os";
import { ciActor } from "../../../config/environment.ts";
import { PROGRAM } from "../../../config/version.ts";
import { error, Failure, failureOf } from "../../../core/diagnostic.ts";
import { count, shellWord } from "../../../core/sentences.ts";
import { isPauseOf, type Pause } from "../../../fleet/database/pauses.ts";
import { FLEET_COMMANDS, type FleetCommand } from "../../../fleet/model/result.ts";
import { cancelJobs } from "../../../fleet/queue/ended-jobs.ts";
import {
  type DeadJob,
  type NewJob,
  PRIORITIES,
  type PresentJob,
  scheduleChanges,
  unsettled,
} from "../../../fleet/queue/job-queue.ts";
import { columns, scopeWords } from "../../../fleet/report/fleet-documents.ts";
import { deadJobJson } from "../../../fleet/report/fleet-json.ts";
import { parseWaves, splitIntoWaves } from "../../../fleet/waves.ts";
import { nodeClock } from "../../../state/backends/file/node-ports.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import {
  durationOption,
  flagOption,
  integerOption,
  optionalChoiceOption,
  textOption,
} from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { withQueue } from "../../fleet/fleet-database.ts";
import { assertApproved, FLEET_OPTIONS, NAMES_ARGUMENT, openFleet } from "../../fleet/fleet-options.ts";
import { printLine, printResult } from "../../output/diagnostics.ts";

export const enqueueCommand = defineCommand({
  name: "enqueue",
  summary: "put a command for each workspace into the queue",
  jsonSchema: "fleet-enqueue",
  options: {
    ...FLEET_OPTIONS,
    autoApprove: flagOption("--auto-approve", "required to enqueue apply"),
    waves: textOption(
      "--waves <sizes>",
      "of an apply, such as `env=dev, env=test, then 25%, then rest`; a failed wave stops the rest",
    ),
    priority: integerOption(
      "--priority <number>",
      "jobs with a higher number start first (default: apply 100, plan and validate 50, drift 0)",
      -1000,
      1000,
    ),
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
    "A workspace has at most one job, queued or running. Exit codes: 0 each workspace has this job now, 1 a workspace has a job with another command.",
  async run(context, options, [word = "", ...names]) {
    const command = commandOf(word);
    if (command === "apply") assertApproved(options, "a queued apply");
    if (options.waves !== undefined && command !== "apply")
      throw failureOf("CLI_USAGE", "--waves is for apply", { hint: "remove --waves" });
    const waves = options.waves === undefined ? undefined : parseWaves(options.waves);
    const { fleet, selected } = openFleet(context, options, names);
    const priority = options.priority ?? PRIORITIES[command];
    const jobsOf = (workspaces: typeof selected) =>
      workspaces.map((workspace): NewJob => ({ workspace, command, priority }));
    const { limits } = fleet;
    return withQueue(
      context,
      "send",
      async (queue) => {
        const present =
          waves === undefined
            ? await queue.enqueue(jobsOf(selected))
            : await queue.enqueueWaves(
                crypto.randomUUID(),
                splitIntoWaves(selected, waves).map(({ name, items }) => ({ name, jobs: jobsOf(items) })),
              );
        const other = present.filter((job) => job.command !== command);
        const taken = new Set(present.map(({ workspace }) => workspace));
        // Either all waves go into the queue, or none.
        const isNoWave = waves !== undefined && present.length > 0;
        const isRefused = isNoWave || (waves === undefined && other.length > 0);
        const enqueued = isNoWave ? [] : selected.map(({ name }) => name).filter((name) => !taken.has(name));
        const json = {
          enqueued,
          not_enqueued: other.map(({ workspace }) => workspace),
          present: present.map(presentJson),
        };
        const lines = present.map((job) => presentText(job, command)).join("");
        const text = `Enqueued: ${enqueued.length} of ${selected.length}.\n${lines}${isNoWave ? WAVES_REFUSED : ""}`;
        printLine(context, options.output, json, text);
        return isRefused ? EXIT.error : EXIT.ok;
      },
      { limits },
    );
  },
});

const WAVES_REFUSED =
  "Waves need every workspace without a job. To end these jobs, run `workspace fleet cancel`, or wait for them.\n";

const sinceOf = ({ createdAt, startedAt }: PresentJob): string =>
  new Date(startedAt ?? createdAt).toISOString();

function presentJson(job: PresentJob) {
  const { workspace, command, id, state } = job;
  return { workspace, command, job: id, state, since: sinceOf(job) };
}

/** `ads-prod: apply is already queued since 2026-03-01T06:00:00.000Z (job 8c2b…)`. */
function presentText(job: PresentJob, wanted: FleetCommand): string {
  const { workspace, command, id, state } = job;
  const what = command === wanted ? `${command} is already` : `not enqueued, because ${command} is`;
  return `${workspace}: ${what} ${state} since ${sinceOf(job)} (job ${id})\n`;
}

function commandOf(word: string): FleetCommand {
  const command = FLEET_COMMANDS.find((name) => name === word);
  if (command !== undefined) return command;
  throw failureOf("CLI_USAGE", `"${word}" cannot be enqueued`, { hint: `use ${FLEET_COMMANDS.join(", ")}` });
}

export const scheduleCommand = defineCommand({
  name: "schedule",
  summary: "write the schedules of the fleet file to the queue",
  jsonSchema: "fleet-schedule",
  options: { fleet: FLEET_OPTIONS.fleet, ...FORM_OPTION },
  notes:
    "Adds, changes, and removes schedules until the database has exactly those of the fleet file. Workers start the drift runs; a run that came due while no worker ran starts once.",
  async run(context, options) {
    const { fleet, selected } = openFleet(context, { ...options, select: [] }, []);
    const { limits } = fleet;
    return withQueue(
      context,
      "send",
      async (queue) => {
        const { added, changed, removed, unchanged } = scheduleChanges(
          selected,
          await queue.schedules(),
          limits,
        );
        for (const workspace of [...added, ...changed]) await queue.putSchedule(workspace);
        for (const name of removed) await queue.removeSchedule(name);
        const names = (of: typeof added) => of.map(({ name }) => name);
        const changes = { added: names(added), changed: names(changed), removed, unchanged };
        const text = `Schedules: ${added.length} added, ${changed.length} changed, ${removed.length} removed, ${unchanged} unchanged.\n`;
        printLine(context, options.output, changes, text);
      },
      { limits },
    );
  },
});

/** After as many failures, a newer job is among those that failed every time. */
const RECENT = 10;

export const deadLettersCommand = defineCommand({
  name: "dead-letters",
  summary: "list, retry, or remove jobs that failed every time",
  jsonSchema: "fleet-dead-letters",
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
    return withQueue(context, retry || remove ? "send" : "read", async (queue, database) => {
      const dead = await queue.dead();
      const workspaces = [...new Set(dead.map(({ workspace }) => workspace))];
      const all = remove ? dead : unsettled(dead, await database.results.recent(RECENT, workspaces));
      assertPresent(names, all);
      const jobs = names.length === 0 ? all : all.filter(({ workspace }) => names.includes(workspace));
      if (retry) {
        const retried = await queue.retryDead(jobs);
        const json = { retried, of: jobs.length };
        printLine(context, output, json, `Requeued: ${retried} of ${jobs.length}.\n`);
      } else if (remove) {
        await queue.removeDead(jobs.map(({ id }) => id));
        printLine(context, output, { removed: jobs.length }, `Removed: ${jobs.length}.\n`);
      } else printResult(context, output, { jobs: jobs.map(deadJobJson) }, () => deadLettersText(jobs));
    });
  },
});

function assertPresent(names: readonly string[], jobs: readonly DeadJob[]): void {
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

const COMMAND_OPTION = optionalChoiceOption(
  "--command <command>",
  "only jobs with this command",
  FLEET_COMMANDS,
);

export const cancelCommand = defineCommand({
  name: "cancel",
  summary: "cancel queued and running jobs",
  jsonSchema: "fleet-cancel",
  options: {
    ...FLEET_OPTIONS,
    command: COMMAND_OPTION,
    all: flagOption("--all", "all jobs of the fleet; required without names and without --select"),
    ...FORM_OPTION,
  },
  args: [NAMES_ARGUMENT],
  notes:
    "A running apply finishes its requests in flight and ends as interrupted within 20 s; its next run continues. The waves after a canceled job are canceled, too. Exit code 0, also if there was nothing to cancel.",
  async run(context, options, names) {
    // A workspace that left the fleet file may still have a job.
    const isAll = names.length === 0 && options.select.length === 0;
    if (isAll && !options.all)
      throw failureOf("CLI_USAGE", "no workspace specified", {
        hint: "name workspaces, pass --select LABELS, or pass --all",
      });
    const { selected } = openFleet(context, options, names);
    const wanted = new Set(selected.map(({ name }) => name));
    return withQueue(context, "send", async (queue, { results }) => {
      const matching = (await queue.jobs()).filter(
        ({ workspace, command }) =>
          (isAll || wanted.has(workspace)) && (options.command === undefined || options.command === command),
      );
      const rollouts = { queue, results, clock: nodeClock, program: PROGRAM };
      const { cancelled, jobs } = await cancelJobs(rollouts, matching);
      const lines = jobs.map(({ workspace, command, state }) => `${workspace}: ${command}, was ${state}\n`);
      const listed = jobs.map(({ workspace, command, state, id: job }) => ({
        workspace,
        command,
        state,
        job,
      }));
      const text = `Canceled: ${cancelled}.\n${lines.join("")}`;
      printLine(context, options.output, { cancelled, jobs: listed }, text);
    });
  },
});

export const pauseCommand = defineCommand({
  name: "pause",
  summary: "keep queued jobs from starting",
  jsonSchema: "fleet-pause",
  options: {
    ...FLEET_OPTIONS,
    command: COMMAND_OPTION,
    for: durationOption("--for <duration>", "end the pause after this time (default: until `fleet resume`)"),
    reason: textOption("--reason <text>", "reason, shown in the status"),
    ...FORM_OPTION,
  },
  args: [NAMES_ARGUMENT],
  notes:
    "Without names and --select, the whole fleet is paused. Running jobs continue; to stop them, run `workspace fleet cancel`. A check of a schedule that comes due waits for the end of the pause.",
  async run(context, options, names) {
    const { selected } = openFleet(context, options, names);
    const scope = { workspaces: names, select: options.select, command: options.command };
    return withQueue(context, "send", async (_queue, { pauses }) => {
      const by = ciActor(context) ?? userInfo().username;
      const pause = await pauses.add({ ...scope, reason: options.reason ?? "", by, forMs: options.for });
      const end =
        pause.until === undefined ? "until it is resumed" : `until ${new Date(pause.until).toISOString()}`;
      const text = `Paused ${scopeWords(pause)} (${count(selected.length, "workspace")}) ${end}. To end the pause, run \`workspace fleet resume ${shellWord(pause.id)}\`.\n`;
      printLine(context, options.output, pauseJson(pause), text);
    });
  },
});

export const resumeCommand = defineCommand({
  name: "resume",
  summary: "end pauses",
  jsonSchema: "fleet-resume",
  options: { select: FLEET_OPTIONS.select, command: COMMAND_OPTION, ...FORM_OPTION },
  args: [
    {
      name: "[pauses...]",
      description: "IDs of pauses, from `fleet status` (default: all that the options select)",
    },
  ],
  notes:
    "Jobs that a pause held back start at once, unless another pause or a maintenance window holds them back.",
  async run(context, options, ids) {
    return withQueue(context, "send", async (queue, { pauses }) => {
      const all = await pauses.list();
      const present = all.filter((pause) => isPauseOf(pause, options));
      const hint = "to list the pauses, run `workspace fleet status`";
      if (present.length === 0 && (options.select.length > 0 || options.command !== undefined))
        throw failureOf("CLI_USAGE", "no pause was made with this --select and --command", { hint });
      const unknown = ids.find((id) => present.every((pause) => pause.id !== id));
      if (unknown !== undefined)
        throw failureOf("CLI_USAGE", `the pause ${unknown} does not exist`, { hint });
      const ended = ids.length === 0 ? present : present.filter(({ id }) => ids.includes(id));
      await pauses.remove(ended.map(({ id }) => id));
      const released = await queue.release(ended.map(({ id }) => id));
      const text = `Resumed: ${count(ended.length, "pause")}. Jobs that start now: ${released}.\n`;
      const json = { resumed: ended.map(({ id }) => id), released };
      printLine(context, options.output, json, text);
    });
  },
});

function pauseJson({ createdAt, until, ...pause }: Pause) {
  return {
    ...pause,
    created_at: new Date(createdAt).toISOString(),
    until: until === undefined ? undefined : new Date(until).toISOString(),
  };
}
