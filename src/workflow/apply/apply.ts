// Runs an apply or a destroy: locks the state, makes a plan or takes that of a file, gets approval, and executes it. Prints nothing and knows
// no exit code. Others see the run: the presenter of the command shows and approves it, the observer of the invocation shows findings and
// progress at once, and its figures count for metrics and webhooks.

import { type Diagnostic, Failure, failureOf, hasErrors, withoutSourceLines } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import type { ApplyOrigin } from "../../core/past-run.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { shellWord } from "../../core/sentences.ts";
import { applyPlan } from "../../engine/apply/apply.ts";
import { recordBeforeWrites } from "../../engine/recover/recover.ts";
import { restoredPlan } from "../../planner/conceal-plan.ts";
import {
  type ComparedDrift,
  comparedIn,
  endedAcknowledgements,
  pendingMoves,
} from "../../planner/diff/known-drift.ts";
import { withSecretValues } from "../../planner/mode/compare-secrets.ts";
import { changesAnything } from "../../planner/model/change.ts";
import {
  type ApplyEvent,
  type ApplyOutcome,
  type ChangeOutcome,
  isBlocked,
  type Plan,
} from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import type { Live } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { nodeRandom } from "../../state/backends/file/node-ports.ts";
import { withEntries } from "../../state/format/fold.ts";
import type { JournalEntry } from "../../state/model/record.ts";
import type { Lease } from "../../state/model/store.ts";
import { type Invocation, type InvocationOptions, reportOrThrow } from "../invocation/invocation.ts";
import { assertTargetAllowsApply } from "../invocation/target.ts";
import { planWorkspace, reportedCaller, type WorkspacePlan } from "../plan/plan.ts";
import { entriesWithoutOtherMoves } from "../plan/record-entries.ts";
import {
  assertBasisUnchanged,
  assertSpecInWorkingFolder,
  assertWorkspaceUnchanged,
  PlanFile,
  readPlanFile,
} from "../plan/saved-plan.ts";
import type { PlanOptions } from "../plan/sources.ts";
import { checkRules } from "../rules/check-rules.ts";
import {
  assertStateExists,
  otherTarget,
  stateInRunnerFolder,
  unrecordedObjects,
} from "../session/check-state.ts";
import { actorOf, lockWait, withLock } from "../session/open-state.ts";
import { preferLessMemoryForSpec } from "../session/read-spec.ts";
import { type Session, withSession } from "../session/session.ts";

/** Shows an apply, and decides for the user. Its methods are called in this order, under the lock. */
export interface ApplyPresenter {
  /** `notes`: what was found about the state and the run; what is found about the changes is in the plan. */
  planned(plan: Plan, notes: readonly Diagnostic[]): Promise<void>;
  approve(plan: Plan): Promise<boolean>;
  changed(event: ApplyEvent): void;
  applied(plan: Plan, outcome: ShownOutcome, notes: readonly Diagnostic[]): Promise<void>;
}

/** The outcome for readers, without sensitive values. */
export interface ShownOutcome extends ApplyOutcome {
  /** The user or service principal that the service knew the run by. */
  readonly caller?: string;
}

export interface ApplyRequest {
  readonly lockTimeout: number | undefined;
  readonly signal: AbortSignal;
  /** The commit and the page of the CI run, for the history of the state. */
  readonly readCommitAndRun?: () => Promise<Pick<ApplyOrigin, "commit" | "run_url">>;
}

/** `refused`: the plan is blocked. `declined`: it was not approved. */
export type ApplyResult =
  | { readonly status: "refused" | "declined"; readonly plan: Plan }
  | { readonly status: "applied"; readonly plan: Plan; readonly outcome: ShownOutcome };

/** A plan, and what its execution needs. */
interface PreparedApply {
  readonly plan: Plan;
  /** About the state and the run, reported at once; what is found about the changes is in the plan. The presenter gets them with the session's warnings as `notes`. */
  readonly runFindings: readonly Diagnostic[];
  /** Absent for a plan of a file that is blocked: when it was made, or by a rule now. */
  readonly execution?: Execution;
}

interface Execution {
  /** The objects as this run read them. */
  readonly live: Live;
  /** Their drift where this run compared it; it can end acknowledgements. */
  readonly compared: ComparedDrift;
  readonly sensitive: SensitiveValues;
  /** Empty for a destroy, which writes no resource of the spec. */
  readonly resources: Spec["resources"];
  /** Recorded before the first change. */
  readonly entries: readonly JournalEntry[];
  readonly command: ApplyOrigin["command"];
  readonly caller: ApplyOrigin["caller"] | undefined;
}

/** Called under the lock. */
type PrepareApply = (session: Session, lease: Lease, signal: AbortSignal) => Promise<PreparedApply>;

/** Throws Failure with what ends the run before its first change, APPLY_INTERRUPTED among it. */
export function runApply(
  session: Session,
  request: ApplyRequest,
  prepare: PrepareApply,
  presenter: ApplyPresenter,
): Promise<ApplyResult> {
  const { lockTimeout, signal } = request;
  const wait = { ...lockWait(session.invocation, lockTimeout), signal };
  return withLock(session.store, wait, async (lease) => {
    const { plan, runFindings, execution } = await prepare(session, lease, signal);
    // At once for the terminal; with the notes they also get into every report. An error among them ends the run here, also a bug that the audit of the plan found.
    reportOrThrow(session.invocation.observer, runFindings);
    const notes = [...session.warnings, ...runFindings];
    await presenter.planned(plan, notes);
    if (execution === undefined || isBlocked(plan)) return { status: "refused", plan };
    // A plan without changes still records what was recovered, and acknowledgements that ended.
    if (changesAnything(plan) && !(await presenter.approve(plan))) {
      // A signal answers the prompt with no. After a yes, the engine begins no further change.
      assertNotInterrupted(signal);
      return { status: "declined", plan };
    }
    const outcome = await executePlan(session, request, presenter, lease, plan, execution);
    await presenter.applied(plan, outcome, notes);
    return { status: "applied", plan, outcome };
  });
}

/** A plan of the present spec. */
export function prepareFreshPlan(options: PlanOptions): PrepareApply {
  const { destroy = false } = options;
  return async (session, lease, signal) => {
    const { spec, store } = session;
    if (destroy) assertStateExists(store, lease.state(), "nothing can be destroyed");
    const planned = await planWorkspace(session, lease.state(), {
      ...options,
      // So that later runs know the caller without a request.
      recordsCaller: true,
      checksRules: true,
    });
    const { plan } = planned;
    assertNotInterrupted(signal);
    return {
      plan,
      runFindings: [
        ...stateFindings(session, lease),
        ...unrecordedObjects(store, lease.state(), spec, plan),
        ...planned.diagnostics,
      ],
      execution: {
        ...executionOf(planned, plan),
        resources: destroy ? new Map() : spec.resources,
        command: destroy ? "destroy" : "apply",
      },
    };
  };
}

/**
 * Exactly the plan of a file, or nothing. The workspace is read again for names and IDs; the changes are those of the file. Called in the
 * session that `withPlanFile` opens, because `saved` throws before the file is verified.
 */
export function prepareSavedPlan({ saved }: PlanFile): PrepareApply {
  return async (session, lease, signal) => {
    const { spec } = session;
    assertBasisUnchanged(session, saved, lease.state());
    const aboutState = stateFindings(session, lease);
    if (isBlocked(saved.plan)) return { plan: saved.plan, runFindings: aboutState };
    // Planned again for the objects, for what recovery finds, for the drift that ends acknowledgements, and for side effects that are new.
    const plannedAgain = await planWorkspace(session, lease.state(), {
      ...saved.options,
      recordsCaller: true,
    });
    const { sensitive, recovered } = plannedAgain;
    assertNotInterrupted(signal);
    // Recovery finds only errors. Of a fresh plan, `runApply` throws them.
    if (hasErrors(recovered.diagnostics)) throw new Failure(...recovered.diagnostics);
    assertWorkspaceUnchanged(saved, plannedAgain);
    // Since the plan was made, the rules may have changed, and secrets with the action `compare` have got their values.
    const withValues = withSecretValues(saved.plan, spec, registry);
    // Values that the run lacks are an error before the first change (`executePlan`), not here.
    const inTheClear = { plan: restoredPlan(withValues, sensitive).plan, sensitive };
    const { plan, warnings } = await checkRules(withValues, { spec, untrusted: false, clear: inTheClear });
    // A blocked plan is shown with its diagnostics, the warnings among them; of any other, only `runFindings` are shown.
    if (isBlocked(plan)) return { plan, runFindings: aboutState };
    const { entries, ...rest } = executionOf(plannedAgain, plan);
    return {
      plan,
      // Without what `workspace plan` said when the file was made: the audit and unrecorded objects. The audit of `plannedAgain` is of another plan.
      runFindings: [...aboutState, ...warnings],
      execution: {
        ...rest,
        resources: spec.resources,
        // Once it is recorded, the same file is not applied again.
        entries: [...entries, { type: "nonce", nonce: saved.nonce }],
        command: "apply",
      },
    };
  };
}

/** The execution of `plan`: the plan of this planning, or that of a file. */
function executionOf(planned: WorkspacePlan, plan: Plan) {
  const { input, live, sensitive, recovered, callerEntries } = planned;
  const { drift } = planned.plan;
  return {
    live,
    compared: {
      drift,
      live,
      only: comparedIn(input, planned.plan.changes),
      moves: pendingMoves(recovered.entries),
    },
    sensitive,
    caller: reportedCaller(planned),
    entries: [...entriesWithoutOtherMoves(recovered.entries, plan), ...callerEntries],
  };
}

function stateFindings({ invocation, settings, spec }: Session, lease: Lease): readonly Diagnostic[] {
  const state = lease.state();
  return [
    ...lease.diagnostics,
    ...stateInRunnerFolder(invocation, settings.endpoint.embedded, state),
    ...otherTarget(spec, state),
  ];
}

/** A signal before the first change: nothing was written, so nothing has to be finished. */
function assertNotInterrupted(signal: AbortSignal): void {
  if (signal.aborted)
    throw failureOf("APPLY_INTERRUPTED", "stopped before the first change", {
      hint: "run the command again",
    });
}

async function executePlan(
  session: Session,
  { signal, readCommitAndRun }: ApplyRequest,
  presenter: ApplyPresenter,
  lease: Lease,
  shownPlan: Plan,
  execution: Execution,
): Promise<ShownOutcome> {
  const { invocation, spec } = session;
  const { live, sensitive, resources, entries, command, caller } = execution;
  // The engine writes the sensitive values; the history and those who see the run get digests of them.
  const { plan: clearPlan, diagnostics: missingValues } = restoredPlan(shownPlan, sensitive);
  if (hasErrors(missingValues)) throw new Failure(...missingValues);
  const commitAndRun = await readCommitAndRun?.();
  // Sets flags of V8 for a large spec: from here on, an apply needs the most memory.
  preferLessMemoryForSpec(spec, "apply");
  await recordBeforeWrites(lease, [...entries, ...acknowledgementEnds(session, lease, execution)]);
  const actor = actorOf(invocation);
  const origin = { command, ...commitAndRun, actor, ...defined({ target: spec.target?.name, caller }) };
  const progress = await invocation.observer.begin();
  const applyOutcome = await applyPlan({
    plan: clearPlan,
    registry,
    resources,
    live,
    sensitive,
    writer: session.connection.writer,
    lease,
    clock: session.clock,
    random: nodeRandom,
    parallelism: session.settings.parallelism,
    onEvent: (event) => {
      const shown =
        "outcome" in event
          ? { ...event, outcome: shownChange(event.outcome, execution) }
          : sensitive.maskedMessages(event);
      progress.apply(shown);
      presenter.changed(shown);
    },
    signal,
    history: { plan: shownPlan, origin },
  }).finally(() => progress.stop());
  // Figures quote no value, so they need no masked outcome.
  invocation.figures?.applied(shownPlan, lease.state(), applyOutcome);
  const { changes, ...rest } = applyOutcome;
  return {
    ...sensitive.maskedMessages(rest),
    ...defined({ caller }),
    changes: changes.map((change) => shownChange(change, execution)),
  };
}

/** The ends of acknowledgements whose drift or time is over, also if the plan has no changes. */
function acknowledgementEnds(
  session: Session,
  lease: Lease,
  { compared, entries }: Execution,
): readonly JournalEntry[] {
  const { acknowledged = [] } = withEntries(lease.state(), entries);
  return endedAcknowledgements(acknowledged, compared, registry, session.secretDigest, session.clock.now());
}

/** A change for readers: with its place in the spec, which the engine does not know, and without sensitive values, also those that the service quotes. */
function shownChange(outcome: ChangeOutcome, { resources, sensitive }: Execution): ChangeOutcome {
  const masked = sensitive.maskedMessages(located(outcome, resources));
  const { address, diagnostic } = masked;
  return diagnostic === undefined
    ? masked
    : { ...masked, diagnostic: sensitive.withoutSensitivePossibleValues(address, diagnostic) };
}

/** The outcome with the place of its resource in the spec, if the change failed or may have: others have their cause elsewhere. */
function located(outcome: ChangeOutcome, resources: Spec["resources"]): ChangeOutcome {
  const { address, result, diagnostic } = outcome;
  const declared = resources.get(address)?.at;
  const isCause = result === "failed" || result === "unknown";
  if (!isCause || diagnostic === undefined || diagnostic.at !== undefined || declared === undefined)
    return outcome;
  // Of a resource in a module, `traced` is where it was written, and what uses it.
  const { at, usedAt } = declared.traced ?? { at: declared };
  // The place without its lines, as `placesIn` has it for the changes of a plan.
  return { ...outcome, diagnostic: { ...diagnostic, at: withoutSourceLines(at), usedAt } };
}

/** Opens the session for which a plan was saved. `named`: what the command line names, in addition to what the plan contains. */
export function withPlanFile<T>(
  invocation: Invocation,
  named: InvocationOptions & PlanOptions,
  file: string,
  signal: AbortSignal,
  work: (session: Session, plan: PlanFile) => Promise<T>,
): Promise<T> {
  refusePlanOptions(named);
  // The file names its spec. Its signature is verified later, with the key of the state of that spec.
  const { source, unverified } = readPlanFile(invocation, file);
  refuseOtherTarget(invocation.targetName, named.target !== undefined, unverified.target, file);
  if (named.file === undefined) assertSpecInWorkingFolder(invocation, unverified.file);
  const ofPlan = invocation.with({ ...unverified, file: named.file ?? unverified.file });
  // Reports, also of a failure from here on, are about the spec and the target of the plan.
  invocation.run.ofSavedPlan = ofPlan;
  assertTargetAllowsApply(ofPlan, { saved: true, namesTarget: named.target !== undefined });
  const plan = new PlanFile(source);
  const requirements = {
    makesKey: false,
    secrets: "resolve",
    signal,
    onKeyKnown: (key: Uint8Array) => plan.verify(key),
  } as const;
  return withSession(ofPlan, requirements, (session) => work(session, plan));
}

/** A saved plan contains the options that shaped it; other such options are an error, not ignored. */
function refusePlanOptions(options: InvocationOptions & PlanOptions): void {
  const { var: vars, varFile, only, exclude, adopt, allowDuplicates } = options;
  const lists = { "--var": vars, "--var-file": varFile, "--only": only, "--exclude": exclude };
  const planOptions = [
    ...Object.entries(lists).flatMap(([name, values = []]) => (values.length === 0 ? [] : [name])),
    ...(adopt === true ? ["--adopt"] : []),
    ...(allowDuplicates === true ? ["--allow-duplicates"] : []),
  ];
  if (planOptions.length === 0) return;
  throw failureOf("CLI_USAGE", `${planOptions.join(", ")} cannot be used with a saved plan`, {
    hint: `remove it, or make a new plan with it${planOptions.includes("--var") ? "; WORKSPACE_VAR_… sets a sensitive variable, which a plan does not contain" : ""}`,
  });
}

/** --target and WORKSPACE_TARGET may repeat the target of the plan. */
function refuseOtherTarget(
  target: string | undefined,
  isOption: boolean,
  planned: string | undefined,
  file: string,
): void {
  if (target === undefined || target === planned) return;
  const madeFor = planned === undefined ? "without a target" : `for the target ${JSON.stringify(planned)}`;
  throw failureOf("CLI_USAGE", `the plan was made ${madeFor}, not for ${JSON.stringify(target)}`, {
    hint: `${isOption ? "remove --target" : "unset WORKSPACE_TARGET"}, or make a new plan: \`workspace plan --target ${shellWord(target)} --out ${shellWord(file)}\``,
  });
}
