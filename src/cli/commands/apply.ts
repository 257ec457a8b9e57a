// `workspace apply [PLANFILE]`: makes the workspace as the spec, or a saved plan, says.
// `workspace destroy`: deletes everything that the state says is ours.

import { runApply } from "../../workflow/reconcile/apply.ts";
import { applyPlanFile } from "../../workflow/reconcile/apply-plan-file.ts";
import { defineCommand } from "../command/command.ts";
import { textsOption } from "../command/option.ts";
import {
  ASK_OPTIONS,
  EXISTING_OPTIONS,
  HOST_OPTIONS,
  ONLY_OPTION,
  OUTCOME_OUTPUT,
  SPEC_OPTIONS,
  STATE_OPTIONS,
  UNENCRYPTED_OPTION,
} from "../command/shared-options.ts";
import { applyEnding } from "../output/failure-documents.ts";
import { withReports } from "../output/reports.ts";

export const applyCommand = defineCommand({
  name: "apply",
  summary: "apply the spec or a saved plan",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    ...STATE_OPTIONS,
    ...ONLY_OPTION,
    ...OUTCOME_OUTPUT,
    ...ASK_OPTIONS,
    ...EXISTING_OPTIONS,
    ...UNENCRYPTED_OPTION,
  },
  args: [{ name: "[planfile]", description: "plan saved with `plan --out`; applied without a prompt" }],
  ending: applyEnding,
  notes:
    "Exit codes: 0 success, 1 error, 3 blocked by a guard or a policy, 4 stale plan, 5 state locked, 130 and 143 interrupted.",
  async run(context, options, [planfile]) {
    return withReports(context, options, applyEnding, (reports) =>
      planfile === undefined
        ? runApply(reports, options, { plan: options, question: "Apply this plan?" })
        : applyPlanFile(reports, options, planfile),
    );
  },
});

export const destroyCommand = defineCommand({
  name: "destroy",
  summary: "delete all managed resources",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    ...STATE_OPTIONS,
    only: textsOption("--only <address-glob>", "limit to these addresses and their dependents; repeatable"),
    ...OUTCOME_OUTPUT,
    ...ASK_OPTIONS,
  },
  ending: applyEnding,
  notes: "To preview the deletions, run `workspace plan --destroy`.",
  async run(context, options) {
    const wish = { destroy: true, only: options.only };
    return withReports(context, options, applyEnding, (reports) =>
      runApply(reports, options, { plan: wish, question: "Delete all of this?" }),
    );
  },
});
