// Plans a session: of its spec, the state, and the objects of a source. One way for every plan: live or offline, trusted or not, with a base or not. Read-only.

import type { Address } from "../../core/address.ts";
import { warning } from "../../core/diagnostic.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { MovePaths, moveRecords, type RecoveredAndMoved } from "../../engine/recover/move-records.ts";
import type { Recovered } from "../../engine/recover/recover.ts";
import { auditPlan } from "../../planner/audit.ts";
import { knownDrift, withDriftDigests, withKnownDrift } from "../../planner/diff/known-drift.ts";
import { draftPlan, finishPlan, makePlan } from "../../planner/make-plan.ts";
import { withRecordedSecrets } from "../../planner/mode/compare-secrets.ts";
import { offlineNotes } from "../../planner/mode/offline.ts";
import { markUntrusted } from "../../planner/mode/untrusted.ts";
import { touches } from "../../planner/model/change.ts";
import type { PlanFacts, PlanInput } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { type Prices, planCapacity, planCost } from "../../planner/model/plan-cost.ts";
import { type AddressInHead, splitGuards, splitPlan } from "../../planner/split-plan.ts";
import { registry } from "../../providers/index.ts";
import { planningRegistryIn } from "../../resource/dialect-view.ts";
import type { Live } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { concealedEntry, concealedState } from "../../state/model/digests-in-state.ts";
import type { JournalEntry, State } from "../../state/model/record.ts";
import { checkRules } from "../rules/check-rules.ts";
import type { BaseSpec } from "../session/base-spec.ts";
import { assertKnownKinds, assertSameHost, deletionsOfOtherTarget } from "../session/check-state.ts";
import type { Session, SpecSession } from "../session/session.ts";
import { addressFilter } from "./address-filter.ts";
import { readPrices } from "./prices.ts";
import { importNotes, withoutImports } from "./record-entries.ts";
import { openSensitive, revealed, sensitivePlaces, shownPlan } from "./sensitive.ts";
import { type PlanOptions, type PlanSource, recordedSource, workspaceSource } from "./sources.ts";
import { type Redaction, redaction } from "./untrusted-input.ts";

export interface WorkspacePlan {
  /** Without sensitive values, as `recovered`. */
  readonly plan: Plan;
  /** The input of the plan, in the clear. */
  readonly input: PlanInput & PlanFacts;
  readonly live: Live;
  readonly sensitive: SensitiveValues;
  /** Of an untrusted spec. */
  readonly redact?: Redaction;
  /** What an earlier run left open, completed; its entries come before everything that an apply writes. */
  readonly recovered: Recovered;
  /** Entries about the caller, for later runs. */
  readonly callerEntries: readonly JournalEntry[];
  /** Of recovery, the audit, and the spec before a change; what is about the changes is in the plan. */
  readonly diagnostics: Plan["diagnostics"];
}

/** The user that the service knows the run by, for reports. */
export function reportedCaller({ input, sensitive, redact }: WorkspacePlan): string | undefined {
  return redact === undefined ? sensitive.masked(input.caller) : undefined;
}

/** Plans against the workspace. Throws Failure with STATE_OTHER_HOST or STATE_FORMAT before a single request is sent. */
export function planWorkspace(
  session: Session,
  state: State,
  options: PlanOptions = {},
): Promise<WorkspacePlan> {
  return session.readLimit.during(async () =>
    planFrom(session, state, options, await workspaceSource(session, state, options)),
  );
}

/** Plans against the records of the state, without network access. Throws Failure likewise. */
export function planRecords(
  session: SpecSession,
  state: State,
  options: PlanOptions,
  host: string,
): Promise<WorkspacePlan> {
  return planFrom(session, state, options, recordedSource(session.invocation, state, host));
}

async function planFrom(
  session: SpecSession,
  state: State,
  options: PlanOptions,
  source: PlanSource,
): Promise<WorkspacePlan> {
  const begun = performance.now();
  const { spec, base, secretDigest, invocation } = session;
  const { untrusted, figures } = invocation;
  const prices = options.checksRules ? readPrices(invocation) : undefined;
  // The plan of the present spec; that of the spec before a change, the base, is only compared with it.
  const head = await planInTheClear(session, state, options, source);
  source.assertWithinBudget();
  const clear = base === undefined ? head : await compareWithBase(head, base, source);
  const planned = concealed(clear);
  const measured = options.checksRules ? await withCost(planned, prices, session, source) : planned.plan;
  const ruled = options.checksRules
    ? (await checkRules(measured, { spec, untrusted, clear })).plan
    : measured;
  const drift = knownDrift(planned.recovered.state, session.clock.now());
  const plan = withKnownDrift(ruled, registry, drift, secretDigest);
  figures?.planned(plan, planned.recovered.state, performance.now() - begun);
  return { ...planned, plan };
}

/** Node types are read only if machines change, or a rule may add up all of them. */
async function withCost(
  { plan, input }: WorkspacePlan,
  prices: Prices | undefined,
  { invocation, spec }: SpecSession,
  source: PlanSource,
): Promise<Plan> {
  const cost = prices && planCost(plan.changes, registry, prices);
  const hasMachines = plan.changes.some(
    (change) => touches(change) && registry.get(change.kind).planning.machines !== undefined,
  );
  const isAsked = invocation.showsCapacity && (hasMachines || (spec.rules ?? []).length > 0);
  if (!isAsked) return { ...plan, cost };
  const nodeTypes = await source.nodeTypes(input.lookups);
  if (nodeTypes?.readable === true)
    return { ...plan, cost, capacity: planCapacity(plan.changes, registry, nodeTypes.sizes ?? new Map()) };
  const { code, message, hint = "plan again" } = nodeTypes?.diagnostic ?? {};
  const unread = warning("PLAN_UNCHECKED", "node types were not read, so cores and memory are not shown", {
    cause: message && `${code}: ${message}`,
    hint: nodeTypes === undefined ? "plan without --offline" : hint,
  });
  return { ...plan, cost, diagnostics: [...plan.diagnostics, unread] };
}

/** The plan before `concealed`: only for what compares it with another one. */
async function planInTheClear(
  session: SpecSession,
  state: State,
  options: PlanOptions,
  source: PlanSource,
): Promise<WorkspacePlan> {
  assertSameHost(state, source.host);
  assertKnownKinds(state.records.keys());
  const callerFacts = source.callerFacts();
  // Reported after problems of reading.
  callerFacts.catch(() => undefined);
  const compared = await readCompared(session, state, source);
  const { kinds, spec, live, sensitive, redact, redacted, moved, recovered } = compared;
  const recordedSpec = { registry: kinds, spec, state: recovered.state };
  const caller = await callerFacts;
  const addresses = [...spec.resources.keys(), ...recovered.state.records.keys()];
  const draft = draftPlan({
    ...caller.facts,
    registry: kinds,
    host: source.host,
    spec: redacted?.spec ?? (options.mayLackSecrets ? withRecordedSecrets(recordedSpec) : spec),
    live: redacted?.live ?? live,
    state: redacted?.state ?? recovered.state,
    moved,
    only: addressFilter(options.only ?? [], addresses),
    exclude: addressFilter(options.exclude ?? [], addresses, "--exclude"),
    ...sensitivePlaces(sensitive),
    partial: source.isOffline,
    adopt: options.adopt ?? false,
    allowDuplicates: options.allowDuplicates ?? false,
    destroy: options.destroy ?? false,
  });
  // Not shown for untrusted specs: lines of files, and objects of others.
  const withheld = redact && { contents: new Map(), dependentsOfDeleted: new Map(), principals: new Map() };
  const factsBefore = { ...caller, facts: { ...caller.facts, ...withheld } };
  const { facts, callerEntries } = await source.gatherFacts(draft, factsBefore);
  const whole = finishPlan(draft, facts);
  const ofTarget = options.destroy ? [] : deletionsOfOtherTarget(session.spec, recovered.state, whole);
  const checked = { ...whole, diagnostics: [...whole.diagnostics, ...ofTarget] };
  const finished = withDriftDigests(checked, registry, session.secretDigest);
  const input = { ...draft.context.input, ...facts };
  const audit = auditPlan(finished, input, draft.context.liveIndex);
  const notes = {
    offline: source.isOffline ? [...recovered.diagnostics, ...offlineNotes(recovered.state)] : [],
    imports: options.destroy ? [] : importNotes(session.spec, recovered.state),
  };
  return {
    plan: markModes(finished, source.isOffline, redacted?.notes, notes),
    input,
    live,
    sensitive,
    redact,
    recovered,
    callerEntries,
    diagnostics: source.isOffline ? audit : [...recovered.diagnostics, ...audit],
  };
}

/** What a plan compares, in the clear: the spec, the records under its addresses, and the objects of the source. */
async function readCompared(session: SpecSession, state: State, source: PlanSource) {
  const { key, invocation } = session;
  const { untrusted } = invocation;
  const spec = untrusted || source.isOffline ? withoutImports(session.spec) : session.spec;
  const { moved: moves = [], removed } = spec.stateEntries ?? {};
  const withMoves = (recovered: Recovered) =>
    moveRecords(moves, recovered, { registry, declared: spec.resources, removed });
  const recorded = withMoves({ state, entries: [], diagnostics: [] }).state;
  const base = typeof session.base?.spec === "object" ? session.base.spec : undefined;
  const sensitive = openSensitive({
    spec,
    base,
    states: recorded === state ? [state] : [state, recorded],
    key,
    untrusted,
  });
  const observed = await source.observe(spec, recorded);
  const readable = revealed(sensitive, { spec, state, moved: recorded, live: observed, key, untrusted });
  const { moved, ...recovered } = withMoves(source.recover(readable, observed));
  const live = source.objects(observed, recovered.state);
  const kinds = planningRegistryIn(registry, invocation.dialect());
  const redact = untrusted ? redaction(kinds, { state: recorded, before: state, live, key }) : undefined;
  const redacted = redact?.(spec, recovered.state, live);
  return { kinds, spec, live, sensitive, redact, redacted, moved, recovered };
}

/** What a plan without the whole workspace says about itself. */
function markModes(
  plan: Plan,
  isOffline: boolean,
  redactions: Diagnostics | undefined,
  notes: { readonly offline: Diagnostics; readonly imports: Diagnostics },
): Plan {
  const modes = isOffline ? (["offline"] as const) : [];
  const offline: Plan = isOffline
    ? { ...plan, modes, diagnostics: [...plan.diagnostics, ...notes.offline, ...notes.imports] }
    : plan;
  if (redactions === undefined) return offline;
  const untrusted = markUntrusted(offline, [...redactions, ...(isOffline ? [] : notes.imports)]);
  return { ...untrusted, modes: [...modes, "untrusted"] };
}

type Diagnostics = Plan["diagnostics"];

/** Nothing that leaves the planning has a sensitive value. */
function concealed(planned: WorkspacePlan): WorkspacePlan {
  const { plan, input, recovered, diagnostics, sensitive } = planned;
  if (sensitive.isEmpty) return planned;
  return {
    ...planned,
    plan: shownPlan(plan, input, sensitive),
    recovered: {
      state: concealedState(recovered.state, sensitive),
      entries: recovered.entries.map((entry) => concealedEntry(entry, sensitive)),
      diagnostics: sensitive.maskedMessages(recovered.diagnostics),
    },
    diagnostics: sensitive.maskedMessages(diagnostics),
  };
}

/** The plan with its split, unless the base cannot be compared, and diagnostics about the base. */
async function compareWithBase(
  head: WorkspacePlan,
  { spec, name, notes }: BaseSpec,
  source: PlanSource,
): Promise<WorkspacePlan> {
  const diagnostics = [...head.diagnostics, ...notes];
  if (spec === "incomparable") return { ...head, diagnostics };
  const base = spec === "absent" ? undefined : await planOfBase(head, spec, source);
  const before = base?.plan ?? { ...head.plan, changes: [], diagnostics: [] };
  const split = { base: name, ...splitPlan(before, head.plan, base?.inHead) };
  const plan = { ...head.plan, guards: splitGuards(head.input, head.plan, split), split };
  return { ...head, plan, diagnostics };
}

/** Sends no requests beyond those of the head's plan: side effects of deletions are not part of a comparison. */
async function planOfBase(head: WorkspacePlan, spec: Spec, source: PlanSource) {
  const { input, redact, recovered } = head;
  const { moved, ...rest } = input;
  // What the head moves has its former address for the base, which may move it, too.
  const { moved: movedInBase, state } = moveRecords(
    spec.stateEntries?.moved ?? [],
    { state: moved?.before ?? recovered.state, entries: [], diagnostics: [] },
    { registry, declared: spec.resources, removed: spec.stateEntries?.removed },
  );
  const inHead = addressInHead(head, movedInBase);
  const only = widened(head, inHead);
  const live = await source.baseObjects(spec, only, head.live);
  const redacted = redact?.(spec, state, live);
  const plan = makePlan({
    ...rest,
    moved: movedInBase,
    state: redacted?.state ?? state,
    spec: redacted?.spec ?? withRecordedSecrets({ registry, spec, state }),
    live: redacted?.live ?? live,
    contents: new Map(),
    only,
    exclude: excludedInHead(head, inHead),
  });
  return { plan: redacted === undefined ? plan : markUntrusted(plan, redacted.notes), inHead };
}

/** By the record of the state, which each spec may move, or else by the head's entries: a resource that was not applied has no record. */
function addressInHead(
  { input: { spec, moved, state } }: WorkspacePlan,
  movedInBase: RecoveredAndMoved["moved"],
): AddressInHead {
  const { records } = moved?.before ?? state;
  const toHead = new Map([...(moved?.origins ?? [])].map(([to, from]) => [from, to]));
  const { moved: moves = [], removed } = spec.stateEntries ?? {};
  const paths = new MovePaths(moves, { registry, declared: spec.resources, removed });
  return (address) => {
    const recorded = movedInBase?.origins.get(address) ?? address;
    return toHead.get(recorded) ?? (records.has(recorded) ? recorded : paths.follow(recorded).to);
  };
}

/** What `--only` names, and what the head's plan needs for it: the base may need less. */
function widened({ plan, input: { only } }: WorkspacePlan, inHead: AddressInHead): PlanInput["only"] {
  if (only === undefined) return undefined;
  const planned = new Set<Address>(plan.changes.map(({ address }) => address));
  return (address) => only(inHead(address)) || planned.has(inHead(address));
}

/** What `--exclude` names, and what the head's plan leaves out with it: the base may know fewer dependencies. */
function excludedInHead(
  { plan, input: { exclude } }: WorkspacePlan,
  inHead: AddressInHead,
): PlanInput["exclude"] {
  if (exclude === undefined) return undefined;
  const excluded = new Set<Address>(plan.part?.excluded);
  return (address) => exclude(inHead(address)) || excluded.has(inHead(address));
}
