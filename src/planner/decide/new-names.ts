// Names that a plan changes in place. Fields that contain the old name of such an object mean the same object afterwards.

import type { Live, LiveKind } from "../../resource/live.ts";
import { foldName, isSameName } from "../../resource/names.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import { kindsNamedBy, translateNames } from "../../resource/translate-names.ts";
import { isIgnored } from "../diff/normalize.ts";
import type { PlanInput } from "../model/input.ts";

/** The live objects as others name them once the plan has changed names in place. */
export function withNewNames(input: PlanInput): Live {
  const named = new Set(input.registry.kinds.flatMap(({ fields }) => [...kindsNamedBy(fields)]));
  const names = new Map([...named].flatMap((kind) => newNamesOf(input, input.registry.find(kind))));
  if (names.size === 0) return input.live;
  return new Map([...input.live].map(([kind, found]) => [kind, renamedIn(input, kind, found, names)]));
}

function renamedIn(
  { registry }: PlanInput,
  kind: string,
  found: LiveKind,
  names: ReadonlyMap<string, string>,
): LiveKind {
  const { fields } = registry.get(kind);
  if (!found.readable || kindsNamedBy(fields).size === 0) return found;
  const objects = found.objects.map((object) => ({
    ...object,
    values: translateNames(fields, object.values, (of, name) => names.get(keyOf(registry.get(of), name))),
  }));
  return { ...found, objects };
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
