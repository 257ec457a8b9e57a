// What is to happen to one desired resource: create, update, replace, adopt, or nothing.

import { type Diagnostic, error } from "../core/diagnostic.ts";
import { toText, valueAt, withValueAt } from "../core/pointer.ts";
import type { Values } from "../resource/fields.ts";
import type { Cause, FieldDiff, LiveObject, Provider } from "../resource/provider.ts";
import type { Resource } from "../spec/spec.ts";
import type { Change, NonEmpty, Replace, Update } from "./change.ts";
import { attributeOf, type Context, recordedOf } from "./context.ts";
import { diffResource } from "./diff.ts";
import { findLive } from "./find.ts";
import { liveFingerprint } from "./fingerprint.ts";
import { isIgnored, keepingIgnored } from "./ignored.ts";
import { type Resolved, resolveReferences } from "./references.ts";

export type Decision = { readonly change: Change } | { readonly refused: Diagnostic };

export function decide(context: Context, resource: Resource, provider: Provider): Decision {
  const found = findLive(context, resource, provider);
  if (found.is === "refused") return { refused: found.diagnostic };
  const resolved = desiredOf(context, resource, provider);
  if (found.is === "absent") return { change: creation(context, resource, resolved) };
  return compared(context, resource, provider, resolved, found.live, found.is === "takeover");
}

/** The desired values with references put in, the natural name filled in, and what the kind leaves out removed. */
function desiredOf(context: Context, resource: Resource, provider: Provider): Resolved {
  const resolved = resolveReferences(resource, (address, attribute) =>
    attributeOf(context, address, attribute),
  );
  const field = provider.nameField;
  const named =
    field === undefined || resolved.values[field] !== undefined
      ? resolved.values
      : { ...resolved.values, [field]: resource.name };
  return { ...resolved, values: provider.normalize?.(named) ?? named };
}

function common(resource: Resource, cause: Cause, reasons: readonly string[]) {
  const { address, kind, name, dependsOn } = resource;
  return { address, kind, name, cause, reasons, consequences: [], dependsOn };
}

function reaching(resource: Resource, after: Values, resolved: Resolved) {
  const payload = resource.payload?.digest;
  return { after, unresolved: resolved.unresolved, ...(payload === undefined ? {} : { payload }) };
}

function creation(context: Context, resource: Resource, resolved: Resolved): Change {
  const gone = context.input.state.records.has(resource.address);
  const reasons = gone ? ["it is recorded and no longer in the workspace"] : [];
  return {
    action: "create",
    ...common(resource, gone ? "drift" : "spec", reasons),
    ...reaching(resource, resolved.values, resolved),
  };
}

function compared(
  context: Context,
  resource: Resource,
  provider: Provider,
  resolved: Resolved,
  live: LiveObject,
  takeover: boolean,
): Decision {
  const record = context.input.state.records.get(resource.address);
  const recorded = takeover ? undefined : recordedOf(record);
  const before = provider.normalize?.(live.values) ?? live.values;
  const all = diffResource(
    provider.fields,
    resolved.values,
    { ...live, values: before },
    recorded,
    resolved.unknown,
  );
  const ignored = resource.lifecycle.ignore_changes;
  const [first, ...rest] = all.filter((diff) => !isIgnored(diff.path, ignored));
  const after = withTargets(
    keepingIgnored(resolved.values, before, ignored),
    all.filter((diff) => !isIgnored(diff.path, ignored)),
  );
  const existing = {
    id: live.id,
    before,
    fingerprint: liveFingerprint(provider.fields, { ...live, values: before }, after),
  };
  const reach = reaching(resource, after, resolved);
  if (first === undefined) {
    const action = takeover || record?.status === "creating" ? "adopt" : "noop";
    return {
      change: {
        action,
        ...common(resource, "spec", takeover ? ["it exists as the spec asks for it"] : []),
        ...reach,
        ...existing,
      },
    };
  }
  const diffs: NonEmpty<FieldDiff> = [first, ...rest];
  const head = common(
    resource,
    combined(diffs),
    reasonsOf(context, resource, diffs, takeover, record?.status === "creating"),
  );
  const [forced, ...more] = diffs.filter((diff) => diff.replaces);
  if (forced === undefined) {
    const steps = provider.steps?.(diffs, live, after) ?? [{ operation: "update" }];
    return { change: { action: "update", ...head, ...reach, ...existing, diffs, steps } satisfies Update };
  }
  const because: NonEmpty<FieldDiff> = [forced, ...more];
  if (immutablePolicy(context, resource) === "error")
    return { refused: immutable(resource, provider, because) };
  const replace = {
    action: "replace",
    ...head,
    ...reach,
    ...existing,
    diffs,
    because,
    replacing: provider.replacing,
    removeAfter: [],
  } as const;
  return { change: replace satisfies Replace };
}

/** Defaults and recorded values that drifted are written out, so that a write brings them back. */
function withTargets(values: Values, diffs: readonly FieldDiff[]): Values {
  let after = values;
  for (const diff of diffs) {
    if (diff.after !== undefined && valueAt(after, diff.path) === undefined)
      after = withValueAt(after, diff.path, diff.after) as Values;
  }
  return after;
}

function combined(diffs: readonly FieldDiff[]): Cause {
  const causes = new Set(diffs.map((diff) => diff.cause));
  return causes.size === 1 ? ([...causes][0] ?? "spec") : "both";
}

function reasonsOf(
  context: Context,
  resource: Resource,
  diffs: readonly FieldDiff[],
  takeover: boolean,
  unfinished: boolean,
): readonly string[] {
  const reasons: string[] = [];
  if (takeover) reasons.push("it exists and is taken over");
  if (unfinished) reasons.push("its creation was cut and is finished now");
  const moved = new Set<string>();
  for (const reference of resource.references) {
    for (const part of reference.parts)
      if (typeof part !== "string" && context.decided.get(part.address)?.action === "replace")
        moved.add(part.address);
  }
  for (const address of [...moved].sort()) reasons.push(`${address} is replaced and gets a new id`);
  for (const diff of diffs)
    if (diff.replaces) reasons.push(`${toText(diff.path)} cannot be changed in place`);
  return reasons;
}

function immutablePolicy(context: Context, resource: Resource): "error" | "replace" {
  const { policy } = context.input.spec;
  return (
    resource.lifecycle.on_immutable_change ??
    policy.on_immutable_change_by_kind[resource.kind] ??
    policy.on_immutable_change
  );
}

function immutable(resource: Resource, provider: Provider, because: NonEmpty<FieldDiff>): Diagnostic {
  const fields = because.map((diff) => toText(diff.path)).join(", ");
  const [first] = because;
  return error(
    "PLAN_IMMUTABLE",
    `${resource.address}: ${fields} of a ${provider.one} cannot be changed in place`,
    {
      address: resource.address,
      at: resource.locate(first.path),
      hint: "change it back, or let the resource be replaced with lifecycle: { on_immutable_change: replace }",
    },
  );
}
