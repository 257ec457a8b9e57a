// Why a value that is a reference moved: where the spec says the same as before, it follows what it refers to.

import type { Json } from "../core/json.ts";
import { toPointer, valueAt } from "../core/pointer.ts";
import type { Cause, FieldDiff } from "../resource/provider.ts";
import type { Reference, Resource } from "../spec/spec.ts";
import type { Context } from "./context.ts";
import type { Recorded } from "./diff.ts";
import { identical } from "./normal.ts";
import { referenceValue } from "./references.ts";

/** The differences with the causes of those that only follow their targets. */
export function withFollowed(
  context: Context,
  resource: Resource,
  recorded: Recorded | undefined,
  diffs: readonly FieldDiff[],
): readonly FieldDiff[] {
  if (recorded === undefined || resource.references.length === 0) return diffs;
  return diffs.map((diff) => {
    const reference = resource.references.find(({ path }) => toPointer(path) === toPointer(diff.path));
    const cause = reference === undefined ? undefined : followedCause(context, reference, recorded, diff);
    return cause === undefined ? diff : { ...diff, cause };
  });
}

/** Undefined where the spec itself moved, or nothing that the reference leads to. */
function followedCause(
  context: Context,
  reference: Reference,
  recorded: Recorded,
  diff: FieldDiff,
): Cause | undefined {
  const written = valueAt(recorded.applied, diff.path);
  if (written === undefined || !identical(written, whenWritten(context, reference))) return undefined;
  const causes = new Set<Cause>();
  for (const part of reference.parts) {
    const change = typeof part === "string" ? undefined : context.decided.get(part.address);
    if (change !== undefined && change.action !== "noop") causes.add(change.cause);
  }
  if (causes.size === 0) return undefined;
  if (!identical(written, diff.before)) causes.add("drift");
  const [only, ...more] = causes;
  return more.length === 0 ? only : "both";
}

/** What the reference stood for when its targets were last written. */
function whenWritten(context: Context, reference: Reference): Json | undefined {
  return referenceValue(reference, (address, attribute) => {
    const record = context.input.state.records.get(address);
    const { idAttribute } = context.input.registry.of(address);
    return attribute === idAttribute ? record?.id : record?.applied[attribute];
  });
}
