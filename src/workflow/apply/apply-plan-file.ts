// `workspace apply PLANFILE`: applies exactly the saved plan, or nothing.

import { Failure, failureOf, hasErrors } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import { pendingMoves } from "../../planner/diff/known-drift.ts";
import { isBlocked } from "../../planner/model/plan.ts";
import { changedObjects, otherRecords } from "../../planner/plan-file.ts";
import { registry } from "../../providers/index.ts";
import type { Lease } from "../../state/model/store.ts";
import { assertMayApply } from "../invocation/target.ts";
import type { WorkflowContext } from "../invocation/workflow-context.ts";
import { assertBelow, checkedPlan, planFile, signatureCheck } from "../plan/plan-file.ts";
import { withSecrets } from "../plan/plan-file-parts.ts";
import { plannedEntries } from "../plan/record-entries.ts";
import { checkRules } from "../rules/check-rules.ts";
import {
  type PlanOptions,
  planSession,
  type Session,
  type SessionOptions,
  withSession,
} from "../session/session.ts";
import { ephemeralState, otherTarget } from "../session/state-warnings.ts";
import {
  type ApplyObserver,
  type ApplyRequest,
  type ApplyResult,
  assertNotInterrupted,
  executePlan,
  withLock,
} from "./apply.ts";

export function withPlanFile<T>(
  context: WorkflowContext,
  options: SessionOptions & PlanOptions,
  file: string,
  signal: AbortSignal,
  work: (session: Session, text: string) => Promise<T>,
): Promise<T> {
  refuseOwnWishes(options);
  const { text, claims } = planFile(context, file);
  refuseOtherTarget(options, claims.target, file);
  if (options.file === undefined) assertBelow(context, claims.file);
  const chosen = {
    ...options,
    file: options.file ?? claims.file,
    target: claims.target,
    var: claims.var,
    varFile: claims.varFile,
  };
  assertMayApply(context, chosen, { saved: true, named: options.target !== undefined });
  const opening = { makesKey: false, secrets: "resolve", signal, unlocked: signatureCheck(text) } as const;
  return withSession(context, chosen, opening, (session) => work(session, text));
}

/** Applies exactly the saved plan. The user approved it when it was made, so the observer is not asked. */
export function runPlanFile(
  session: Session,
  text: string,
  request: Omit<ApplyRequest, "plan">,
  observer: ApplyObserver,
): Promise<ApplyResult> {
  return withLock(session, request.lockTimeout, request.signal, (lease) =>
    applyChecked(session, lease, text, request, observer),
  );
}

/** A saved plan contains the options that shaped it; other such options are an error, not ignored. */
function refuseOwnWishes(options: SessionOptions & PlanOptions): void {
  const given = [
    ...(options.var.length === 0 ? [] : ["--var"]),
    ...(options.varFile.length === 0 ? [] : ["--var-file"]),
    ...((options.only ?? []).length === 0 ? [] : ["--only"]),
    ...(options.adopt === true ? ["--adopt"] : []),
    ...(options.allowDuplicates === true ? ["--allow-duplicates"] : []),
  ];
  if (given.length === 0) return;
  throw failureOf("CLI_USAGE", `${given.join(", ")} cannot be used with a saved plan`, {
    hint: "remove it, or make a new plan with it",
  });
}

/** --target may repeat the target of the plan. */
function refuseOtherTarget({ target }: SessionOptions, planned: string | undefined, file: string): void {
  if (target === undefined || target === planned) return;
  const made = planned === undefined ? "without a target" : `for the target ${JSON.stringify(planned)}`;
  throw failureOf("CLI_USAGE", `the plan was made ${made}, not for ${JSON.stringify(target)}`, {
    hint: `remove --target, or make a new plan: \`workspace plan --target ${shellWord(target)} --out ${shellWord(file)}\``,
  });
}

async function applyChecked(
  session: Session,
  lease: Lease,
  text: string,
  request: Omit<ApplyRequest, "plan">,
  observer: ApplyObserver,
): Promise<ApplyResult> {
  const { context, settings, spec, warnings } = session;
  const saved = checkedPlan(session, text, lease.state());
  // The rules may have changed since the plan was made, and it did not decide what it compares.
  const plan = await checkRules(withSecrets(saved.plan, spec), { spec, untrusted: false });
  const doubts = [
    ...ephemeralState(context, session.options, settings.place, lease.state()),
    ...otherTarget(spec, lease.state()),
  ];
  if (isBlocked(plan)) {
    await observer.planned(plan, []);
    return { status: "refused", plan };
  }
  // The workspace is read again for names and IDs; the changes are those of the file.
  const now = await planSession(session, lease.state(), { writes: true });
  const { live, learnt, sensitive, recovered } = now;
  assertNotInterrupted(request.signal);
  if (hasErrors(recovered.diagnostics)) throw new Failure(...recovered.diagnostics);
  const moved = [
    ...otherRecords(saved, recovered.state),
    ...changedObjects(saved.plan, live, registry, recovered.state, sensitive),
  ];
  if (hasErrors(moved)) throw new Failure(...moved);
  const ruled = plan.diagnostics.slice(saved.plan.diagnostics.length);
  const found = [...lease.diagnostics, ...recovered.diagnostics, ...doubts, ...ruled];
  context.observer.found(found);
  const notes = [...warnings, ...found];
  await observer.planned(plan, notes);
  return executePlan(session, request, observer, {
    lease,
    plan,
    compared: { drift: now.plan.drift, live, only: undefined, moves: pendingMoves(recovered.entries) },
    sensitive,
    resources: spec.resources,
    entries: [...plannedEntries(recovered.entries, plan), ...learnt, { type: "nonce", nonce: saved.nonce }],
    command: "apply",
    notes,
  });
}
