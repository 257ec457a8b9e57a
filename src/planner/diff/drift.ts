// Finds drift: differences between live and recorded values, regardless of the spec.

import { kindOf } from "../../core/address.ts";
import { type Path, valueAt } from "../../core/pointer.ts";
import { type FieldTable, schemaAt } from "../../resource/field-schema.ts";
import type { Resource } from "../../spec/model/spec.ts";
import type { StateRecord } from "../../state/model/record.ts";
import type { Change } from "../model/change.ts";
import { type PlanContext, type RecordedValues, recordedOf } from "../model/context.ts";
import type { PlanFacts } from "../model/facts.ts";
import type { LiveMember } from "../model/live-index.ts";
import type { Drift } from "../model/plan.ts";
import { driftedContent } from "./content-diff.ts";
import { diffResource } from "./diff.ts";
import { comparable, liveFingerprint, recordedWithIgnored } from "./fingerprint.ts";
import { isIdentical, isIgnored } from "./normalize.ts";

export function driftOf(
  context: PlanContext,
  contents: PlanFacts["contents"],
  appeared: readonly LiveMember[],
): Drift[] {
  const found: Drift[] = [];
  for (const record of context.input.state.records.values()) {
    const drift = driftOfRecord(context, contents, record);
    if (drift !== undefined) found.push(drift);
  }
  for (const { address, live } of appeared) {
    const provider = context.input.registry.of(address);
    const fingerprint = liveFingerprint(provider.fields, comparable(provider, live), undefined);
    found.push({
      address,
      kind: kindOf(address),
      name: live.name,
      what: "appeared",
      diffs: [],
      facts: live.facts,
      live: { id: live.id, fingerprint },
    });
  }
  return found.sort((a, b) => (a.address < b.address ? -1 : 1));
}

function driftOfRecord(
  context: PlanContext,
  contents: PlanFacts["contents"],
  record: StateRecord,
): Drift | undefined {
  if (record.status !== "ready") return undefined;
  const { address } = record;
  const provider = context.input.registry.of(address);
  const recorded = recordedOf(provider, record);
  // A resource that was decided to match its object was compared with it already.
  if (recorded === undefined || isUnmoved(context.decided.get(address), recorded)) return undefined;
  if (!context.input.live.has(provider.kind)) return undefined;
  if (context.liveIndex.unreadable(provider.kind, record.name) !== undefined) return undefined;
  const live = context.liveIndex.byId(provider.kind, record.id);
  const head = { address, kind: provider.kind, name: record.name };
  if (live === undefined) return { ...head, what: "gone", diffs: [] };
  const resource = context.input.spec.resources.get(address);
  const ignored = resource?.lifecycle.ignore_changes ?? [];
  const found = comparable(provider, live);
  const before = recordedWithIgnored(provider, recorded, found.values, ignored);
  const diffs = diffResource(provider.fields, before.applied, found, before).filter(
    // If the service itself changed the value, the cause is the spec.
    ({ cause, path }) =>
      cause !== "spec" && !isIgnored(path, ignored) && !isReleased(provider.fields, resource, path),
  );
  if (diffs.length === 0) return undefined;
  const content = driftedContent(context.decided.get(address), contents);
  return {
    ...head,
    what: "changed",
    diffs: diffs.map((diff) => ({ ...diff, cause: "drift" })),
    facts: live.facts,
    ...(content === undefined ? {} : { content }),
  };
}

/** Whether the spec does not declare a field that is managed only if declared; an apply of other addresses leaves its recorded value. */
function isReleased(fields: FieldTable, resource: Resource | undefined, path: Path): boolean {
  if (resource === undefined) return false;
  return path.some((_, at) => {
    const field = path.slice(0, at + 1);
    const { whenAbsent } = schemaAt(fields, field);
    return whenAbsent === "unmanaged" && valueAt(resource.values, field) === undefined;
  });
}

/** The decision already compared the same values with the same object and found no difference. */
function isUnmoved(change: Change | undefined, recorded: RecordedValues): boolean {
  if (change?.action !== "noop" && change?.action !== "compare") return false;
  return change.unresolved.length === 0 && isIdentical(change.after, recorded.applied);
}
