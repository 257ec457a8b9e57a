// `workspace apply [PLANFILE]` applies the spec or a saved plan; `workspace destroy` deletes all managed resources.

import {
  type ApplyRequest,
  prepareFreshPlan,
  prepareSavedPlan,
  runApply,
  withPlanFile,
} from "../../workflow/apply/apply.ts";
import type { Invocation, InvocationOptions } from "../../workflow/invocation/invocation.ts";
import { assertTargetAllowsApply } from "../../workflow/invocation/target.ts";
import type { PlanOptions } from "../../workflow/plan/sources.ts";
import { withSession } from "../../workflow/session/session.ts";
import { defineCommand } from "../command/command.ts";
import { textsOption } from "../command/option.ts";
import {
  ASK_OPTIONS,
  EXISTING_OPTIONS,
  EXPAND_OPTION,
  ONLY_OPTION,
  OUTCOME_OUTPUT,
  PLANNING_OPTIONS,
  STATE_OPTIONS,
  UNENCRYPTED_OPTION,
} from "../command/shared-options.ts";
import { applyRequest, endApply, planPresenter, savedPlanPresenter } from "../output/apply-presenter.ts";
import { applyFailureDocument } from "../output/failure-documents.ts";
import type { ApprovalOptions } from "../output/prompt.ts";
import { withReports } from "../output/reports.ts";
import type { OutcomeReports } from "../output/review.ts";

export const applyCommand = defineCommand({
  jsonSchema: "apply-events",
  options: {
    ...PLANNING_OPTIONS,
    ...STATE_OPTIONS,
    ...ONLY_OPTION,
    ...OUTCOME_OUTPUT,
    ...EXPAND_OPTION,
    ...ASK_OPTIONS,
    ...EXISTING_OPTIONS,
    ...UNENCRYPTED_OPTION,
  },
  args: [{ name: "[planfile]", description: "plan saved with `plan --out`; applied without a prompt" }],
  failureDocument: applyFailureDocument,
  notes:
    "Exit codes: 0 success, 1 error, 3 blocked by a guard or a policy, 4 stale plan, 5 state locked, 130 and 143 interrupted.",
  run: (context, options, [planfile]) =>
    withReports(context, { ...options, planfile }, applyFailureDocument, (reports, invocation) =>
      planfile === undefined
        ? applySpec(reports, invocation, options, options)
        : applyFile(reports, invocation, options, planfile),
    ),
});

export const destroyCommand = defineCommand({
  jsonSchema: "apply-events",
  options: {
    ...PLANNING_OPTIONS,
    ...STATE_OPTIONS,
    only: textsOption("--only <address-glob>", "limit to these addresses and their dependents; repeatable"),
    exclude: textsOption(
      "--exclude <address-glob>",
      "leave out these addresses and what they depend on; repeatable",
    ),
    ...OUTCOME_OUTPUT,
    ...EXPAND_OPTION,
    ...ASK_OPTIONS,
  },
  failureDocument: applyFailureDocument,
  notes: "To preview the deletions, run `workspace plan --destroy`.",
  run: (context, options) =>
    withReports(context, options, applyFailureDocument, (reports, invocation) =>
      applySpec(reports, invocation, options, {
        destroy: true,
        only: options.only,
        exclude: options.exclude,
      }),
    ),
});

type ApplyOptions = ApprovalOptions & Pick<ApplyRequest, "lockTimeout">;

function applySpec(
  reports: OutcomeReports,
  invocation: Invocation,
  options: ApplyOptions,
  plan: PlanOptions,
): Promise<number> {
  const { destroy = false } = plan;
  assertTargetAllowsApply(invocation, { saved: false, namesTarget: false, destroy });
  const secrets = destroy ? "skip" : "resolve";
  return reports.context.signals.during((signal) =>
    withSession(
      invocation,
      { makesKey: true, writesNoDigests: destroy, secrets, signal },
      async (session) => {
        const presenter = planPresenter(reports, session, options, destroy, signal);
        const request = applyRequest(reports, options, signal);
        return endApply(reports, await runApply(session, request, prepareFreshPlan(plan), presenter));
      },
    ),
  );
}

function applyFile(
  reports: OutcomeReports,
  invocation: Invocation,
  options: ApplyOptions & InvocationOptions & PlanOptions,
  file: string,
): Promise<number> {
  return reports.context.signals.during((signal) =>
    withPlanFile(invocation, options, file, signal, async (session, plan) => {
      const presenter = savedPlanPresenter(reports, session);
      const request = applyRequest(reports, options, signal);
      return endApply(reports, await runApply(session, request, prepareSavedPlan(plan), presenter));
    }),
  );
}
