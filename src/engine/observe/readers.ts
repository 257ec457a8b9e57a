// Readers for one observation: one asks for shared lists once, one has asked for them early, and one stops at a limit, so that an untrusted spec cannot cause unlimited reads.

import type { Reader } from "../../api/contract/reader.ts";
import { type Address, kindOf } from "../../core/address.ts";
import { canonicalJson } from "../../core/canonical.ts";
import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Registry } from "../../resource/registry.ts";
import type { State } from "../../state/model/record.ts";
import { observeScope } from "./scope.ts";

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

/** Caches lists only, because contents are large and read once. Callers share an answer, so they must not modify it. */
export function memoizedReader(
  reader: Reader,
  asked: LiveSnapshot["answers"] = new Map(),
  all = false,
): Reader {
  return {
    read: (operation, input) => {
      if (!all && !operation.endsWith("/list")) return reader.read(operation, input);
      const key = `${operation}\n${canonicalJson(input ?? {})}`;
      const known = asked.get(key) ?? reader.read(operation, input);
      asked.set(key, known);
      return known;
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

/** Requests the lists of the recorded kinds early: only first pages with recorded names, because the spec cannot remove names. */
export function prefetchLists(
  registry: Registry,
  reader: Reader,
  state: State,
  only: (address: Address) => boolean = () => true,
): Reader {
  const once = memoizedReader(reader);
  const asking: Reader = {
    read: (operation, input) => {
      if (operation.endsWith("/list")) once.read(operation, input).catch(() => undefined);
      // The observation parses the answer and sends the follow-up requests.
      return new Promise<JsonObject>(() => undefined);
    },
  };
  const scope = observeScope({ registry, state });
  const asked = new Set<string>();
  for (const address of state.records.keys()) if (only(address)) asked.add(kindOf(address));
  for (const provider of scope.kinds) {
    if (provider.nested !== undefined || !asked.has(provider.kind)) continue;
    const { names } = scope.known(provider.kind);
    if (names.size === 0) continue;
    provider.operations.list(asking, { parents: [], names }).catch(() => undefined);
  }
  return once;
}
