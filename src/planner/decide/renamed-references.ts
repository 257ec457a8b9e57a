// References to renamed objects: live objects and records refer to an object by the name that the plan gives it, so that a renamed group keeps its
// members, its parents, and its rights in access lists.

import { kindOf } from "../../core/address.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import type { Live, LiveKind } from "../../resource/live.ts";
import { isSameName, kindsNamedBy, translateNames } from "../../resource/names.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { isIgnored } from "../diff/normalize.ts";
import type { Change } from "../model/change.ts";
import { isSelected, type PlanInput } from "../model/input.ts";
import { nameKey } from "../model/planned-workspace.ts";

/** The input, whose live objects and records refer to each object by the name that the spec declares for it. */
export function withRenamedReferences(input: PlanInput): PlanInput {
  const { registry, state } = input;
  const names = new Map([...namedKinds(registry)].flatMap((kind) => newNamesOf(input, registry.find(kind))));
  if (names.size === 0) return input;
  const renamed = renaming(registry, names);
  const live = renamedLive(registry, input.live, renamed);
  const records = new Map(
    [...state.records].map(([address, record]) => {
      const provider = registry.find(kindOf(address));
      return [address, provider === undefined ? record : renamedRecord(provider, record, renamed)];
    }),
  );
  return { ...input, live, state: { ...state, records } };
}

/** Live objects that refer to each other by the names of a plan that was made earlier. */
export function withPlannedReferences(
  registry: PlanningRegistry,
  live: Live,
  changes: readonly Change[],
): Live {
  const named = namedKinds(registry);
  const names = new Map<string, string>();
  for (const change of changes) {
    if (change.action !== "update" || !named.has(change.kind)) continue;
    const liveKind = live.get(change.kind);
    if (liveKind?.readable !== true) continue;
    const object = liveKind.objects.find(({ id }) => id === change.id);
    const provider = registry.get(change.kind);
    if (object !== undefined && !isSameName(provider, object.name, change.name))
      names.set(nameKey(registry, change.kind, object.name), change.name);
  }
  return names.size === 0 ? live : renamedLive(registry, live, renaming(registry, names));
}

const namedKinds = (registry: PlanningRegistry): ReadonlySet<string> =>
  new Set(registry.kinds.flatMap(({ fields }) => [...kindsNamedBy(fields)]));

type Renaming = (fields: FieldTable, values: Values) => Values;

const renaming =
  (registry: PlanningRegistry, names: ReadonlyMap<string, string>): Renaming =>
  (fields, values) =>
    translateNames(fields, values, (kind, name) => names.get(nameKey(registry, kind, name)));

const renamedLive = (registry: PlanningRegistry, live: Live, renamed: Renaming): Live =>
  new Map([...live].map(([kind, liveKind]) => [kind, renamedObjects(registry.get(kind), liveKind, renamed)]));

function renamedObjects({ fields }: PlannedKind, liveKind: LiveKind, renamed: Renaming): LiveKind {
  if (!liveKind.readable) return liveKind;
  const objects = liveKind.objects.map((object) => ({ ...object, values: renamed(fields, object.values) }));
  return { ...liveKind, objects };
}

function renamedRecord({ fields }: PlannedKind, record: StateRecord, renamed: Renaming): StateRecord {
  const applied = renamed(fields, record.applied);
  return record.status === "ready"
    ? { ...record, applied, seen: renamed(fields, record.seen) }
    : { ...record, applied };
}

/** Old names of a kind, as keys, with the new ones. */
function newNamesOf(
  input: PlanInput,
  provider: PlannedKind | undefined,
): readonly (readonly [string, string])[] {
  const { live, spec, state, destroy } = input;
  const liveKind = provider === undefined ? undefined : live.get(provider.kind);
  if (destroy === true || provider === undefined || liveKind?.readable !== true) return [];
  const { nameField, fields } = provider;
  if (nameField === undefined || fields[nameField]?.onChange === "replace") return [];
  const byId = new Map(liveKind.objects.map((object) => [object.id, object]));
  return [...spec.resources.values()].flatMap(({ kind, address, name, lifecycle }) => {
    const record = kind === provider.kind ? state.records.get(address) : undefined;
    const object = record === undefined ? undefined : byId.get(record.id);
    const isKept = !isSelected(input, address) || isIgnored([nameField], lifecycle.ignore_changes);
    if (object === undefined || isKept || isSameName(provider, object.name, name)) return [];
    return [[nameKey(input.registry, kind, object.name), name]] as const;
  });
}
