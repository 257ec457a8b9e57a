// Makes a plan for review: without the lock, compared with the base, and with the authors of drift.

import { EMBEDDED, identityOf } from "../../config/settings.ts";
import { type Diagnostic, Failure, failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import type { Budget } from "../../engine/observe/observe.ts";
import { comparedIn } from "../../planner/diff/known-drift.ts";
import type { Plan } from "../../planner/model/plan.ts";
import type { PlanSelection } from "../../planner/plan-file.ts";
import type { State } from "../../state/model/record.ts";
import type { Loaded, LockOptions } from "../../state/model/store.ts";
import { withOrigins } from "../drift/drift.ts";
import { type Invocation, reportOrThrow } from "../invocation/invocation.ts";
import { assertExpectedHost } from "../invocation/target.ts";
import type { BaseOptions } from "../session/base-spec.ts";
import {
  assertSameHost,
  assertStateExists,
  otherTarget,
  stateInRunnerFolder,
  unrecordedObjects,
  untrustedState,
} from "../session/check-state.ts";
import type { Session, SpecSession } from "../session/session.ts";
import { WITHOUT_WAITING, withSettledState } from "../session/settled-state.ts";
import { planRecords, planWorkspace, reportedCaller, type WorkspacePlan } from "./plan.ts";
import type { PlanBasis } from "./saved-plan.ts";
import type { PlanOptions } from "./sources.ts";
import { type PlanPlaces, placesIn } from "./spec-places.ts";

export interface ReviewOptions extends PlanSelection {
  /** Of an untrusted spec. */
  readonly maxReads?: number | undefined;
}

/** A plan and the other input of every renderer. */
export interface PlanReport {
  readonly plan: Plan;
  /** The user that the service knows the run by, where the plan needed it. */
  readonly caller?: string | undefined;
  readonly places: PlanPlaces;
  /** Findings about the run. The observer has them already, and documents contain them too. */
  readonly notes: readonly Diagnostic[];
}

export interface ReviewedPlan extends PlanReport {
  /** A saved plan is valid for this state only. */
  readonly basis: PlanBasis;
}

/** Throws Failure with the errors that were found before the plan. */
export async function reviewWorkspace(session: Session, options: ReviewOptions): Promise<ReviewedPlan> {
  const { settings, invocation } = session;
  const { loaded, read, unsettled } = await withSettledState(session, WITHOUT_WAITING, (loaded) =>
    planReviewed(session, options, loaded, async (planOptions) => {
      const budget = invocation.untrusted ? budgetFor(loaded.state, options.maxReads) : undefined;
      const planned = await planWorkspace(session, loaded.state, { ...planOptions, budget });
      if (invocation.untrusted) return planned;
      return { ...planned, plan: { ...planned.plan, drift: await driftWithAuthors(session, planned) } };
    }),
  );
  return reviewed(session, { loaded, ...read, unsettled }, settings.endpoint.embedded);
}

/** The drift of a plan, or a part of it, with its authors. */
export function driftWithAuthors(
  { readLimit, connection }: Session,
  { plan, recovered, sensitive }: WorkspacePlan,
  drift = plan.drift,
): Promise<Plan["drift"]> {
  return readLimit.during(() => withOrigins(drift, recovered.state, connection.reader, sensitive));
}

interface ReviewedDrift {
  readonly state: State;
  readonly planned: WorkspacePlan;
  /** Problems of the spec do not concern drift; objects that could not be read do. */
  readonly findings: readonly Diagnostic[];
  /** Number of fields of the compared resources whose drift `lifecycle.ignore_changes` hides. */
  readonly ignoredFields: number;
  /** With its authors, which are read on request. */
  readonly drift: () => Promise<Plan["drift"]>;
}

/** Reads drift with a state that no other run writes meanwhile. Throws Failure with STATE_NOT_FOUND or STATE_LOCKED. */
export async function readDrift<T>(
  session: Session,
  wait: Pick<LockOptions, "timeoutMs" | "onWait">,
  read: (loaded: Loaded) => Promise<T>,
): Promise<{ readonly loaded: Loaded; readonly read: T }> {
  const settled = await withSettledState(session, wait, (loaded) => {
    assertStateExists(session.store, loaded.state, "drift cannot be detected");
    return read(loaded);
  });
  const [unsettled] = settled.unsettled;
  if (unsettled !== undefined) throw new Failure({ ...unsettled, severity: "error" });
  return settled;
}

/** Throws Failure with STATE_NOT_FOUND or STATE_LOCKED. */
export async function reviewDrift(
  session: Session,
  wait: Pick<LockOptions, "timeoutMs" | "onWait">,
  selection: Pick<PlanOptions, "only" | "exclude"> = {},
): Promise<ReviewedDrift> {
  const { loaded, read: planned } = await readDrift(session, wait, ({ state }) =>
    planWorkspace(session, state, selection),
  );
  const { state, diagnostics } = loaded;
  const unread = planned.plan.diagnostics.filter(({ code }) => code === "PLAN_UNREADABLE");
  const findings = [...diagnostics, ...planned.recovered.diagnostics, ...unread];
  const ignoredFields = ignoredFieldsIn(planned);
  return { state, planned, findings, ignoredFields, drift: () => driftWithAuthors(session, planned) };
}

function ignoredFieldsIn({ input, plan }: WorkspacePlan): number {
  const { spec, state } = input;
  const compares = comparedIn(input, plan.changes);
  const compared = [...spec.resources.values()].filter(
    ({ address }) => state.records.has(address) && compares?.(address) !== false,
  );
  return compared.flatMap(({ lifecycle }) => lifecycle.ignore_changes).length;
}

/** Needs neither host nor token; a host that is named must be the state's. */
export async function reviewRecords(session: SpecSession, options: ReviewOptions): Promise<ReviewedPlan> {
  const { invocation } = session;
  const host = namedHost(invocation);
  const loaded = await session.readState();
  const { state } = loaded;
  const read = await planReviewed(session, options, loaded, (planOptions) => {
    if (host !== undefined) assertExpectedHost(invocation.target().settings, host);
    if (host !== undefined) assertSameHost(state, host);
    return planRecords(session, state, planOptions, state.host || host || "offline");
  });
  return reviewed(session, { loaded, ...read, unsettled: [] }, host === EMBEDDED);
}

/** A profile is not read: a plan without network access needs no host. */
function namedHost({ namedHost: host }: Invocation): string | undefined {
  return host === undefined || host === EMBEDDED ? host : identityOf(host);
}

interface PlanOfState {
  readonly planned: WorkspacePlan;
  readonly selection: PlanSelection;
  readonly untrustedLocation: readonly Diagnostic[];
}

async function planReviewed(
  { invocation, store }: SpecSession,
  { adopt, allowDuplicates, only, exclude, destroy = false }: ReviewOptions,
  { state }: Loaded,
  planState: (options: PlanOptions) => Promise<WorkspacePlan>,
): Promise<PlanOfState> {
  if (destroy) assertStateExists(store, state, "nothing can be destroyed");
  const untrustedLocation = invocation.untrusted ? untrustedState(invocation, state) : [];
  const selection = defined({ adopt, allowDuplicates, only, exclude, destroy });
  const planned = await planState({ ...selection, mayLackSecrets: !destroy, checksRules: true });
  return { planned, selection, untrustedLocation };
}

function reviewed(
  { invocation, spec, warnings, store }: SpecSession,
  { loaded, planned, selection, untrustedLocation, unsettled }: PlanOfState & Unsettled,
  isEmbedded: boolean,
): ReviewedPlan {
  const { state, diagnostics } = loaded;
  const findings = [
    ...diagnostics,
    ...unsettled,
    ...unrecordedObjects(store, state, spec, planned.plan),
    ...planned.diagnostics,
    ...untrustedLocation,
    ...stateInRunnerFolder(invocation, isEmbedded, state),
    ...otherTarget(spec, state),
  ];
  reportOrThrow(invocation.observer, findings);
  return {
    plan: planned.plan,
    caller: reportedCaller(planned),
    places: placesIn(spec.resources),
    notes: [...warnings, ...findings],
    basis: { loaded, recovered: planned.recovered.state, options: selection },
  };
}

interface Unsettled {
  readonly loaded: Loaded;
  readonly unsettled: readonly Diagnostic[];
}

/** Managed resources are read in any case; this limits what an untrusted spec adds. */
function budgetFor(state: State, limit: number | undefined): Budget {
  const reads = limit ?? 500 + 5 * state.records.size;
  return { reads, characters: 64 * 1024 * 1024 + reads * 64 * 1024 };
}

interface ReviewModes extends ReviewOptions, Partial<BaseOptions> {
  readonly exitcodeFor?: "all" | "change";
  readonly untrusted?: boolean | undefined;
  readonly offline?: boolean;
  readonly out?: string | undefined;
  /** Writes the `moved` entries that the plan suggests into the spec. */
  readonly writeMoved?: boolean;
}

/** Only a plan of the whole workspace and of a trusted spec can be saved or adopt objects. Throws Failure with CLI_USAGE. */
export function assertReviewable(options: ReviewModes): void {
  const mode = options.untrusted ? "--untrusted" : options.offline ? "--offline" : undefined;
  const [other] = [
    ...(options.writeMoved ? ["--write-moved"] : []),
    ...(options.out !== undefined ? ["--out"] : []),
    ...(options.adopt ? ["--adopt"] : []),
  ];
  if (mode !== undefined && other !== undefined)
    throw failureOf("CLI_USAGE", `${mode} and ${other} cannot be used together`, {
      hint: `remove ${other}, or plan without ${mode}`,
    });
  if (options.writeMoved && options.out !== undefined)
    throw failureOf("CLI_USAGE", "--write-moved and --out cannot be used together", {
      hint: "write the entries first, then save a plan of the edited spec",
    });
  if (options.writeMoved && options.destroy)
    throw failureOf("CLI_USAGE", "--write-moved and --destroy cannot be used together");
  const base = options.base ?? options.baseRef;
  if (options.destroy && base !== undefined)
    throw failureOf("CLI_USAGE", "--destroy cannot be used together with --base or --base-ref");
  if (options.exitcodeFor === "change" && base === undefined)
    throw failureOf("CLI_USAGE", "--exitcode-for change needs --base or --base-ref");
  if (options.maxReads !== undefined && !options.untrusted)
    throw failureOf("CLI_USAGE", "--max-reads requires --untrusted");
}
