// A reader for one look at the workspace: what two kinds ask for alike, as folders and notebooks do, is asked once.
// A reader that gives up: for specs of strangers, which must not make a workspace answer without end.

import type { Reader } from "../../api/contract/reader.ts";
import { canonicalJson } from "../../core/canonical.ts";
import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../resource/live.ts";

/** What was read for one plan, so that another one rests on the same. Contents are not in it: objects are, with what was found in theirs. */
export interface LiveSnapshot {
  /** By operation and input. */
  readonly answers: Map<string, Promise<JsonObject>>;
  /** By kind and id. */
  readonly objects: Map<string, Promise<LiveObject>>;
}

export function emptyLiveSnapshot(): LiveSnapshot {
  return { answers: new Map(), objects: new Map() };
}

/** Lists only: contents are large, and nobody asks for one twice. An answer is shared, so nobody may change it. */
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
  /** Why reading stopped; undefined as long as it goes on. */
  refusal(): Diagnostic | undefined;
}

/** Once the budget is spent every further read fails, before a request is sent. */
export function budgetedReader(reader: Reader, budget: Budget): Budgeted {
  let reads = 0;
  let characters = 0;
  const refusal = (): Diagnostic | undefined => {
    if (reads > budget.reads) return spent(`takes more than ${budget.reads} reads of the workspace`);
    if (characters > budget.characters)
      return spent(`makes the workspace answer with more than ${budget.characters} characters`);
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
    hint: "look at what the spec asks for; if it is right to ask for so much, raise the budget with --max-reads",
  });
}
