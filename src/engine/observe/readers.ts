// What an observation reads, and its readers: one asks for shared lists once, and one stops at a limit, so that an untrusted spec cannot cause unlimited reads.

import type { Reader } from "../../api/contract/reader.ts";
import { type Address, kindOf } from "../../core/address.ts";
import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import type { JsonObject } from "../../core/json.ts";
import { lazily } from "../../core/lazily.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Provider } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldName, kindsNamedBy } from "../../resource/names.ts";
import { kindsNeeded, type Needing, unresolvedIntents } from "./needed-kinds.ts";

/** Answers read for one plan, for reuse by another. Contents are stored as digests of objects, not as bytes. */
export interface LiveSnapshot {
  /** By operation and input. */
  readonly answers: Map<string, Promise<JsonObject>>;
  /** By kind and id. */
  readonly objects: Map<string, Promise<LiveObject>>;
}

export function emptyLiveSnapshot(): LiveSnapshot {
  return { answers: new Map(), objects: new Map() };
}

/** Operations that answer for all objects of a kind. */
const isList = (operation: string): boolean =>
  operation.endsWith("/list") || operation === "libraries/all-cluster-statuses";

/** Caches lists only, because contents are large and read once. Callers share an answer, so they must not modify it. */
export function memoizedReader(
  reader: Reader,
  asked: LiveSnapshot["answers"] = new Map(),
  all = false,
): Reader {
  return {
    read: (operation, input) => {
      if (!all && !isList(operation)) return reader.read(operation, input);
      const key = `${operation}\n${canonicalJson(input ?? {})}`;
      const answer = asked.get(key) ?? reader.read(operation, input);
      asked.set(key, answer);
      return answer;
    },
  };
}

export interface Budget {
  /** Requests of the plan; a list that takes several pages counts as one. */
  readonly reads: number;
  /** Characters of all answers together. */
  readonly characters: number;
}

interface Budgeted {
  readonly reader: Reader;
  /** The reason why reading stopped; undefined while it continues. */
  refusal(): Diagnostic | undefined;
}

/** Once the budget is spent every further read fails, before a request is sent. */
export function budgetedReader(reader: Reader, budget: Budget): Budgeted {
  let reads = 0;
  let characters = 0;
  const refusal = (): Diagnostic | undefined => {
    if (reads > budget.reads) return spent(`needs more than ${budget.reads} reads of the workspace`);
    if (characters > budget.characters)
      return spent(`makes the workspace send more than ${budget.characters} characters`);
    return undefined;
  };
  const check = (): void => {
    const refused = refusal();
    if (refused !== undefined) throw new Failure(refused);
  };
  return {
    refusal,
    reader: {
      async read(operation, input) {
        check();
        reads += 1;
        check();
        const answer = await reader.read(operation, input);
        characters += stringifyJson(answer).length;
        check();
        return answer;
      },
    },
  };
}

function spent(what: string): Diagnostic {
  return error("PLAN_BUDGET", `a plan of this untrusted spec ${what}`, {
    hint: "review the spec; to allow it, raise the limit with --max-reads",
  });
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

export interface ObserveScope {
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

/** The kinds needed to read objects of a kind: their parents, and the kinds that their fields refer to. */
export function requiredKinds({ nested, fields }: Provider): readonly string[] {
  return [...(nested === undefined ? [] : [nested.kind]), ...kindsNamedBy(fields)];
}
