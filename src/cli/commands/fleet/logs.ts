// `workspace fleet logs`: what a run of a workspace printed, also while it runs.

import { setTimeout as sleep } from "node:timers/promises";
import { failureOf } from "../../../core/diagnostic.ts";
import type { WorkspaceLeases } from "../../../fleet/database/workspace-lease.ts";
import { KEPT_LOGS, type WorkspaceResult } from "../../../fleet/model/result.ts";
import { resultLine } from "../../../fleet/report/fleet-documents.ts";
import { resultJson } from "../../../fleet/report/fleet-json.ts";
import { jsonDocument } from "../../../report/text/printable.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { flagOption, integerOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { FLEET_OPTIONS, openFleet, openResults } from "../../fleet/fleet-options.ts";

export const logsCommand = defineCommand({
  name: "logs",
  summary: "show the log of a run of a workspace",
  jsonSchema: "fleet-result",
  options: {
    fleet: FLEET_OPTIONS.fleet,
    run: integerOption(
      "--run <number>",
      "which run: 1 is the last one (default), 2 the one before",
      1,
      KEPT_LOGS,
    ),
    follow: flagOption("--follow", "show the log of the running job as it grows"),
    ...FORM_OPTION,
  },
  args: [{ name: "<workspace>", description: "name of a workspace" }],
  notes: `Of each workspace, the logs of the last ${KEPT_LOGS} runs are kept, each up to 36 KB. Values of credentials are masked. Exit code 1 if the run does not exist.`,
  async run(context, options, [name = ""]) {
    const { fleet } = openFleet(context, { ...options, select: [] }, [name]);
    const { results, leases } = await openResults(context, fleet, "read");
    const number = options.run ?? 1;
    try {
      if (options.follow && leases !== undefined) await follow(context, leases, name);
      const runs = await results.logs(name, number);
      const run = runs[number - 1];
      if (run === undefined)
        throw failureOf(
          "CLI_USAGE",
          `the workspace ${name} has ${runs.length === 0 ? "no run" : `only ${runs.length} runs`} with a log`,
          {
            hint: "to see the last results, run `workspace fleet status`",
          },
        );
      context.stdout.write(
        options.output === "json" ? jsonDocument(resultJson(run), 2) : logText(run, options.follow),
      );
    } finally {
      await results.close();
    }
  },
});

function logText(run: WorkspaceResult, isFollowed: boolean): string {
  const { command, startedAt, worker = "?", version = "?", attempt = 1, log = "" } = run;
  const head = `${command} at ${new Date(startedAt).toISOString()} on ${worker} (workspace ${version}), attempt ${attempt}\n`;
  return isFollowed ? resultLine(run) : `${head}${log}${resultLine(run)}`;
}

const LOOK_MS = 1_000;

/** Prints what is new until the run ends; nothing if none runs. */
async function follow(context: ConsoleContext, leases: WorkspaceLeases, workspace: string): Promise<void> {
  await context.signals.during(async (signal) => {
    let printed = "";
    while (!signal.aborted) {
      const run = (await leases.active(workspace)).find((active) => active.workspace === workspace);
      if (run === undefined || run.isLost) return;
      const { log = "" } = run;
      // A log that became too long lost lines in its middle.
      context.stdout.write(log.startsWith(printed) ? log.slice(printed.length) : log);
      printed = log;
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  });
}
