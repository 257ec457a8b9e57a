// Every operation gets every faulty response once, three times, or always; then the service recovers and the next run finishes.

import { violations } from "../../checks/invariants.ts";
import { operationOf } from "../../checks/ledger.ts";
import { FAULTY_RESPONSES } from "../../faults/faulty-responses.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import type { Suite } from "../../run/suite.ts";
import { isExpected, Trial } from "../../run/trial.ts";
import type { Form } from "../../world/forms.ts";
import { scenarios } from "../../world/scenarios.ts";

const TIMES: Readonly<Record<string, number>> = { once: 1, thrice: 3, always: Number.POSITIVE_INFINITY };

/** Every operation with a scenario that sends it; a read with one in which it has something to tell, where there is one. */
export async function operations(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const full = scenarios.filter(({ before }) => before !== undefined).reverse();
  for (const { name } of [...full, ...scenarios]) {
    const { stage } = await faultFreeRun(name);
    const trial = await Trial.of(stage);
    await trial.apply({
      transport: (request, send) => {
        const { operation } = operationOf(request);
        if (!found.has(operation)) found.set(operation, name);
        return send(request);
      },
    });
    trial.close();
  }
  return found;
}

/** The operation gets the faulty response as often as `times` says; then the next run finishes. */
export async function answerFaulty(
  scenario: string,
  operation: string,
  fault: string,
  times: string,
  form?: Form,
): Promise<readonly string[]> {
  const reference = await faultFreeRun(scenario, form);
  const trial = await Trial.of(reference.stage);
  try {
    let left = TIMES[times] ?? 0;
    let met = 0;
    const first = await trial.apply({
      transport: (request, send) => {
        if (new URL(request.origin).host !== "workspace.test") throw new Error("the token went elsewhere");
        if (operationOf(request).operation !== operation || left-- <= 0) return send(request);
        met += 1;
        return FAULTY_RESPONSES[fault]?.(request, send, trial.site.clock.now()) ?? send(request);
      },
    });
    const outcome = first.outcome;
    const silent = outcome?.changes.some((one) => one.result !== "applied" && one.diagnostic === undefined)
      ? ["a change did not succeed and nothing says why"]
      : [];
    const bug = isExpected(first) ? [] : [`the run broke: ${String(first.failure)}`];
    await trial.apply();
    const none = met === 0 ? ["the operation was never sent"] : [];
    return [...none, ...bug, ...silent, ...(await violations(trial, reference))];
  } finally {
    trial.close();
  }
}

export const faults: Suite = {
  name: "faults",
  what: "every operation gets every faulty response: once, three times, or always",
  unit: "cells",
  sample: 80,

  async cases() {
    const names: string[] = [];
    for (const [operation, scenario] of await operations())
      for (const fault of Object.keys(FAULTY_RESPONSES))
        for (const times of Object.keys(TIMES)) names.push(`${scenario}|${operation}|${fault}|${times}`);
    return names;
  },

  run(name) {
    const [scenario = "", operation = "", fault = "", times = ""] = name.split("|");
    return answerFaulty(scenario, operation, fault, times);
  },
};
