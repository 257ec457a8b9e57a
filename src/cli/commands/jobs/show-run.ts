// `workspace runs get`, `output`, and `export`: show a run, its output, and its notebook as HTML. `get` waits for the result on request.

import { outputText, runText } from "../../../report/inspect/cluster-text.ts";
import { printableJson } from "../../../report/text/printable.ts";
import { followRun } from "../../../workflow/jobs/follow-run.ts";
import type { Connection } from "../../../workflow/session/connect.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { assertWaits, choiceOption, durationOption, flagOption, outOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { colorsOf, printResult } from "../../output/diagnostics.ts";
import { showEnd, viewsOf, writeViews } from "../../output/job-run.ts";
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
  run: (context, options, [run]) => {
    assertWaits(options);
    return context.signals.during(
      (signal) =>
        withLatestRun(context, options, run, async (connection, id) => {
          if (!options.wait) return showOne(context, connection, id, options.output);
          const following = { run: id, signal, timeoutMs: options.timeout };
          const last = await followRun(connection.reader, following, runStates(context));
          if (last.ended === undefined) return EXIT.error;
          return showEnd(context, connection, last.ended, { id: last.id, address: "", form: options.output });
        }),
      options.wait ? "Stopped waiting. The job run continues.\n" : "",
    );
  },
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

export const runOutputCommand = defineCommand({
  name: "output",
  summary: "show the output of a job run, or of the latest run of a job",
  options: { ...RUN_OPTIONS, ...FORM_OPTION },
  args: RUN_ARGUMENT,
  run: (context, options, [run]) =>
    withLatestRun(context, options, run, async ({ reader }, run_id) => {
      const answer = await reader.read("jobs/runs/get-output", { run_id });
      const words = outputText(answer);
      printResult(context, options.output, answer, () => words);
      if (options.output === "text" && words === "")
        context.stderr.write(`run ${run_id} produced no output\n`);
      return EXIT.ok;
    }),
});

export const exportRunCommand = defineCommand({
  name: "export",
  summary: "write a notebook run as HTML",
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
      if (options.output === "json") context.stdout.write(`${printableJson(answer, 2)}\n`);
      else writeViews(context, viewsOf(answer), { run: run_id, out: options.out, force: options.force });
      return EXIT.ok;
    }),
});
