// `workspace runs get`: shows a run, and waits for its result on request.

import { runText } from "../../../report/inspect/cluster-text.ts";
import { followRun } from "../../../workflow/jobs/follow-run.ts";
import type { Connection } from "../../../workflow/session/connect.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { durationOption, flagOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { colorsOf, printResult } from "../../output/diagnostics.ts";
import { showEnd } from "../../output/job-run.ts";
import { runStates } from "../../output/polling.ts";
import { RUN_ARGUMENT, RUN_OPTIONS, withLatestRun } from "./run-selector.ts";

export const getRunCommand = defineCommand({
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
        withLatestRun(context, options, run, async (connection, id) => {
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
  printResult(context, form, found, () => runText(found, colorsOf(context, context.stdout)));
  return EXIT.ok;
}
