// Makes a plan from desired, live, and recorded values, in the passes that are listed here in their order. Pure.

import type { Address } from "../core/address.ts";
import { type Diagnostic, hasErrors, warning } from "../core/diagnostic.ts";
import { grouped, listed } from "../core/sentences.ts";
import { isBuiltIn } from "../resource/names.ts";
import type { FactRequest, PlannedWorkspace } from "../resource/planning.ts";
import type { Resource } from "../spec/model/spec.ts";
import { accessOfPlan, unreadPrincipals } from "./access/plan-access.ts";
import {
  ignoredContradictions,
  lookupQuestions,
  unconfirmedValues,
  unknownNames,
} from "./check/confirm-names.ts";
import { checkGuards } from "./check/guards.ts";
import { liveProblems } from "./check/live-problems.ts";
import { nestingCycles, unmanageableMemberships, withNestingOrder } from "./check/memberships.ts";
import { dependentKinds, unreadableKinds, unreadDependents } from "./check/unreadable.ts";
import { decideResource } from "./decide/decide.ts";
import { planDeletes, retainInUse } from "./decide/deletes.ts";
import { withDependencies } from "./decide/dependencies.ts";
import { duplicatesIn } from "./decide/match-live.ts";
import { namesOfKeptObjects, withNewNames, withPassedNames } from "./decide/names.ts";
import { pathsOfOthers, withFreedPaths } from "./decide/paths.ts";
import { withRenames } from "./decide/renames.ts";
import { excludedAddresses, limitChanges, losesObject } from "./decide/selection.ts";
import { driftOf, setsContent, withContent } from "./diff/drift.ts";
import { type Change, touches } from "./model/change.ts";
import {
  createContext,
  dropInvalidRecords,
  isRead,
  type LiveMember,
  objectKey,
  type PlanContext,
} from "./model/context.ts";
import {
  type FactRequests,
  isSelected,
  type PlanFacts,
  type PlanInput,
  type Question,
} from "./model/input.ts";
import type { Plan, Unmanaged } from "./model/plan.ts";
import { createPlannedWorkspace, plannedChange } from "./model/planned-workspace.ts";
import { changeKey, inPlanOrder, topologicalOrder, transitiveClosure } from "./model/work-graph.ts";

/** A plan in the making: each pass reads it and returns what it adds. Only `decideResources` also writes, to `context.decided`, because each decision reads the earlier ones. */
export interface PlanDraft {
  readonly context: PlanContext;
  readonly facts: PlanFacts;
  /** The changes of the plan up to this pass. */
  readonly changes: readonly Change[];
  /** The workspace as these changes leave it: made again by `advance` whenever they or the facts change. */
  readonly workspace: PlannedWorkspace;
  /** Undeclared objects that appeared outside: drift, whether the plan deletes or reports them. */
  readonly appeared: readonly LiveMember[];
  /** Whether the caller decides which undeclared members of lists are deleted, and is not known. */
  readonly needsCaller: boolean;
  readonly access: Plan["access"];
  readonly renames?: Plan["renames"];
  readonly drift: Plan["drift"];
  readonly guards: Plan["guards"];
  readonly diagnostics: readonly Diagnostic[];
  /** Why resources could not be decided; reported if the plan is about them. */
  readonly refusals: ReadonlyMap<Address, Diagnostic>;
  /** Left out by `exclude`, with what depends on it. */
  readonly excluded: ReadonlySet<Address>;
  /** Those of them that would change and that no option names; `excluded` in the JSON of the plan. */
  readonly excludedDependents: readonly Address[];
  /** Names that cannot pass between objects of the plan. */
  readonly nameErrors: readonly Diagnostic[];
}

type PassResult = Partial<Omit<PlanDraft, "workspace">>;
type Pass = (draft: PlanDraft) => PassResult;

/** Each resource is compared with its live object and its record. */
const DECIDE: readonly Pass[] = [reporting(({ context }) => unreadableKinds(context)), decideResources];

/** Removals are added, and the changes get their order. Repeated when the caller becomes known. */
const ARRANGE: readonly Pass[] = [
  planRemovals,
  addDependencies,
  addOrderOfMemberships,
  waitForFreedPaths,
  passNames,
  limitToSelected,
];

/** The arranged changes are checked, described, and guarded. */
const FINISH: readonly Pass[] = [
  reporting(refusalsInPlan),
  reporting(excludedWarning),
  reporting(({ nameErrors }) => nameErrors),
  reporting(({ context, changes }) => pathsOfOthers(context, changes)),
  reporting(({ context, changes, workspace }) => unknownNames(context, changes, workspace)),
  reporting(({ context, changes }) => unmanageableMemberships(context, changes)),
  reporting(({ context, changes }) => nestingCycles(context, changes)),
  reporting(({ context, changes }) => ignoredContradictions(context, changes)),
  reporting(({ context, changes }) => liveProblems(context, changes)),
  findDuplicates,
  reporting((draft) => unconfirmedValues(draft.context, draft.facts.lookups, questionsOf(draft))),
  reporting(({ context, facts, changes }) => unreadDependents(context.input, facts, changes)),
  retainObjectsInUse,
  reporting(({ context, changes }) => namesOfKeptObjects(context, changes)),
  sortChanges,
  addConsequences,
  addContents,
  hintAtRenames,
  findAccess,
  findDrift,
  addGuards,
];

export function makePlan(from: PlanInput & PlanFacts): Plan {
  return finishPlan(draftPlan(from), from);
}

/** The part of a plan that needs only the spec, the state, and live objects. Without a caller, the draft also deletes the caller's own undeclared members; they are planned again with the caller. */
export function draftPlan({ caller, ...from }: PlanInput & Pick<PlanFacts, "caller">): PlanDraft {
  return runPasses(emptyDraft(from, { caller }), [...DECIDE, ...ARRANGE]);
}

/** Requests nothing: without a fact, the plan contains less. */
export function finishPlan(draft: PlanDraft, facts: PlanFacts): Plan {
  const finished = runPasses(withFacts(draft, facts), FINISH);
  const { context, changes, access, renames, drift, guards, diagnostics, excludedDependents } = finished;
  const { input } = context;
  const unmanaged = unmanagedOf(context, changes);
  return {
    host: input.host,
    ...partOf(input, changes, excludedDependents),
    changes,
    access,
    renames,
    drift,
    unmanaged,
    guards,
    diagnostics,
  };
}

/** The facts that a draft needs and `facts` lacks. Once dependents are read, ask again: they can show that more is needed. */
export function requestsOf(draft: PlanDraft, facts: PlanFacts): FactRequests {
  const arranged = withFacts(draft, facts);
  if (!arranged.changes.some(touches)) return requestCallerOnly(arranged);
  const { context, changes, workspace, needsCaller } = runPasses(arranged, [retainObjectsInUse, sortChanges]);
  const { registry } = context.input;
  const requested = new Set(changes.flatMap((change) => requestsOfKind(context, change, workspace)));
  return {
    caller: needsCaller || (facts.caller === undefined && requested.has("caller")),
    activeRuns: facts.activeRuns === undefined && requested.has("runs"),
    dependents: new Set(facts.dependents === undefined ? dependentKinds(context.input, changes).keys() : []),
    contents:
      facts.contents === undefined
        ? changes
            .filter(setsContent)
            .filter(({ kind }) => registry.get(kind).planning.content?.text !== undefined)
        : [],
    lookups: facts.lookups === undefined ? questionsOf(arranged) : [],
    principals: facts.principals === undefined ? unreadPrincipals(context, changes) : new Set(),
  };
}

/** Asked and answered before objects in use are retained, so that each question of `finishPlan` has an answer. */
function questionsOf({ context, changes, workspace }: PlanDraft): readonly Question[] {
  return lookupQuestions(context, changes, workspace);
}

/** The only fact that a plan without changes needs: whether the caller keeps members of lists. */
function requestCallerOnly({ needsCaller }: PlanDraft): FactRequests {
  return {
    caller: needsCaller,
    activeRuns: false,
    dependents: new Set(),
    contents: [],
    lookups: [],
    principals: new Set(),
  };
}

function runPasses(draft: PlanDraft, passes: readonly Pass[]): PlanDraft {
  return passes.reduce((current, pass) => advance(current, pass(current)), draft);
}

function advance(draft: PlanDraft, result: PassResult): PlanDraft {
  const next = { ...draft, ...result };
  if (next.changes === draft.changes && next.facts === draft.facts) return next;
  return { ...next, workspace: createPlannedWorkspace(next.context, next.facts, next.changes) };
}

function emptyDraft(from: PlanInput, facts: PlanFacts): PlanDraft {
  const { input: valid, invalidRecords } = dropInvalidRecords(from);
  const context = createContext(withNewNames(valid), invalidRecords);
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

/** The draft with the facts; arranged again if the caller decides which members of lists are deleted. */
function withFacts(draft: PlanDraft, facts: PlanFacts): PlanDraft {
  const callerDecides = facts.caller !== undefined && draft.needsCaller;
  return runPasses(advance(draft, { facts }), callerDecides ? ARRANGE : []);
}

/** A pass that only reports. */
function reporting(check: (draft: PlanDraft) => readonly Diagnostic[]): Pass {
  return (draft) => ({ diagnostics: [...draft.diagnostics, ...check(draft)] });
}

/** In dependency order, so that references find decided targets. Kinds that this run did not read are left out. */
function decideResources({ context }: PlanDraft): PassResult {
  const refusals = new Map<Address, Diagnostic>();
  if (context.input.destroy === true) return { refusals };
  for (const resource of inDependencyOrder(context.input.spec.resources)) {
    if (!isRead(context, resource.kind, resource.name)) continue;
    const decision = decideResource(context, resource, context.input.registry.get(resource.kind));
    if ("refused" in decision) refusals.set(resource.address, decision.refused);
    else context.decided.set(resource.address, decision.change);
  }
  return { refusals };
}

/** Begins again from the decisions, so that the passes of ARRANGE can run twice. */
function planRemovals({ context, facts }: PlanDraft): PassResult {
  const { changes, appeared, needsCaller } = planDeletes(context, facts.caller);
  return { changes: [...context.decided.values(), ...changes], appeared, needsCaller };
}

function addDependencies({ context, changes }: PlanDraft): PassResult {
  return { changes: withDependencies(context, changes) };
}

function addOrderOfMemberships({ context, changes }: PlanDraft): PassResult {
  return { changes: withNestingOrder(context, changes) };
}

function waitForFreedPaths({ context, changes }: PlanDraft): PassResult {
  return { changes: withFreedPaths(context.input.registry, changes) };
}

function passNames({ context, changes }: PlanDraft): PassResult {
  const passed = withPassedNames(context, changes);
  return { changes: passed.changes, nameErrors: passed.diagnostics };
}

/** What `only` asks for, with everything that a dependency or a name needs, and without what `exclude` leaves out. */
function limitToSelected({ context, changes }: PlanDraft): PassResult {
  const { only, exclude } = context.input;
  if (only === undefined && exclude === undefined) return {};
  const excluded =
    exclude === undefined ? new Set<Address>() : excludedAddresses(context.input, changes, exclude);
  const included = changes.filter(({ address }) => !excluded.has(address));
  const selected = only === undefined ? included : limitChanges(context.input, included, only);
  const limited = new Set(selected.map(changeKey));
  const excludedDependents = changes.flatMap((change) =>
    excluded.has(change.address) && exclude?.(change.address) === false && touches(change)
      ? [change.address]
      : [],
  );
  // Names are passed again: an excluded change frees no name.
  const all = changes.map(withoutNameSource);
  const passed = withPassedNames(
    context,
    all.filter((change) => limited.has(changeKey(change))),
    all,
  );
  return { changes: passed.changes, nameErrors: passed.diagnostics, excluded, excludedDependents };
}

function withoutNameSource(change: Change): Change {
  if (!("nameFrom" in change)) return change;
  const { nameFrom: _, ...rest } = change;
  return rest;
}

function refusalsInPlan({ context, changes, refusals, excluded }: PlanDraft): readonly Diagnostic[] {
  const isConcerned = concernsOf(context.input, changes);
  return [...refusals].flatMap(([address, refusal]) =>
    isConcerned(address) && !excluded.has(address) ? [refusal] : [],
  );
}

function excludedWarning({ excludedDependents: addresses }: PlanDraft): readonly Diagnostic[] {
  if (addresses.length === 0) return [];
  const subject =
    addresses.length === 1
      ? "1 more resource is excluded, because its change depends"
      : `${grouped(addresses.length)} more resources are excluded, because their changes depend`;
  const message = `${subject} on an excluded one: ${listed(addresses, "and", 10)}`;
  return [warning("PLAN_EXCLUDED", message)];
}

/** The first pass with guards; `addGuards` adds the others. */
function findDuplicates({ context, changes, diagnostics }: PlanDraft): PassResult {
  const { guards, warnings } = duplicatesIn(context, changes);
  return { guards, diagnostics: [...diagnostics, ...warnings] };
}

function retainObjectsInUse({ context, facts, changes, workspace, diagnostics }: PlanDraft): PassResult {
  const retained = retainInUse(context, facts, changes, workspace);
  return { changes: retained.changes, diagnostics: [...diagnostics, ...retained.notes] };
}

function sortChanges({ context, changes }: PlanDraft): PassResult {
  return { changes: inPlanOrder(changes, context.input.registry) };
}

function addConsequences({ context, changes, workspace }: PlanDraft): PassResult {
  return { changes: changes.map((change) => withConsequences(context, change, workspace)) };
}

function addContents({ facts, changes }: PlanDraft): PassResult {
  return { changes: changes.map((change) => withContent(change, facts.contents)) };
}

function hintAtRenames({ context, changes }: PlanDraft): PassResult {
  return withRenames(context, changes);
}

function findAccess({ context, facts, changes }: PlanDraft): PassResult {
  return { access: accessOfPlan(context, facts, changes) };
}

function findDrift({ context, facts, appeared }: PlanDraft): PassResult {
  const all = driftOf(context, facts.contents, appeared);
  return { drift: all.filter(({ address }) => isSelected(context.input, address)) };
}

/** A plan with an error has no guards. In a report, guards of deletions come before those of duplicates. */
function addGuards({ context, changes, workspace, guards, diagnostics }: PlanDraft): PassResult {
  if (hasErrors(diagnostics)) return { guards: [] };
  const checked = checkGuards(context, changes, workspace);
  return {
    guards: [...checked.guards, ...guards],
    diagnostics: [...diagnostics, ...checked.unchecked],
  };
}

function requestsOfKind(
  context: PlanContext,
  change: Change,
  workspace: PlannedWorkspace,
): readonly FactRequest[] {
  const planned = plannedChange(change, context.liveIndex);
  const { planning } = context.input.registry.get(change.kind);
  return planned === undefined ? [] : (planning.requests?.(planned, workspace) ?? []);
}

/** `total` counts what the spec declares and the state records. Undeclared members of managed objects are neither. */
function partOf(
  input: PlanInput,
  changes: readonly Change[],
  excludedDependents: readonly Address[],
): Pick<Plan, "part"> {
  if (input.only === undefined && input.exclude === undefined) return {};
  const declared = input.destroy === true ? [] : input.spec.resources.keys();
  const decided = changes.filter(({ action }) => action !== "report");
  const planned = new Set(decided.map(({ address }) => address));
  const total = new Set([...declared, ...input.state.records.keys(), ...planned]).size;
  if (input.exclude === undefined) return { part: { planned: planned.size, total } };
  const options = input.only === undefined ? (["--exclude"] as const) : (["--only", "--exclude"] as const);
  return { part: { planned: planned.size, total, options, excluded: excludedDependents } };
}

/**
 * Whether a restricted plan is about a resource: `only` names it, the plan changes it, it loses an object, or one of these
 * depends on it. Refusals of other resources do not block the plan.
 */
function concernsOf(input: PlanInput, changes: readonly Change[]): (address: Address) => boolean {
  const { only, spec } = input;
  if (only === undefined) return () => true;
  const isLosing = losesObject(input, changes);
  const named = [...spec.resources.keys()].filter((address) => only(address) || isLosing(address));
  const planned = changes.map(({ address }) => address);
  const concerned = transitiveClosure(
    [...named, ...planned],
    (address) => spec.resources.get(address)?.dependsOn ?? [],
  );
  return (address) => concerned.has(address);
}

/** By address, so that the order of the YAML does not matter. */
function inDependencyOrder(resources: ReadonlyMap<Address, Resource>): Resource[] {
  const sorted = [...resources.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
  return topologicalOrder(sorted, (resource) =>
    resource.dependsOn.flatMap((address) => resources.get(address) ?? []),
  );
}

function withConsequences(context: PlanContext, change: Change, workspace: PlannedWorkspace): Change {
  const planned = plannedChange(change, context.liveIndex);
  const consequences =
    planned === undefined
      ? []
      : (context.input.registry.get(change.kind).planning.consequences?.(planned, workspace) ?? []);
  return consequences.length === 0 ? change : { ...change, consequences };
}

/** Live objects that are in neither the spec nor the state, of the kinds that these use. */
function unmanagedOf(context: PlanContext, changes: readonly Change[]): Unmanaged[] {
  // `--only` and `--exclude` can limit `changes`.
  const all = [...changes, ...context.decided.values()];
  const kinds = new Set(all.map(({ kind }) => kind));
  const unmanaged: Unmanaged[] = [];
  for (const provider of context.input.registry.kinds) {
    if (provider.nested !== undefined || !kinds.has(provider.kind)) continue;
    for (const live of context.liveIndex.all(provider.kind)) {
      if (context.owners.has(provider.kind, live.id) || isBuiltIn(provider, live.name)) continue;
      unmanaged.push({ kind: provider.kind, name: live.name, id: live.id });
    }
  }
  // Most workspaces have no such object, so the keys of all planned objects are made only now.
  if (unmanaged.length === 0) return unmanaged;
  const planned = new Set(
    all.flatMap((change) => ("id" in change ? [objectKey(change.kind, change.id)] : [])),
  );
  return unmanaged.filter(({ kind, id }) => !planned.has(objectKey(kind, id)));
}
