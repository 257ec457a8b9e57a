// What could not be read, told once for each cause: a kind that could not be read stops the apply.

import { kindOf } from "../core/address.ts";
import { type Diagnostic, error } from "../core/diagnostic.ts";
import { listed } from "../core/words.ts";
import type { Context } from "./context.ts";

interface Unread {
  /** `pools`, or `acls of etl`. */
  readonly what: string;
  readonly reason: Diagnostic;
}

/** Deletes of such a kind are not even planned: unreadable is never empty. */
export function unreadableKinds({ input: { live, spec, state } }: Context): Diagnostic[] {
  const managed = new Set([...spec.resources.values()].map((one) => one.kind));
  for (const address of state.records.keys()) managed.add(kindOf(address));
  const unread: Unread[] = [];
  for (const [kind, found] of live) {
    if (!managed.has(kind)) continue;
    if (!found.readable) unread.push({ what: kind, reason: found.diagnostic });
    else
      for (const [parent, reason] of found.unreadableParents)
        unread.push({ what: `${kind} of ${parent}`, reason });
  }
  return [...Map.groupBy(unread, ({ reason }) => causeOf(reason)).values()].map(told);
}

/** The reason without what differs from one request to the next: its operation, its attempts and their time. */
function causeOf({ code, message, hint = "" }: Diagnostic): string {
  const rest = message
    .replace(/^.* could not be read: /, "")
    .replace(/^[\w-]+(\/[\w-]+)+ /, "")
    .replace(/, \d+ attempts in \d+ s$/, "");
  return `${code}\n${rest}\n${hint}`;
}

/** The shortest reason is the one that names no kind but its own. */
function told(group: readonly Unread[]): Diagnostic {
  const reasons = group.map(({ reason }) => reason);
  const reason = reasons.reduce((best, one) => (one.message.length < best.message.length ? one : best));
  const them = group.length === 1 ? "it" : "them";
  return error(
    "PLAN_UNREADABLE",
    `${listed(group.map(({ what }) => what))} could not be read; nothing of ${them} is planned, and nothing of ${them} is deleted`,
    {
      hint: reason.hint ?? "put the cause right and plan again",
      cause: `${reason.code}: ${reason.message}`,
    },
  );
}
