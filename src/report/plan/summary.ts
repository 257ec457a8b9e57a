// The number of changes of a plan by action, in total and by kind, and the summary line.

import { hasErrors } from "../../core/diagnostic.ts";
import { count, grouped, listed } from "../../core/sentences.ts";
import { type Action, type Change, changesAnything, touches } from "../../planner/model/change.ts";
import { type Plan, summaryOf } from "../../planner/model/plan.ts";
import { secretField } from "../../resource/content.ts";
import type { KindRegistry } from "../../resource/registry.ts";
import { CHANGING_ACTIONS } from "../text/vocabulary.ts";

/** Whether a change deletes an object; a replacement that keeps the old one does not. */
export function destroys(change: Change): boolean {
  return change.action === "delete" || (change.action === "replace" && change.keepsOld !== true);
}

/** Whether a change keeps a secret because the plan was made without its value, so that it may differ. */
export function isUnknownSecret(change: Change, registry: KindRegistry): boolean {
  if (change.action !== "noop" || change.payload !== undefined) return false;
  return secretField(registry.of(change.address)) !== undefined;
}

/** `Plan: 3 to create, …` `unknownSecrets`: how many secrets are kept only because their values are missing. */
export function summaryLine(
  plan: Pick<Plan, "changes" | "diagnostics" | "part">,
  unknownSecrets = 0,
): string {
  const secrets = count(unknownSecrets, "secret without a value", "secrets without values");
  const unknown = unknownSecrets === 0 ? [] : [`Not compared: ${secrets}.`];
  const part = partLine(plan);
  return [changesLine(plan, unknownSecrets), ...unknown, ...(part === undefined ? [] : [part])].join(" ");
}

/** `Partial plan (--only): 10 of 301 resources.` Undefined for a plan of everything. */
export function partLine({ part }: { readonly part?: Plan["part"] | undefined }): string | undefined {
  if (part === undefined) return undefined;
  return `Partial plan (--only): ${grouped(part.planned)} of ${count(part.total, "resource")}.`;
}

function changesLine(plan: Pick<Plan, "changes" | "diagnostics">, unknown: number): string {
  const summary = summaryOf(plan.changes);
  if (!changesAnything(plan) && hasErrors(plan.diagnostics)) return "Nothing is planned.";
  const same = summary.noop - unknown;
  if (!changesAnything(plan))
    return same === 0
      ? "No changes."
      : `No changes. ${count(same, "resource matches", "resources match")} the spec.`;
  const parts = (["create", "update", "replace", "delete"] as const).map(
    (action) => `${grouped(summary[action])} to ${action}`,
  );
  for (const action of ["adopt", "forget"] as const)
    if (summary[action] > 0) parts.push(`${grouped(summary[action])} to ${action}`);
  return `Plan: ${parts.join(", ")}.`;
}

/** `Blocked by GUARD_PREVENT_DESTROY.` Undefined for a plan that may be applied. */
export function refusalLine(plan: Pick<Plan, "diagnostics" | "guards">): string | undefined {
  const found = [...plan.diagnostics, ...plan.guards.map((guard) => guard.diagnostic)].filter(
    (one) => one.severity === "error",
  );
  if (found.length === 0) return undefined;
  return `Blocked by ${listed([...new Set(found.map((one) => one.code))])}.`;
}

type Counted = { readonly kind: string; readonly action: Action };

/** Rows of the table by kind: first the heads, then a row for each kind that changes. Empty below `least`, where the summary says as much. */
export function kindTable(
  changes: readonly Counted[],
  least = { changes: 20, kinds: 2 },
): readonly (readonly string[])[] {
  const touched = changes.filter(touches);
  const kinds = [...new Set(touched.map((change) => change.kind))];
  if (touched.length < least.changes || kinds.length < least.kinds) return [];
  const actions = CHANGING_ACTIONS.filter((action) => touched.some((change) => change.action === action));
  const rows = kinds.map((kind) => {
    const own = summaryOf(touched.filter((change) => change.kind === kind));
    return [kind, ...actions.map((action) => (own[action] === 0 ? "·" : grouped(own[action])))];
  });
  return [["", ...actions], ...rows];
}
