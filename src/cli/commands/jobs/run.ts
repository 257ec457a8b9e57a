// `workspace run JOB`: starts a managed job, and waits for its result on request.

import { int64In } from "../../../providers/kit/responses.ts";
import { numberInJob } from "../../../report/inspect/cluster-text.ts";
import { printable } from "../../../report/text/printable.ts";
import { type Parameters, runJobNow } from "../../../workflow/operate/parameters.ts";
import { type RecordedObject, withRecordedObject } from "../../../workflow/operate/recorded-object.ts";
import { followRun } from "../../../workflow/operate/wait.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { assertWaits, durationOption, flagOption, valuesOption } from "../../command/option.ts";
import { FORM_OPTION, RECORDED_OPTIONS } from "../../command/shared-options.ts";
import { printResult } from "../../output/diagnostics.ts";
import { runStates, showEnd } from "../../output/job-run.ts";

const PARAMETER_OPTIONS = {
  param: valuesOption(
    "--param <value>",
    "parameter of the task: name=value for a notebook, one argument for any other task; repeatable",
  ),
  jarParam: valuesOption("--jar-param <value>", "argument of the main method of a JAR; repeatable"),
  pythonParam: valuesOption("--python-param <value>", "argument of a Python file; repeatable"),
  submitParam: valuesOption("--submit-param <value>", "argument of spark-submit; repeatable"),
} as const;

interface Wish extends Parameters {
  readonly wait: boolean;
  readonly timeout: number | undefined;
  readonly cancelOnInterrupt: boolean;
  readonly output: "text" | "json";
}

export const runCommand = defineCommand({
  jsonSchema: "run",
  options: {
    ...PARAMETER_OPTIONS,
    wait: flagOption("--wait", "wait for the run and its retries; the exit code is the result"),
    timeout: durationOption("--timeout <time>", "stop waiting after this time; requires --wait"),
    cancelOnInterrupt: flagOption("--cancel-on-interrupt", "cancel the run on Ctrl-C; requires --wait"),
    ...FORM_OPTION,
    ...RECORDED_OPTIONS,
  },
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
  wish: Wish,
  signal: AbortSignal,
): Promise<number> {
  const answer = await runJobNow(job, wish);
  const id = int64In(answer, "run_id");
  const started = job.masked(answer);
  if (!wish.wait) {
    printResult(
      context,
      wish.output,
      { run: started },
      () =>
        `Started run ${id} of ${printable(job.address)}${numberInJob(started)}.\nTo wait for it, run \`workspace runs get ${id} --wait\`.\n`,
    );
    return EXIT.ok;
  }
  context.stderr.write(`run ${id}: started ${printable(job.address)}\n`);
  const following = { run: id, signal, timeoutMs: wish.timeout };
  const last = await followRun(job.connection.reader, following, runStates(context));
  if (last.ended !== undefined) {
    const ending = { id: last.id, address: job.address, form: wish.output };
    return showEnd(context, job.connection, last.ended, ending);
  }
  if (wish.cancelOnInterrupt) await job.connection.writer.write("jobs/runs/cancel", { run_id: last.id });
  else context.stderr.write(`To wait for it again, run \`workspace runs get ${last.id} --wait\`.\n`);
  return EXIT.error;
}
