// `workspace show PLANFILE`: prints a saved plan in any format. Checks its signature and does not read the workspace.

import { placesFrom, verifiedPlan } from "../../workflow/plan/saved-plan.ts";
import { defineCommand } from "../command/command.ts";
import { exitOfPlan } from "../command/exit-codes.ts";
import { flagOption } from "../command/option.ts";
import {
  CHOICE_OPTIONS,
  EXPAND_OPTION,
  HOST_OPTIONS,
  PLAN_OUTPUT,
  SPEC_OPTIONS,
  STATE_OPTIONS,
} from "../command/shared-options.ts";
import { printDiagnostics } from "../output/diagnostics.ts";
import { planFailureDocument } from "../output/failure-documents.ts";
import { withReports } from "../output/reports.ts";
import { showPlan } from "../output/review.ts";

export const showCommand = defineCommand({
  jsonSchema: "plan",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    state: STATE_OPTIONS.state,
    ...PLAN_OUTPUT,
    ...EXPAND_OPTION,
    ...CHOICE_OPTIONS,
    detailedExitcode: flagOption("--detailed-exitcode", "exit with 2 if there are or may be changes"),
  },
  args: [{ name: "<planfile>", description: "plan saved with `plan --out`" }],
  failureDocument: planFailureDocument,
  notes:
    "The command verifies the signature with WORKSPACE_STATE_KEY, or with the key next to the state. It does not check whether the plan is stale.",
  async run(context, options, [planfile = ""]) {
    return withReports(
      context,
      { ...options, planfile, untrusted: true },
      planFailureDocument,
      async (reports) => {
        const saved = await verifiedPlan(context, options, planfile);
        const { plan, report } = saved;
        const notes = report?.notes ?? [];
        printDiagnostics(context, notes);
        const origin = report?.run ?? {
          toolVersion: saved.tool_version,
          ...(saved.target === "" ? {} : { target: saved.target }),
          madeAt: new Date(saved.made_at).toISOString(),
        };
        await showPlan(reports, { plan, places: placesFrom(report?.places), notes, origin });
        return exitOfPlan(plan, { detailed: options.detailedExitcode });
      },
    );
  },
});
