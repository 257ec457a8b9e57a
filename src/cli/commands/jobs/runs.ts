// `workspace runs …`: the runs of jobs, by run ID or by job.

import type { CommandGroup } from "../../command/command.ts";
import { cancelRunsCommand, deleteRunsCommand } from "./end-runs.ts";
import { getRunCommand } from "./get-run.ts";
import { listRunsCommand } from "./list-runs.ts";
import { exportRunCommand, runOutputCommand } from "./run-output.ts";

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
