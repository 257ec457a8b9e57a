// Finds drift: differences between live and recorded values, regardless of the spec.

import { kindOf } from "../../core/address.ts";
import { type Path, valueAt } from "../../core/pointer.ts";
import { type FieldTable, schemaAt, type Values } from "../../resource/field-schema.ts";
import type { Resource } from "../../spec/model/spec.ts";
import type { StateRecord } from "../../state/model/record.ts";
import type { Change } from "../model/change.ts";
import {
  isRead,
  type PlanContext,
  type RecordedValues,
  recordedOf,
  type UndeclaredObject,
} from "../model/context.ts";
import type { PlanFacts } from "../model/input.ts";
import type { Drift } from "../model/plan.ts";
import { driftedContent } from "./content-diff.ts";
import { diffResource } from "./diff.ts";
import { comparable, isIdentical, isIgnored, recordedWithIgnored } from "./normalize.ts";

export function driftOf(
  context: PlanContext,
  contents: PlanFacts["contents"],
  appeared: readonly UndeclaredObject[],
): Drift[] {
  const drifts: Drift[] = [];
  for (const record of context.input.state.records.values()) {
    const drift = driftOfRecord(context, contents, record);
    if (drift !== undefined) drifts.push(drift);
  }
  for (const { address, live } of appeared) {
    const provider = context.input.registry.of(address);
    const object = comparable(provider, live);
    drifts.push({
      address,
      kind: kindOf(address),
      name: live.name,
      what: "appeared",
      diffs: [],
      values: object.values,
      facts: live.facts,
      id: live.id,
    });
  }
  return drifts.sort((a, b) => (a.address < b.address ? -1 : 1));
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
  if (!isRead(context, provider.kind, record.name)) return undefined;
  const live = context.liveIndex.byId(provider.kind, record.id);
  const head = { address, kind: provider.kind, name: record.name };
  if (live === undefined) return { ...head, what: "deleted", diffs: [], values: recorded.applied };
  const resource = context.input.spec.resources.get(address);
  const ignored = resource?.lifecycle.ignore_changes ?? [];
  const liveObject = comparable(provider, live, recorded.applied);
  const before = recordedWithIgnored(provider, recorded, liveObject.values, ignored);
  const diffs = diffResource(provider.fields, before.applied, liveObject, before).filter(
    // If the service itself changed the value, the cause is the spec.
    ({ cause, path }) =>
      cause !== "spec" &&
      live.unreadFields?.includes(String(path[0])) !== true &&
      !isIgnored(path, ignored) &&
      !isReleased(provider.fields, resource, liveObject.values, path),
  );
  if (diffs.length === 0) return undefined;
  const content = driftedContent(context.decided.get(address), contents);
  return {
    ...head,
    what: "changed",
    diffs: diffs.map((diff) => ({ ...diff, cause: "drift" })),
    facts: live.facts,
    content,
  };
}

/**
 * Whether the spec does not declare a field that is managed only if declared; an apply of other addresses leaves its recorded
 * value. Such a field of an object that leaves the spec may not have been read.
 */
function isReleased(fields: FieldTable, resource: Resource | undefined, live: Values, path: Path): boolean {
  return path.some((_, at) => {
    const field = path.slice(0, at + 1);
    if (schemaAt(fields, field).whenAbsent !== "unmanaged") return false;
    return valueAt(resource === undefined ? live : resource.values, field) === undefined;
  });
}

/** The decision already compared the same values with the same object and found no difference. */
function isUnmoved(change: Change | undefined, recorded: RecordedValues): boolean {
  if (change?.action !== "noop" && change?.action !== "compare") return false;
  return change.unresolved.length === 0 && isIdentical(change.after, recorded.applied);
}
