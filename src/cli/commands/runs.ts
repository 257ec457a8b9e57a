// `workspace run JOB` starts a managed job; `workspace runs …` shows and ends runs of jobs, by run ID or by job.

import type { Reader } from "../../api/contract/reader.ts";
import { failureOf } from "../../core/diagnostic.ts";
import type { JsonObject } from "../../core/json.ts";
import { int64, int64In } from "../../providers/kit/responses.ts";
import {
  numberInJob,
  outcomeWord,
  outputText,
  runsText,
  runText,
} from "../../report/inspect/cluster-text.ts";
import { jsonDocument, printable } from "../../report/text/printable.ts";
import { hasEnded } from "../../resource/service-status.ts";
import { newestRuns } from "../../workflow/operate/paging.ts";
import { runJobNow } from "../../workflow/operate/parameters.ts";
import {
  type RecordedObject,
  withMaskedRuns,
  withRecordedObject,
} from "../../workflow/operate/recorded-object.ts";
import { followRun } from "../../workflow/operate/wait.ts";
import type { Connection } from "../../workflow/session/connect.ts";
import { type CommandGroup, type ConsoleContext, defineCommand, type Untitled } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import {
  assertWaits,
  choiceOption,
  durationOption,
  flagOption,
  integerOption,
  listLimit,
  outOption,
  textOption,
  type ValuesOf,
  valuesOption,
} from "../command/option.ts";
import { ASK_OPTIONS, FORM_OPTION, RECORDED_OPTIONS } from "../command/shared-options.ts";
import { colorsOf, printResult, reportNothingChanged } from "../output/diagnostics.ts";
import { runStates, showEnd, viewsOf, writeViews } from "../output/job-run.ts";
import { askApproval } from "../output/prompt.ts";

const RUN_OPTIONS = {
  job: textOption("--job <address>", "address of a job, such as jobs.nightly, instead of a run ID"),
  ...RECORDED_OPTIONS,
} as const;

const RUN_ARGUMENT = [{ name: "[run]", description: "run ID (required without --job)" }];

interface JobRunOptions {
  readonly job: string | undefined;
}

interface SelectedRuns {
  readonly connection: Connection;
  /** Answers as the service gives them, for decisions. */
  readonly unmasked: Reader;
  readonly ids: readonly (number | bigint)[];
}

/** Of a job: its most recent run, or every active one. Throws Failure with CLI_USAGE or CLI_NO_OBJECT. */
async function withSelectedRuns<T>(
  context: ConsoleContext,
  options: JobRunOptions,
  run: string | undefined,
  ofJob: "latest" | "active",
  work: (meant: SelectedRuns) => Promise<T>,
): Promise<T> {
  const { job } = options;
  if (run !== undefined && job === undefined) {
    const ids = [runId(run)];
    return withMaskedRuns(context, (connection, unmasked) => work({ connection, unmasked, ids }));
  }
  if (run !== undefined) throw failureOf("CLI_USAGE", "a run ID and --job cannot be used together");
  if (job === undefined)
    throw failureOf("CLI_USAGE", "no job run specified", {
      hint: "pass a run ID or --job ADDRESS; to list run IDs, run `workspace runs list`",
    });
  return withRecordedObject(context, "jobs", job, async ({ connection, unmasked, id, address }) => {
    const filter = { job_id: int64(id), ...(ofJob === "active" ? { active_only: true } : {}) };
    const most = ofJob === "latest" ? 1 : Number.POSITIVE_INFINITY;
    const runs = await newestRuns(connection.reader, filter, most);
    const ids = runs.map((jobRun) => int64In(jobRun, "run_id"));
    if (ids.length === 0 && ofJob === "latest") throw failureOf("CLI_NO_OBJECT", `${address} has no runs`);
    return work({ connection, unmasked, ids });
  });
}

/** One run: the named one, or the latest of a job. */
function withLatestRun<T>(
  context: ConsoleContext,
  options: JobRunOptions,
  run: string | undefined,
  work: (connection: Connection, id: number | bigint, unmasked: Reader) => Promise<T>,
): Promise<T> {
  return withSelectedRuns(context, options, run, "latest", ({ connection, unmasked, ids: [id = 0] }) =>
    work(connection, id, unmasked),
  );
}

/** Throws Failure with CLI_USAGE. */
function runId(text: string): number | bigint {
  if (/^\d{1,18}$/.test(text)) return int64(text);
  const hint = /^jobs\./.test(text)
    ? `to select a run of a job, pass --job ${text}`
    : "to list run IDs, run `workspace runs list`";
  throw failureOf("CLI_USAGE", `"${text}" is not a valid run ID`, { hint });
}

const cancelRunsCommand = defineCommand({
  name: "cancel",
  summary: "cancel a job run, or every active run of a job",
  options: RUN_OPTIONS,
  args: RUN_ARGUMENT,
  run: (context, options, [run]) =>
    withSelectedRuns(context, options, run, "active", async ({ connection, unmasked, ids }) => {
      if (ids.length === 0) context.stdout.write("No run is active.\n");
      for (const run_id of ids) {
        const jobRun = await unmasked.read("jobs/runs/get", { run_id });
        if (hasEnded(jobRun)) {
          const shown = await connection.reader.read("jobs/runs/get", { run_id });
          context.stdout.write(`Run ${run_id} has ended already: ${outcomeWord(shown)}.\n`);
        } else {
          await connection.writer.write("jobs/runs/cancel", { run_id });
          context.stdout.write(`Run ${run_id} is being canceled.\n`);
        }
      }
    }),
});

const deleteRunsCommand = defineCommand({
  name: "delete",
  summary: "delete a finished job run with its output",
  options: { ...RUN_OPTIONS, ...ASK_OPTIONS },
  args: RUN_ARGUMENT,
  run: (context, options, [run]) =>
    context.signals.during(
      (signal) =>
        withLatestRun(context, options, run, async ({ reader, writer }, run_id, unmasked) => {
          if (!hasEnded(await unmasked.read("jobs/runs/get", { run_id }))) {
            const state = outcomeWord(await reader.read("jobs/runs/get", { run_id }));
            throw failureOf("CLI_USAGE", `run ${run_id} is ${state}; only finished runs can be deleted`, {
              hint: `to cancel it, run \`workspace runs cancel ${run_id}\``,
            });
          }
          const question = `Delete run ${run_id}? This cannot be undone.`;
          if (!(await askApproval(context, options, question, signal, "to delete it, pass --auto-approve")))
            return reportNothingChanged(context);
          await writer.write("jobs/runs/delete", { run_id });
          context.stdout.write(`Deleted run ${run_id}.\n`);
          return EXIT.ok;
        }),
      "",
    ),
});

const getRunCommand = defineCommand({
  name: "get",
  summary: "show a job run, or the latest run of a job",
  jsonSchema: "run",
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
  run: (context, options, [run]) => {
    assertWaits(options);
    return context.signals.during(
      (signal) =>
        withLatestRun(context, options, run, async (connection, id) => {
          if (!options.wait) {
            const jobRun = await connection.reader.read("jobs/runs/get", { run_id: id });
            const text = () => runText(jobRun, colorsOf(context, context.stdout));
            printResult(context, options.output, { run: jobRun }, text);
            return EXIT.ok;
          }
          const following = { run: id, signal, timeoutMs: options.timeout };
          const last = await followRun(connection.reader, following, runStates(context));
          if (last.ended === undefined) return EXIT.error;
          return showEnd(context, connection, last.ended, { id: last.id, address: "", form: options.output });
        }),
      options.wait ? "Stopped waiting. The job run continues.\n" : "",
    );
  },
});

const runOutputCommand = defineCommand({
  name: "output",
  summary: "show the output of a job run, or of the latest run of a job",
  jsonSchema: "run-output",
  options: { ...RUN_OPTIONS, ...FORM_OPTION },
  args: RUN_ARGUMENT,
  run: (context, options, [run]) =>
    withLatestRun(context, options, run, async ({ reader }, run_id) => {
      const answer = await reader.read("jobs/runs/get-output", { run_id });
      const words = outputText(answer);
      printResult(context, options.output, { output: answer }, () => words);
      if (options.output === "text" && words === "")
        context.stderr.write(`run ${run_id} produced no output\n`);
    }),
});

const exportRunCommand = defineCommand({
  name: "export",
  summary: "write a notebook run as HTML",
  jsonSchema: "run-views",
  options: {
    ...RUN_OPTIONS,
    out: outOption("--out <file>", "output file; further views get a number (default: stdout)"),
    force: flagOption("--force", "overwrite existing files"),
    views: choiceOption("--views <which>", "views to export", ["CODE", "DASHBOARDS", "ALL"]),
    ...FORM_OPTION,
  },
  args: RUN_ARGUMENT,
  notes: "Without --out, the run must have exactly one view.",
  run: (context, options, [run]) =>
    withLatestRun(context, options, run, async ({ reader }, run_id) => {
      const answer = await reader.read("jobs/runs/export", { run_id, views_to_export: options.views });
      if (options.output === "json") context.stdout.write(jsonDocument({ views: viewsOf(answer) }, 2));
      else writeViews(context, viewsOf(answer), { run: run_id, out: options.out, force: options.force });
    }),
});

const listRunsCommand = defineCommand({
  name: "list",
  summary: "list job runs, newest first",
  jsonSchema: "runs",
  options: {
    ...RUN_OPTIONS,
    job: textOption("--job <address>", "limit to runs of this job, such as jobs.nightly"),
    active: flagOption("--active", "limit to active runs"),
    completed: flagOption("--completed", "limit to finished runs"),
    limit: integerOption("--limit <number>", "maximum number of runs (default: 20)", 1, 1_000_000),
    all: flagOption("--all", "list all runs"),
    ...FORM_OPTION,
  },
  async run(context, options) {
    if (options.active && options.completed)
      throw failureOf("CLI_USAGE", "--active and --completed cannot be used together");
    const most = listLimit(options, 20);
    const filter = {
      ...(options.active ? { active_only: true } : {}),
      ...(options.completed ? { completed_only: true } : {}),
    };
    const show = async ({ reader }: Connection, ofJob: JsonObject) => {
      const runs = await newestRuns(reader, { ...filter, ...ofJob }, most);
      printResult(context, options.output, { runs }, () => runsText(runs, colorsOf(context, context.stdout)));
    };
    if (options.job === undefined) return withMaskedRuns(context, (connection) => show(connection, {}));
    return withRecordedObject(context, "jobs", options.job, ({ connection, id }) =>
      show(connection, { job_id: int64(id) }),
    );
  },
});

export const runsCommand: Untitled<CommandGroup> = {
  commands: [
    listRunsCommand,
    getRunCommand,
    runOutputCommand,
    exportRunCommand,
    cancelRunsCommand,
    deleteRunsCommand,
  ],
};

const START_OPTIONS = {
  param: valuesOption(
    "--param <value>",
    "parameter of the task: name=value for a notebook, one argument for any other task; repeatable",
  ),
  jarParam: valuesOption("--jar-param <value>", "argument of the main method of a JAR; repeatable"),
  pythonParam: valuesOption("--python-param <value>", "argument of a Python file; repeatable"),
  submitParam: valuesOption("--submit-param <value>", "argument of spark-submit; repeatable"),
  wait: flagOption("--wait", "wait for the run and its retries; the exit code is the result"),
  timeout: durationOption("--timeout <time>", "stop waiting after this time; requires --wait"),
  cancelOnInterrupt: flagOption("--cancel-on-interrupt", "cancel the run on Ctrl-C; requires --wait"),
  ...FORM_OPTION,
} as const;

export const runCommand = defineCommand({
  jsonSchema: "run",
  options: { ...START_OPTIONS, ...RECORDED_OPTIONS },
  args: [{ name: "<job>", description: "address of a job, such as jobs.nightly", takes: "address" }],
  notes: `The result is written to stdout, progress to stderr.
Exit codes: 0 started (with --wait: succeeded), 1 error (with --wait: any other result), 130 interrupted.`,
  run: (context, options, [address = ""]) => {
    assertWaits(options);
    return context.signals.during(
      (signal) =>
        withRecordedObject(context, "jobs", address, (job) => startAndFollow(context, job, options, signal)),
      options.wait
        ? options.cancelOnInterrupt
          ? "Canceling the run.\n"
          : "Stopped waiting. The job run continues.\n"
        : "",
    );
  },
});

async function startAndFollow(
  context: ConsoleContext,
  job: RecordedObject,
  options: ValuesOf<typeof START_OPTIONS>,
  signal: AbortSignal,
): Promise<number> {
  const answer = await runJobNow(job, options);
  const id = int64In(answer, "run_id");
  const started = job.masked(answer);
  if (!options.wait) {
    printResult(
      context,
      options.output,
      { run: started },
      () =>
        `Started run ${id} of ${printable(job.address)}${numberInJob(started)}.\nTo wait for it, run \`workspace runs get ${id} --wait\`.\n`,
    );
    return EXIT.ok;
  }
  context.stderr.write(`run ${id}: started ${printable(job.address)}\n`);
  const following = { run: id, signal, timeoutMs: options.timeout };
  const last = await followRun(job.connection.reader, following, runStates(context));
  if (last.ended !== undefined) {
    const ending = { id: last.id, address: job.address, form: options.output };
    return showEnd(context, job.connection, last.ended, ending);
  }
  if (options.cancelOnInterrupt) await job.connection.writer.write("jobs/runs/cancel", { run_id: last.id });
  else context.stderr.write(`To wait for it again, run \`workspace runs get ${last.id} --wait\`.\n`);
  return EXIT.error;
}
