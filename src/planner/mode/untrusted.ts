// Restricts the input of a plan for an untrusted spec, so that it can show live values of managed objects only.

import { parentOf, remoteId } from "../../core/address.ts";
import type { Code } from "../../core/codes.ts";
import { type Diagnostic, warning, withoutSourceLines } from "../../core/diagnostic.ts";
import { collectTexts, type JsonObject } from "../../core/json.ts";
import { possibleCreators } from "../../core/past-run.ts";
import { count as countOf } from "../../core/sentences.ts";
import { type PlannedKind, type PlanningRegistry, secretField } from "../../resource/kind.ts";
import type { Live, LiveKind, LiveObject } from "../../resource/live.ts";
import { foldCase, foldName } from "../../resource/names.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { addressByObject, objectKey } from "../model/context.ts";
import type { Plan } from "../model/plan.ts";
import { type RecordedSpec, withoutSecretValues } from "./compare-secrets.ts";

export interface RedactedInput {
  readonly spec: Spec;
  readonly live: Live;
  readonly notes: readonly Diagnostic[];
}

/**
 * Removes what an untrusted user may not see. Planning is a pure function of its input, so no plan can contain it.
 * `live`: the objects without sensitive values. `observed`: the same as the service has them, for what is only counted.
 */
export function redactForUntrusted(
  untrustedInput: RecordedSpec,
  live: Live,
  observed: Live = live,
): RedactedInput {
  const secrets = withoutSecretValues(untrustedInput);
  const owned = ownedLive(untrustedInput, live);
  return {
    spec: secrets.spec,
    live: owned,
    notes: [about(), ...secrets.notes, ...foreignNotes(untrustedInput, observed)],
  };
}

function about(): Diagnostic {
  return warning("PLAN_MODE", "planned for an untrusted spec: only managed resources are shown", {
    hint: "the plan does not show values of unmanaged objects, or side effects and guards that depend on them",
  });
}

/** Recorded objects unchanged; others only if the spec names them, and then only their names. */
function ownedLive({ registry, spec, state }: RecordedSpec, live: Live): Live {
  const owners = addressByObject(state.records);
  const named = textsOf(spec, registry);
  const declared = fixedOf(spec, registry);
  let hidden = 0;
  const observed = (provider: PlannedKind, object: LiveObject): readonly LiveObject[] => {
    if (owners.has(provider.kind, object.id)) return [object];
    if (!named.has(provider.ignoreCase !== undefined ? foldCase(object.name) : object.name)) return [];
    hidden += 1;
    // An object known only by name has no other ID.
    const id = object.id === object.name ? object.id : remoteId(`not-shown-${hidden}`);
    const values = declared.get(objectKey(provider.kind, foldName(provider, object.name))) ?? {};
    return [{ id, name: object.name, values, facts: {} }];
  };
  const reduced = (kind: string, liveKind: LiveKind): LiveKind => {
    if (!liveKind.readable) return liveKind;
    const provider = registry.get(kind);
    return { ...liveKind, objects: liveKind.objects.flatMap((object) => observed(provider, object)) };
  };
  return new Map([...live].map(([kind, liveKind]) => [kind, reduced(kind, liveKind)]));
}

/** Immutable fields that the spec sets: if a live difference is hidden, the plan must not reveal it. */
function fixedOf(spec: Spec, registry: PlanningRegistry): ReadonlyMap<string, JsonObject> {
  return new Map(
    [...spec.resources.values()].map(({ kind, name, values }) => {
      const provider = registry.get(kind);
      const fixed = Object.entries(values).filter(
        ([field]) => provider.fields[field]?.onChange === "replace",
      );
      return [objectKey(kind, foldName(provider, name)), Object.fromEntries(fixed)];
    }),
  );
}

/** Every string with which the spec may refer to an object, also in the form used for names that ignore case. */
function textsOf(spec: Spec, registry: PlanningRegistry): ReadonlySet<string> {
  const texts = new Set<string>();
  for (const { kind, name, values } of spec.resources.values()) {
    const provider = registry.get(kind);
    collectTexts(values, texts);
    texts.add(name);
    const inKey = provider.planning.namedInKey?.(name);
    if (inKey !== undefined) texts.add(inKey.name);
    for (const needed of provider.planning.dependencies?.(name, values) ?? []) texts.add(needed.name);
  }
  return new Set([...texts].flatMap((text) => [text, foldCase(text)]));
}

/** Reports how many undeclared objects an authoritative list would delete, but not which. */
function foreignNotes(untrustedInput: RecordedSpec, live: Live): readonly Diagnostic[] {
  return untrustedInput.registry.kinds.flatMap((provider) => {
    const count = foreignOf(untrustedInput, provider, live).length;
    if (count === 0) return [];
    const what = `${countOf(count, provider.singular, provider.kind)} that ${count === 1 ? "is" : "are"}`;
    const message = `an apply would also delete ${what} in neither the spec nor the state`;
    const hint = `the spec makes the list of ${provider.kind} authoritative; to show them, plan without --untrusted`;
    return [warning("PLAN_MODE", message, { hint })];
  });
}

function foreignOf({ spec, state }: RecordedSpec, provider: PlannedKind, live: Live): readonly LiveObject[] {
  const liveKind = live.get(provider.kind);
  const isOurs = listsOwned(spec, provider);
  if (liveKind?.readable !== true) return [];
  const owners = addressByObject(state.records);
  const creatorsOf = possibleCreators(state);
  const resources = [...spec.resources.values()];
  const declared = resources.filter(({ kind }) => kind === provider.kind).map(({ name }) => name);
  const names = new Set([...declared, ...(provider.builtIn ?? [])].map((name) => foldName(provider, name)));
  const parents = new Map(
    resources.filter((resource) => resource.owns.length > 0).map((resource) => [resource.name, resource]),
  );
  return liveKind.objects.filter((object) => {
    const isManaged = owners.has(provider.kind, object.id) || names.has(foldName(provider, object.name));
    if (isManaged || !isOurs(object)) return false;
    const parent = parents.get(parentOf(object.name));
    const givenTo = [undefined, ...creatorsOf(parent?.address)];
    return givenTo.every(
      (name) => provider.planning.isImplicit?.(object, name, parent?.values ?? {}) !== true,
    );
  });
}

/** Whether an object belongs to an authoritative list. */
function listsOwned(spec: Spec, provider: PlannedKind): (object: LiveObject) => boolean {
  const isOwned = spec.policy.authoritative.includes(provider.kind);
  if (provider.nested === undefined) return () => isOwned;
  if (secretField(provider) !== undefined) return () => false;
  const parents = new Set<string>();
  for (const resource of spec.resources.values())
    if (resource.owns.includes(provider.kind)) parents.add(resource.name);
  return ({ name }) => parents.has(parentOf(name));
}

export function markUntrusted(plan: Plan, notes: readonly Diagnostic[]): Plan {
  return {
    ...plan,
    modes: ["untrusted"],
    unmanaged: [],
    guards: plan.guards.map((guard) => ({ ...guard, diagnostic: unframed(guard.diagnostic) })),
    diagnostics: [...plan.diagnostics.map(unframed), ...notes],
  };
}

/** A frame shows lines of a file that may be more than a spec. */
function unframed(diagnostic: Diagnostic): Diagnostic {
  const { at, hint, ...rest } = diagnostic;
  const location = at && withoutSourceLines(at);
  if (ABOUT_FOREIGN.has(diagnostic.code)) {
    const { cause: _ids, ...named } = rest;
    return { ...named, at: location, hint: FOREIGN };
  }
  const shown =
    diagnostic.code === "PLAN_ALREADY_EXISTS" && hint?.includes("--adopt") === true ? FOREIGN : hint;
  return { ...rest, at: location, hint: shown };
}

/** Their causes and hints name objects that the state does not manage. */
const ABOUT_FOREIGN: ReadonlySet<Code> = new Set(["GUARD_DUPLICATE_NAME", "PLAN_DUPLICATE_NAME"]);
const FOREIGN = "choose another name, or ask a maintainer to adopt the object";
