// `workspace apply [PLANFILE]`: applies the spec or a saved plan.

import { runPlanFile, withPlanFile } from "../../workflow/reconcile/apply-plan-file.ts";
import { type ApplyOptions, applySpec } from "../command/apply-spec.ts";
import { defineCommand } from "../command/command.ts";
import {
  ASK_OPTIONS,
  EXISTING_OPTIONS,
  ONLY_OPTION,
  OUTCOME_OUTPUT,
  PLANNING_OPTIONS,
  STATE_OPTIONS,
  UNENCRYPTED_OPTION,
} from "../command/shared-options.ts";
import { endApply, originFrom, savedPlanObserver } from "../output/apply-observer.ts";
import { applyEnding } from "../output/failure-documents.ts";
import type { OutcomeReports } from "../output/plan.ts";
import { withReports } from "../output/reports.ts";

export const applyCommand = defineCommand({
  name: "apply",
  summary: "apply the spec or a saved plan",
  options: {
    ...PLANNING_OPTIONS,
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
  run: (context, options, [planfile]) =>
    withReports(context, { ...options, planfile }, applyEnding, (reports, seen) =>
      planfile === undefined
        ? applySpec(reports, { ...options, seen }, options, "Apply this plan?")
        : applyFile(reports, { ...options, seen }, planfile),
    ),
});

function applyFile(reports: OutcomeReports, options: ApplyOptions, file: string): Promise<number> {
  return reports.context.signals.during((signal) =>
    withPlanFile(reports.context, options, file, signal, async (session, text) => {
      const observer = await savedPlanObserver(reports, session);
      const { lockTimeout } = options;
      const request = { lockTimeout, signal, origin: originFrom(reports) };
      return endApply(reports, await runPlanFile(session, text, request, observer));
    }),
  );
}
