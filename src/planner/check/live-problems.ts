// Warnings about live objects that the plan keeps: parts that failed or are not ready, as their kinds see it.

import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import type { Change } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";

export function liveProblems({ input, liveIndex }: PlanContext, changes: readonly Change[]): Diagnostic[] {
  const kinds = new Set(
    input.registry.kinds.flatMap(({ kind, planning }) => (planning.liveProblems === undefined ? [] : [kind])),
  );
  return changes.flatMap((change) => {
    if (!kinds.has(change.kind) || !("id" in change)) return [];
    if (change.action === "delete" || change.action === "forget") return [];
    const live = liveIndex.byId(change.kind, change.id);
    const resource = input.spec.resources.get(change.address);
    if (live === undefined || resource === undefined) return [];
    const problems = input.registry.get(change.kind).planning.liveProblems?.(live) ?? [];
    return problems.map(({ code, message, path, hint }) =>
      warning(code, `${change.address}: ${message}`, {
        address: change.address,
        at: resource.locate(path),
        hint,
      }),
    );
  });
}
