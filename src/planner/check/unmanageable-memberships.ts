// Rejects memberships in objects that this program cannot manage, such as groups of the account.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { Change } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";

export function unmanageableMemberships(context: PlanContext, changes: readonly Change[]): Diagnostic[] {
  return changes.flatMap((change) => writtenLists(context, change).flatMap((one) => refusals(context, one)));
}

interface WrittenList {
  readonly change: Change;
  readonly field: string;
  /** Kind of the objects that the list names, and that a write of it changes. */
  readonly kind: string;
  readonly names: readonly unknown[];
}

/** The lists that a change writes to the objects that they name. */
function writtenLists({ input }: PlanContext, change: Change): WrittenList[] {
  if (change.action !== "create" && change.action !== "update" && change.action !== "replace") return [];
  const { fields } = input.registry.get(change.kind);
  return Object.keys(change.after).flatMap((field) => {
    const { writtenToNamed, items } = fields[field] ?? {};
    if (writtenToNamed !== true || items?.names === undefined) return [];
    const names = change.after[field];
    const isWritten = change.action !== "update" || change.diffs.some(({ path }) => path[0] === field);
    return isWritten && Array.isArray(names) ? [{ change, field, kind: items.names, names }] : [];
  });
}

function refusals({ input, liveIndex }: PlanContext, list: WrittenList): Diagnostic[] {
  const { address } = list.change;
  const { singular } = input.registry.get(list.kind);
  const resource = input.spec.resources.get(address);
  return list.names.flatMap((name, index) => {
    const live = typeof name === "string" ? liveIndex.byName(list.kind, name)[0] : undefined;
    if (live?.unmanageable === undefined) return [];
    const message = `${address} cannot be added to the ${singular} ${JSON.stringify(live.name)}: ${live.unmanageable}`;
    return error("PLAN_UNMANAGEABLE", message, {
      address,
      at: resource?.locate([list.field, index]),
      hint: `remove the name from ${list.field}, and change the ${singular} with other tools; memberships that exist are kept`,
    });
  });
}
