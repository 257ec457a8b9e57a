// `workspace runs cancel` and `workspace runs delete`.

import { type Failure, failureOf } from "../../../core/diagnostic.ts";
import { listed } from "../../../core/sentences.ts";
import { outcomeWord } from "../../../report/inspect/cluster-text.ts";
import { hasEnded } from "../../../resource/service-status.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { ASK_OPTIONS } from "../../command/shared-options.ts";
import { askApproval } from "../../output/prompt.ts";
import { RUN_ARGUMENT, RUN_OPTIONS, withSelectedRuns } from "./run-selector.ts";

export const cancelRunsCommand = defineCommand({
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

export const deleteRunsCommand = defineCommand({
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
            if (!hasEnded(found)) throw isActive(run_id, outcomeWord(found));
          }
          const question = `Delete run ${listed(ids.map(String))}? This cannot be undone.`;
          if (!(await askApproval(context, options, question, signal, "to delete it, pass --auto-approve"))) {
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

function isActive(run: number | bigint, state: string): Failure {
  return failureOf("CLI_USAGE", `run ${run} is ${state}; only finished runs can be deleted`, {
    hint: `to cancel it, run \`workspace runs cancel ${run}\``,
  });
}
