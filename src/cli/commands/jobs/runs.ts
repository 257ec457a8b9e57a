// `workspace runs …`: the runs of jobs, by run ID or by job; `list` shows them, newest first.

import { failureOf } from "../../../core/diagnostic.ts";
import type { JsonObject } from "../../../core/json.ts";
import { runsText } from "../../../report/inspect/cluster-text.ts";
import { type Connection, withConnection } from "../../../workflow/session/connect.ts";
import { newestRuns } from "../../../workflow/session/paging.ts";
import { numberId, withRecordedObject } from "../../../workflow/session/recorded-object.ts";
import { type CommandGroup, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption, integerOption, textOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { colorsOf, printResult } from "../../output/diagnostics.ts";
import { cancelRunsCommand, deleteRunsCommand } from "./end-runs.ts";
import { RUN_OPTIONS } from "./run-selector.ts";
import { exportRunCommand, getRunCommand, runOutputCommand } from "./show-run.ts";

const listRunsCommand = defineCommand({
  name: "list",
  summary: "list job runs, newest first",
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
    if (options.all && options.limit !== undefined)
      throw failureOf("CLI_USAGE", "--all and --limit cannot be used together");
    const most = options.all ? Number.POSITIVE_INFINITY : (options.limit ?? 20);
    const filter = {
      ...(options.active ? { active_only: true } : {}),
      ...(options.completed ? { completed_only: true } : {}),
    };
    const show = async ({ reader }: Connection, ofJob: JsonObject) => {
      const runs = await newestRuns(reader, { ...filter, ...ofJob }, most);
      printResult(context, options.output, runs, () => runsText(runs, colorsOf(context, context.stdout)));
      return EXIT.ok;
    };
    if (options.job === undefined)
      return withConnection(context, options, (connection) => show(connection, {}));
    return withRecordedObject(context, options, "jobs", options.job, ({ connection, id }) =>
      show(connection, { job_id: numberId(id) }),
    );
  },
});

export const runsCommand: CommandGroup = {
  name: "runs",
  summary: "inspect and manage job runs",
  commands: [
    listRunsCommand,
    getRunCommand,
    runOutputCommand,
    exportRunCommand,
    cancelRunsCommand,
    deleteRunsCommand,
  ],
};
