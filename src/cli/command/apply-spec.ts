// Plans and applies the spec: the common part of apply and destroy.

import { type ApplyRequest, runApply } from "../../workflow/reconcile/apply.ts";
import { type PlanOptions, type SessionOptions, withSession } from "../../workflow/session/session.ts";
import { assertMayApply } from "../../workflow/target/target.ts";
import { approvalOptions, endApply, originFrom, planObserver } from "../output/apply-observer.ts";
import type { OutcomeReports } from "../output/plan.ts";
import { type ApprovalOptions, approvalAdvice } from "../output/prompt.ts";

export type ApplyOptions = SessionOptions & ApprovalOptions & Pick<ApplyRequest, "lockTimeout">;

export function applySpec(
  reports: OutcomeReports,
  options: ApplyOptions,
  plan: PlanOptions,
  question: string,
): Promise<number> {
  const { destroy = false } = plan;
  assertMayApply(reports.context, options, { saved: false, named: false, destroy });
  const secrets = destroy ? "skip" : "resolve";
  return reports.context.signals.during((signal) =>
    withSession(reports.context, options, { makesKey: true, secrets, signal }, async (session) => {
      const asking = approvalOptions(reports, options);
      const advice = approvalAdvice(destroy ? "workspace plan --destroy" : "workspace plan");
      const observer = await planObserver(reports, session, { asking, question, advice, signal });
      const { lockTimeout } = options;
      const request = { plan, lockTimeout, signal, origin: originFrom(reports) };
      return endApply(reports, await runApply(session, request, observer));
    }),
  );
}
