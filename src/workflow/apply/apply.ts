// Runs an apply or a destroy, of a new plan or of a saved one: locks the state, plans, gets approval, executes. Prints nothing and knows no exit code.

import { ciActor } from "../../config/environment.ts";
import { type Diagnostic, Failure, failureOf, hasErrors } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import type { ApplyOrigin } from "../../core/past-run.ts";
import type { SensitiveValues } from "../../core/sensitive-values.ts";
import { shellWord } from "../../core/sentences.ts";
import { applyPlan } from "../../engine/apply/apply.ts";
import { recordRecovery } from "../../engine/recover/recover.ts";
import { type ComparedDrift, endedAcknowledgements, pendingMoves } from "../../planner/diff/known-drift.ts";
import { changesAnything } from "../../planner/model/change.ts";
import { type ApplyEvent, type ApplyOutcome, isBlocked, type Plan } from "../../planner/model/plan.ts";
import { changedObjects, otherRecords } from "../../planner/plan-file.ts";
import { restoredPlan } from "../../planner/sensitive-plan.ts";
import { registry } from "../../providers/index.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { nodeClock, nodeRandom, thisProcess } from "../../state/backends/file/node-ports.ts";
import { fold } from "../../state/format/fold.ts";
import type { JournalEntry } from "../../state/model/record.ts";
import type { Lease } from "../../state/model/store.ts";
import type { Invocation, InvocationOptions } from "../invocation/invocation.ts";
import { assertMayApply } from "../invocation/target.ts";
import { locatedEvent, locatedOutcome } from "../plan/located.ts";
import { assertBelow, checkedPlan, planFile, signatureCheck, withSecrets } from "../plan/plan-file.ts";
import { type PlanOptions, planSession } from "../plan/plan-session.ts";
import { plannedEntries } from "../plan/record-entries.ts";
import { checkRules } from "../rules/check-rules.ts";
import { lockWait } from "../session/open-state.ts";
import { prepareForLargeApply } from "../session/read-spec.ts";
import { type Session, withSession } from "../session/session.ts";
import { assertStateExists, ephemeralState, otherTarget } from "../session/state-warnings.ts";

/** Shows an apply, and decides for the user. Its methods are called in this order, under the lock. */
export interface ApplyObserver {
  /** `notes`: what was found about the run before the plan. */
  planned(plan: Plan, notes: readonly Diagnostic[]): Promise<void>;
  approve(plan: Plan): Promise<boolean>;
  changed(event: ApplyEvent): void;
  applied(plan: Plan, outcome: ApplyOutcome, notes: readonly Diagnostic[]): Promise<void>;
}

export interface ApplyRequest {
  readonly plan: PlanOptions;
  readonly lockTimeout: number | undefined;
  readonly signal: AbortSignal;
  /** The commit and the CI run, for the history of the state. */
  readonly origin: (plan: Plan) => Promise<Pick<ApplyOrigin, "commit" | "run_url">>;
}

export type ApplyResult =
  | { readonly status: "refused" | "declined"; readonly plan: Plan }
  | { readonly status: "applied"; readonly plan: Plan; readonly outcome: ApplyOutcome };

/** Throws Failure with what ended the run before its plan, and with APPLY_INTERRUPTED. */
export function runApply(
  session: Session,
  request: ApplyRequest,
  observer: ApplyObserver,
): Promise<ApplyResult> {
  return withLock(session, request.lockTimeout, request.signal, (lease) =>
    planAndApply(session, lease, request, observer),
  );
}

async function planAndApply(
  session: Session,
  lease: Lease,
  request: ApplyRequest,
  observer: ApplyObserver,
): Promise<ApplyResult> {
  const { plan: options, signal } = request;
  const destroys = options.destroy === true;
  const { invocation, settings, spec, warnings } = session;
  if (destroys) assertStateExists(session.store, lease.state(), "nothing can be destroyed");
  const doubts = [
    ...(destroys ? [] : ephemeralState(invocation, settings.place.embedded, lease.state())),
    ...otherTarget(spec, lease.state()),
  ];
  const { plan, input, live, sensitive, recovered, learnt, diagnostics } = await planSession(
    session,
    lease.state(),
    {
      ...options,
      writes: true,
      checksRules: true,
    },
  );
  assertNotInterrupted(signal);
  const found = [...lease.diagnostics, ...diagnostics, ...doubts];
  if (hasErrors(found)) throw new Failure(...found);
  invocation.observer.found(found);
  const notes = [...warnings, ...found];
  await observer.planned(plan, notes);
  if (isBlocked(plan)) return { status: "refused", plan };
  if (changesAnything(plan) && !(await observer.approve(plan))) {
    assertNotInterrupted(signal);
    return { status: "declined", plan };
  }
  return executePlan(session, request, observer, {
    lease,
    plan,
    compared: { drift: plan.drift, live, only: input.only, moves: pendingMoves(recovered.entries) },
    sensitive,
    resources: destroys ? new Map() : spec.resources,
    entries: [...plannedEntries(recovered.entries, plan), ...learnt],
    command: destroys ? "destroy" : "apply",
    notes,
  });
}

/** A signal before the first change: nothing was written, so nothing has to be finished. */
export function assertNotInterrupted(signal: AbortSignal): void {
  if (signal.aborted)
    throw failureOf("APPLY_INTERRUPTED", "stopped before the first change", {
      hint: "run the command again",
    });
}

export async function withLock<T>(
  session: Session,
  lockTimeout: number | undefined,
  signal: AbortSignal,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const lease = await session.store.lock({ ...lockWait(session.invocation, lockTimeout), signal });
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}

interface ExecuteInput {
  readonly lease: Lease;
  readonly plan: Plan;
  readonly compared: ComparedDrift;
  readonly sensitive: SensitiveValues;
  readonly resources: Spec["resources"];
  /** What has to be known before the first change. */
  readonly entries: readonly JournalEntry[];
  readonly command: ApplyOrigin["command"];
  readonly notes: readonly Diagnostic[];
}

/** Acknowledgements that are over, also if the plan has no changes. */
function endedIn(
  session: Session,
  { lease, compared, entries }: Pick<ExecuteInput, "lease" | "compared" | "entries">,
): readonly JournalEntry[] {
  const { acknowledged = [] } = fold(
    lease.state(),
    entries.map((entry) => ({ seq: 0, at: 0, entry })),
  );
  return endedAcknowledgements(acknowledged, compared, registry, session.secretDigest, Date.now());
}

export async function executePlan(
  session: Session,
  { signal, origin }: Omit<ApplyRequest, "plan">,
  observer: ApplyObserver,
  { plan, lease, compared, sensitive, resources, entries, command, notes }: ExecuteInput,
): Promise<ApplyResult> {
  const { invocation, spec } = session;
  const { diagnostics: missing } = restoredPlan(plan, sensitive);
  if (hasErrors(missing)) throw new Failure(...missing);
  const from = await origin(plan);
  prepareForLargeApply(spec);
  await recordRecovery(lease, [...entries, ...endedIn(session, { lease, compared, entries })]);
  const { user, host } = thisProcess();
  const actor = ciActor(invocation) ?? `${user}@${host}`;
  const activity = await invocation.observer.begin();
  const found = await applyPlan({
    plan,
    registry,
    resources,
    live: compared.live,
    sensitive,
    writer: session.connection.writer,
    lease,
    clock: session.clock ?? nodeClock,
    random: nodeRandom,
    parallelism: session.settings.parallelism,
    onEvent: (event) => {
      activity.apply(event);
      observer.changed(sensitive.masked(locatedEvent(event, resources)));
    },
    signal,
    origin: { command, ...from, actor, ...defined({ target: spec.target?.name }) },
  }).finally(() => activity.stop());
  invocation.runObserver?.applied(plan, lease.state(), found);
  const outcome = sensitive.masked(locatedOutcome(found, resources));
  await observer.applied(plan, outcome, notes);
  return { status: "applied", plan, outcome };
}

/** `named`: what the command line names, besides what the plan contains. */
export function withPlanFile<T>(
  invocation: Invocation,
  named: InvocationOptions & PlanOptions,
  file: string,
  signal: AbortSignal,
  work: (session: Session, text: string) => Promise<T>,
): Promise<T> {
  refusePlanOptions(named);
  const { text, claims } = planFile(invocation, file);
  refuseOtherTarget(named.target, claims.target, file);
  if (named.file === undefined) assertBelow(invocation, claims.file);
  const claimed = invocation.with({ ...claims, file: named.file ?? claims.file });
  assertMayApply(claimed, { saved: true, named: named.target !== undefined });
  const requirements = {
    makesKey: false,
    secrets: "resolve",
    signal,
    onKeyKnown: signatureCheck(text),
  } as const;
  return withSession(claimed, requirements, (session) => work(session, text));
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
function refusePlanOptions(options: InvocationOptions & PlanOptions): void {
  const given = [
    ...((options.var ?? []).length === 0 ? [] : ["--var"]),
    ...((options.varFile ?? []).length === 0 ? [] : ["--var-file"]),
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
function refuseOtherTarget(target: string | undefined, planned: string | undefined, file: string): void {
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
  const { invocation, settings, spec, warnings } = session;
  const saved = checkedPlan(session, text, lease.state());
  // The rules may have changed since the plan was made, and it did not decide what it compares.
  const plan = await checkRules(withSecrets(saved.plan, spec), { spec, untrusted: false });
  const doubts = [
    ...ephemeralState(invocation, settings.place.embedded, lease.state()),
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
  invocation.observer.found(found);
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
