// Replaces names by the spelling of the object that they name: "ADA@example.com" by "ada@example.com".

import type { Values } from "../../resource/field-schema.ts";
import { foldName } from "../../resource/names.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import { translateNames } from "../../resource/translate-names.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { PlanContext } from "../model/context.ts";

/** The values with names of case-insensitive kinds in the spelling of the live object, or else of the spec. */
export function withLiveSpelling(context: PlanContext, { fields }: PlannedKind, values: Values): Values {
  const { registry } = context.input;
  return translateNames(fields, values, (kind, name) => {
    const provider = registry.find(kind);
    if (provider?.ignoreCase !== true) return undefined;
    return context.liveIndex.byName(kind, name)[0]?.name ?? declaredAs(context, provider, name);
  });
}

function declaredAs({ input }: PlanContext, provider: PlannedKind, name: string): string | undefined {
  const names = declared.get(input.spec) ?? new Map<string, ReadonlyMap<string, string>>();
  declared.set(input.spec, names);
  const ofKind = names.get(provider.kind) ?? namesOf(input.spec, provider);
  names.set(provider.kind, ofKind);
  return ofKind.get(foldName(provider, name));
}

/** Declared names by kind and folded name. Without this index, each name would search all resources of the spec. */
const declared = new WeakMap<Spec, Map<string, ReadonlyMap<string, string>>>();

function namesOf({ resources }: Spec, provider: PlannedKind): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { kind, name } of resources.values())
    if (kind === provider.kind) found.set(foldName(provider, name), name);
  return found;
}
