// Reads the live state: one list per kind in use, and one per managed parent of a nested kind.

import type { Reader } from "../../api/contract/reader.ts";
import { isMissing } from "../../api/contract/refusals.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import { defined } from "../../core/json.ts";
import type { ReadEvent } from "../../planner/model/plan.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Provider, Registry } from "../../resource/kind.ts";
import type { Live, LiveKind, LiveObject, OtherObject } from "../../resource/live.ts";
import { kindsNamedBy, translateNames, withoutNames } from "../../resource/names.ts";
import type { ListScope } from "../../resource/operations.ts";
import type { State } from "../../state/model/record.ts";
import { Semaphore } from "../concurrency.ts";
import { failureDiagnostic } from "../failures.ts";
import { createNameIndex, manageablePart, type NameIndex } from "../name-index.ts";
import type { DesiredSpec, Restriction } from "./needed-kinds.ts";
import {
  type KnownNames,
  type LiveSnapshot,
  memoizedReader,
  type ObserveScope,
  observeScope,
} from "./readers.ts";

export interface ObserveInput {
  readonly registry: Registry;
  readonly reader: Reader;
  /** Without a spec everything that the state knows is read. */
  readonly spec?: DesiredSpec;
  readonly state: State;
  /** Everything managed is to be deleted. */
  readonly destroy?: boolean;
  /** The addresses that the run is limited to; what these do not need is not read, and absent from the answer. */
  readonly restriction?: Restriction;
  readonly parallelism: number;
  readonly onRead?: (event: ReadEvent) => void;
  /** Whether more than a list tells may be read about an object; without it about all that spec or state know. */
  readonly looksAt?: (kind: string, object: LiveObject) => boolean;
  /** Cache: kinds in it are not read again, and new reads are added to it. */
  readonly snapshot?: LiveSnapshot;
}

/** A kind or parent whose list fails is unreadable, with the reason; it never counts as empty. */
export async function observe(input: ObserveInput): Promise<Live> {
  const scope = observeScope(input);
  const reading = new Reading(input, scope);
  const live = await reading.all();
  return withNames(input.registry, live);
}

class Reading {
  readonly #input: ObserveInput;
  readonly #scope: ObserveScope;
  readonly #slots: Semaphore;
  readonly #reader: Reader;
  readonly #kinds = new Map<string, Promise<LiveKind>>();
  #done = 0;

  constructor(input: ObserveInput, scope: ObserveScope) {
    this.#input = input;
    this.#scope = scope;
    this.#slots = new Semaphore(input.parallelism);
    this.#reader = memoizedReader(input.reader, input.snapshot?.answers, input.snapshot !== undefined);
  }

  async all(): Promise<Live> {
    const live = new Map<string, LiveKind>();
    for (const provider of this.#scope.kinds) this.#kind(provider);
    for (const provider of this.#scope.kinds) live.set(provider.kind, await this.#kind(provider));
    return live;
  }

  /** Each kind is read once; members wait for their parents. */
  #kind(provider: Provider): Promise<LiveKind> {
    const earlierRead = this.#kinds.get(provider.kind);
    if (earlierRead !== undefined) return earlierRead;
    const reading = this.#read(provider).then((liveKind) => this.#told(provider, liveKind));
    // Failures other than answers of the service reach the caller through all().
    reading.catch(() => undefined);
    this.#kinds.set(provider.kind, reading);
    return reading;
  }

  #told(provider: Provider, liveKind: LiveKind): LiveKind {
    this.#done += 1;
    this.#input.onRead?.({
      type: "read",
      kind: provider.kind,
      ...(liveKind.readable ? { objects: liveKind.objects.length } : {}),
      done: this.#done,
      total: this.#scope.kinds.length,
    });
    return liveKind;
  }

  async #read(provider: Provider): Promise<LiveKind> {
    if (provider.nested !== undefined) return this.#members(provider, provider.nested.kind);
    const listed = await this.#listed(provider, []);
    if (!("objects" in listed)) return { readable: false, diagnostic: listed.diagnostic };
    return { readable: true, ...listed, unreadableParents: new Map() };
  }

  async #members(provider: Provider, parentKind: string): Promise<LiveKind> {
    const parentProvider = this.#input.registry.get(parentKind);
    const parents = await this.#kind(parentProvider);
    if (!parents.readable) return parents;
    const knownNames = this.#scope.namesOf(parentKind);
    const managed = parents.objects.filter((parent) => knownNames.has(parent));
    const objects: LiveObject[] = [];
    const unreadableParents = new Map<string, Diagnostic>();
    const lists = await Promise.all(managed.map(({ name }) => this.#listed(provider, [name])));
    managed.forEach(({ name }, at) => {
      const listed = lists[at];
      if (listed === undefined) return;
      if ("objects" in listed) objects.push(...listed.objects);
      else unreadableParents.set(name, listed.diagnostic);
    });
    return { readable: true, objects, unreadableParents };
  }

  /** One list, with details of the objects in the spec or the state. */
  async #listed(provider: Provider, parents: readonly string[]): Promise<Listed> {
    const knownNames = this.#scope.namesOf(provider.kind);
    // Without a known path, the list would be the whole tree.
    if (provider.tree !== undefined && knownNames.names.size === 0) return { objects: [] };
    try {
      const others = new Map<string, OtherObject>();
      const onOther = (name: string, other: OtherObject): unknown => others.set(name, other);
      const listed = await this.#slots.inside(() =>
        provider.operations.list(this.#reader, scopeOf(parents, knownNames, onOther)),
      );
      if (provider.operations.readDetails === undefined) return { objects: listed };
      const objects = await Promise.all(listed.map((object) => this.#hydrated(provider, knownNames, object)));
      return {
        objects: objects.filter((object) => object !== undefined),
        ...(others.size > 0 ? { others } : {}),
      };
    } catch (failure) {
      return { diagnostic: failureDiagnostic(failure) };
    }
  }

  async #hydrated(
    provider: Provider,
    knownNames: KnownNames,
    object: LiveObject,
  ): Promise<LiveObject | undefined> {
    if (provider.operations.readDetails === undefined) return object;
    if (!knownNames.has(object) && !this.#isAuthoritative(provider)) return object;
    if (this.#input.looksAt?.(provider.kind, object) === false) return object;
    const desired = knownNames.desiredOf(object);
    try {
      return await this.#slots.inside(async () => this.#more(provider, object, desired));
    } catch (failure) {
      // It was deleted between the list and this read.
      if (isMissing(failure)) return undefined;
      throw failure;
    }
  }

  /** Whether undeclared objects of a kind are deleted: each deletion rests on all that was read about its object. */
  #isAuthoritative({ kind }: Provider): boolean {
    const { spec, destroy } = this.#input;
    return destroy !== true && spec?.policy.authoritative.includes(kind) === true;
  }

  /** More about an object, once for every plan of a snapshot. A digest of its content does not depend on the spec. */
  #more(
    provider: Provider,
    object: LiveObject,
    desired: Values | undefined,
  ): Promise<LiveObject> | LiveObject {
    const { reader, snapshot } = this.#input;
    if (provider.planning.content?.text === undefined || snapshot === undefined)
      return provider.operations.readDetails?.(this.#reader, object, desired) ?? object;
    // An access list has the names that the spec uses.
    const key = `${provider.kind}\n${object.id}\n${canonicalJson(desired?.access ?? null)}`;
    const details =
      snapshot.objects.get(key) ??
      Promise.resolve(provider.operations.readDetails?.(reader, object, desired) ?? object);
    snapshot.objects.set(key, details);
    return details;
  }
}

/** Known names and IDs are collected only for kinds whose lists need them. */
function scopeOf(
  parents: readonly string[],
  knownNames: KnownNames,
  onOther: NonNullable<ListScope["onOther"]>,
): ListScope {
  return {
    parents,
    onOther,
    get names() {
      return knownNames.names;
    },
    get ids() {
      return knownNames.ids;
    },
  };
}

type Listed =
  | Pick<Extract<LiveKind, { readonly readable: true }>, "objects" | "others">
  | { readonly diagnostic: Diagnostic };

/** Replaces IDs in `names` fields with names. A kind that refers to an unreadable kind is unreadable; names of one not requested are omitted. */
export function withNames(registry: Registry, live: Live): Live {
  const names = createNameIndex(registry, live);
  return new Map(
    [...live].map(([kind, liveKind]) => [
      kind,
      liveKind.readable ? named(registry.get(kind), liveKind, live, names) : liveKind,
    ]),
  );
}

function named(
  provider: Provider,
  liveKind: Extract<LiveKind, { readonly readable: true }>,
  live: Live,
  names: NameIndex,
): LiveKind {
  const kinds = kindsNamedBy(provider.fields);
  if (kinds.size === 0) return liveKind;
  const unasked = new Set([...kinds].filter((kind) => !live.has(kind)));
  let missing: Diagnostic | undefined;
  const objects = liveKind.objects.map((object) => ({
    ...object,
    values: translateNames(
      provider.fields,
      withoutNames(provider.fields, manageablePart(provider.fields, object.values, names), unasked),
      (kind, id) => {
        const other = live.get(kind);
        if (other?.readable === false) missing ??= unreadableNames(provider, kind, other.diagnostic);
        return names.nameOf(kind, id);
      },
    ),
  }));
  return missing === undefined ? { ...liveKind, objects } : { readable: false, diagnostic: missing };
}

function unreadableNames(provider: Provider, kind: string, reason: Diagnostic): Diagnostic {
  const message = `${provider.kind} refer to ${kind}, which could not be read: ${reason.message}`;
  return error(reason.code, message, defined({ hint: reason.hint }));
}
