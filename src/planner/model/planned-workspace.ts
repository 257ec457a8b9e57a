// The world as a kind sees it when it is asked for consequences and objections: live data, and what this plan does to it.

import type { Values } from "../../resource/field-schema.ts";
import { foldName } from "../../resource/names.ts";
import type { PlannedChange, PlannedWorkspace } from "../../resource/planning.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import type { Change } from "./change.ts";
import { objectKey } from "./context.ts";
import type { PlanInput } from "./input.ts";
import type { LiveIndex } from "./live-index.ts";

/** `changes` is evaluated lazily, so that it can be used during planning. */
export function createPlannedWorkspace(
  input: PlanInput,
  liveIndex: LiveIndex,
  changes: () => Iterable<Change>,
): PlannedWorkspace {
  let going: ReadonlySet<string> | undefined;
  let reached: ReadonlyMap<string, Values | undefined> | undefined;
  const declared = new Set(
    [...input.spec.resources.values()].map((one) => nameKey(input.registry, one.kind, one.name)),
  );
  return {
    live: (kind) => {
      const around = input.dependents?.get(kind);
      return around?.readable === true ? around.objects : liveIndex.all(kind);
    },
    caller: input.caller,
    activeRuns: input.activeRuns,
    declared: (kind, name) => input.destroy !== true && declared.has(nameKey(input.registry, kind, name)),
    isRemoved: (kind, name) => {
      going ??= goingNames(input.registry, changes());
      return going.has(nameKey(input.registry, kind, name));
    },
    valuesAfter: (kind, live) => {
      reached ??= valuesAfter(changes());
      const key = objectKey(kind, live.id);
      return reached.has(key) ? reached.get(key) : live.values;
    },
  };
}

/** By kind and id; undefined for what goes. */
function valuesAfter(changes: Iterable<Change>): ReadonlyMap<string, Values | undefined> {
  const values = new Map<string, Values | undefined>();
  for (const change of changes) {
    if (change.action === "update") values.set(objectKey(change.kind, change.id), change.after);
    if (change.action === "delete" || change.action === "replace")
      values.set(objectKey(change.kind, change.id), undefined);
  }
  return values;
}

function goingNames(registry: PlanningRegistry, changes: Iterable<Change>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const change of changes) {
    const withParent = change.action === "forget" && change.dependsOn.length > 0;
    if (change.action === "delete" || change.action === "replace" || withParent)
      names.add(nameKey(registry, change.kind, change.name));
  }
  return names;
}

function nameKey(registry: PlanningRegistry, kind: string, name: string): string {
  const provider = registry.find(kind);
  return `${kind}\n${provider === undefined ? name : foldName(provider, name)}`;
}

/** The change for which a provider is called; undefined for changes that send no requests. */
export function plannedChange(change: Change, liveIndex: LiveIndex): PlannedChange | undefined {
  const head = { address: change.address, name: change.name };
  switch (change.action) {
    case "create":
      return { action: "create", ...head, live: undefined, after: change.after, diffs: [], steps: [] };
    case "update":
      return {
        action: "update",
        ...head,
        live: liveIndex.byId(change.kind, change.id),
        after: change.after,
        diffs: change.diffs,
        steps: change.steps,
      };
    case "replace":
      return {
        action: "replace",
        ...head,
        live: liveIndex.byId(change.kind, change.id),
        after: change.after,
        diffs: change.diffs,
        steps: [],
      };
    case "delete":
      return {
        action: "delete",
        ...head,
        live: liveIndex.byId(change.kind, change.id),
        after: undefined,
        diffs: [],
        steps: [],
      };
    case "adopt":
    case "forget":
    case "noop":
    case "report":
      return undefined;
    default:
      return change satisfies never;
  }
}
