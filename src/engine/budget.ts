// A reader that gives up: for specs of strangers, which must not make a workspace answer without end.

import { type Diagnostic, error, Failure } from "../core/diagnostic.ts";
import { stringifyJson } from "../core/exact-json.ts";
import type { Reader } from "../resource/verbs.ts";

export interface Budget {
  /** Requests of the plan; a list that takes several pages counts as one. */
  readonly reads: number;
  /** Characters of all answers together. */
  readonly characters: number;
}

export interface Budgeted {
  readonly reader: Reader;
  /** Why reading stopped; undefined as long as it goes on. */
  refusal(): Diagnostic | undefined;
}

/** Once the budget is spent every further read fails, before a request is sent. */
export function budgeted(reader: Reader, budget: Budget): Budgeted {
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
