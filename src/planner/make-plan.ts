// Makes a plan from desired, live, and recorded values, in passes over one draft (`PlanDraft`) that are listed here in their order.
// It sends no request and reads no clock.

import type { Address } from "../core/address.ts";
import { type Diagnostic, hasErrors } from "../core/diagnostic.ts";
import { defined } from "../core/json.ts";
import type { PlannedWorkspace } from "../resource/planning.ts";
import {
  contradictionsWithKeptValues,
  neededLookups,
  unconfirmedValues,
  unknownNames,
} from "./check/confirm-names.ts";
import {
  checkGuards,
  dependentKinds,
  problemsOfLiveObjects,
  unreadableKinds,
  unreadDependents,
} from "./check/guards.ts";
import { membershipCycles, unmanageableMemberships, withEndedMembershipsFirst } from "./check/memberships.ts";
import { decideResources } from "./decide/decide.ts";
import { planDeletes, retainReplacedInUse } from "./decide/deletes.ts";
import { withLikelyRenames } from "./decide/likely-renames.ts";
import { duplicatesIn } from "./decide/match-live.ts";
import { namesStillHeld, type PassedNames, withPassedNames } from "./decide/passed-names.ts";
import { takenPaths, withPathsFreedFirst } from "./decide/paths.ts";
import { withRenamedReferences } from "./decide/renamed-references.ts";
import {
  excludedWarning,
  limitToSelected,
  planPart,
  refusalsInPlan,
  type Selection,
} from "./decide/selection.ts";
import { planUndeclared, unmanagedOf } from "./decide/unmanaged.ts";
import { setsContent, withContent } from "./diff/content-diff.ts";
import { driftOf } from "./diff/drift.ts";
import { comparedIn, withAgreedBySpec } from "./diff/known-drift.ts";
import { accessOfPlan, unreadPrincipals } from "./effective-access/plan-access.ts";
import { type Change, touches } from "./model/change.ts";
import {
  createContext,
  dropMisplacedRecords,
  type PlanContext,
  type UndeclaredObject,
} from "./model/context.ts";
import type { MissingFacts, PlanFacts, PlanInput } from "./model/input.ts";
import type { Plan } from "./model/plan.ts";
import { askKind, createPlannedWorkspace, withConsequences } from "./model/planned-workspace.ts";
import { withDependencies, withKindsInOrder } from "./order/dependencies.ts";
import { inPlanOrder } from "./order/plan-order.ts";

/** In one step, where no facts are read in between, such as for the plan of the spec before a change, or of an import. `from` has the input and the facts. */
export function makePlan(from: PlanInput & PlanFacts): Plan {
  return finishPlan(draftPlan(from), from);
}

/** The decided changes and the deletions are collected, and each gets what it waits for. Repeated when the caller becomes known. */
const COLLECT: readonly Pass[] = [
  collectChanges,
  changing(withDependencies),
  changing(withEndedMembershipsFirst),
  changing(withPathsFreedFirst),
  merging(withPassedNames),
  keepSelected,
  // A selection takes in what its changes need, but not what they only wait for.
  changing(withKindsInOrder),
];

/** The collected changes are checked, sorted, described, and guarded. The checks up to `reportUnreadDependents` need no order: theirs is that of the findings in the plan. `inPlanOrder` needs to know what is retained. */
const FINISH: readonly Pass[] = [
  reporting(unreadableKinds),
  reportRefusals,
  reporting(takenPaths),
  // Compares with the spec and live objects; `reportUnconfirmedValues` with what the service was asked for.
  reporting(unknownNames),
  reporting(unmanageableMemberships),
  reporting(membershipCycles),
  reporting(contradictionsWithKeptValues),
  reporting(problemsOfLiveObjects),
  findNamesakes,
  reportUnconfirmedValues,
  reportUnreadDependents,
  retainReplacedObjects,
  // An object that is retained keeps its name.
  reporting(namesStillHeld),
  changing(inPlanOrder),
  changing(withConsequences),
  addContents,
  // After `withConsequences`, which would replace the sentence that this adds.
  merging(withLikelyRenames),
  findAccess,
  findDrift,
  // Needs to know of every error.
  addGuards,
];

/**
 * The part of a plan that needs only the spec, the state, and live objects. The caller is the user or service principal that signed in. While
 * the caller is unknown, the draft also deletes entries that the service gives the caller (`isImplicit`), such as MANAGE on a new scope.
 */
export function draftPlan({ caller, ...from }: PlanInput & Pick<PlanFacts, "caller">): PlanDraft {
  const { input, misplacedRecords } = dropMisplacedRecords(from);
  // First, so that what refers to a renamed object, such as an access list to a group, is compared under the new name.
  const context = createContext(withRenamedReferences(input), misplacedRecords);
  return runPasses(emptyDraft(context, { caller }), [decide, ...COLLECT]);
}

/** The facts that a draft needs and `facts` lacks. Once dependents of deleted objects are read, ask again: they can show that more is needed. */
export function missingFacts(draft: PlanDraft, facts: PlanFacts): MissingFacts {
  const collected = withFacts(draft, facts);
  // If nothing touches the workspace or the state, only entries that the service may have given the caller are left to judge.
  if (!collected.changes.some(touches)) return { ...NONE_MISSING, caller: collected.needsCaller };
  // An object that is kept because it is in use needs no facts, and contents are read in the order of the plan.
  const { context, changes, workspace, needsCaller } = runPasses(collected, [
    retainReplacedObjects,
    changing(inPlanOrder),
  ]);
  const { registry } = context.input;
  const needed = new Set(
    changes.flatMap((change) =>
      askKind(context, change, (planning, plannedChange) => planning.neededFacts?.(plannedChange, workspace)),
    ),
  );
  // Other contents are shown by digest.
  const hasText = ({ kind }: Change): boolean => registry.get(kind).planning.content?.text !== undefined;
  const unlessKnown = <Fact extends keyof MissingFacts>(fact: Fact, missing: () => MissingFacts[Fact]) =>
    facts[fact] === undefined ? missing() : NONE_MISSING[fact];
  return {
    // `needsCaller` is false once the caller is known.
    caller: needsCaller || unlessKnown("caller", () => needed.has("caller")),
    activeRuns: unlessKnown("activeRuns", () => needed.has("activeRuns")),
    dependentsOfDeleted: unlessKnown(
      "dependentsOfDeleted",
      () => new Set(dependentKinds(context.input, changes).keys()),
    ),
    contents: unlessKnown("contents", () => changes.filter(setsContent).filter(hasText)),
    // Values that only the service can confirm. `reportUnconfirmedValues` checks them before objects in use are retained, and needs an answer for each.
    lookups: unlessKnown("lookups", () =>
      neededLookups(collected.context, collected.changes, collected.workspace),
    ),
    principals: unlessKnown("principals", () => unreadPrincipals(context, changes)),
  };
}

const NONE_MISSING: MissingFacts = {
  caller: false,
  activeRuns: false,
  dependentsOfDeleted: new Set(),
  contents: [],
  lookups: [],
  principals: new Set(),
};

/** Reads nothing: without a fact, the plan contains less. */
export function finishPlan(draft: PlanDraft, facts: PlanFacts): Plan {
  const finished = runPasses(withFacts(draft, facts), FINISH);
  const { context, changes, access, renames, drift, guards, diagnostics, excludedDependents } = finished;
  const { input } = context;
  const part = planPart(input, changes, excludedDependents);
  const unmanaged = unmanagedOf(context, changes);
  return {
    host: input.host,
    ...defined({ part }),
    changes,
    access,
    renames,
    drift,
    unmanaged,
    guards,
    diagnostics,
  };
}

/** A plan in the making: each pass reads it and returns the members that it replaces. Only `decideResources` also writes, to `context.decided`, because each decision reads the earlier ones. */
export interface PlanDraft {
  readonly context: PlanContext;
  readonly facts: PlanFacts;
  /** The changes of the plan up to this pass. */
  readonly changes: readonly Change[];
  /** The live objects, and what these changes make of them: made again by `advance` whenever they or the facts change. */
  readonly workspace: PlannedWorkspace;
  /** Undeclared objects that another client made: drift, whether the plan deletes or reports them. */
  readonly appeared: readonly UndeclaredObject[];
  /** Whether entries that the service gives the caller may be among the deletions, because the caller is not known. */
  readonly needsCaller: boolean;
  readonly access: Plan["access"];
  readonly renames?: Plan["renames"];
  readonly drift: Plan["drift"];
  readonly guards: Plan["guards"];
  readonly diagnostics: readonly Diagnostic[];
  /** Why resources could not be decided. `reportRefusals` makes diagnostics of those that `--only` and `--exclude` leave in the plan. */
  readonly refusals: ReadonlyMap<Address, Diagnostic>;
  /** Names that one object of the plan should pass to another and cannot, as the last run of `withPassedNames` found them; reported only in FINISH, because COLLECT can run twice. */
  readonly nameErrors: PassedNames["nameErrors"];
  /** Everything that `exclude` leaves out, and what of it no option names but would change. */
  readonly excluded: Selection["excluded"];
  readonly excludedDependents: Selection["excludedDependents"];
}

type PassResult = Partial<Omit<PlanDraft, "workspace" | "context">>;
type Pass = (draft: PlanDraft) => PassResult;

function runPasses(draft: PlanDraft, passes: readonly Pass[]): PlanDraft {
  return passes.reduce((current, pass) => advance(current, pass(current)), draft);
}

function advance(draft: PlanDraft, result: PassResult): PlanDraft {
  const next = { ...draft, ...result };
  if (next.changes === draft.changes && next.facts === draft.facts) return next;
  return { ...next, workspace: createPlannedWorkspace(next.context, next.facts, next.changes) };
}

function emptyDraft(context: PlanContext, facts: PlanFacts): PlanDraft {
  return {
    context,
    facts,
    changes: [],
    workspace: createPlannedWorkspace(context, facts, []),
    appeared: [],
    needsCaller: false,
    access: undefined,
    drift: [],
    guards: [],
    diagnostics: [],
    refusals: new Map(),
    excluded: new Set(),
    excludedDependents: [],
    nameErrors: [],
  };
}

/** The draft with the facts; collected again if they have the caller that it lacked. */
function withFacts(draft: PlanDraft, facts: PlanFacts): PlanDraft {
  const callerWasMissing = facts.caller !== undefined && draft.needsCaller;
  return runPasses(advance(draft, { facts }), callerWasMissing ? COLLECT : []);
}

type DraftParts = [context: PlanContext, changes: readonly Change[], workspace: PlannedWorkspace];

/** A pass that only reports. */
function reporting(check: (...parts: DraftParts) => readonly Diagnostic[]): Pass {
  return ({ context, changes, workspace, diagnostics }) => ({
    diagnostics: [...diagnostics, ...check(context, changes, workspace)],
  });
}

/** A pass whose function returns members of the draft, the changes and others. */
function merging(make: (context: PlanContext, changes: readonly Change[]) => PassResult): Pass {
  return ({ context, changes }) => make(context, changes);
}

/** A pass that only gives changes another form or order. */
function changing(change: (...parts: DraftParts) => readonly Change[]): Pass {
  return ({ context, changes, workspace }) => ({ changes: change(context, changes, workspace) });
}

/** Each resource is compared with its live object and its record. Its change goes into `context.decided`, which later passes also read. */
function decide({ context }: PlanDraft): PassResult {
  return { refusals: decideResources(context) };
}

/** Begins again from the decisions, so that the passes of COLLECT can run twice. */
function collectChanges({ context, facts }: PlanDraft): PassResult {
  const { changes: undeclared, appeared, needsCaller } = planUndeclared(context, facts.caller);
  return {
    changes: [...context.decided.values(), ...planDeletes(context), ...undeclared],
    appeared,
    needsCaller,
  };
}

/** Keeps what `--only` and `--exclude` select. Names are passed again, because a change that is left out frees none. */
function keepSelected({ context, changes }: PlanDraft): PassResult {
  return limitToSelected(context, changes) ?? {};
}

/** Resources of the plan that could not be decided, resources that `exclude` also leaves out, and names that cannot pass. */
function reportRefusals({ context, changes, diagnostics, ...draft }: PlanDraft): PassResult {
  const refused = refusalsInPlan(context.input, changes, draft.refusals, draft.excluded);
  const excluded = excludedWarning(draft.excludedDependents);
  return { diagnostics: [...diagnostics, ...refused, ...excluded, ...draft.nameErrors] };
}

/** Unmanaged objects that have the name of a new one: a guard while no state exists (the object is probably of a lost one) and duplicates are not allowed, else a warning. `addGuards` adds the other guards. */
function findNamesakes({ context, changes, diagnostics }: PlanDraft): PassResult {
  const { guards, warnings } = duplicatesIn(context, changes);
  return { guards, diagnostics: [...diagnostics, ...warnings] };
}

function reportUnconfirmedValues({ context, facts, changes, workspace, diagnostics }: PlanDraft): PassResult {
  const lookups = neededLookups(context, changes, workspace);
  return { diagnostics: [...diagnostics, ...unconfirmedValues(context, facts.lookups, lookups)] };
}

/** Kinds that could not be read, so whether they use a deleted object is not known. */
function reportUnreadDependents({ context, facts, changes, diagnostics }: PlanDraft): PassResult {
  return { diagnostics: [...diagnostics, ...unreadDependents(context.input, facts, changes)] };
}

function retainReplacedObjects({ context, facts, changes, workspace, diagnostics }: PlanDraft): PassResult {
  const retained = retainReplacedInUse(context, facts, changes, workspace);
  return { changes: retained.changes, diagnostics: [...diagnostics, ...retained.notes] };
}

function addContents({ facts, changes }: PlanDraft): PassResult {
  return { changes: changes.map((change) => withContent(change, facts.contents)) };
}

function findAccess({ context, facts, changes }: PlanDraft): PassResult {
  return { access: accessOfPlan(context, facts, changes) };
}

function findDrift({ context, facts, changes, appeared }: PlanDraft): PassResult {
  const drift = driftOf(context, facts.contents, appeared);
  if (drift.length === 0) return { drift };
  const planned = new Set(changes.map(({ address }) => address));
  // `changes` lack an unchanged dependency under `only`, with whose drift the spec can agree, too.
  const leftOut = [...context.decided.values()].filter(({ address }) => !planned.has(address));
  const marked = withAgreedBySpec(drift, [...changes, ...leftOut], context.input.registry);
  // Undefined without `only` and `exclude`.
  const isCompared = comparedIn(context.input, changes);
  return { drift: isCompared === undefined ? marked : marked.filter(({ address }) => isCompared(address)) };
}

/** A plan with an error has no guards, because its changes are incomplete. Deletions come first in each report, so their guards do, too. */
function addGuards({ context, changes, workspace, guards, diagnostics }: PlanDraft): PassResult {
  if (hasErrors(diagnostics)) return { guards: [] };
  const checked = checkGuards(context, changes, workspace);
  return { guards: [...checked.guards, ...guards], diagnostics: [...diagnostics, ...checked.warnings] };
}
