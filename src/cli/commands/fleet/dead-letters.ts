// `workspace fleet dead-letters`: lists, requeues, or removes jobs that failed at every attempt.

import { error, Failure, failureOf } from "../../../core/diagnostic.ts";
import { type DeadJob, unsettled } from "../../../fleet/queue/job-queue.ts";
import { columns } from "../../../fleet/report/fleet-documents.ts";
import { printableJson } from "../../../report/text/printable.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { withQueue } from "../../fleet/fleet-database.ts";

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
      } else context.stdout.write(asJson ? `${printableJson(jobs, 2)}\n` : textOf(jobs));
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

function textOf(jobs: readonly DeadJob[]): string {
  if (jobs.length === 0) return "No job failed at every attempt.\n";
  const rows = jobs.map(({ workspace, command, failedAt, attempts, failure }) => {
    const [first] = failure.diagnostics;
    const cause = first === undefined ? (failure.message ?? "no details") : `${first.code}: ${first.message}`;
    return [workspace, command, new Date(failedAt).toISOString(), String(attempts), cause];
  });
  return columns([["WORKSPACE", "COMMAND", "FAILED AT", "ATTEMPTS", "CAUSE"], ...rows]);
}
