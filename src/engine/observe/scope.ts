// Decides what to observe: the kinds in use, the relevant names, and the parents whose members are managed.

import { kindOf } from "../../core/address.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldName } from "../../resource/names.ts";
import type { Provider } from "../../resource/provider.ts";
import { kindsNamedBy } from "../../resource/translate-names.ts";
import { kindsNeeded, type Needing } from "./needed-kinds.ts";

/** The names and IDs of one kind in the spec and the state. */
export interface KnownNames {
  readonly names: ReadonlySet<string>;
  /** The same in the form in which names compare. */
  readonly folded: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
  /** Desired values by the form in which names compare; none if everything is to be deleted. */
  readonly desired: ReadonlyMap<string, Values>;
}

export interface ObserveScope {
  /** Every kind to read, in the registry's order. */
  readonly kinds: readonly Provider[];
  known(kind: string): KnownNames;
}

const NOTHING: KnownNames = { names: new Set(), folded: new Set(), ids: new Set(), desired: new Map() };

export function observeScope(needing: Needing): ObserveScope {
  const { registry, spec, state, destroy } = needing;
  const resources = lazily(() => Map.groupBy(spec?.resources.values() ?? [], ({ kind }) => kind));
  const records = lazily(() => Map.groupBy(state.records.values(), ({ address }) => kindOf(address)));
  const intents = Map.groupBy(
    [...state.open, ...state.sweeps.flatMap((sweep) => sweep.intent ?? [])],
    ({ address }) => kindOf(address),
  );
  const knownOf = (kind: string): KnownNames => {
    const provider = registry.find(kind);
    if (provider === undefined) return NOTHING;
    const ofKind = resources().get(kind) ?? [];
    const recorded = records().get(kind) ?? [];
    const open = (intents.get(kind) ?? []).flatMap(({ name, token }) => [
      name,
      ...optional(provider.planning.content?.partialUploadName?.(name, token)),
    ]);
    const names = lazily(() => new Set([...ofKind, ...recorded].map(({ name }) => name).concat(open)));
    const folded = lazily(() => new Set([...names()].map((name) => foldName(provider, name))));
    const ids = lazily(() => new Set(recorded.flatMap(({ id, deposed }) => [id, ...(deposed ?? [])])));
    const wanted = destroy === true ? [] : ofKind;
    const desired = lazily(() => new Map(wanted.map((one) => [foldName(provider, one.name), one.values])));
    return {
      get names() {
        return names();
      },
      get folded() {
        return provider.ignoreCase === true ? folded() : names();
      },
      get ids() {
        return ids();
      },
      get desired() {
        return desired();
      },
    };
  };
  const known = new Map<string, KnownNames>();
  const used = kindsNeeded(needing);
  return {
    kinds: registry.kinds.filter((provider) => used.has(provider.kind)),
    known: (kind) => {
      const found = known.get(kind) ?? knownOf(kind);
      known.set(kind, found);
      return found;
    },
  };
}

function optional<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

/** The result of `make`, made once and only when it is needed: most kinds need little of what is known. */
function lazily<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The kinds needed to read objects of a kind: their parents, and the kinds that their fields refer to. */
export function requiredKinds({ nested, fields }: Provider): readonly string[] {
  return [...(nested === undefined ? [] : [nested.kind]), ...kindsNamedBy(fields)];
}

export function isKnown(provider: Provider, known: KnownNames, object: LiveObject): boolean {
  return known.ids.has(object.id) || known.folded.has(foldName(provider, object.name));
}
