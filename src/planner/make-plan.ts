// Makes a plan from desired, live, and recorded values: changes, drift, guards, and diagnostics. Pure.

import type { Address } from "../core/address.ts";
import { type Diagnostic, hasErrors } from "../core/diagnostic.ts";
import { isBuiltIn } from "../resource/names.ts";
import type { FactRequest, PlannedWorkspace } from "../resource/planning.ts";
import type { Resource } from "../spec/model/spec.ts";
import {
  ignoredContradictions,
  lookupQuestions,
  unconfirmedValues,
  unknownNames,
} from "./check/confirm-names.ts";
import { checkGuards } from "./check/guards.ts";
import { nestingCycles, unmanageableMemberships, withNestingOrder } from "./check/memberships.ts";
import { dependentKinds, unreadableKinds, unreadDependents } from "./check/unreadable.ts";
import { decideResource } from "./decide/decide.ts";
import { planDeletes, retainInUse } from "./decide/deletes.ts";
import {
  limitChanges,
  losesObject,
  pathsOfOthers,
  withDependencies,
  withFreedPaths,
} from "./decide/dependencies.ts";
import { duplicatesIn } from "./decide/match-live.ts";
import {
  namesOfKeptObjects,
  type PassedNames,
  withNewNames,
  withPassedNames,
  withRenames,
} from "./decide/names.ts";
import type { PlannedDeletes } from "./decide/nested-members.ts";
import { changesContent, driftOf, withContent } from "./diff/drift.ts";
import { type Change, touches } from "./model/change.ts";
import {
  addressByObject,
  dropInvalidRecords,
  indexLive,
  objectKey,
  type PlanContext,
} from "./model/context.ts";
import type { FactRequests, PlanFacts, PlanInput } from "./model/input.ts";
import type { Plan, Unmanaged } from "./model/plan.ts";
import { createPlannedWorkspace, plannedChange } from "./model/planned-workspace.ts";
import { changeKey, inOrder, topologicalOrder, transitiveClosure } from "./model/work-graph.ts";

/** What follows from the spec, the state, and live objects alone. */
export interface DraftPlan {
  readonly context: PlanContext;
  readonly diagnostics: readonly Diagnostic[];
  /** Without a caller, every member of a list that the spec owns is deleted. */
  readonly arranged: ArrangedChanges;
}

interface ArrangedChanges extends PassedNames {
  readonly deletes: PlannedDeletes;
}

export function makePlan(from: PlanInput & PlanFacts): Plan {
  return finishPlan(draftPlan(from), from);
}

export function draftPlan({ caller, ...from }: PlanInput & Pick<PlanFacts, "caller">): DraftPlan {
  const { input: valid, invalidRecords } = dropInvalidRecords(from);
  const input = withNewNames(valid);
  const context: PlanContext = {
    input,
    liveIndex: indexLive(input.live, input.registry),
    decided: new Map(),
    invalidRecords,
    owners: addressByObject(input.state.records),
    imports: new Map(input.spec.stateEntries?.imports.map((one) => [one.to, one])),
  };
  const unreadable = unreadableKinds(context);
  const refused = decideAll(context);
  const arranged = arrange(context, caller);
  const asked = askedFor(input, arranged.changes);
  const errors = refused.flatMap(([address, diagnostic]) => (asked(address) ? [diagnostic] : []));
  return { context, diagnostics: [...unreadable, ...errors], arranged };
}

/** The facts that a draft needs and `facts` lacks. Once dependents are read, ask again: they can show that more is needed. */
export function requestsOf(draft: DraftPlan, facts: PlanFacts): FactRequests {
  const { context } = draft;
  const { registry } = context.input;
  const { deletes, changes: chosen } = arrangedWith(draft, facts);
  if (!chosen.some(touches)) return nothingFurther(deletes);
  const workspace = createPlannedWorkspace(context, facts, chosen);
  const changes = inOrder(retainInUse(context, facts, chosen, workspace).changes, registry);
  const asked = new Set(changes.flatMap((change) => requestsOfKind(context, change, workspace)));
  return {
    caller: deletes.needsCaller || (facts.caller === undefined && asked.has("caller")),
    activeRuns: facts.activeRuns === undefined && asked.has("runs"),
    dependents: new Set(facts.dependents === undefined ? dependentKinds(context.input, changes).keys() : []),
    contents:
      facts.contents === undefined
        ? changes
            .filter(changesContent)
            .filter(({ kind }) => registry.get(kind).planning.content?.text !== undefined)
        : [],
    lookups: facts.lookups === undefined ? lookupQuestions(context, changes, workspace) : [],
  };
}

/** The only fact that a plan without changes needs: whether the caller keeps members of lists. */
function nothingFurther({ needsCaller }: PlannedDeletes): FactRequests {
  return { caller: needsCaller, activeRuns: false, dependents: new Set(), contents: [], lookups: [] };
}

/** Requests nothing: without a fact, the plan contains less. */
export function finishPlan(draft: DraftPlan, facts: PlanFacts): Plan {
  const { context } = draft;
  const { input } = context;
  const { deletes, changes: chosen, diagnostics: passing } = arrangedWith(draft, facts);
  const workspace = createPlannedWorkspace(context, facts, chosen);
  const duplicates = duplicatesIn(context, chosen);
  const retained = retainInUse(context, facts, chosen, workspace);
  const diagnostics = [
    ...draft.diagnostics,
    ...passing,
    ...pathsOfOthers(context, chosen),
    ...unknownNames(context, chosen, workspace),
    ...unmanageableMemberships(context, chosen),
    ...nestingCycles(context, chosen),
    ...ignoredContradictions(context, chosen),
    ...duplicates.warnings,
    ...unconfirmedValues(context, facts.lookups, lookupQuestions(context, chosen, workspace)),
    ...retained.notes,
    ...unreadDependents(input, facts, chosen),
    ...namesOfKeptObjects(context, retained.changes),
  ];
  const described = inOrder(retained.changes, input.registry).map((change) =>
    withContent(withConsequences(context, change, workspace), facts.contents),
  );
  const changes = withRenames(context, described);
  return {
    host: input.host,
    ...partOf(input, changes),
    changes,
    drift: driftOf(context, facts.contents, deletes.appeared).filter(
      (one) => input.only?.(one.address) !== false,
    ),
    unmanaged: unmanagedOf(context, changes),
    guards: hasErrors(diagnostics) ? [] : [...checkGuards(context, changes, workspace), ...duplicates.guards],
    diagnostics,
  };
}

function arrange(context: PlanContext, caller: string | undefined): ArrangedChanges {
  const deletes = planDeletes(context, caller);
  const all = withDependencies(context, [...context.decided.values(), ...deletes.changes]);
  const depending = withNestingOrder(context, all);
  const changes = withFreedPaths(context.input.registry, depending);
  return { deletes, ...chosenWithNames(context, changes) };
}

function arrangedWith({ context, arranged }: DraftPlan, { caller }: PlanFacts): ArrangedChanges {
  return caller === undefined || !arranged.deletes.needsCaller ? arranged : arrange(context, caller);
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

/** What `only` asks for, with everything that a dependency or a name needs. */
function chosenWithNames(context: PlanContext, changes: readonly Change[]): PassedNames {
  const all = withPassedNames(context, changes);
  const { only } = context.input;
  if (only === undefined) return all;
  const kept = new Set(limitChanges(context.input, all.changes, only).map(changeKey));
  const chosen = changes.filter((change) => kept.has(changeKey(change)));
  return withPassedNames(context, chosen, changes);
}

/** All are those of the spec and the state; found members of managed objects are neither. */
function partOf(input: PlanInput, changes: readonly Change[]): Pick<Plan, "part"> {
  if (input.only === undefined) return {};
  const declared = input.destroy === true ? [] : input.spec.resources.keys();
  const decided = changes.filter(({ action }) => action !== "report");
  const planned = new Set(decided.map(({ address }) => address));
  const total = new Set([...declared, ...input.state.records.keys(), ...planned]).size;
  return { part: { planned: planned.size, total } };
}

/** Decides resources in dependency order, so that references find decided targets. Returns the refused ones. */
function decideAll(context: PlanContext): readonly (readonly [Address, Diagnostic])[] {
  const refused: [Address, Diagnostic][] = [];
  if (context.input.destroy === true) return [];
  for (const resource of inNeedOrder(context.input.spec.resources)) {
    if (!context.input.live.has(resource.kind)) continue;
    if (context.liveIndex.unreadable(resource.kind, resource.name) !== undefined) continue;
    const decision = decideResource(context, resource, context.input.registry.get(resource.kind));
    if ("refused" in decision) refused.push([resource.address, decision.refused]);
    else context.decided.set(resource.address, decision.change);
  }
  return refused;
}

/**
 * What `only` names, what the plan contains with it, the users of what it takes from them, and everything that these need:
 * what cannot be done elsewhere holds nothing of it back.
 */
function askedFor(input: PlanInput, changes: readonly Change[]): (address: Address) => boolean {
  const { only, spec } = input;
  if (only === undefined) return () => true;
  const isLosing = losesObject(input, changes);
  const named = [...spec.resources.keys()].filter((address) => only(address) || isLosing(address));
  const planned = changes.map(({ address }) => address);
  const asked = transitiveClosure(
    [...named, ...planned],
    (address) => spec.resources.get(address)?.dependsOn ?? [],
  );
  return (address) => asked.has(address);
}

/** By address, so that the order of the YAML does not matter. */
function inNeedOrder(resources: ReadonlyMap<Address, Resource>): Resource[] {
  const sorted = [...resources.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
  return topologicalOrder(sorted, (resource) =>
    resource.dependsOn.flatMap((address) => resources.get(address) ?? []),
  );
}

function withConsequences(context: PlanContext, change: Change, workspace: PlannedWorkspace): Change {
  const planned = plannedChange(change, context.liveIndex);
  const found =
    planned === undefined
      ? []
      : (context.input.registry.get(change.kind).planning.consequences?.(planned, workspace) ?? []);
  return found.length === 0 ? change : { ...change, consequences: found };
}

/** Live objects that are in neither the spec nor the state, of the kinds that these use. */
function unmanagedOf(context: PlanContext, changes: readonly Change[]): Unmanaged[] {
  const all = [...changes, ...context.decided.values()];
  const kinds = new Set(all.map(({ kind }) => kind));
  const found: Unmanaged[] = [];
  for (const provider of context.input.registry.kinds) {
    if (provider.nested !== undefined || !kinds.has(provider.kind)) continue;
    for (const live of context.liveIndex.all(provider.kind)) {
      if (context.owners.has(provider.kind, live.id) || isBuiltIn(provider, live.name)) continue;
      found.push({ kind: provider.kind, name: live.name, id: live.id });
    }
  }
  // The keys of all objects take a tenth of the time of a plan, and most workspaces have nothing else.
  if (found.length === 0) return found;
  const known = new Set(all.flatMap((one) => ("id" in one ? [objectKey(one.kind, one.id)] : [])));
  return found.filter(({ kind, id }) => !known.has(objectKey(kind, id)));
}
