// What moved in the workspace since the last apply: live against recorded, whatever the spec says now.

import { type Address, kindOf } from "../core/address.ts";
import type { Change } from "./change.ts";
import { driftedContent } from "./content.ts";
import { type Context, recordedOf } from "./context.ts";
import { diffResource, type Recorded } from "./diff.ts";
import { comparable } from "./fingerprint.ts";
import { isIgnored } from "./ignored.ts";
import type { LiveMember } from "./members.ts";
import { identical } from "./normal.ts";
import type { Drift } from "./plan.ts";

export function driftOf(context: Context, appeared: readonly LiveMember[]): Drift[] {
  const found: Drift[] = [];
  for (const address of context.input.state.records.keys()) {
    const drift = driftOfRecord(context, address);
    if (drift !== undefined) found.push(drift);
  }
  for (const { address, live } of appeared)
    found.push({ address, kind: kindOf(address), name: live.name, what: "appeared", diffs: [] });
  return found.sort((a, b) => (a.address < b.address ? -1 : 1));
}

function driftOfRecord(context: Context, address: Address): Drift | undefined {
  const record = context.input.state.records.get(address);
  if (record?.status !== "ready") return undefined;
  const provider = context.input.registry.of(address);
  const recorded = recordedOf(provider, record);
  if (context.world.unreadable(provider.kind, record.name) !== undefined) return undefined;
  const live = context.world.byId(provider.kind, record.id);
  const head = { address, kind: provider.kind, name: record.name };
  if (recorded === undefined) return undefined;
  if (live === undefined) return { ...head, what: "gone", diffs: [] };
  if (isUnmoved(context.decided.get(address), recorded)) return undefined;
  const ignored = context.input.spec.resources.get(address)?.lifecycle.ignore_changes ?? [];
  const diffs = diffResource(provider.fields, recorded.applied, comparable(provider, live), recorded).filter(
    (diff) => !isIgnored(diff.path, ignored),
  );
  if (diffs.length === 0) return undefined;
  const content = driftedContent(context.decided.get(address), context.input);
  return {
    ...head,
    what: "changed",
    diffs: diffs.map((diff) => ({ ...diff, cause: "drift" })),
    ...(content === undefined ? {} : { content }),
  };
}

/** Deciding compared the same values with the same object, and found nothing. */
function isUnmoved(change: Change | undefined, recorded: Recorded): boolean {
  return (
    change?.action === "noop" && change.unresolved.length === 0 && identical(change.after, recorded.applied)
  );
}
