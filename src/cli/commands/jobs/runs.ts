// `workspace runs …`: the runs of jobs, looked at and acted on by their ids, or by their job.

import { error, Failure } from "../../../core/diagnostic.ts";
import type { JsonObject } from "../../../core/json.ts";
import { listed } from "../../../core/sentences.ts";
import { outcomeWord, outputText, runsText, runText } from "../../../report/inspect/job-run-text.ts";
import { printableJson } from "../../../report/text/printable.ts";
import { hasEnded } from "../../../resource/service-status.ts";
import { followRun } from "../../../workflow/jobs/follow-run.ts";
import { type Connection, withConnection } from "../../../workflow/session/connect.ts";
import { newestRuns } from "../../../workflow/session/paging.ts";
import { numberId, withRecordedObject } from "../../../workflow/session/recorded-object.ts";
import type { ConsoleContext } from "../../command/command.ts";
import { type CommandGroup, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { choiceOption, durationOption, flagOption, integerOption, textOption } from "../../command/option.ts";
import { ASK_OPTIONS, FORM_OPTION } from "../../command/shared-options.ts";
import { colorsOf } from "../../output/diagnostics.ts";
import { showEnd, viewsOf, writeViews } from "../../output/job-run.ts";
import { runStates } from "../../output/polling.ts";
import { askApproval } from "../../output/prompt.ts";
import { RUN_ARGUMENT, RUN_OPTIONS, withSelectedRuns } from "./run-selector.ts";

const list = defineCommand({
  name: "list",
  summary: "list job runs, newest first",
  options: {
    ...RUN_OPTIONS,
    job: textOption("--job <address>", "limit to runs of this job, such as jobs.nightly"),
    active: flagOption("--active", "limit to active runs"),
    completed: flagOption("--completed", "limit to finished runs"),
    limit: integerOption("--limit <number>", "maximum number of runs (default: 20)", 1, 1_000_000),
    all: flagOption("--all", "no maximum"),
    ...FORM_OPTION,
  },
  async run(context, options) {
    if (options.active && options.completed)
      throw new Failure(error("CLI_USAGE", "--active and --completed cannot be used together"));
    if (options.all && options.limit !== undefined)
      throw new Failure(error("CLI_USAGE", "--all and --limit cannot be used together"));
    const most = options.all ? Number.POSITIVE_INFINITY : (options.limit ?? 20);
    const filter = {
      ...(options.active ? { active_only: true } : {}),
      ...(options.completed ? { completed_only: true } : {}),
    };
    const show = async ({ reader }: Connection, ofJob: JsonObject) => {
      const runs = await newestRuns(reader, { ...filter, ...ofJob }, most);
      context.stdout.write(
        options.output === "json"
          ? `${printableJson(runs, 2)}\n`
          : runsText(runs, colorsOf(context, context.stdout)),
      );
      return EXIT.ok;
    };
    if (options.job === undefined)
      return withConnection(context, options, (connection) => show(connection, {}));
    return withRecordedObject(context, options, "jobs", options.job, ({ connection, id }) =>
      show(connection, { job_id: numberId(id) }),
    );
  },
});

const get = defineCommand({
  name: "get",
  summary: "show a job run, or the latest run of a job",
  options: {
    ...RUN_OPTIONS,
    wait: flagOption(
      "--wait",
      "wait for the run and its retries, then show the result; the exit code is the result",
    ),
    timeout: durationOption("--timeout <time>", "stop waiting after this time; requires --wait"),
    ...FORM_OPTION,
  },
  args: RUN_ARGUMENT,
  run: (context, options, [run]) =>
    context.signals.during(
      (signal) =>
        withSelectedRuns(context, options, run, "latest", async ({ connection, ids: [id = 0] }) => {
          if (!options.wait) return showOne(context, connection, id, options.output);
          const following = { run: id, signal, timeoutMs: options.timeout };
          const last = await followRun(connection.reader, following, runStates(context));
          if (last.ended === undefined) return EXIT.error;
          return showEnd(context, connection, last.ended, { id: last.id, address: "", form: options.output });
        }),
      options.wait ? "Stopped waiting. The job run continues.\n" : "",
    ),
});

async function showOne(
  context: ConsoleContext,
  { reader }: Connection,
  run_id: number | bigint,
  form: "text" | "json",
): Promise<number> {
  const found = await reader.read("jobs/runs/get", { run_id });
  context.stdout.write(
    form === "json" ? `${printableJson(found, 2)}\n` : runText(found, colorsOf(context, context.stdout)),
  );
  return EXIT.ok;
}

const output = defineCommand({
  name: "output",
  summary: "show the output of a job run, or of the latest run of a job",
  options: { ...RUN_OPTIONS, ...FORM_OPTION },
  args: RUN_ARGUMENT,
  run: (context, options, [run]) =>
    withSelectedRuns(
      context,
      options,
      run,
      "latest",
      async ({ connection: { reader }, ids: [run_id = 0] }) => {
        const answer = await reader.read("jobs/runs/get-output", { run_id });
        const words = outputText(answer);
        if (options.output === "json") context.stdout.write(`${printableJson(answer, 2)}\n`);
        else context.stdout.write(words);
        if (options.output === "text" && words === "")
          context.stderr.write(`run ${run_id} produced no output\n`);
        return EXIT.ok;
      },
    ),
});

const exported = defineCommand({
  name: "export",
  summary: "write a notebook run as HTML",
  options: {
    ...RUN_OPTIONS,
    out: textOption("--out <file>", "output file; further views get a number (default: stdout)"),
    force: flagOption("--force", "overwrite existing files"),
    views: choiceOption("--views <which>", "views to export", ["CODE", "DASHBOARDS", "ALL"]),
    ...FORM_OPTION,
  },
  args: RUN_ARGUMENT,
  notes: "Without --out, the run must have exactly one view.",
  run: (context, options, [run]) =>
    withSelectedRuns(
      context,
      options,
      run,
      "latest",
      async ({ connection: { reader }, ids: [run_id = 0] }) => {
        const answer = await reader.read("jobs/runs/export", { run_id, views_to_export: options.views });
        if (options.output === "json") context.stdout.write(`${printableJson(answer, 2)}\n`);
        else writeViews(context, viewsOf(answer), { run: run_id, out: options.out, force: options.force });
        return EXIT.ok;
      },
    ),
});

const cancel = defineCommand({
  name: "cancel",
  summary: "cancel a job run, or every active run of a job",
  options: RUN_OPTIONS,
  args: RUN_ARGUMENT,
  run: (context, options, [run]) =>
    withSelectedRuns(context, options, run, "active", async ({ connection, ids }) => {
      if (ids.length === 0) context.stdout.write("No run is active.\n");
      for (const run_id of ids) {
        const found = await connection.reader.read("jobs/runs/get", { run_id });
        if (!hasEnded(found)) await connection.writer.write("jobs/runs/cancel", { run_id });
        context.stdout.write(
          hasEnded(found)
            ? `Run ${run_id} has ended already: ${outcomeWord(found)}.\n`
            : `Run ${run_id} is being canceled.\n`,
        );
      }
      return EXIT.ok;
    }),
});

const remove = defineCommand({
  name: "delete",
  summary: "delete a finished job run with its output",
  options: { ...RUN_OPTIONS, ...ASK_OPTIONS },
  args: RUN_ARGUMENT,
  run: (context, options, [run]) =>
    context.signals.during(
      (signal) =>
        withSelectedRuns(context, options, run, "latest", async ({ connection, ids }) => {
          for (const run_id of ids) {
            const found = await connection.reader.read("jobs/runs/get", { run_id });
            if (!hasEnded(found)) throw new Failure(active(run_id, outcomeWord(found)));
          }
          const question = `Delete run ${listed(ids.map(String))}? It cannot be undone.`;
          if (!(await askApproval(context, options, question, signal, "to delete it: --auto-approve"))) {
            context.stderr.write("Nothing was changed.\n");
            return EXIT.error;
          }
          for (const run_id of ids) await connection.writer.write("jobs/runs/delete", { run_id });
          context.stdout.write(`Deleted run ${listed(ids.map(String))}.\n`);
          return EXIT.ok;
        }),
      "",
    ),
});

function active(run: number | bigint, state: string) {
  return error("CLI_USAGE", `run ${run} has not ended (${state}), and only runs that have can be deleted`, {
    hint: `cancel it first: workspace runs cancel ${run}`,
  });
}

export const runsCommand: CommandGroup = {
  name: "runs",
  summary: "inspect and manage job runs",
  commands: [list, get, output, exported, cancel, remove],
};
