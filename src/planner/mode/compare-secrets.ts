// Compares secrets without their values. The spec and the state have a keyed digest of each value that was read, salted with the address
// (`spec/resolve/secrets.ts`). A secret without a value now has the action `compare`: the apply decides whether it is written.

import type { Address } from "../../core/address.ts";
import { warning } from "../../core/diagnostic.ts";
import { defined, type Json } from "../../core/json.ts";
import { listed } from "../../core/sentences.ts";
import type { Values } from "../../resource/field-schema.ts";
import { type PlanningRegistry, secretField } from "../../resource/kind.ts";
import type { Resource, Spec } from "../../spec/model/spec.ts";
import type { State } from "../../state/model/record.ts";
import type { Compare, Noop, Update } from "../model/change.ts";
import type { Plan } from "../model/plan.ts";

/** A spec, and the state of the resources that it declares. */
export interface RecordedSpec {
  readonly registry: PlanningRegistry;
  readonly spec: Spec;
  readonly state: State;
}

/** The spec with the recorded digest of each secret that has no value now: whether it changed is not known. */
export function withRecordedSecrets(
  { registry, spec, state }: RecordedSpec,
  isUnread: (resource: Resource) => boolean = ({ payload }) => payload === undefined,
): Spec {
  let resources: Map<Address, Resource> | undefined;
  for (const [address, resource] of spec.resources) {
    const field = isUnread(resource) ? secretField(registry.get(resource.kind)) : undefined;
    const recorded = field === undefined ? undefined : state.records.get(address)?.applied[field];
    if (field === undefined || recorded === undefined) continue;
    resources ??= new Map(spec.resources);
    resources.set(address, withValue(resource, field, recorded));
  }
  return resources === undefined ? spec : { ...spec, resources };
}

/** Secrets whose values were not read count as unchanged. */
export function withoutSecretValues(from: RecordedSpec) {
  const resources = [...from.spec.resources.values()];
  const secrets = resources.filter(({ kind }) => secretField(from.registry.get(kind)) !== undefined);
  const unchecked = listed(secrets.map(({ address }) => address));
  const message = `secret values were not read, so changes to them are not checked: ${unchecked}`;
  const notes = secrets.length === 0 ? [] : [warning("PLAN_MODE", message)];
  return { spec: withRecordedSecrets(from, () => true), notes };
}

/** The plan with the values of secrets that were not set when it was made: what it writes without one is written, and what it compares is decided. */
export function withSecretValues(plan: Plan, { resources }: Spec, registry: PlanningRegistry): Plan {
  const changes = plan.changes.map((change) => {
    const field = secretField(registry.get(change.kind));
    const payload = resources.get(change.address)?.payload;
    if (field === undefined || payload === undefined) return change;
    const { digest } = payload;
    if (change.action === "compare") return decided(change, field, digest);
    const lacksValue =
      (change.action === "create" || change.action === "update") && change.payload === undefined;
    return lacksValue ? { ...change, payload: digest, after: { ...change.after, [field]: digest } } : change;
  });
  return { ...plan, changes };
}

function decided(change: Compare, field: string, digest: string): Update | Noop {
  const { fingerprint, steps, source: _source, ...rest } = change;
  const before = change.after[field];
  const after = { ...change.after, [field]: digest };
  if (before === digest) return { ...rest, action: "noop", after, payload: digest, compared: true };
  const diff = { path: [field], before, after: digest, cause: "spec", replaces: false } as const;
  return { ...rest, action: "update", payload: digest, after, fingerprint, steps, diffs: [diff] };
}

function withValue(resource: Resource, field: string, value: Json): Resource {
  return withOtherValues(resource, { ...resource.values, [field]: value });
}

/** A copy of a resource with other values, and without the payload of its present ones. */
export function withOtherValues(resource: Resource, values: Values): Resource {
  const { address, kind, key, name, references, sensitive, dependsOn, owns, lifecycle, at } = resource;
  const locate: Resource["locate"] = (path) => resource.locate(path);
  const { unread } = resource;
  const copy = { address, kind, key, name, values, references, dependsOn, owns, lifecycle, at, locate };
  return { ...copy, ...defined({ sensitive, unread }) };
}
