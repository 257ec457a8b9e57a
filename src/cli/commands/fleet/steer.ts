// `workspace fleet cancel`, `pause`, and `resume`: steer the queue of a fleet.

import { userInfo } from "node:os";
import { ciActor } from "../../../config/environment.ts";
import { PROGRAM } from "../../../config/version.ts";
import { failureOf } from "../../../core/diagnostic.ts";
import { count, shellWord } from "../../../core/sentences.ts";
import { isPauseOf, type Pause } from "../../../fleet/database/pauses.ts";
import { FLEET_COMMANDS } from "../../../fleet/model/result.ts";
import { cancelJobs } from "../../../fleet/queue/rollout.ts";
import { scopeWords } from "../../../fleet/report/queue-text.ts";
import { jsonDocument } from "../../../report/text/printable.ts";
import { nodeClock } from "../../../state/backends/file/node-ports.ts";
import { defineCommand } from "../../command/command.ts";
import { durationOption, flagOption, optionalChoiceOption, textOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { withQueue } from "../../fleet/fleet-database.ts";
import { FLEET_OPTIONS, NAMES_ARGUMENT, openFleet } from "../../fleet/fleet-options.ts";

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
    "A running apply finishes its requests in flight and ends as interrupted within 20 s; its next run continues. The waves after a cancelled job are cancelled, too. Exit code 0, also if there was nothing to cancel.",
  async run(context, options, names) {
    if (names.length === 0 && options.select.length === 0 && !options.all)
      throw failureOf("CLI_USAGE", "no workspace specified", {
        hint: "name workspaces, pass --select LABELS, or pass --all",
      });
    const { selected } = openFleet(context, options, names);
    // A workspace that left the fleet file may still have a job.
    const isAll = names.length === 0 && options.select.length === 0;
    const wanted = new Set(selected.map(({ name }) => name));
    return withQueue(context, "send", async (queue, { results }) => {
      const matching = (await queue.jobs()).filter(
        ({ workspace, command }) =>
          (isAll || wanted.has(workspace)) && (options.command === undefined || options.command === command),
      );
      const rollouts = { queue, results, clock: nodeClock, program: PROGRAM };
      const { cancelled, jobs } = await cancelJobs(rollouts, matching);
      const lines = jobs.map(({ workspace, command, state }) => `${workspace}: ${command}, was ${state}\n`);
      context.stdout.write(
        options.output === "json"
          ? jsonDocument({
              cancelled,
              jobs: jobs.map(({ workspace, command, state, id }) => ({ workspace, command, state, job: id })),
            })
          : `Cancelled: ${cancelled}.\n${lines.join("")}`,
      );
    });
  },
});

export const pauseCommand = defineCommand({
  name: "pause",
  summary: "let no queued job start until resume",
  jsonSchema: "fleet-pause",
  options: {
    ...FLEET_OPTIONS,
    command: COMMAND_OPTION,
    for: durationOption("--for <duration>", "end the pause after this time (default: with `fleet resume`)"),
    reason: textOption("--reason <text>", "why; shown in the status"),
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
      context.stdout.write(
        options.output === "json"
          ? jsonDocument(pauseJson(pause))
          : `Paused ${scopeWords(pause)} (${count(selected.length, "workspace")}) ${end}. To end the pause, run \`workspace fleet resume ${shellWord(pause.id)}\`.\n`,
      );
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
      if (present.length === 0 && (options.select.length > 0 || options.command !== undefined))
        throw failureOf("CLI_USAGE", "no pause was made with this --select and --command", {
          hint: "to list the pauses, run `workspace fleet status`",
        });
      const unknown = ids.find((id) => present.every((pause) => pause.id !== id));
      if (unknown !== undefined)
        throw failureOf("CLI_USAGE", `the pause ${unknown} does not exist`, {
          hint: "to list the pauses, run `workspace fleet status`",
        });
      const ended = ids.length === 0 ? present : present.filter(({ id }) => ids.includes(id));
      await pauses.remove(ended.map(({ id }) => id));
      const released = await queue.release(ended.map(({ id }) => id));
      context.stdout.write(
        options.output === "json"
          ? jsonDocument({ resumed: ended.map(({ id }) => id), released })
          : `Resumed: ${count(ended.length, "pause")}. Jobs that start now: ${released}.\n`,
      );
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
