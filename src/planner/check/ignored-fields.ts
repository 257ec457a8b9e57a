// Rejects a change that ignore_changes makes impossible: a live value that it keeps contradicts the declared ones.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { withValueAt } from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Problem } from "../../resource/planning.ts";
import type { Change } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";

export function ignoredContradictions({ input }: PlanContext, changes: readonly Change[]): Diagnostic[] {
  return changes.flatMap((change) => {
    if (change.action !== "update" && change.action !== "replace") return [];
    const resource = input.spec.resources.get(change.address);
    if (resource === undefined || resource.lifecycle.ignore_changes.length === 0) return [];
    // A value that only an apply can tell counts as any value.
    const after = change.unresolved.reduce<Values>(
      (values, { path }) => withValueAt(values, path, "") as Values,
      change.after,
    );
    const problems = input.registry.get(change.kind).planning.validate?.(after, change.name) ?? [];
    const ignored = listed(resource.lifecycle.ignore_changes);
    return problems.filter(isContradiction).map(({ path, code, message }) =>
      error(code, `${change.address}: ${message}, and ignore_changes keeps the live ${ignored}`, {
        address: change.address,
        at: resource.locate(path),
        hint: "remove the field from ignore_changes, or declare fields that are valid with its live value",
      }),
    );
  });
}

/** The service set the live value, so only the fields next to it can be wrong. */
const isContradiction = ({ severity, code }: Problem): boolean =>
  severity !== "warning" && (code === "SPEC_COMBINATION" || code === "SPEC_MISSING_FIELD");
