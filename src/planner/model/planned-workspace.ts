// The workspace as side effects and guards of a kind use it: live data, and the changes of the plan.

import { lazily } from "../../core/lazily.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import { foldName } from "../../resource/names.ts";
import type { PlannedChange, PlannedWorkspace, PlanningRules } from "../../resource/planning.ts";
import { type Change, isDeletedWithParent, isOfReplaced, writes } from "./change.ts";
import { type LiveIndex, objectKey, type PlanContext } from "./context.ts";
import type { PlanFacts } from "./input.ts";

/** Immutable: results do not depend on the order of the calls. What it needs of the spec and the changes is collected when first asked for. */
export function createPlannedWorkspace(
  { input, liveIndex, owners }: Pick<PlanContext, "input" | "liveIndex" | "owners">,
  facts: PlanFacts,
  changes: readonly Change[],
): PlannedWorkspace {
  const { registry, spec } = input;
  const leaving = lazily(() => leavingNames(registry, changes));
  const after = lazily(() => valuesAfter(changes));
  const declaredNames = lazily(
    () =>
      new Set(
        (input.destroy === true ? [] : [...spec.resources.values()]).map((resource) =>
          nameKey(registry, resource.kind, resource.name),
        ),
      ),
  );
  return {
    live: (kind) => {
      const dependents = facts.dependents?.get(kind);
      return dependents?.readable === true ? dependents.objects : liveIndex.all(kind);
    },
    caller: facts.caller,
    activeRuns: facts.activeRuns,
    declared: (kind, name) => declaredNames().has(nameKey(registry, kind, name)),
    isRemoved: (kind, name) => leaving().removed.has(nameKey(registry, kind, name)),
    isForgotten: (kind, name) => leaving().forgotten.has(nameKey(registry, kind, name)),
    created: (kind) =>
      changes.flatMap((change) =>
        change.kind === kind && (change.action === "create" || change.action === "replace")
          ? [{ address: change.address, values: change.after }]
          : [],
      ),
    valuesAfter: (kind, live) => {
      const key = objectKey(kind, live.id);
      return after().has(key) ? after().get(key) : live.values;
    },
    isSensitive: (kind, object, path) => {
      const address = "address" in object ? object.address : owners.get(kind, object.id);
      return address !== undefined && input.isSensitive?.(address, path) === true;
    },
  };
}

/** By kind and ID; undefined for a deleted object. A replaced object that is kept has its live values. */
function valuesAfter(changes: readonly Change[]): ReadonlyMap<string, Values | undefined> {
  const values = new Map<string, Values | undefined>();
  for (const change of changes) {
    if (change.action === "update") values.set(objectKey(change.kind, change.id), change.after);
    if (change.action === "delete" || (change.action === "replace" && change.keepsOld !== true))
      values.set(objectKey(change.kind, change.id), undefined);
  }
  return values;
}

function leavingNames(registry: PlanningRegistry, changes: readonly Change[]) {
  const removed = new Set<string>();
  const forgotten = new Set<string>();
  for (const change of changes) {
    const { action, kind, name } = change;
    if (action === "delete" || action === "replace" || isDeletedWithParent(change))
      removed.add(nameKey(registry, kind, name));
    else if (action === "forget" && !isOfReplaced(change)) forgotten.add(nameKey(registry, kind, name));
  }
  return { removed, forgotten };
}

export function nameKey(registry: PlanningRegistry, kind: string, name: string): string {
  const provider = registry.find(kind);
  return `${kind}\n${provider === undefined ? name : foldName(provider, name)}`;
}

/** What the rules of its kind say about a change; nothing about one that sends no requests. */
export function askKind<T>(
  { input, liveIndex }: Pick<PlanContext, "input" | "liveIndex">,
  change: Change,
  rule: (planning: PlanningRules, planned: PlannedChange) => readonly T[] | undefined,
): readonly T[] {
  const planned = plannedChange(change, liveIndex);
  return planned === undefined ? [] : (rule(input.registry.get(change.kind).planning, planned) ?? []);
}

/** The changes with their side effects, and with whom they harm. */
export function withConsequences(
  context: PlanContext,
  changes: readonly Change[],
  workspace: PlannedWorkspace,
): readonly Change[] {
  return changes.map((change) => {
    const consequences = askKind(context, change, (planning, planned) =>
      planning.consequences?.(planned, workspace),
    );
    const harms = askKind(context, change, (planning, planned) => planning.harms?.(planned, workspace));
    if (consequences.length + harms.length === 0) return change;
    return harms.length === 0 ? { ...change, consequences } : { ...change, consequences, harms };
  });
}

/** The change for which a provider is called; undefined for changes that send no requests. */
export function plannedChange(change: Change, liveIndex: LiveIndex): PlannedChange | undefined {
  if (!writes(change) && change.action !== "delete") return undefined;
  const { action, address, kind, name } = change;
  return {
    action,
    address,
    name,
    live: "id" in change ? liveIndex.byId(kind, change.id) : undefined,
    after: "after" in change ? change.after : undefined,
    diffs: "diffs" in change ? change.diffs : [],
    steps: "steps" in change ? change.steps : [],
  };
}
