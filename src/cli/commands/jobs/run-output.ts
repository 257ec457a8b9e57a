// `workspace runs output` and `workspace runs export`: print the output of a run, and its notebook as HTML.

import { outputText } from "../../../report/inspect/cluster-text.ts";
import { printableJson } from "../../../report/text/printable.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { choiceOption, flagOption, textOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { viewsOf, writeViews } from "../../output/job-run.ts";
import { RUN_ARGUMENT, RUN_OPTIONS, withLatestRun } from "./run-selector.ts";

export const runOutputCommand = defineCommand({
  name: "output",
  summary: "show the output of a job run, or of the latest run of a job",
  options: { ...RUN_OPTIONS, ...FORM_OPTION },
  args: RUN_ARGUMENT,
  run: (context, options, [run]) =>
    withLatestRun(context, options, run, async ({ reader }, run_id) => {
      const answer = await reader.read("jobs/runs/get-output", { run_id });
      const words = outputText(answer);
      if (options.output === "json") context.stdout.write(`${printableJson(answer, 2)}\n`);
      else context.stdout.write(words);
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
    out: textOption("--out <file>", "output file; further views get a number (default: stdout)"),
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
