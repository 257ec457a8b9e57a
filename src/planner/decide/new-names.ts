// Names that a plan changes in place: other fields that contain the old name then mean the new one.

import { kindOf } from "../../core/address.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import type { Live, LiveKind } from "../../resource/live.ts";
import { foldName, isSameName } from "../../resource/names.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import { kindsNamedBy, translateNames } from "../../resource/translate-names.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { isIgnored } from "../diff/normalize.ts";
import type { Change } from "../model/change.ts";
import type { PlanInput } from "../model/input.ts";

/** The input with references in live objects and records changed to the names of the plan. */
export function withNewNames(input: PlanInput): PlanInput {
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

/** Live objects as a plan that was made earlier names them. */
export function withPlannedNames(registry: PlanningRegistry, live: Live, changes: readonly Change[]): Live {
  const named = namedKinds(registry);
  const names = new Map<string, string>();
  for (const change of changes) {
    if (change.action !== "update" || !named.has(change.kind)) continue;
    const found = live.get(change.kind);
    if (found?.readable !== true) continue;
    const object = found.objects.find(({ id }) => id === change.id);
    const provider = registry.get(change.kind);
    if (object !== undefined && !isSameName(provider, object.name, change.name))
      names.set(keyOf(provider, object.name), change.name);
  }
  return names.size === 0 ? live : renamedLive(registry, live, renaming(registry, names));
}

const namedKinds = (registry: PlanningRegistry): ReadonlySet<string> =>
  new Set(registry.kinds.flatMap(({ fields }) => [...kindsNamedBy(fields)]));

type Renaming = (fields: FieldTable, values: Values) => Values;

const renaming =
  (registry: PlanningRegistry, names: ReadonlyMap<string, string>): Renaming =>
  (fields, values) =>
    translateNames(fields, values, (kind, name) => names.get(keyOf(registry.get(kind), name)));

const renamedLive = (registry: PlanningRegistry, live: Live, renamed: Renaming): Live =>
  new Map([...live].map(([kind, found]) => [kind, renamedObjects(registry.get(kind), found, renamed)]));

function renamedObjects({ fields }: PlannedKind, found: LiveKind, renamed: Renaming): LiveKind {
  if (!found.readable) return found;
  const objects = found.objects.map((object) => ({ ...object, values: renamed(fields, object.values) }));
  return { ...found, objects };
}

function renamedRecord({ fields }: PlannedKind, record: StateRecord, renamed: Renaming): StateRecord {
  const applied = renamed(fields, record.applied);
  return record.status === "ready"
    ? { ...record, applied, seen: renamed(fields, record.seen) }
    : { ...record, applied };
}

const keyOf = (provider: PlannedKind, name: string): string =>
  `${provider.kind}\n${foldName(provider, name)}`;

/** Old names of a kind, as keys, with the new ones. */
function newNamesOf(
  { live, spec, state, destroy, only }: PlanInput,
  provider: PlannedKind | undefined,
): readonly (readonly [string, string])[] {
  const found = provider === undefined ? undefined : live.get(provider.kind);
  if (destroy === true || provider === undefined || found?.readable !== true) return [];
  const { nameField, fields } = provider;
  if (nameField === undefined || fields[nameField]?.onChange === "replace") return [];
  const byId = new Map(found.objects.map((object) => [object.id, object]));
  return [...spec.resources.values()].flatMap(({ kind, address, name, lifecycle }) => {
    const record = kind === provider.kind ? state.records.get(address) : undefined;
    const object = record === undefined ? undefined : byId.get(record.id);
    const isKept = only?.(address) === false || isIgnored([nameField], lifecycle.ignore_changes);
    if (object === undefined || isKept || isSameName(provider, object.name, name)) return [];
    return [[keyOf(provider, object.name), name]] as const;
  });
}
