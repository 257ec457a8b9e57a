// `workspace plan` shows what an apply would change and what blocks it; `workspace show PLANFILE` prints a saved plan. Neither changes the workspace or the state.

import { assertReviewable, reviewRecords, reviewWorkspace } from "../../workflow/plan/plan-review.ts";
import { verifiedPlan } from "../../workflow/plan/saved-plan.ts";
import { placesFrom } from "../../workflow/plan/spec-places.ts";
import { withSession, withSpecSession } from "../../workflow/session/session.ts";
import { defineCommand } from "../command/command.ts";
import { exitOfPlan } from "../command/exit-codes.ts";
import { flagOption, outOption } from "../command/option.ts";
import {
  BASE_OPTIONS,
  CHOICE_OPTIONS,
  EXISTING_OPTIONS,
  EXPAND_OPTION,
  HOST_OPTIONS,
  ONLY_OPTION,
  PLAN_OUTPUT,
  PLANNING_OPTIONS,
  SPEC_OPTIONS,
  STATE_OPTIONS,
  UNENCRYPTED_OPTION,
  UNTRUSTED_OPTIONS,
} from "../command/shared-options.ts";
import { printDiagnostics } from "../output/diagnostics.ts";
import { planFailureDocument } from "../output/failure-documents.ts";
import { withReports } from "../output/reports.ts";
import { saveReview, showPlan, showReview, showWithMoved } from "../output/review.ts";

export const planCommand = defineCommand({
  jsonSchema: "plan",
  options: {
    ...PLANNING_OPTIONS,
    state: STATE_OPTIONS.state,
    ...ONLY_OPTION,
    ...PLAN_OUTPUT,
    ...EXPAND_OPTION,
    ...CHOICE_OPTIONS,
    out: outOption("--out <file>", "save the plan for `workspace apply FILE`", "is refused"),
    detailedExitcode: flagOption("--detailed-exitcode", "exit with 2 if there are or may be changes"),
    writeMoved: flagOption("--write-moved", "write the `moved` entries that the plan suggests into the spec"),
    ...EXISTING_OPTIONS,
    ...UNENCRYPTED_OPTION,
    destroy: flagOption(
      "--destroy",
      "plan to delete all managed resources, or with --only those and their dependents",
    ),
    ...UNTRUSTED_OPTIONS,
    ...BASE_OPTIONS,
    offline: flagOption("--offline", "compare with the state instead of the workspace"),
  },
  failureDocument: planFailureDocument,
  notes:
    "Exit codes: 0 success, 1 error, 2 changes (with --detailed-exitcode), 3 blocked by a guard or a policy. With --untrusted, the state must be outside the checkout or encrypted.",
  async run(context, options) {
    assertReviewable(options);
    return withReports(context, options, planFailureDocument, async (reports, invocation) => {
      const requirements = {
        makesKey: options.out !== undefined,
        secrets: options.destroy || options.untrusted ? "skip" : "optional",
        base: options,
      } as const;
      if (options.offline)
        return withSpecSession(invocation, requirements, async (session) =>
          showReview(reports, options, await reviewRecords(session, options)),
        );
      return withSession(invocation, requirements, async (session) => {
        const planned = await reviewWorkspace(session, options);
        if (options.writeMoved) return showWithMoved(reports, options, session, planned);
        const { out } = options;
        const save = out === undefined ? undefined : await saveReview(reports, session, planned, out);
        return showReview(reports, options, planned, save);
      });
    });
  },
});

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
        printDiagnostics(context, notes, { isWhole: false });
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
