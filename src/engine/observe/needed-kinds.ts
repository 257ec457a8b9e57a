// The kinds that a plan must list: those of its resources, and those that are needed to judge these.

import { type Address, kindOf } from "../../core/address.ts";
import type { PlanInput } from "../../planner/model/input.ts";
import { transitiveClosure } from "../../planner/model/work-graph.ts";
import type { Provider, Registry } from "../../resource/kind.ts";
import { foldName, isBuiltIn, isSameName, kindsNamedBy } from "../../resource/names.ts";
import { anyField } from "../../resource/walk.ts";
import type { OpenIntent, State, StateRecord } from "../../state/model/record.ts";

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
export function unresolvedIntents({ open, sweeps }: State): readonly OpenIntent[] {
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
    return provider.planning.usersOf === undefined && this.#mayGo(provider, record);
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
      const judgedBy = registry.find(kind)?.planning.judgedBy;
      for (const address of judgedBy === undefined ? [] : addresses) {
        const values = spec?.resources.get(address)?.values;
        for (const judge of (values && judgedBy?.(values)) ?? [])
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

export type DesiredSpec = PlanInput["spec"];
