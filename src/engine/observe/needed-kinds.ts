// The scope of an observation: the kinds of its resources, the kinds needed to judge these, and the names and IDs of each kind in the spec and the state.

import { type Address, kindOf } from "../../core/address.ts";
import { lazily } from "../../core/lazily.ts";
import type { PlanInput } from "../../planner/model/input.ts";
import { transitiveClosure } from "../../planner/order/graph.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Provider, Registry } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldName, isBuiltIn, isSameName, kindsNamedBy } from "../../resource/names.ts";
import { anyField } from "../../resource/walk.ts";
import type { OpenIntent, State, StateRecord } from "../../state/model/record.ts";

export type DesiredSpec = PlanInput["spec"];

/** Addresses that a run is limited to (`--only`). */
export interface Restriction {
  readonly only: (address: Address) => boolean;
  /** Whether some address of a kind may be asked for, whatever its name. */
  readonly mayName: (kind: string) => boolean;
}

export interface Needing {
  readonly registry: Registry;
  /** Without a spec everything that the state knows is needed. */
  readonly spec?: DesiredSpec;
  readonly state: State;
  readonly destroy?: boolean;
  readonly restriction?: Restriction;
}

/** The intents of interrupted runs, and of requests without an answer that may have an effect late. */
function unresolvedIntents({ open, sweeps }: State): readonly OpenIntent[] {
  return [...open, ...sweeps.flatMap((sweep) => sweep.intent ?? [])];
}

export function kindsNeeded(needing: Needing): ReadonlySet<string> {
  return new Need(needing).kinds();
}

class Need {
  readonly #from: Needing;
  readonly #open: ReadonlySet<string>;
  readonly #addresses: Iterable<Address>;
  readonly #ofKind: ReadonlyMap<string, readonly Address[]>;

  constructor(from: Needing) {
    this.#from = from;
    const { state } = from;
    this.#open = new Set(unresolvedIntents(state).map(({ address }) => kindOf(address)));
    this.#addresses = this.#asked();
    this.#ofKind = Map.groupBy(this.#addresses, kindOf);
  }

  kinds(): ReadonlySet<string> {
    const { registry, spec, restriction } = this.#from;
    const authoritative = (spec?.policy.authoritative ?? []).filter(
      (kind) => restriction?.mayName(kind) !== false,
    );
    const used = new Set([...this.#open, ...authoritative]);
    for (const kind of this.#ofKind.keys()) used.add(kind);
    for (const address of restriction === undefined ? [] : this.#all())
      if (restriction?.mayName(kindOf(address)) === true) used.add(kindOf(address));
    const registered = new Set([...used].filter((kind) => registry.find(kind) !== undefined));
    return transitiveClosure([...registered, ...this.#principals(registered), ...this.#judges()], (kind) =>
      this.#behind(registry.get(kind)),
    );
  }

  #all(): readonly Address[] {
    const { spec, state } = this.#from;
    return [...(spec?.resources.keys() ?? []), ...state.records.keys()];
  }

  /** The resources of this run: all, or the selected ones with their dependencies. */
  #asked(): Iterable<Address> {
    const { spec, state, restriction } = this.#from;
    if (restriction === undefined) return this.#all();
    const dependents = this.#dependents();
    const recorded = new Map(
      [...state.records.values()].map((stateRecord) => [this.#nameKey(stateRecord), stateRecord.address]),
    );
    recorded.delete("");
    return transitiveClosure(this.#all().filter(restriction.only), (address) => [
      ...(spec?.resources.get(address)?.dependsOn ?? []),
      ...(state.records.get(address)?.depends_on ?? []),
      // Another address may give up the name that this one takes.
      ...[recorded.get(this.#nameKey(spec?.resources.get(address)))].filter(
        (address) => address !== undefined,
      ),
      // Users of an object are updated before the object is deleted.
      ...(this.#isLeaving(address) || this.#isReplaced(address) ? (dependents.get(address) ?? []) : []),
    ]);
  }

  /** A key of unique names; empty for others. */
  #nameKey(namedObject: { readonly address: Address; readonly name: string } | undefined): string {
    const provider =
      namedObject === undefined ? undefined : this.#from.registry.find(kindOf(namedObject.address));
    return namedObject === undefined || provider?.unique !== true
      ? ""
      : `${provider.kind}\n${foldName(provider, namedObject.name)}`;
  }

  #dependents(): ReadonlyMap<Address, readonly Address[]> {
    const { spec, state } = this.#from;
    const addressesByKey = new Map<Address, Address[]>();
    const note = (from: Address, to: readonly Address[]): void => {
      for (const address of to) addressesByKey.set(address, [...(addressesByKey.get(address) ?? []), from]);
    };
    for (const record of state.records.values()) note(record.address, record.depends_on);
    for (const { address, dependsOn } of spec?.resources.values() ?? []) note(address, dependsOn);
    return addressesByKey;
  }

  #isLeaving(address: Address): boolean {
    const { spec, state, destroy } = this.#from;
    return state.records.has(address) && (destroy === true || spec?.resources.has(address) !== true);
  }

  /** Whether a plan may replace an object and not keep the old one for its users. */
  #isReplaced(address: Address): boolean {
    const { registry, spec, state } = this.#from;
    const provider = registry.find(kindOf(address));
    const record = state.records.get(address);
    if (provider === undefined || record === undefined || spec === undefined) return false;
    return provider.planning.keptWhileUsedBy === undefined && this.#mayGo(provider, record);
  }

  /** A parent and its members are read together. Names behind ids are read where a field with names is managed. */
  #behind(provider: Provider): readonly string[] {
    const { kind, nested, fields } = provider;
    const members = this.#from.registry.kinds.filter((provider) => provider.nested?.kind === kind);
    return [
      ...(nested === undefined ? [] : [nested.kind]),
      ...members.map((member) => member.kind),
      ...Object.entries(fields).flatMap(([name, field]) => {
        const named = kindsNamedBy({ [name]: field });
        return named.size > 0 && this.#needsNames(provider, name) ? [...named] : [];
      }),
    ];
  }

  /** An unmanaged field is not compared. It is used only for side effects when an object is deleted or replaced. */
  #needsNames(provider: Provider, field: string): boolean {
    const { spec, state, destroy } = this.#from;
    const { kind, fields } = provider;
    if (spec === undefined || destroy === true || fields[field]?.whenAbsent !== "unmanaged") return true;
    if (this.#open.has(kind) || spec.policy.authoritative.includes(kind)) return true;
    for (const address of this.#ofKind.get(kind) ?? []) {
      const record = state.records.get(address);
      if (spec.resources.get(address)?.values[field] !== undefined || record?.applied[field] !== undefined)
        return true;
      if (record !== undefined && this.#mayGo(provider, record)) return true;
    }
    return false;
  }

  /** Whether a plan may delete or replace what a record speaks of, as far as can be told before anything is read. */
  #mayGo(provider: Provider, record: StateRecord): boolean {
    const resource = this.#from.spec?.resources.get(record.address);
    if (resource === undefined || (record.deposed ?? []).length > 0) return true;
    return hasImmutable(provider) || !isSameName(provider, record.name, resource.name);
  }

  /** Kinds whose objects decide whether the plan of a resource is allowed. */
  #judges(): readonly string[] {
    const { registry, spec } = this.#from;
    const kinds = new Set<string>();
    for (const [kind, addresses] of this.#ofKind) {
      const kindsReadForObjections = registry.find(kind)?.planning.kindsReadForObjections;
      for (const address of kindsReadForObjections === undefined ? [] : addresses) {
        const values = spec?.resources.get(address)?.values;
        for (const judge of (values && kindsReadForObjections?.(values)) ?? [])
          if (registry.find(judge) !== undefined) kinds.add(judge);
      }
    }
    return [...kinds];
  }

  /** Kinds of names that new resources speak of and the spec does not declare: whether they exist is checked where one of the kinds is read anyway. */
  #principals(used: ReadonlySet<string>): readonly string[] {
    const { registry, spec, state } = this.#from;
    const principalKinds = new Set<string>();
    const naming = registry.kinds.filter(({ planning }) => planning.namedInKey !== undefined);
    const kinds = new Set(naming.map(({ kind }) => kind));
    for (const address of this.#addresses) {
      const resource = kinds.has(kindOf(address)) ? spec?.resources.get(address) : undefined;
      if (resource === undefined || state.records.has(address)) continue;
      const namedObject = registry.get(resource.kind).planning.namedInKey?.(resource.name);
      if (namedObject === undefined || !namedObject.kinds.some((kind) => used.has(kind))) continue;
      if (resource.dependsOn.some((address) => namedObject.kinds.includes(kindOf(address)))) continue;
      if (namedObject.kinds.some((kind) => isBuiltIn(registry.get(kind), namedObject.name))) continue;
      for (const kind of namedObject.kinds) principalKinds.add(kind);
    }
    return [...principalKinds];
  }
}

const isReplacing = anyField((field) => field.onChange === "replace");

/** Whether a kind has an immutable field other than its name. */
function hasImmutable({ fields, nameField }: Provider): boolean {
  for (const name in fields) if (name !== nameField && isReplacing(fields[name] ?? {})) return true;
  return false;
}

/** The names and IDs of one kind in the spec and the state. */
export interface KnownNames {
  readonly names: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
  /** The desired values of an object: by its ID in the state, by the token of an interrupted creation, or by its name; none if everything is to be deleted. */
  desiredOf(object: LiveObject): Values | undefined;
  /** Whether an object has one of these IDs, tokens, or names. */
  has(object: LiveObject): boolean;
}

interface ObserveScope {
  /** Every kind to read, in the registry's order. */
  readonly kinds: readonly Provider[];
  namesOf(kind: string): KnownNames;
}

const NOTHING: KnownNames = {
  names: new Set(),
  ids: new Set(),
  desiredOf: () => undefined,
  has: () => false,
};

export function observeScope(needing: Needing): ObserveScope {
  const { registry, spec, state, destroy } = needing;
  const resources = lazily(() => Map.groupBy(spec?.resources.values() ?? [], ({ kind }) => kind));
  const records = lazily(() => Map.groupBy(state.records.values(), ({ address }) => kindOf(address)));
  const intents = Map.groupBy(unresolvedIntents(state), ({ address }) => kindOf(address));
  const knownOf = (kind: string): KnownNames => {
    const provider = registry.find(kind);
    if (provider === undefined) return NOTHING;
    const ofKind = resources().get(kind) ?? [];
    const recorded = records().get(kind) ?? [];
    const open = (intents.get(kind) ?? []).flatMap(({ name, token }) => [
      name,
      ...[provider.planning.content?.partialUploadName?.(name, token)].filter((part) => part !== undefined),
    ]);
    const names = lazily(() => new Set([...ofKind, ...recorded].map(({ name }) => name).concat(open)));
    const folded = lazily(() => new Set([...names()].map((name) => foldName(provider, name))));
    const ids = lazily(() => new Set(recorded.flatMap(({ id, deposed }) => [id, ...(deposed ?? [])])));
    const wanted = destroy === true ? [] : ofKind;
    const byName = lazily(
      () => new Map(wanted.map((resource) => [foldName(provider, resource.name), resource.values])),
    );
    const byId = lazily(() => new Map(recorded.map(({ id, address }) => [String(id), address])));
    const byToken = lazily(
      () => new Map((intents.get(kind) ?? []).map(({ token, address }) => [token, address])),
    );
    const addressOfObject = ({ id, facts: { token } }: LiveObject): Address | undefined =>
      byId().get(id) ?? (typeof token === "string" ? byToken().get(token) : undefined);
    return {
      get names() {
        return names();
      },
      get ids() {
        return ids();
      },
      desiredOf(object) {
        if (destroy === true) return undefined;
        const address = addressOfObject(object);
        const values = address === undefined ? undefined : spec?.resources.get(address)?.values;
        return values ?? byName().get(foldName(provider, object.name));
      },
      has: (object) =>
        ids().has(object.id) ||
        addressOfObject(object) !== undefined ||
        (provider.ignoreCase !== undefined ? folded() : names()).has(foldName(provider, object.name)),
    };
  };
  const knownNamesByKey = new Map<string, KnownNames>();
  const used = kindsNeeded(needing);
  return {
    kinds: registry.kinds.filter((provider) => used.has(provider.kind)),
    namesOf: (kind) => {
      const knownNames = knownNamesByKey.get(kind) ?? knownOf(kind);
      knownNamesByKey.set(kind, knownNames);
      return knownNames;
    },
  };
}
